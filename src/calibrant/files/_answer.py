"""Rows that come only once, such as the answer to a query: kept, unless one pass is enough."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import pyarrow as pa

from calibrant._core._errors import DataError
from calibrant.files._cells import column_of, common_type, converted
from calibrant.files._kept import KeptBatches
from calibrant.files._source import Source


class AnswerSource(Source):
    """Rows whose types are known before they come.

    Parameters
    ----------
    name : str
        What messages call it.
    holds : str
        What it holds, for messages.
    once : bool
        Whether one pass is enough, so that nothing need be kept.
    """

    def __init__(self, name: str, holds: str, once: bool) -> None:
        super().__init__(name, holds)
        self._once = once
        self._begun = False
        self._kept = KeptBatches(name)

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, once all have come."""
        return self._kept.n_rows if self._kept.is_whole else None

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (as they come)
        self._refuse_foreign(columns)
        if not self._once:
            yield from self._kept.read(columns, self._next)
            return
        if self._begun:
            raise DataError(
                f"the rows of {self.name} must be read once, as was said; they were; open it again"
            )
        self._begun = True
        while (batch := self._next()) is not None:
            yield batch.select(columns)

    def _refuse_foreign(self, columns: list[str]) -> None:
        """Refuse columns of types that nobody can use."""
        for name, kind in self._foreign().items():
            if name in columns:
                raise DataError(
                    f"the column {name!r} of {self.name} must hold numbers, text, truth values, dates or "
                    f"times; it holds {kind}; convert it in the query, or leave it out"
                )

    def _foreign(self) -> dict[str, str]:
        """The columns of types that nobody can use, with the names of these."""
        return {}

    @abstractmethod
    def _next(self) -> pa.RecordBatch | None:
        """Give the next rows; None after the last."""


class CellSource(AnswerSource):
    """Rows whose cells have types of their own: those of the columns are known when all rows have come.

    So they are always kept.
    """

    def __init__(self, name: str, holds: str) -> None:
        super().__init__(name, holds, once=False)
        self._found: dict[str, set[pa.DataType]] = {}
        self._types: dict[str, pa.DataType] | None = None

    @property
    def n_rows(self) -> int | None:
        """How many rows there are."""
        self._find_types()
        return self._kept.n_rows

    def _find_types(self) -> dict[str, pa.DataType]:
        if self._types is None:
            names = self.columns
            while self._kept.pull(self._next):
                pass
            self._types = {name: common_type(list(self._found.get(name, ()))) for name in names}
        return self._types

    def _batch(self, rows: Sequence[Sequence[object]]) -> pa.RecordBatch:
        """Rows of cells as a batch, whose types are taken down."""
        arrays = list(map(column_of, zip(*rows, strict=True)))
        for name, array in zip(self.columns, arrays, strict=True):
            self._found.setdefault(name, set()).add(array.type)
        return pa.RecordBatch.from_arrays(arrays, names=self.columns)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        types = self._find_types()
        for batch in super()._read(columns, rows):
            for place, name in enumerate(columns):
                if batch.column(place).type != types[name]:
                    batch = batch.set_column(place, name, converted(batch.column(place), types[name]))  # noqa: PLW2901
            yield batch
