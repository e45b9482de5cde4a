"""Scores or probabilities with their labels, out of a file and into memory: all rows, or a sample of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._chance import generator
from calibrant._core._checks import ROUNDING
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.cli._progress import watched
from calibrant.cli._wanted import Wanted, choose_scores, texts_of_classes
from calibrant.files import (
    BatchReader,
    Chosen,
    Columns,
    Source,
    label_codes,
    label_values,
    place_finder,
    shown,
)

#: How far from one the printed probabilities of a row may sum.
SUM_ROUNDING = 1e-3
#: What the group of rows is called that have none.
NO_GROUP = "(none)"
#: Bytes of a number.
NUMBER_BYTES = 8


class RowsDoNotFit(Exception):  # noqa: N818  (nothing went wrong)
    """The rows take more memory than they may."""


@dataclass(frozen=True)
class Labelled:
    """Rows of a file.

    Attributes
    ----------
    scores : ndarray of shape (n, l)
        The numbers of the score columns.
    truth : ndarray of shape (n,)
        The number of every row's class.
    classes : ndarray of shape (k,)
        The labels; with a single score the second is the positive class.
    weights : ndarray of shape (n,) or None
        The weights.
    group, groups : ndarray of shape (n,), list of str
        The number of every row's group, and the names of the groups.
    columns : tuple of str
        The score columns.
    n_read : int
        Rows of the file that can be used; more than n, if only a sample was kept.
    n_skipped : int
        Rows that were left out because they cannot be used.
    """

    scores: Float64Array
    truth: IntArray
    classes: Array
    weights: Float64Array | None
    group: IntArray
    groups: list[str]
    columns: tuple[str, ...]
    n_read: int
    n_skipped: int

    @property
    def labels(self) -> Array:
        """The label of every row."""
        return np.asarray(self.classes[self.truth])

    @property
    def score_array(self) -> Float64Array:
        """The scores, of shape (n,) if there is one per row."""
        return self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores

    @property
    def proba(self) -> Float64Array:
        """The scores as probabilities of all classes."""
        return as_proba(self.scores)


def as_proba(matrix: Float64Array) -> Float64Array:
    """Probabilities of all classes; a single column is that of the second of two."""
    return np.column_stack([1.0 - matrix[:, 0], matrix[:, 0]]) if matrix.shape[1] == 1 else matrix


@dataclass
class _Texts:
    """Numbers for texts, in the order in which they first come."""

    number: dict[str, int] = field(default_factory=dict)
    first_place: dict[str, str] = field(default_factory=dict)

    def add(self, codes: IntArray, texts: Sequence[str | None], source: Source, first: int) -> IntArray:
        """Take the texts of a batch, and give their numbers; -1 for rows without one."""
        for code, row in zip(*np.unique(codes, return_index=True), strict=True):
            text = texts[code] if code >= 0 else None
            if text is not None and text not in self.number:
                self.number[text] = len(self.number)
                self.first_place[text] = source.place(first + int(row))
        numbers = [-1 if text is None else self.number.get(text, -1) for text in texts]
        return np.array([*numbers, -1], dtype=np.intp)[codes]


class _Gathered:
    """Arrays of all batches; or of a fair sample of their rows, always the same one, in the order read."""

    def __init__(self, most: int | None) -> None:
        self._most, self._n, self.n_seen = most, 0, 0
        self._parts: list[list[Array]] = []
        self._random = generator(0)

    def add(self, arrays: list[Array]) -> None:
        """Take the rows of a batch."""
        n = len(arrays[0])
        self.n_seen += n
        # Rows of the least random numbers stay.
        self._parts.append([*arrays, np.empty(n) if self._most is None else self._random.random(n)])
        self._n += n
        if self._most is not None and self._n > 2 * self._most:
            self._thin(self._most)

    def _thin(self, most: int) -> None:
        joined = [np.concatenate(each) for each in zip(*self._parts, strict=True)]
        if len(joined[-1]) > most:
            kept = np.sort(np.argpartition(joined[-1], most)[:most])
            joined = [each[kept] for each in joined]
        self._parts, self._n = [joined], len(joined[-1])

    def arrays(self) -> list[Array]:
        """All that was kept."""
        if self._most is not None:
            self._thin(self._most)
        return [np.concatenate(each) for each in list(zip(*self._parts, strict=True))[:-1]]


def read_labelled(
    source: Source, wanted: Wanted, *, most: int | None = None, most_bytes: int | None = None
) -> Labelled:
    """Read all rows with their labels, or keep a random sample of at most so many.

    Beyond `most_bytes`, `RowsDoNotFit` is raised.
    """
    assert wanted.label is not None
    chosen = choose_scores(source, wanted)
    labels, groups = _Texts(), _Texts()
    label_type, first = pa.string(), 0
    columns = list(dict.fromkeys([*chosen.columns, *wanted.others]))
    gathered = _Gathered(most)
    for batch in watched(source.batches(columns), source, "reading"):
        reader = BatchReader(batch, source, first, wanted.skips)
        arrays = [
            read_matrix(reader, chosen.columns, wanted, source, first),
            labels.add(*reader.label_codes(wanted.label), source, first),
            np.empty(batch.num_rows) if wanted.weight is None else reader.weights(wanted.weight),
        ]
        group: Array = np.zeros(batch.num_rows, dtype=np.intp)
        if wanted.group is not None:
            its, names = read_groups(batch.column(wanted.group), wanted.group, source)
            # Of a sample, the names of all other rows are not kept.
            group = groups.add(its, names, source, first) if most is None else np.array(names, object)[its]
        arrays.append(group)
        gathered.add(arrays if reader.usable is None else [each[reader.usable] for each in arrays])
        label_type, first = batch.column(wanted.label).type, first + batch.num_rows
        if most_bytes is not None and gathered.n_seen * len(columns) * NUMBER_BYTES > most_bytes:
            raise RowsDoNotFit
    refuse_no_rows(gathered.n_seen, first, source)
    scores, codes, weights, group = gathered.arrays()
    classes, place = _classes_of(labels, chosen, wanted, source, label_type)
    position = np.asarray(place, dtype=np.intp)[codes]
    known = position >= 0
    if not known.all():
        scores, position, weights, group = (each[known] for each in (scores, position, weights, group))
        refuse_no_rows(len(position), first, source)
    names = list(groups.number)
    if wanted.group is not None and most is not None:
        found, group = np.unique(group.astype(np.str_), return_inverse=True)
        names = found.tolist()
    return Labelled(
        scores,
        position,
        classes,
        None if wanted.weight is None else weights,
        group,
        names,
        chosen.columns,
        gathered.n_seen - int((~known).sum()),
        first - gathered.n_seen + int((~known).sum()),
    )


def read_matrix(
    reader: BatchReader, columns: Sequence[str], wanted: Wanted, source: Source, first: int
) -> Float64Array:
    """The scores of a batch, with a check that they are probabilities if they must be."""
    matrix = reader.scores(columns)
    if wanted.proba:
        checked = matrix if reader.usable is None else np.where(reader.usable[:, None], matrix, np.nan)
        check_proba(checked, columns, source, first, sums=not wanted.coded)
    return matrix


def refuse_no_rows(n_usable: int, n_read: int, source: Source) -> None:
    """Refuse a file of which no row can be used."""
    if n_read == 0:
        raise DataError(f"{source.name} must have at least one row under its header; it has none")
    if n_usable == 0:
        raise DataError(
            f"{source.name} must have a row that can be used; all {n_read:,} were left out; see what is "
            "wrong with them by --invalid error"
        )


def read_groups(column: pa.Array, name: str, source: Source) -> tuple[IntArray, list[str]]:
    """The groups of a batch; rows without one are a group too."""
    codes, texts = label_codes(column, name, source)
    return np.where(codes < 0, len(texts), codes), [*(text or NO_GROUP for text in texts), NO_GROUP]


def _classes_of(
    labels: _Texts, chosen: Chosen, wanted: Wanted, source: Source, label_type: pa.DataType
) -> tuple[Array, list[int]]:
    """The classes in order, and for every label that was found its place among them."""
    texts = texts_of_classes(in_order(list(labels.number), label_type, source), chosen, wanted)
    return label_values(texts, label_type, source.as_text), _places(labels, texts, wanted, source)


def in_order(texts: list[str], label_type: pa.DataType, source: Columns) -> list[str]:
    """Labels sorted by their values."""
    return [str(label_text(label)) for label in np.sort(label_values(texts, label_type, source.as_text))]


def _places(labels: _Texts, texts: list[str], wanted: Wanted, source: Source) -> list[int]:
    """For every label its place among the classes; a label that is none of them is named with its row."""
    place_of = place_finder(texts)
    places = [place_of(text) for text in labels.first_place]
    if -1 in places and not wanted.skips:
        text, row = list(labels.first_place.items())[places.index(-1)]
        raise DataError(
            f"every label must be one of the classes, {shown(texts)}; got {text!r} in the column "
            f"{wanted.label!r} of {source.name}, in {row}; classes are named by --scores or --classes"
        )
    return places


def check_proba(
    rows: Float64Array, columns: Sequence[str], source: Source, first: int, *, sums: bool = True
) -> None:
    """Refuse numbers that are no probabilities, with the row that has them; NaN is let through."""
    outside = (rows < -ROUNDING) | (rows > 1 + ROUNDING)
    if outside.any():
        row, place = np.argwhere(outside)[0]
        raise DataError(
            f"the column {columns[place]!r} of {source.name} must hold probabilities, from 0 to 1; got "
            f"{rows[row, place]:g} in {source.place(first + int(row))}; scores must go through calibrant fit "
            "and apply first"
        )
    if len(columns) == 1 or not sums:
        return
    total = rows.sum(axis=1)
    wrong = np.abs(total - 1.0) > SUM_ROUNDING
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"the probabilities of a row of {source.name} must sum to one; got {total[row]:g} in "
            f"{source.place(first + row)}; does --scores name the columns of all classes?"
        )
