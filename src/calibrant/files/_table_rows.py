"""Rows of a source of Arrow batches: columns of scores, a label, a weight, a key."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray, as_array
from calibrant._core._checks import check_binary_labels, check_option
from calibrant._core._errors import DataError
from calibrant._core._names import label_text, names_by_label
from calibrant.files._ahead import ahead
from calibrant.files._columns import (
    _truth,
    label_codes,
    label_values,
    lenient_numbers,
    read_label_texts,
    read_numbers,
    texts_that_occur,
)
from calibrant.files._key_hashes import hash_column
from calibrant.files._open import open_source
from calibrant.files._source import Source, shown
from calibrant.passes import Hashes, Rows

#: Labels that are whole numbers of at most so much, in so narrow a range, are looked up in a table.
FEW_LABELS = 1 << 12


def rows_of(
    where: Any,
    *,
    scores: str | Sequence[str],
    label: str,
    weight: str | None = None,
    key: str | None = None,
    classes: object = None,
    handle_invalid: str = "error",
    batch_rows: int | None = None,
) -> "TableRows":
    """Take rows from a file, a folder, or a frame, as often as a fit needs them.

    Parameters
    ----------
    where : Source, str, path, or frame
        Where the rows are: whatever `open_source` opens.
    scores : str or sequence of str
        The column of the scores; or one per class, in the order of the classes, or in any order if they have
        their names; or one per column of a code.
    label : str
        The column of the labels.
    weight : str, optional
        The column of the weights.
    key : str, optional
        A column that says which rows belong together where rows are split into folds, such as a customer's
        number. By default the rows are numbered, and every row stands for itself.
    classes : array-like of shape (k,), optional
        The labels of the classes in order; for a single score the positive class is the second. By default
        the labels are looked up in one more pass over their column, and sorted.
    handle_invalid : {"error", "skip"}, default="error"
        What happens to a row with a missing or infinite score or weight, a negative weight, no label, an
        unknown label, or no key: the fit ends with an error that names the row, or goes on without the row.
    batch_rows : int, optional
        The greatest number of rows in a batch. By default there are fewer the more columns are read.

    Returns
    -------
    TableRows
        Gives the rows whenever it is called; `classes` are the labels, `n_rows` is the number of rows if it
        is known, `n_skipped` how many the last pass has left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import fit_in_passes, rows_of
    >>> table = pa.table({"score": [1.0, 2.0, 3.0, 4.0], "answer": ["no", "yes", "no", "yes"]})
    >>> rows = rows_of(table, scores="score", label="answer")
    >>> rows.classes
    array(['no', 'yes'], dtype='<U3')
    >>> fit_in_passes("pav", rows).predict_proba([3.5, 4])[:, 1]
    array([0.5, 1. ])
    """
    check_option("handle_invalid", handle_invalid, ("error", "skip"))
    source = where if isinstance(where, Source) else open_source(where)
    columns = (scores,) if isinstance(scores, str) else tuple(scores)
    source.check_columns([name for name in (*columns, label, weight, key) if name is not None])
    skips = handle_invalid == "skip"
    labels = (
        _find_classes(source, label, len(columns), skips) if classes is None else as_array(classes, "classes")
    )
    if len(columns) in (1, len(labels)):
        columns = names_by_label(columns, labels, "scores")
    return TableRows(source, columns, label, weight, key, labels, skips, batch_rows)


@dataclass(eq=False)
class TableRows:
    """Rows of a source, batch by batch; call it for another pass.

    Attributes
    ----------
    source : Source
        Where the rows are.
    scores : tuple of str
        The columns of the scores.
    label, weight, key : str or None
        The columns of labels, weights and keys.
    classes : ndarray of shape (k,)
        The labels of the classes.
    skips : bool
        Whether rows that cannot be used are left out.
    batch_rows : int or None
        The greatest number of rows in a batch; None for one that suits the number of columns.
    n_skipped : int
        Rows that the last pass has left out.
    """

    source: Source
    scores: tuple[str, ...]
    label: str
    weight: str | None
    key: str | None
    classes: Array
    skips: bool
    batch_rows: int | None
    n_skipped: int = field(default=0, init=False)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if it is known."""
        return self.source.n_rows

    def __call__(self) -> Iterator[Rows]:
        """Read all rows once."""
        return ahead(self._read()) if self.source.any_thread else self._read()

    def _read(self) -> Iterator[Rows]:
        self.n_skipped, first = 0, 0
        texts = {label_text(value): place for place, value in enumerate(self.classes)}
        wanted = dict.fromkeys(
            name for name in (*self.scores, self.label, self.weight, self.key) if name is not None
        )
        for batch in self.source.batches(list(wanted), self.batch_rows):
            yield self._rows(batch, texts, first)
            first += batch.num_rows

    def _rows(self, batch: pa.RecordBatch, texts: dict[str | None, int], first: int) -> Rows:
        reader = BatchReader(batch, self.source, first, self.skips)
        columns = [reader.numbers(name) for name in self.scores]
        position = reader.positions(self.label, texts, self.classes)
        weight = None if self.weight is None else reader.weights(self.weight)
        key = self._keys(reader)
        scores = columns[0] if len(columns) == 1 else np.array(columns).T
        rows = Rows(scores, position, weight, key, self.classes, first)
        if reader.usable is None:
            return rows
        self.n_skipped += len(rows) - int(reader.usable.sum())
        return rows.take(reader.usable)

    def _keys(self, reader: "BatchReader") -> Hashes | None:
        return None if self.key is None else reader.hashes(self.key)


class BatchReader:
    """Columns of a batch as arrays.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        Some rows.
    source : Source
        Where they come from.
    first : int
        Rows of the source before this batch.
    skips : bool
        Whether rows that cannot be used are left out; if not, the first of them is an error.

    Attributes
    ----------
    batch : pyarrow.RecordBatch
        The rows.
    usable : ndarray of bool of shape (n,) or None
        Which rows need not be left out, by the columns that were read so far; None for all.
    """

    def __init__(self, batch: pa.RecordBatch, source: Source, first: int, skips: bool) -> None:
        self.batch, self._source, self._first, self._skips = batch, source, first, skips
        self.usable: BoolArray | None = None

    def scores(self, names: Sequence[str]) -> Float64Array:
        """Read several columns of finite numbers as one matrix."""
        matrix = np.empty((self.batch.num_rows, len(names)))
        for place, name in enumerate(names):
            matrix[:, place] = self.numbers(name)
        return matrix

    def label_codes(self, name: str) -> tuple[IntArray, Sequence[str | None]]:
        """For every row the number of its label's text, -1 if it has none; and the texts."""
        column = self.batch.column(name)
        if not self._skips:
            return read_label_texts(column, name, self._source, self._first)
        codes, texts = label_codes(column, name, self._source)
        codes = np.where(np.isin(codes, [n for n, text in enumerate(texts) if text is None]), -1, codes)
        self._leave_out(codes < 0)
        return codes, texts

    def _leave_out(self, bad: BoolArray) -> None:
        if bad.any():
            self.usable = ~bad if self.usable is None else self.usable & ~bad

    def numbers(self, name: str) -> Float64Array:
        """Read a column of finite numbers; 0 in rows that are left out."""
        column = self.batch.column(name)
        if pa.types.is_float64(column.type) and column.null_count == 0:
            values = column.to_numpy()  # the file's own memory
            finite = np.isfinite(values)
            if finite.all():
                return np.asarray(values)
        if not self._skips:
            return read_numbers(column, name, self._source, self._first)
        values = lenient_numbers(column, name, self._source)
        bad = ~np.isfinite(values)
        self._leave_out(bad)
        return np.where(bad, 0.0, values) if bad.any() else values

    def weights(self, name: str) -> Float64Array:
        """Read a column of weights; 0 in rows that are left out."""
        values = self.numbers(name)
        negative = values < 0
        if negative.any() and not self._skips:
            row = int(np.argmax(negative))
            raise DataError(
                f"the column {name!r} of {self._source.name} must hold weights that are not negative; got "
                f"{values[row]} in {self._source.place(self._first + row)}"
            )
        self._leave_out(negative)
        return np.where(negative, 0.0, values) if negative.any() else values

    def positions(self, name: str, known: Mapping[str | None, int], classes: Array) -> IntArray:
        """Read a column of labels, as numbers of the classes; 0 in rows that are left out."""
        loose = {_truth(text or ""): place for text, place in known.items()}

        def place_of(text: str | None) -> int:
            return known.get(text, loose.get(_truth(text or ""), -1))

        counted = counted_positions(self.batch.column(name), place_of)
        if counted is not None:
            return counted
        codes, texts = self.label_codes(name)
        places = np.array([place_of(text) for text in texts], dtype=np.intp)
        position = np.append(places, -1)[codes]  # the last of them is for rows without a label
        bad = position < 0
        if bad.any():
            if not self._skips:
                row = int(np.argmax(bad))
                raise DataError(
                    f"the column {name!r} of {self._source.name} must hold one of the classes "
                    f"{shown(classes.tolist())}; got {texts[codes[row]]!r} in "
                    f"{self._source.place(self._first + row)}"
                )
            self._leave_out(bad)
            position[bad] = 0
        return np.asarray(position)

    def hashes(self, name: str) -> Hashes:
        """Read a column of keys, as their hashes."""
        column = self.batch.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()  # in which a value may be missing, too
        if column.null_count:
            missing = pc.is_null(column).to_numpy(zero_copy_only=False)
            if not self._skips:
                place = self._source.place(self._first + int(np.argmax(missing)))
                raise DataError(
                    f"the key column {name!r} of {self._source.name} must hold a key in every row; got none "
                    f"in {place}"
                )
            self._leave_out(missing)
            kept = np.flatnonzero(~missing)
            hashes = np.zeros(len(missing), dtype=np.uint64)
            if len(kept):
                hashes[kept] = hash_column(column.take(pa.array(kept)), name)
            return hashes
        return hash_column(column, name)


def counted_positions(column: pa.Array, place_of: Callable[[str], int]) -> IntArray | None:
    """Numbers of the classes of labels that are whole numbers, all of them known; None for others.

    A table of all numbers between the least and the greatest is ten times faster than telling labels apart.
    """
    whole = pa.types.is_integer(column.type)
    if not (whole or pa.types.is_floating(column.type)) or column.null_count or len(column) == 0:
        return None
    values = column.to_numpy()
    least, greatest = float(values.min()), float(values.max())
    if not greatest - least < FEW_LABELS or abs(least) > FEW_LABELS:
        return None
    position: IntArray = values.astype(np.intp)
    if not (whole or np.array_equal(position, values)):
        return None
    numbers = range(int(least), int(greatest) + 1)
    places = np.array([place_of(str(value)) for value in numbers], dtype=np.intp)
    if not np.array_equal(places, numbers):
        position -= numbers.start
        position = places[position]
        if position.min() < 0:
            return None
    return position


def _find_classes(source: Source, label: str, n_columns: int, skips: bool) -> Array:
    """The labels of a column in order, found by reading it."""
    found: set[str] = set()
    first, kind = 0, None
    for batch in source.batches([label]):
        column = batch.column(0)
        kind = column.type
        read = label_codes(column, label, source) if skips else read_label_texts(column, label, source, first)
        found |= set(texts_that_occur(*read))
        first += batch.num_rows
    if not found or kind is None:
        raise DataError(f"the column {label!r} of {source.name} must hold labels; it has no rows")
    values = np.sort(label_values(sorted(found), kind, source.as_text))
    return check_binary_labels(values)[0] if n_columns == 1 else values
