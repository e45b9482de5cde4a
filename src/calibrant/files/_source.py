"""What every source of rows offers, wherever the rows live."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from lzma import LZMAError
from typing import TYPE_CHECKING

import pyarrow as pa

from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant._core._words import option
from calibrant.files._plain import n_bytes, reason_of

if TYPE_CHECKING:
    from calibrant.passes import Progress

#: Numbers of a batch, and its rows at least and at most: enough to make light of what every batch costs.
BATCH_NUMBERS, LEAST_ROWS, MOST_ROWS = 1 << 21, 1 << 10, 1 << 18
#: Batches of fewer rows are put together, up to so many bytes.
FEW_ROWS, BATCH_BYTES = 1 << 14, BATCH_NUMBERS * 8
#: How rows of files are counted in messages.
COUNTED = "the first row of data is row 1"
#: What reading a broken file can raise.
_BROKEN = (pa.ArrowException, OSError, EOFError, LZMAError, UnicodeDecodeError, MemoryError)


class Columns(ABC):
    """Columns that have names, wherever their rows are.

    Parameters
    ----------
    name : str
        What messages call it.
    holds : str
        What it holds, for messages: "CSV", "Parquet".

    Attributes
    ----------
    name : str
        What messages call it.
    as_text : bool
        Whether all values come as text, exactly as they were written. So it is with CSV, where nothing says
        what they are.
    """

    as_text = False
    #: What stands between the whole and the broken part of a number, where numbers come as text.
    decimal = "."

    def __init__(self, name: str, holds: str) -> None:
        self.name = name
        self.holds = holds
        self._columns: list[str] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        if self._columns is None:
            with naming(self.name, self.holds):
                names = self._names()
            twice = first_twice(names)
            if twice is not None:
                raise DataError(
                    f"every column of {self.name} must have a name of its own; got {twice!r} more than once; "
                    "rename one of them"
                )
            self._columns = names
        return self._columns

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse names that no column has.

        Parameters
        ----------
        names : sequence of str
            The names.
        """
        known = set(self.columns)
        for name in names:
            if name not in known:
                raise DataError(
                    f"{self.name} must have a column {name!r}; it has {shown(self.columns)}{self._hint(name)}"
                )

    def _hint(self, name: str) -> str:
        close = get_close_matches(name, self.columns, n=1)
        return f"; did you mean {close[0]!r}?" if close else self.hint_at_form()

    def hint_at_form(self) -> str:
        """Say what may be wrong with text of which no column is the one that is looked for.

        Returns
        -------
        str
            The end of a message; empty if nothing looks wrong.
        """
        if self.as_text and all(_is_number(column) for column in self.columns):
            return "; the first line must name the columns, and here it holds numbers"
        if self.as_text and len(self.columns) == 1:
            return f"; if another character separates its cells, name that by {option('delimiter')}"
        return ""

    @abstractmethod
    def _names(self) -> list[str]:
        """Read the names of the columns."""


class Source(Columns):
    """Rows that can be read in batches, as often as needed.

    Parameters
    ----------
    name : str
        What messages call it.
    holds : str
        What it holds, for messages: "CSV", "Parquet".

    Attributes
    ----------
    name : str
        What messages call it.
    as_text : bool
        Whether all values come as text, exactly as they were written.
    any_thread : bool
        Whether another thread may read it than the one that has opened it.
    endless : bool
        Whether rows come as long as one waits for them.
    """

    any_thread = False
    endless = False

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, or None where that is not known before they are read."""
        return None

    @property
    def n_bytes(self) -> int | None:
        """How many bytes its text has, or None where nothing tells before it is read."""
        return None

    @property
    def share_read(self) -> float | None:
        """How much of the file the present pass has read, from 0 to 1, or None where nothing tells."""
        return None

    def place(self, row: int) -> str:
        """Say where a row is, for messages.

        Parameters
        ----------
        row : int
            Number of the row, from 0, among those that the present pass has read.

        Returns
        -------
        str
            Its number from 1, and the file if there are several.
        """
        return f"row {row + 1} ({COUNTED})"

    def batches(
        self, columns: Sequence[str] | None = None, rows: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read all rows once.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns wanted, in this order; by default all.
        rows : int, optional
            The greatest number of rows in a batch. By default there are fewer the more columns are read.

        Yields
        ------
        pyarrow.RecordBatch
            The next rows.
        """
        names = self.columns if columns is None else list(columns)
        rows = rows_per_batch(len(names)) if rows is None else rows
        if rows < 1:
            raise ParameterError(f"rows must be a whole number of 1 or more; got {rows!r}")
        self.check_columns(names)
        with naming(self.name, self.holds):
            for batch in _joined(self._checked(names, rows), rows):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows) if batch.num_rows > rows else batch

    def _checked(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Batches of which every byte was looked at: where an offset or an index of a damaged one points
        outside, whoever follows it ends the process.
        """
        n_before = 0
        for batch in self._read(columns, rows):
            try:
                batch.validate(full=True)
            except pa.ArrowException as error:
                raise DataError(
                    f"{self.name} must hold whole values; {_damaged(batch, columns)} is damaged from "
                    f"{self.place(n_before)} on: {reason_of(error)}; write or copy the file again"
                ) from error
            n_before += batch.num_rows
            yield batch

    @abstractmethod
    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Read the columns of all rows, about `rows` at a time."""


def _damaged(batch: pa.RecordBatch, columns: list[str]) -> str:
    """Name the column that is damaged."""
    for name, column in zip(columns, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException:
            return f"the column {name!r}, of type {column.type},"
    return "a batch"


def _joined(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows, small batches put together, as every batch costs its time, whatever its size."""
    waiting: list[pa.RecordBatch] = []
    n_rows = n_waiting = 0
    for batch in batches:
        size = _text_bytes(batch)
        if waiting and (n_rows + batch.num_rows > rows or n_waiting + size > BATCH_BYTES):
            yield from _one(waiting)
            waiting, n_rows, n_waiting = [], 0, 0
        if waiting or batch.num_rows < min(rows, FEW_ROWS):
            waiting.append(batch)
            n_rows, n_waiting = n_rows + batch.num_rows, n_waiting + size
        else:
            yield batch
    yield from _one(waiting)


def _text_bytes(batch: pa.RecordBatch) -> int:
    """Bytes of what may be long, such as text: of all else, the number of rows says enough."""
    return sum(
        n_bytes(batch.column(place))
        for place, field in enumerate(batch.schema)
        if not (pa.types.is_primitive(field.type) or pa.types.is_dictionary(field.type))
    )


def _one(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Several batches as one; or as they are, such as those whose dictionaries together outgrow an index."""
    if len(batches) < 2:
        yield from batches
        return
    try:
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()
    except pa.ArrowException:
        yield from batches


@contextmanager
def naming(name: str, holds: str) -> Iterator[None]:
    """Say in one line what is wrong with a file that cannot be read; an interruption stays one."""
    try:
        yield
    except CalibrantError:
        raise
    except pa.ArrowCancelled as error:
        raise KeyboardInterrupt from error
    except UnicodeDecodeError as error:
        raise DataError(f"{name} must be text in UTF-8; it is not; save it again in that encoding") from error
    except _BROKEN as error:
        raise DataError(
            f"{name} must be whole and hold {holds}; it cannot be read: {reason_of(error)}; write or copy it "
            "again"
        ) from error


def how_far(source: Source, n_rows: int, what: str, number: int = 0) -> "Progress":
    """How far a pass over a source has come: by rows where their number is known, else by bytes."""
    from calibrant.passes import Progress  # noqa: PLC0415  (who only reads a file need not wait for it)

    total = source.n_rows
    return Progress(number, n_rows, what, total, n_rows / total if total else source.share_read)


def first_twice(names: Sequence[str]) -> str | None:
    """The first name that was there before, if any."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def rows_per_batch(n_columns: int) -> int:
    """Rows of a batch of so many columns, unless the caller says otherwise."""
    return min(MOST_ROWS, max(LEAST_ROWS, BATCH_NUMBERS // max(n_columns, 1)))


def shown(names: Sequence[object], most: int = 8) -> str:
    """Show the first of many names, with quotation marks where blanks at an end would not be seen."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    texts = [text if text and text == text.strip() else repr(text) for text in map(str, names[:most])]
    return ", ".join(texts) + more if names else "none"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
