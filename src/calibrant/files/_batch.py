"""Columns of a batch as arrays: numbers, labels, weights, keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from calibrant import passes
from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._checks import ROUNDING
from calibrant._core._errors import DataError
from calibrant._core._late import compute as pc
from calibrant._core._mix import Hashes
from calibrant._core._words import option
from calibrant.files._classes import Numbered
from calibrant.files._columns import label_codes, lenient_numbers, read_label_texts, read_numbers
from calibrant.files._key_hashes import hash_column
from calibrant.files._plain import entries
from calibrant.files._source import Source, shown

if TYPE_CHECKING:
    from calibrant.passes import Rows

#: Labels that are whole numbers of at most so much, in so narrow a range, are looked up in a table.
FEW_LABELS = 1 << 12
#: How far from one the printed probabilities of a row may sum.
SUM_ROUNDING = 1e-3
#: What the group of rows is called that have none.
NO_GROUP = "(none)"


@dataclass(frozen=True)
class Roles:
    """What the columns of a source are.

    Attributes
    ----------
    scores : tuple of str
        The columns of the scores.
    label, weight, key : str or None
        The columns of labels, weights and keys.
    alone : bool
        Whether there is a single score, that of the second of two classes.
    """

    scores: tuple[str, ...]
    label: str
    weight: str | None
    key: str | None
    alone: bool

    def names(self, *others: str | None) -> list[str]:
        """The names of all columns, each once."""
        used = (*self.scores, self.label, self.weight, self.key, *others)
        return list(dict.fromkeys(name for name in used if name is not None))


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

    def rows(self, roles: Roles, number_of: Numbered, scores: Float64Array | None = None) -> "Rows":
        """Read the rows; those that cannot be used are left out. Scores may have been read already."""
        matrix = self.scores(roles.scores) if scores is None else scores
        weight = None if roles.weight is None else self.weights(roles.weight)
        rows = passes.Rows(
            matrix[:, 0] if roles.alone else matrix,
            self.numbered(roles.label, number_of),
            weight,
            None if roles.key is None else self.hashes(roles.key),
            first=self._first,
        )
        return rows if self.usable is None else rows.take(self.usable)

    def scores(self, names: Sequence[str]) -> Float64Array:
        """Read several columns of finite numbers as one matrix."""
        if len(names) == 1:
            return self.numbers(names[0])[:, np.newaxis]  # the file's own memory, if it can be
        matrix = np.empty((self.batch.num_rows, len(names)))
        for place, name in enumerate(names):
            matrix[:, place] = self.numbers(name)
        return matrix

    def probabilities(self, names: Sequence[str], *, sums: bool = True) -> Float64Array:
        """Read the same, and refuse numbers that are no probabilities, with the row that has them."""
        matrix = self.scores(names)
        rows = matrix if self.usable is None else np.where(self.usable[:, None], matrix, np.nan)
        outside = (rows < -ROUNDING) | (rows > 1 + ROUNDING)
        if outside.any():
            row, place = np.argwhere(outside)[0]
            raise DataError(
                f"the column {names[place]!r} of {self._source.name} must hold probabilities, from 0 to 1; "
                f"got {rows[row, place]:g} in {self._source.place(self._first + int(row))}; scores must go "
                "through calibrant fit and apply first"
            )
        if len(names) > 1 and sums:
            total = rows.sum(axis=1)
            wrong = np.abs(total - 1.0) > SUM_ROUNDING
            if wrong.any():
                row = int(np.argmax(wrong))
                raise DataError(
                    f"the probabilities of a row of {self._source.name} must sum to one; got {total[row]:g} "
                    f"in {self._source.place(self._first + row)}; does {option('scores')} name the columns "
                    "of all classes?"
                )
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
            values = entries(column)  # the file's own memory
            finite = np.isfinite(values)
            if finite.all():
                return values
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

    def numbered(self, name: str, number_of: Numbered) -> IntArray:
        """Read a column of labels, as numbers of their texts; 0 in rows that are left out."""
        counted = counted_labels(self.batch.column(name), number_of)
        if counted is not None:
            return counted
        codes, texts = self.label_codes(name)
        occurs = np.bincount(codes[codes >= 0], minlength=len(texts)) > 0
        numbers = [
            -1 if text is None or not there else number_of(text)
            for text, there in zip(texts, occurs, strict=True)
        ]
        found = np.array([*numbers, -1], dtype=np.intp)[codes]  # the last is for rows without a label
        bad = found < 0
        if bad.any():
            if not self._skips:
                row = int(np.argmax(bad))
                raise DataError(
                    f"the column {name!r} of {self._source.name} must hold one of the classes "
                    f"{shown(number_of.texts)}; got {texts[codes[row]]!r} in "
                    f"{self._source.place(self._first + row)}; classes are named by {option('scores')} or "
                    f"{option('classes')}"
                )
            self._leave_out(bad)
            found[bad] = 0
        return np.asarray(found)

    def groups(self, name: str, number_of: Numbered) -> IntArray:
        """Read a column of groups, as numbers of their names; rows without one are a group too."""
        codes, texts = label_codes(self.batch.column(name), name, self._source)
        names = [*(text or NO_GROUP for text in texts), NO_GROUP]
        occurs = np.bincount(np.where(codes < 0, len(texts), codes), minlength=len(names)) > 0
        numbers = [number_of(text) if there else 0 for text, there in zip(names, occurs, strict=True)]
        return np.array(numbers, dtype=np.intp)[codes]

    def names(self, name: str) -> Array:
        """Read a column of names, as texts."""
        codes, texts = label_codes(self.batch.column(name), name, self._source)
        return np.array([*(text or NO_GROUP for text in texts), NO_GROUP], dtype=object)[codes]

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


def counted_labels(column: pa.Array, number_of: Numbered) -> IntArray | None:
    """Numbers of labels that are whole numbers, all of them known; None for others.

    A table of all numbers between the least and the greatest is ten times faster than telling labels apart.
    """
    whole = pa.types.is_integer(column.type)
    if not (whole or pa.types.is_floating(column.type)) or column.null_count or len(column) == 0:
        return None
    values = entries(column)
    least, greatest = float(values.min()), float(values.max())
    if not greatest - least < FEW_LABELS or abs(least) > FEW_LABELS:
        return None
    labels: IntArray = values.astype(np.intp)
    if not (whole or np.array_equal(labels, values)):
        return None
    start = int(least)
    if start:
        labels -= start
    there = np.flatnonzero(np.bincount(labels))
    numbers = np.full(int(greatest) - start + 1, -1, dtype=np.intp)
    numbers[there] = [number_of(str(start + value)) for value in there.tolist()]
    if numbers[there].min() < 0:
        return None
    return labels if np.array_equal(numbers[there], there) else numbers[labels]


def as_proba(scores: Float64Array) -> Float64Array:
    """Probabilities of all classes; a single column is that of the second of two."""
    matrix = scores[:, None] if scores.ndim == 1 else scores
    return np.column_stack([1.0 - matrix[:, 0], matrix[:, 0]]) if matrix.shape[1] == 1 else matrix
