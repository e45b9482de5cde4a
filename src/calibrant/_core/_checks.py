"""The checks at the border: done once, on what the user passed in.

Inside the library arrays are trusted. Rows are counted from 0 in every message.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real

import numpy as np

from calibrant._core._arrays import (
    Array,
    BoolArray,
    Float64Array,
    FloatArray,
    IntArray,
    Target,
    as_array,
    as_floats,
    is_masked,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._hints import closest

#: Whole numbers above this are mistakes: they count rows, rounds or classes.
MOST = 2**31 - 1
#: How far outside [0, 1] rounding may carry a probability.
ROUNDING = 1e-9
#: What to do where numbers are no probabilities.
OF_MARGINS = "calibrate margins first, or pass kind='margin' where scores have a kind"


def check_option(name: str, value: object, allowed: Sequence[object]) -> None:
    """Refuse an option that is not one of the allowed values."""
    # An array would be compared entry by entry.
    known = value is None or isinstance(value, str | bool | int | float)
    if not known or not any(value is option or value == option for option in allowed):
        raise not_among(name, value, allowed)


def not_among(
    name: str, value: object, allowed: Iterable[object], *, otherwise: str = "", aliases: Iterable[str] = ()
) -> ParameterError:
    """The error for a value that is none of those allowed, which offers the closest of them."""
    options = list(allowed)
    return ParameterError(
        f"{name} must be one of {', '.join(map(repr, options))}{otherwise}; got {shown(value)}"
        f"{closest(value, [*options, *aliases])}"
    )


def check_flag(name: str, value: object) -> bool:
    """Refuse what is neither true nor false."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise ParameterError(f"{name} must be True or False; got {shown(value)}")


def check_number(name: str, value: object, must: str, holds: Callable[[float], bool]) -> float:
    """Refuse an option that is no finite number, or one that will not do."""
    try:
        is_number = isinstance(value, Real) and not isinstance(value, np.timedelta64)
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not (math.isfinite(number) and holds(number)):
        raise ParameterError(f"{name} must be {must}; got {shown(value)}")
    return number


def is_whole(value: object, least: int, most: int = MOST) -> bool:
    """Whether a value is a whole number within bounds; True is none, and neither is a duration of NumPy's."""
    whole = isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)
    return whole and least <= int(value) <= most  # type: ignore[call-overload]


def can_take(function: object, n_arguments: int) -> bool:
    """Whether something can be called with so many arguments, as far as it says."""
    if not callable(function) or isinstance(function, type):
        return False
    try:
        inspect.signature(function).bind(*[None] * n_arguments)
    except TypeError:
        return False
    except ValueError:  # it does not say
        return True
    return True


def check_n_jobs(n_jobs: object) -> int | None:
    """A number of jobs, as joblib takes it."""
    if n_jobs is None:
        return None
    if is_whole(n_jobs, -MOST) and n_jobs != 0:
        return int(n_jobs)  # type: ignore[call-overload, no-any-return]
    raise ParameterError(
        f"n_jobs must be None or a whole number, not 0, -1 for all processors; got {shown(n_jobs)}"
    )


def check_scores(scores: object, name: str = "scores") -> FloatArray:
    """One finite score per row: shape (n,) or (n, 1) in, (n,) out."""
    array = as_floats(scores, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{name} must be one column, of shape (n,) or (n, 1); got shape {array.shape}; choose one "
            "column, or use OneVsAllCalibrator for one score per class"
        )
    check_finite(array, name)
    return array


def check_score_matrix(scores: object, n_classes: int | None = None, name: str = "scores") -> FloatArray:
    """One finite score per row and class: shape (n, k)."""
    array = as_floats(scores, name)
    if array.ndim != 2 or array.shape[1] < 2:
        raise DataError(
            f"{name} must have one column per class, of shape (n, k) with k >= 2; got shape {array.shape}"
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise DataError(
            f"{name} must have one column per class, {n_classes} in all; got {array.shape[1]} columns"
        )
    check_finite(array, name)
    return array


def check_finite(array: FloatArray, name: str) -> None:
    """Refuse NaN and infinities, and say where they are."""
    finite = np.isfinite(array)
    if finite.all():
        return
    places = np.argwhere(~finite)
    first = tuple(places[0])
    where = f"row {first[0]}" + (f", column {first[1]}" if len(first) > 1 else "")
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    raise DataError(
        f"{name} must be finite; got {array[first]} in {where}{more}; drop those rows or fill them first"
    )


def check_not_empty(n_rows: int, name: str = "scores") -> None:
    """Refuse to learn or measure without rows."""
    if n_rows == 0:
        raise DataError(f"{name} must have at least one row; got none")


def check_same_length(**arrays: Array | None) -> None:
    """Refuse arrays with different numbers of rows."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        names, sizes = " and ".join(lengths), " and ".join(map(str, lengths.values()))
        raise DataError(f"{names} must have the same number of rows; got {sizes}")


def check_weights(sample_weight: object, n_rows: int) -> Float64Array | None:
    """Finite weights, none negative, not all zero; None means that every row counts once."""
    if sample_weight is None:
        return None
    weights = np.asarray(as_floats(sample_weight, "sample_weight"), dtype=np.float64)
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight must have one weight per row, {n_rows} in all; got shape {weights.shape}"
        )
    check_finite(weights, "sample_weight")
    if weights.size and weights.min() < 0:
        row = int(np.argmax(weights < 0))
        raise DataError(f"sample_weight must not be negative; got {weights[row]} in row {row}")
    if weights.size and not weights.any():
        raise DataError("sample_weight must not be all zero; got zero for every row")
    return weights


def check_probabilities(proba: object, name: str = "proba") -> Float64Array:
    """Probabilities of shape (n,) or (n, k), each in [0, 1]; rows need not sum to one."""
    array = np.asarray(as_floats(proba, name), dtype=np.float64)
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < 1):
        raise DataError(f"{name} must have shape (n,) or (n, k); got shape {array.shape}")
    if array.size == 0:
        return array
    low, high = array.min(), array.max()
    if low >= 0 and high <= 1:  # which nothing is that is not finite
        return array
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):  # what is no number is no less and no greater
        check_finite(array, name)
        outside = (array < -ROUNDING) | (array > 1 + ROUNDING)
        first = tuple(np.argwhere(outside)[0])
        raise DataError(f"{name} must lie in [0, 1]; got {array[first]} in row {first[0]}; {OF_MARGINS}")
    return np.clip(array, 0.0, 1.0)


def check_binary_labels(
    y: object, *, classes: object = None, fractions: bool = False
) -> tuple[Array, Target]:
    """The two classes in order, and for every row whether it is of the second, positive one.

    Labels may be any two values. A single value is accepted where its partner is known: 0 or 1, False
    or True, -1. With `fractions`, numbers strictly between 0 and 1 are shares of the positive class
    (no class can be called 0.3), and the second answer is then the shares as float64.
    """
    labels = label_column(y)
    if classes is not None:
        given = _check_classes(classes, 2)
        return given, positions_of(labels, given) == 1
    if labels.dtype.kind == "b":
        return np.array([False, True]), labels
    if labels.dtype.kind in "iuf":
        return _numeric_labels(labels, fractions)
    found = distinct_labels(labels)
    _refuse_unless_two(found)
    return found, labels == found[1]


def _numeric_labels(labels: Array, fractions: bool) -> tuple[Array, Target]:
    """Two numeric labels, found without sorting; or shares of the positive class."""
    low, high = labels.min(), labels.max()
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.floor(labels)):
        if fractions and low >= 0 and high <= 1:
            return np.array([0, 1]), labels.astype(np.float64)
        value = labels[labels != np.floor(labels)][0]
        raise DataError(
            f"labels must be class labels; got the number {value}, which can name no class; were scores "
            "or probabilities passed in their place?"
        )
    positive = labels == high
    if low == high:
        partners = {0: [0, 1], 1: [0, 1], -1: [-1, 1]}
        if low not in partners:
            _refuse_unless_two(labels[:1])
        pair = np.array(partners[int(low)], dtype=labels.dtype)
        return pair, labels == pair[1]
    if not (positive | (labels == low)).all():
        _refuse_unless_two(distinct_labels(labels))
    return np.array([low, high], dtype=labels.dtype), positive


def _refuse_unless_two(found: Array) -> None:
    if len(found) == 2:
        return
    if len(found) == 1:
        raise DataError(
            f"labels must have two values; got only {plain(found[0])!r}, and its partner cannot be guessed; "
            "code the labels as 0 and 1"
        )
    shown = ", ".join(repr(label) for label in found[:5].tolist()) + (", ..." if len(found) > 5 else "")
    raise DataError(
        f"labels must have two values; got {len(found)}: {shown}; more classes need one column of scores "
        "per class"
    )


def check_class_labels(y: object, n_classes: int, classes: object = None) -> IntArray:
    """For every row the number of its class among the columns of a probability matrix.

    Without `classes`, integers are column numbers from 0, and other labels are taken in sorted order,
    which needs all of them to be present.
    """
    labels = label_column(y)
    if classes is not None:
        return positions_of(labels, _check_classes(classes, n_classes))
    if labels.dtype.kind in "biu" or (labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels))):
        if labels.dtype.kind != "b" and (labels.min() < 0 or labels.max() >= n_classes):
            outside = plain(labels[(labels < 0) | (labels >= n_classes)][0])
            outside = int(outside) if isinstance(outside, float) else outside
            raise DataError(
                f"labels must be column numbers from 0 to {n_classes - 1}; got {outside}; pass "
                "classes= with the labels of the columns in order"
            )
        return labels.astype(np.intp)
    found = distinct_labels(labels)
    if len(found) != n_classes:
        raise DataError(
            f"labels must have one value per column, {n_classes} in all; got {len(found)}; pass classes= "
            "with the labels of the columns in order"
        )
    return positions_of(labels, found)


def class_labels(y: object, n_classes: int, classes: object = None) -> Array:
    """The labels whose positions `check_class_labels` gives, which has accepted them."""
    if classes is not None:
        return as_array(classes, "classes")
    labels = label_column(y)
    return np.arange(n_classes) if labels.dtype.kind in "biuf" else distinct_labels(labels)


def labels_of_columns(classes: Sequence[object] | None, y: object, n_columns: int) -> Array:
    """The classes as given, or else the sorted labels, of which there must be one per column."""
    if classes is not None:
        return _check_classes(classes, n_columns)
    found = distinct_labels(label_column(y))
    if len(found) != n_columns:
        raise DataError(
            f"labels must have one value per column of scores, {n_columns} in all; got {len(found)}; "
            "pass classes= with the labels of the columns in order"
        )
    return found


def positions_of(labels: Array, classes: Array) -> IntArray:
    """For every label its place in `classes`, which may be in any order."""
    order = np.argsort(classes, kind="stable")
    try:
        slots = np.searchsorted(classes, labels, sorter=order)
        found = order[np.minimum(slots, len(classes) - 1)]
        known = classes[found] == labels
    except TypeError as error:
        raise DataError(
            f"labels must be of the type of the classes; got {labels.dtype} and {classes.dtype}"
        ) from error
    if not np.all(known):
        row = int(np.argmin(known))
        raise DataError(
            f"labels must be among the classes {classes.tolist()}; got {plain(labels[row])!r} in row {row}"
        )
    return found


def distinct_labels(labels: Array) -> Array:
    """The distinct labels in sorted order."""
    if labels.dtype.kind == "i" and len(labels):
        low = int(labels.min())
        if int(labels.max()) - low < len(labels):  # numbers of classes are counted, which is quicker
            counts = np.bincount(labels.astype(np.intp) - low)
            return (np.flatnonzero(counts) + low).astype(labels.dtype)
    try:
        return np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise DataError(f"labels must all be of one type; got {' and '.join(kinds)}") from error


def shown(value: object) -> str:
    """A value as the user wrote it, or its beginning, on one line."""
    text = " ".join(repr(plain(value)).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def plain(value: object) -> object:
    """A NumPy scalar as Python's own, so that messages show it as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value


def label_column(y: object) -> Array:
    """One label per row, none of them missing."""
    labels = as_array(y, "labels")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"labels must be one column; got shape {labels.shape}")
    check_not_empty(len(labels), "labels")
    return refuse_missing(labels)


def refuse_missing(labels: Array) -> Array:
    """The labels, none of which is missing, and all of which are as exact as they were."""
    if labels.dtype.kind == "f" and labels.dtype.itemsize > 8:
        labels = as_floats(labels, "labels")
    if labels.dtype.kind in "fc":
        check_finite(labels, "labels")
    missing = are_missing(labels)
    if missing.any():
        place = tuple(np.argwhere(missing)[0])
        raise DataError(
            f"labels must not be missing; got {plain(labels[place])!r} in row {place[0]}; drop those rows"
        )
    return labels


def are_missing(labels: Array) -> BoolArray:
    """Which labels are none: None, NaN, NaT and pandas' NA."""
    if labels.dtype.kind == "O":
        missing = [_is_missing(label) for label in labels.ravel().tolist()]
        return np.array(missing, dtype=bool).reshape(labels.shape)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    return np.isnan(labels) if labels.dtype.kind in "fc" else np.zeros(labels.shape, dtype=bool)


def _is_missing(label: object) -> bool:
    """None, NaN, and pandas' NA, which is equal to nothing and not even comparable."""
    try:
        return label is None or is_masked(label) or bool(label != label)  # noqa: PLR0124
    except TypeError:
        return True


def read_classes(classes: object) -> Array:
    """The labels that a user gave: two or more, of one type, none of them missing or there twice."""
    array = as_array(classes, "classes")
    if array.ndim == 1 and len(array) > 1 and not are_missing(array).any():
        try:
            distinct = len(np.unique(array)) == len(array)
        except TypeError:
            distinct = False
        if distinct:
            return array
    raise ParameterError(
        f"classes must be two or more distinct labels, all of one type; got {shown(array.tolist())}"
    )


def _check_classes(classes: object, n_classes: int) -> Array:
    try:
        array = read_classes(classes)
    except ParameterError:
        array = None
    if array is None or len(array) != n_classes:
        came = shown(as_array(classes, "classes").tolist())
        raise ParameterError(f"classes must be {n_classes} distinct labels, one per column; got {came}")
    return array
