"""Scores or probabilities with their labels, out of a file and the options that say where they are."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import ROUNDING
from calibrant._core._errors import DataError, ParameterError
from calibrant.cli._progress import watched
from calibrant.engines import Chosen, Source, choose_columns
from calibrant.engines._columns import (
    label_text,
    label_values,
    match_classes,
    read_label_texts,
    read_numbers,
    read_scores,
)
from calibrant.engines._source import COUNTED, shown

#: How far from one the printed probabilities of a row may sum.
SUM_ROUNDING = 1e-3
#: Numbers of a batch, so that a batch of many columns is no larger than one of few.
BATCH_NUMBERS = 1 << 20


@dataclass(frozen=True)
class Wanted:
    """What the options say about the columns of a file.

    Attributes
    ----------
    scores : str
        Name or pattern of the score columns.
    label, weight, group : str or None
        Other columns.
    positive : str or None
        The label that a single score is for.
    classes : list of str or None
        The labels of the score columns.
    coded : bool
        Whether the columns are those of a code, and not the classes.
    """

    scores: str
    label: str | None = None
    weight: str | None = None
    group: str | None = None
    positive: str | None = None
    classes: list[str] | None = None
    coded: bool = False


@dataclass(frozen=True)
class Labelled:
    """Rows of a file.

    Attributes
    ----------
    scores : ndarray of shape (n, l)
        The numbers of the score columns.
    position : ndarray of shape (n,)
        The number of every row's class.
    classes : ndarray of shape (k,)
        The labels; with a single score the second is the positive class.
    weights : ndarray of shape (n,) or None
        The weights.
    group, groups : ndarray of shape (n,), list of str
        The number of every row's group, and the names of the groups.
    columns : tuple of str
        The score columns.
    """

    scores: Float64Array
    position: IntArray
    classes: Array
    weights: Float64Array | None
    group: IntArray
    groups: list[str]
    columns: tuple[str, ...]

    @property
    def labels(self) -> Array:
        """The label of every row."""
        return np.asarray(self.classes[self.position])

    @property
    def score_array(self) -> Float64Array:
        """The scores, of shape (n,) if there is one per row."""
        return self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores

    @property
    def proba(self) -> Float64Array:
        """The scores as probabilities of all classes."""
        if self.scores.shape[1] > 1:
            return self.scores
        return np.column_stack([1.0 - self.scores[:, 0], self.scores[:, 0]])


@dataclass
class _Texts:
    """Numbers for texts, in the order in which they first come."""

    number: dict[str, int] = field(default_factory=dict)
    first_row: dict[str, int] = field(default_factory=dict)
    codes: list[IntArray] = field(default_factory=list)

    def add(self, codes: IntArray, texts: list[str], first: int) -> None:
        """Take the texts of a batch."""
        for place, text in enumerate(texts):
            if text not in self.number:
                where = np.flatnonzero(codes == place)
                if len(where):
                    self.number[text] = len(self.number)
                    self.first_row[text] = first + int(where[0]) + 1
        numbers = np.array([self.number.get(text, 0) for text in texts], dtype=np.intp)
        self.codes.append(numbers[codes])

    def all_codes(self) -> IntArray:
        """The numbers of all rows."""
        return np.concatenate(self.codes) if self.codes else np.empty(0, dtype=np.intp)


def batches_of(source: Source, columns: list[str], n_scores: int, what: str) -> Iterator[pa.RecordBatch]:
    """Read a source in batches of a size that suits the number of scores, and show how far it is."""
    rows = max(1024, BATCH_NUMBERS // max(8, n_scores))
    return watched(source.batches(columns, rows), source, what)


def choose_scores(source: Source, wanted: Wanted) -> Chosen:
    """The score columns, with the classes that the user or their names give them."""
    chosen = choose_columns(source, wanted.scores, without=[wanted.label, wanted.weight, wanted.group])
    if wanted.classes is None or wanted.coded or len(chosen.columns) == 1:
        return chosen
    if len(wanted.classes) != len(chosen.columns):
        raise ParameterError(
            f"--classes must give one label per score column, {len(chosen.columns)} in all; got "
            f"{len(wanted.classes)}; the columns are {', '.join(chosen.columns)}"
        )
    return Chosen(chosen.columns, tuple(wanted.classes))


def read_labelled(source: Source, wanted: Wanted) -> Labelled:
    """Read all rows with their labels."""
    assert wanted.label is not None
    chosen = choose_scores(source, wanted)
    others = [name for name in (wanted.label, wanted.weight, wanted.group) if name is not None]
    scores, weights = [], []
    labels, groups = _Texts(), _Texts()
    label_type, n_rows = pa.string(), 0
    columns = list(dict.fromkeys([*chosen.columns, *others]))
    for batch in batches_of(source, columns, len(chosen.columns), "reading"):
        scores.append(read_scores(batch, chosen.columns, source, n_rows))
        column = batch.column(wanted.label)
        labels.add(*read_label_texts(column, wanted.label, source, n_rows), n_rows)
        if wanted.weight is not None:
            weights.append(read_weights(batch, wanted.weight, source, n_rows))
        if wanted.group is not None:
            groups.add(*_read_groups(batch.column(wanted.group)), n_rows)
        label_type, n_rows = column.type, n_rows + batch.num_rows
    if n_rows == 0:
        raise DataError(f"{source.name} must have at least one row under its header; it has none")
    classes, place = _classes_of(labels, chosen, wanted, source, label_type)
    return Labelled(
        np.concatenate(scores),
        np.asarray(place)[labels.all_codes()],
        classes,
        np.concatenate(weights) if weights else None,
        groups.all_codes(),
        list(groups.number),
        chosen.columns,
    )


def read_weights(batch: pa.RecordBatch, name: str, source: Source, first: int) -> Float64Array:
    """The weights of a batch, none of them negative."""
    weights = read_numbers(batch.column(name), name, source, first)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise DataError(
            f"the column {name!r} of {source.name} must not be negative; got {weights[row]:g} in row "
            f"{first + row + 1} ({COUNTED})"
        )
    return weights


def _read_groups(column: pa.Array) -> tuple[IntArray, list[str]]:
    """The groups of a batch; rows without one are a group too."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    texts = [label_text(value) or "(none)" for value in encoded.dictionary.to_pylist()]
    codes = encoded.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return codes.astype(np.intp), [*texts, "(none)"]


def _classes_of(
    labels: _Texts, chosen: Chosen, wanted: Wanted, source: Source, label_type: pa.DataType
) -> tuple[Array, list[int]]:
    """The classes in order, and for every label that was found its place among them."""
    found = list(labels.number)
    values = np.sort(label_values(found, label_type, source.as_text))
    ordered = [str(label_text(label)) for label in values]
    if wanted.coded:
        texts = wanted.classes or ordered
    elif len(chosen.columns) == 1:
        texts = two_classes(ordered, chosen, wanted)
    else:
        texts = list(chosen.classes)
    return label_values(texts, label_type, source.as_text), _places(labels, texts, wanted, source)


def _places(labels: _Texts, texts: list[str], wanted: Wanted, source: Source) -> list[int]:
    """For every label its place among the classes; a label that is none of them is named with its row."""
    places = []
    for text, row in labels.first_row.items():
        try:
            places += match_classes([text], texts, "", "")
        except DataError:
            raise DataError(
                f"every label must be one of the classes, {shown(texts)}; got {text!r} in row {row} of the "
                f"column {wanted.label!r} of {source.name} ({COUNTED}); classes are named by --scores or "
                "--classes"
            ) from None
    return places


def two_classes(ordered: list[str], chosen: Chosen, wanted: Wanted) -> list[str]:
    """The two classes of a single score, the positive one second.

    That is the one the user names; or the one that the star of the pattern stands for; or the greater label.
    """
    if wanted.classes is not None:
        if len(wanted.classes) != 2:
            raise ParameterError(
                "--classes must give two labels for a single score, the positive one second; got "
                f"{wanted.classes}"
            )
        return wanted.classes
    if len(ordered) > 2:
        raise DataError(
            f"a single score column, {chosen.columns[0]!r}, must have two classes; got {len(ordered)} "
            f"labels: {shown(ordered)}; name one score column per class in --scores"
        )
    named = wanted.positive or (chosen.classes[0] if chosen.classes[0] in ordered else None)
    both = ordered if len(ordered) == 2 else _with_partner(ordered[0], named)
    if named is None:
        return both
    place = match_classes([named], both, "the label of --positive", "the labels")[0]
    return [both[1 - place], both[place]]


def _with_partner(only: str, named: str | None) -> list[str]:
    """Two classes where a single label occurs."""
    partners = {"0": "1", "1": "0", "-1": "1", "true": "false", "false": "true"}
    partner = named if named not in (None, only) else partners.get(only)
    if partner is None:
        raise DataError(
            f"the labels must have two values; got only {only!r}; name both with --classes, the positive one "
            "second"
        )
    return sorted([only, partner], key=lambda text: (text in ("1", "true"), text))


def check_proba(rows: Float64Array, columns: tuple[str, ...], source: Source, first: int) -> None:
    """Refuse numbers that are no probabilities, with the row that has them."""
    outside = (rows < -ROUNDING) | (rows > 1 + ROUNDING)
    if outside.any():
        row, place = np.argwhere(outside)[0]
        raise DataError(
            f"the column {columns[place]!r} of {source.name} must hold probabilities, from 0 to 1; got "
            f"{rows[row, place]:g} in row {first + row + 1} ({COUNTED}); scores must go through calibrant "
            "fit and apply first"
        )
    sums = rows.sum(axis=1)
    wrong = np.abs(sums - 1.0) > SUM_ROUNDING
    if len(columns) > 1 and wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"the probabilities of a row of {source.name} must sum to one; got {sums[row]:g} in row "
            f"{first + row + 1} ({COUNTED}); does --scores name the columns of all classes?"
        )


def read_probabilities(source: Source, wanted: Wanted) -> Labelled:
    """Read all rows with their labels, and make sure that the numbers are probabilities."""
    rows = read_labelled(source, wanted)
    check_proba(rows.scores, rows.columns, source, 0)
    return rows
