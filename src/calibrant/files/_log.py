"""Rows of a log: forecasts, and as far as it is known what came, when, of which groups, under which key."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._errors import DataError
from calibrant._core._words import option
from calibrant.files._batch import BatchReader, as_proba, counted_labels
from calibrant.files._classes import Numbered
from calibrant.files._columns import label_codes, lenient_numbers
from calibrant.files._plain import is_number, is_text, plain_values
from calibrant.files._source import Source, shown

#: Rows of a piece, if labels of earlier rows stand between rows: first its rows are taken, then these labels.
PIECE = 1000
#: The number of a label that is not known yet.
UNKNOWN = -1


@dataclass(frozen=True)
class LogColumns:
    """What the columns of a log are.

    Attributes
    ----------
    scores : tuple of str
        The columns of the scores, in the order of the classes.
    label, time, key, weight : str or None
        The columns of labels, times, keys and weights.
    by : tuple of str
        The columns of groups.
    """

    scores: tuple[str, ...]
    label: str | None
    time: str | None
    key: str | None
    weight: str | None
    by: tuple[str, ...]

    def names(self) -> list[str]:
        """The names of all columns, each once."""
        used = (*self.scores, self.label, self.time, self.key, self.weight, *self.by)
        return list(dict.fromkeys(name for name in used if name is not None))


@dataclass(frozen=True)
class LogRows:
    """Some rows, as `CalibrationMonitor.update` takes them.

    Attributes
    ----------
    proba : ndarray of shape (n, k)
        Forecasts.
    truth : ndarray of int of shape (n,)
        Numbers of the classes that came, or UNKNOWN.
    time, weight : ndarray of shape (n,) or None
        Times and weights.
    groups : dict of str to ndarray, or None
        Groups by column; None where the value is missing.
    keys : ndarray of str of shape (n,) or None
        Keys.
    """

    proba: Float64Array
    truth: IntArray
    time: Array | None
    weight: Float64Array | None
    groups: dict[str, Array] | None
    keys: Array | None


@dataclass(frozen=True)
class LateLabels:
    """Labels of rows that came before: rows with a key and a label, and without scores.

    Attributes
    ----------
    keys : list of str
        The keys.
    truth : ndarray of int of shape (n,)
        Numbers of the classes.
    rows : ndarray of int of shape (n,)
        Where they stand in the log.
    """

    keys: list[str]
    truth: IntArray
    rows: IntArray


class LogReader:
    """Batches of a log as rows and late labels.

    Parameters
    ----------
    source : Source
        Where the rows are.
    columns : LogColumns
        What its columns are.
    number_of : Numbered
        The classes.
    model : object or None
        What makes scores probabilities; None if they are some.
    skips : bool
        Whether rows that cannot be used are left out; if not, the first of them is an error.
    last : float or None
        The last time before the log, as a number.
    """

    def __init__(
        self,
        source: Source,
        columns: LogColumns,
        number_of: Numbered,
        model: Any,
        skips: bool,
        last: float | None = None,
    ) -> None:
        self.source, self.columns, self.number_of, self.model, self.skips = (
            source,
            columns,
            number_of,
            model,
            skips,
        )
        self.n_skipped = 0
        self._last, self._first_time = last, True

    def parts(self, batch: pa.RecordBatch, first: int) -> Iterator[tuple[LogRows | LateLabels, int]]:
        """Read a batch, of which so many rows of the source are before.

        With every part comes how many rows of the batch are read when it has been taken.
        """
        late = self._are_late(batch)
        if late is None:
            yield self._rows(batch, first), batch.num_rows
            return
        for start, end in self._pieces(late):
            piece, chosen = batch.slice(start, end - start), late[start:end]
            if not chosen.all():
                rows = np.flatnonzero(~chosen)
                yield (
                    self._rows(piece.take(pa.array(rows)), first + start, rows),
                    start if chosen.any() else end,
                )
            if chosen.any():
                rows = np.flatnonzero(chosen)
                yield self._labels(piece.take(pa.array(rows)), first + start, rows), end

    def _pieces(self, late: BoolArray) -> Iterator[tuple[int, int]]:
        """Where pieces begin and end: short ones; of a log without end, rows and labels apart."""
        starts = np.arange(0, len(late), PIECE)
        if self.source.endless:
            starts = np.union1d(starts, np.flatnonzero(late[1:] != late[:-1]) + 1)
        return zip(starts.tolist(), [*starts[1:].tolist(), len(late)], strict=True)

    def _are_late(self, batch: pa.RecordBatch) -> BoolArray | None:
        """Which rows are labels of earlier ones; None if none is."""
        key, label = self.columns.key, self.columns.label
        if (
            key is None
            or label is None
            or all(batch.column(name).null_count == 0 for name in self.columns.scores)
        ):
            return None
        empty = np.ones(batch.num_rows, dtype=np.bool_)
        for name in self.columns.scores:
            empty &= np.isnan(lenient_numbers(batch.column(name), name, self.source))
        empty &= self._label_numbers(batch, None) != UNKNOWN
        return empty if empty.any() else None

    def _rows(self, batch: pa.RecordBatch, first: int, places: IntArray | None = None) -> LogRows:
        columns = self.columns
        reader = _Reader(batch, self.source, first, self.skips, places)
        scores = reader.probabilities(columns.scores) if self.model is None else reader.scores(columns.scores)
        truth = np.full(batch.num_rows, UNKNOWN)
        if columns.label is not None:
            truth = self._label_numbers(batch, reader)
        weight = None if columns.weight is None else reader.weights(columns.weight)
        time = None if columns.time is None else self._times(reader, columns.time)
        keys = None if columns.key is None else reader.keys(columns.key, truth == UNKNOWN)
        groups = {name: _texts(batch, name, self.source) for name in columns.by} or None
        usable = np.ones(batch.num_rows, dtype=np.bool_) if reader.usable is None else reader.usable
        self.n_skipped += int((~usable).sum())
        if time is not None:
            self._check_order(time, usable, reader)
        matrix = scores[usable]
        return LogRows(
            as_proba(matrix) if self.model is None else self._calibrated(matrix),
            truth[usable],
            None if time is None else time[usable],
            None if weight is None else weight[usable],
            None if groups is None else {name: each[usable] for name, each in groups.items()},
            None if keys is None else keys[usable],
        )

    def _calibrated(self, scores: Float64Array) -> Float64Array:
        if not len(scores):
            return np.empty((0, len(self.number_of.texts)))
        return np.asarray(self.model(scores))

    def _labels(self, batch: pa.RecordBatch, first: int, places: IntArray) -> LateLabels:
        assert self.columns.key is not None
        reader = _Reader(batch, self.source, first, self.skips, places)
        truth = self._label_numbers(batch, reader)
        keys = reader.keys(self.columns.key, np.ones(batch.num_rows, dtype=np.bool_))
        usable = slice(None) if reader.usable is None else reader.usable
        self.n_skipped += 0 if reader.usable is None else int((~reader.usable).sum())
        return LateLabels(keys[usable].tolist(), truth[usable], first + places[usable])

    def _label_numbers(self, batch: pa.RecordBatch, reader: "_Reader | None") -> IntArray:
        """The number of every label, UNKNOWN where there is none; without a reader unknown ones are 0."""
        name = self.columns.label
        assert name is not None
        column = batch.column(name)
        counted = counted_labels(column, self.number_of)
        if counted is not None:
            return counted
        codes, texts = label_codes(column, name, self.source)
        # A number that no class has stands for labels of no class, the last place for rows without one.
        other = len(self.number_of.texts)
        numbers = [UNKNOWN if not text else self.number_of(text) for text in texts]
        found = np.array(
            [other if text and n < 0 else n for text, n in zip(texts, numbers, strict=True)] + [UNKNOWN],
            dtype=np.intp,
        )[codes]
        bad = found == other
        if bad.any():
            if reader is not None:
                row = int(np.argmax(bad))
                reader.refuse(
                    bad,
                    f"the column {name!r} of {self.source.name} must hold one of the classes "
                    f"{shown(self.number_of.texts)}, or nothing while the label is not known; got "
                    f"{texts[codes[row]]!r}",
                    f"classes are named by {option('scores')}, {option('classes')} or the state",
                )
            found[bad] = 0
        return np.asarray(found)

    def _times(self, reader: "_Reader", name: str) -> Array:
        column = plain_values(reader.batch.column(name))
        missing = column.is_null().to_numpy(zero_copy_only=False)
        if missing.any():
            reader.refuse(
                missing,
                f"the column {name!r} of {self.source.name} must hold a time in every row; got none",
                "drop that row",
            )
            kept = column.drop_null()
            known = _moments(kept, name, self.source, reader)
            times = np.zeros(len(missing), dtype=known.dtype)
            times[~missing] = known
            return times
        return _moments(column, name, self.source, reader)

    def _check_order(self, time: Array, usable: BoolArray, reader: "_Reader") -> None:
        """Refuse times that go back, with their row."""
        rows = np.flatnonzero(usable)
        if not len(rows):
            return
        there = time[rows]
        numbers = there.astype(np.int64).astype(np.float64) if there.dtype.kind == "M" else there
        before = np.append(-np.inf if self._last is None else self._last, numbers[:-1])
        back = np.flatnonzero(numbers < before)
        if len(back):
            at, name = int(back[0]), self.columns.time
            known = at == 0 and self._first_time
            after = "the last row before this log" if known else "the row before it"
            remedy = (
                f"rows that were read before are passed over with {option('grown')}"
                if known
                else f"sort the rows by {name!r}"
            )
            raise DataError(
                f"times must not go back; the column {name!r} of {self.source.name} has "
                f"{_shown(there[at])} in {reader.place(int(rows[at]))}, which is before {after}; {remedy}"
            )
        self._last, self._first_time = float(numbers[-1]), False


class _Reader(BatchReader):
    """The reader of a batch of which only some rows are left, at the places given."""

    def __init__(
        self, batch: pa.RecordBatch, source: Source, first: int, skips: bool, places: IntArray | None = None
    ) -> None:
        super().__init__(batch, source if places is None else _Moved(source, first, places), first, skips)

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        return self._source.place(self._first + row)

    def refuse(self, bad: BoolArray, what: str, remedy: str) -> None:
        """Leave rows out, or name the first of them."""
        if not self._skips:
            raise DataError(f"{what} in {self.place(int(np.argmax(bad)))}; {remedy}")
        self._leave_out(bad)

    def keys(self, name: str, needed: BoolArray) -> Array:
        """Keys as texts; those that are not needed may be missing."""
        keys = _texts(self.batch, name, self._source)
        missing = np.array([not key for key in keys.tolist()], dtype=np.bool_) & needed
        if missing.any():
            self.refuse(
                missing,
                f"the key column {name!r} of {self._source.name} must hold a key in every row without a "
                f"label and for every label that comes late; got none",
                "give it one, or leave the row out",
            )
        return np.array([key or "" for key in keys.tolist()], dtype=object)


class _Moved(Source):
    """A source whose rows are counted by their places in a piece of it."""

    def __init__(self, source: Source, first: int, places: IntArray) -> None:
        super().__init__(source.name, source.holds)
        self._source, self._from, self._at = source, first, places
        self.as_text, self.decimal = source.as_text, source.decimal

    def place(self, row: int) -> str:
        """Say where a row is."""
        return self._source.place(self._from + int(self._at[row - self._from]))

    def _names(self) -> list[str]:
        return self._source.columns

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        return self._source._read(columns, rows)


def _texts(batch: pa.RecordBatch, name: str, source: Any) -> Array:
    """A column as texts; None where there is none."""
    codes, texts = label_codes(batch.column(name), name, source)
    return np.array([*(text or None for text in texts), None], dtype=object)[codes]


def _moments(column: pa.Array, name: str, source: Source, reader: _Reader) -> Array:
    """Times as numbers, or as dates of microseconds; text may be either."""
    kind = column.type
    if is_number(kind):
        return _finite(lenient_numbers(column, name, source), name, source, reader)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        moments = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return np.asarray(moments.to_numpy(zero_copy_only=False).astype("datetime64[us]"))
    if not (is_text(kind) or pa.types.is_null(kind)):
        raise DataError(
            f"the column {name!r} of {source.name} must hold dates or numbers; it holds {kind}; choose or "
            f"make another column"
        )
    if not len(column):
        return np.empty(0)
    numbers = lenient_numbers(column, name, source)
    if np.isfinite(numbers[0]):
        return _finite(numbers, name, source, reader)
    for zone in (None, "UTC"):
        try:
            moments = column.cast(pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
        return np.asarray(moments.to_numpy(zero_copy_only=False).astype("datetime64[us]"))
    row = next((row for row in range(len(column)) if not _is_date(column.slice(row, 1))), 0)
    raise DataError(
        f"the column {name!r} of {source.name} must hold dates such as 2026-05-01 or 2026-05-01T12:30:00, "
        f"all of them with a time zone or none, or numbers; got {column[row].as_py()!r} in "
        f"{reader.place(row)}; correct it"
    )


def _is_date(value: pa.Array) -> bool:
    try:
        value.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def _finite(numbers: Float64Array, name: str, source: Source, reader: _Reader) -> Float64Array:
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise DataError(
            f"the column {name!r} of {source.name} must hold finite numbers, or dates in every row; got "
            f"something else in {reader.place(int(np.argmax(bad)))}; correct it"
        )
    return numbers


def _shown(time: Any) -> str:
    return str(time).removesuffix(".000000") if isinstance(time, np.datetime64) else f"{float(time):.10g}"
