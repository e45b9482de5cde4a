"""Rows at the border: forecasts, what came if it is known, when, of which groups, under which key."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray, as_array, as_floats
from calibrant._core._checks import (
    are_missing,
    check_class_labels,
    check_probabilities,
    check_weights,
    plain,
    positions_of,
)
from calibrant._core._errors import DataError
from calibrant._core._names import by_label

#: How far from one a row may sum: probabilities printed with four decimals still pass.
SUM_TOLERANCE = 1e-3
#: The truth of rows whose label is not known.
UNKNOWN = -1
#: What a missing value of a group is called.
MISSING = None


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows in time order.

    Attributes
    ----------
    proba : ndarray of shape (n, k)
        Forecasts, which sum to one.
    truth : ndarray of int of shape (n,)
        The number of the class that came, or UNKNOWN.
    weights : ndarray of shape (n,)
        How much rows count, at most 1.
    place : ndarray of shape (n, 2)
        Number and time of the row.
    groups : ndarray of int of shape (n, g)
        For every column of groups the number of its value.
    """

    proba: Float64Array
    truth: IntArray
    weights: Float64Array
    place: Float64Array
    groups: IntArray

    def __len__(self) -> int:
        return len(self.truth)

    def arrays(self) -> tuple[Array, ...]:
        """All of it, in the order of the attributes."""
        return self.proba, self.truth, self.weights, self.place, self.groups

    def take(self, rows: Any) -> "Rows":
        """Some of the rows."""
        return Rows(*(each[rows] for each in self.arrays()))

    def then(self, later: "Rows") -> "Rows":
        """These and later rows."""
        pairs = zip(self.arrays(), later.arrays(), strict=True)
        return Rows(*(np.concatenate(pair) for pair in pairs))


def no_rows(n_classes: int, n_groups: int) -> Rows:
    """No rows of this kind."""
    return Rows(
        np.empty((0, n_classes)),
        np.empty(0, dtype=np.intp),
        np.empty(0),
        np.empty((0, 2)),
        np.empty((0, n_groups), dtype=np.intp),
    )


def read_proba(proba: object, n_classes: int | None, classes: Array | None) -> Float64Array:
    """Forecasts with one column per class that sum to one; a single column is of the positive class."""
    numbers = as_floats(proba, "proba")
    if numbers.ndim == 1 or (numbers.ndim == 2 and numbers.shape[1] == 1):
        positive = check_probabilities(numbers).ravel()
        matrix = np.column_stack([1.0 - positive, positive])
    else:
        if classes is not None and numbers.ndim == 2 and numbers.shape[1] == len(classes):
            numbers = by_label(proba, numbers, lambda: classes, "proba")
        matrix = check_probabilities(numbers)
    if n_classes is not None and matrix.shape[1] != n_classes:
        raise DataError(
            f"proba must have one column per class, {n_classes} in all; got {matrix.shape[1]} columns"
        )
    matrix = np.ascontiguousarray(matrix)
    total = matrix.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1.0) > SUM_TOLERANCE)
    if len(wrong):
        raise DataError(
            f"every row of proba must sum to 1; row {wrong[0]} sums to {total[wrong[0]]:.6g}; divide every "
            "row by its sum, or calibrate the scores first"
        )
    return np.asarray(matrix / total[:, np.newaxis])


def read_truth(y: object, n_rows: int, n_classes: int, classes: Array | None) -> IntArray:
    """Numbers of the classes that came; UNKNOWN where there is no label."""
    if y is None:
        return np.full(n_rows, UNKNOWN)
    labels = as_array(y, "labels")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n_rows,):
        raise DataError(f"labels must have one value per row, {n_rows} in all; got shape {labels.shape}")
    known = ~are_missing(labels)
    truth = np.full(n_rows, UNKNOWN)
    if not known.any():
        return truth
    there = labels[known]
    if there.dtype.kind == "O":
        there = np.array(there.tolist())
    if classes is not None:
        if there.dtype.kind == "f" and classes.dtype.kind in "iub":
            there = _whole(there)
        truth[known] = positions_of(there, classes)
    elif there.dtype.kind in "biuf":
        truth[known] = check_class_labels(there, n_classes)
    else:
        raise DataError(
            f"labels must be column numbers where the monitor has no classes; got {plain(there[0])!r}; pass "
            "classes= with the labels of the columns in order"
        )
    return truth


def _whole(labels: Array) -> Array:
    """Labels that became floating point only because some were missing."""
    return labels.astype(np.int64) if np.array_equal(labels, np.floor(labels)) else labels


def read_weights(sample_weight: object, n_rows: int, greatest: float) -> Float64Array:
    """Weights as shares of the greatest one that there may be."""
    if sample_weight is None:
        return np.full(n_rows, 1.0)
    # A batch may well be without weight, unlike all rows of an evaluation.
    given = check_weights(np.append(as_floats(sample_weight, "sample_weight"), greatest), n_rows + 1)
    assert given is not None
    given = given[:-1]
    if n_rows and given.max() > greatest:
        row = int(given.argmax())
        raise DataError(
            f"sample_weight must not exceed the greatest weight of the reference, {greatest:.6g}; got "
            f"{given[row]:.6g} in row {row}; a row counts at most once as evidence: start a monitor whose "
            "reference has such weights, or divide them"
        )
    return np.asarray(given / greatest)


def read_times(time: object, n_rows: int, last: float, *, dated: bool | None) -> tuple[Float64Array, bool]:
    """Times as numbers, which never fall; and whether they are dates, which count microseconds since 1970."""
    values = as_array(time, "time")
    if values.shape != (n_rows,):
        raise DataError(f"time must have one value per row, {n_rows} in all; got shape {values.shape}")
    dates = values.dtype.kind not in "biuf"
    if dated is not None and dates is not dated and n_rows:
        kinds = ("numbers", "dates")
        raise DataError(f"time must be {kinds[dated]} as before; got {kinds[dates]}")
    try:
        with np.errstate(invalid="ignore"):
            numbers = (_dates(values) if dates else as_floats(values, "time")).astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"time must be numbers or dates; got {plain(values[0])!r}; convert it") from error
    missing = np.isnat(_dates(values)) if dates else ~np.isfinite(numbers)
    if missing.any():
        raise DataError(f"time must not be missing; row {int(missing.argmax())} has none; drop those rows")
    before = np.append(last, numbers[:-1])
    back = np.flatnonzero(numbers < before)
    if len(back):
        raise DataError(
            f"time must not go back; row {back[0]} has {shown_time(numbers[back[0]], dates)} after "
            f"{shown_time(before[back[0]], dates)}; sort the rows by time; labels that come late are given "
            "to add_labels"
        )
    return numbers, dates


def _dates(values: Array) -> Array:
    """Dates of any kind, without their zone, which must be the same for all."""
    if values.dtype.kind == "O":
        values = np.array(
            [each.replace(tzinfo=None) if hasattr(each, "tzinfo") else each for each in values.tolist()]
        )
    return values.astype("datetime64[us]")


def shown_time(number: float, dated: bool) -> str:
    """A time as people write it."""
    if not dated:
        return f"{number:.10g}"
    text = str(np.datetime64(int(number), "us"))
    return text.removesuffix(".000000").removesuffix("T00:00:00")


def read_columns(group: object, n_rows: int) -> dict[str, Array]:
    """Columns of groups by name: a mapping, a frame, a matrix, or a single column."""
    if isinstance(group, Mapping):
        columns = {str(name): as_array(each, f"group {name}") for name, each in group.items()}
    else:
        array = as_array(group, "group")
        names = getattr(group, "columns", None)
        if array.ndim == 1:
            array = array[:, np.newaxis]
            names = [getattr(group, "name", None) or "group"]
        if array.ndim != 2:
            raise DataError(f"group must be one column or several; got shape {array.shape}")
        known = names is not None and len(names) == array.shape[1]
        titles = [str(name) for name in names] if known else [f"group{i}" for i in range(array.shape[1])]  # type: ignore[union-attr]
        columns = dict(zip(titles, array.T, strict=True))
    for name, each in columns.items():
        if each.dtype.kind not in "biufOUSmM":
            raise DataError(f"group {name} must be texts or numbers; got values of type {each.dtype}")
        if each.shape != (n_rows,):
            raise DataError(
                f"group {name} must have one value per row, {n_rows} in all; got shape {each.shape}"
            )
    return columns


def numbered(column: Array, known: list[object]) -> IntArray:
    """The numbers of values; new ones are appended to the known ones in the order in which they come."""
    if column.dtype.kind == "O":
        return number_values(column.tolist(), known)
    distinct, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    numbers = np.empty(len(distinct), dtype=np.intp)
    numbers[order] = number_values(distinct[order].tolist(), known)
    return np.asarray(numbers[inverse])


def number_values(values: Iterable[object], known: list[object]) -> IntArray:
    """The number of every value; new ones are appended, and what is missing is a value of its own."""
    numbers = {(type(each), each): number for number, each in enumerate(known)}
    found = []
    for value in map(_plain, values):
        number = numbers.setdefault((type(value), value), len(known))
        if number == len(known):
            known.append(value)
        found.append(number)
    return np.array(found, dtype=np.intp)


def _plain(value: object) -> object:
    """A value that JSON has."""
    if isinstance(value, str | bool | int):
        return value
    if bool(are_missing(np.array([value], dtype=object))[0]):
        return MISSING
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else value
    return str(value)
