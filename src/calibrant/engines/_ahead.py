"""Reading ahead: the next batch is read while the present one is worked on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(batches: Iterator[T]) -> Iterator[T]:
    """Give the same batches, each read while the one before it is worked on.

    Parameters
    ----------
    batches : iterator
        The batches, none of them None. They are read by another thread, one at a time.

    Yields
    ------
    object
        The next batch. What reading it raises is raised here.
    """
    with ThreadPoolExecutor(1, "read ahead") as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch
