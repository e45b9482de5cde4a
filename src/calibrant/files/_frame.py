"""Rows that are in memory already, or that the caller knows how to read."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from calibrant._core._errors import DataError
from calibrant.files._source import Source


class TableSource(Source):
    """A pyarrow table.

    Parameters
    ----------
    table : pyarrow.Table
        The rows.
    """

    def __init__(self, table: pa.Table) -> None:
        super().__init__("the table", "a table")
        self._table = table

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._table.num_rows)

    def _names(self) -> list[str]:
        return list(self._table.column_names)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(columns).to_batches(max_chunksize=rows)


class ReaderSource(Source):
    """Batches from a function that begins a new pass at every call.

    Parameters
    ----------
    factory : callable
        Gives a `pyarrow.RecordBatchReader`.
    """

    def __init__(self, factory: Callable[[], Any]) -> None:
        super().__init__("the reader", "record batches")
        self._factory = factory

    def _names(self) -> list[str]:
        return list(self._begin().schema.names)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (as they come)
        for batch in self._begin():
            yield batch.select(columns)

    def _begin(self) -> Any:
        reader = self._factory()
        if not isinstance(reader, pa.RecordBatchReader):
            raise DataError(
                "the function must give a pyarrow.RecordBatchReader, a new one at every call; got "
                f"{type(reader).__name__}"
            )
        return reader


def frame_source(frame: object) -> Source:
    """Read a pyarrow table or reader factory, or any frame that narwhals knows."""
    if isinstance(frame, pa.Table):
        return TableSource(frame)
    if isinstance(frame, pa.RecordBatch):
        return TableSource(pa.Table.from_batches([frame]))
    if isinstance(frame, pa.RecordBatchReader):
        raise DataError(
            "a source must be readable more than once; got a RecordBatchReader, which is not; pass a "
            "function that makes one"
        )
    import narwhals as nw  # noqa: PLC0415  (only those who pass frames pay for it)

    known = nw.from_native(frame, pass_through=True)
    if isinstance(known, nw.LazyFrame):
        return TableSource(known.collect("pyarrow").to_native())
    if isinstance(known, nw.DataFrame):
        return TableSource(known.to_arrow())
    if callable(frame):
        return ReaderSource(frame)
    raise DataError(
        "a source must be a path, '-' for standard input, a frame, or a function that gives a "
        f"RecordBatchReader; got {type(frame).__name__}"
    )
