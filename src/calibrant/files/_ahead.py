"""Reading ahead: the next batch is read while the present one is worked on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def ahead(batches: Iterator[T]) -> Iterator[T]:
    """Give the same batches, each read while the one before it is worked on."""
    context = copy_context()

    def read() -> T | None:
        return context.run(next, batches, None)

    with ThreadPoolExecutor(1, "read ahead") as reader:
        coming = reader.submit(read)
        while (batch := coming.result()) is not None:
            coming = reader.submit(read)
            yield batch
