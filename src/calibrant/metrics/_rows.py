"""The rows that a metric measures: labels before numbers, and only the rows that count.

Every metric reads its arguments here, so that one set of rules holds for all of them. Labels are checked
before numbers, because that is what tells a swapped call. Past this module every weight is positive.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray, as_array, as_floats
from calibrant._core._checks import (
    check_binary_labels,
    check_class_labels,
    check_finite,
    check_probabilities,
    check_same_length,
    check_weights,
    class_labels,
)
from calibrant._core._errors import DataError
from calibrant._core._names import by_label

#: Which rows are positive, one number per row, and how much every row counts.
TwoClassRows = tuple[BoolArray, Float64Array, Float64Array]


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """Class probabilities beside the truth.

    Attributes
    ----------
    truth : ndarray of int of shape (n,)
        The number of the true class of every row.
    proba : ndarray of shape (n, k) or (n, 1)
        One column per class, or a single one: that of the positive class, whose number is 1.
    weights : ndarray of shape (n,)
        How much every row counts.
    """

    truth: IntArray
    proba: Float64Array
    weights: Float64Array

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(2, int(self.proba.shape[1]))

    def columns(self) -> list[tuple[BoolArray, Float64Array]]:
        """Take the columns one by one."""
        if self.proba.shape[1] == 1:
            return [(self.truth == 1, self.proba[:, 0])]
        return [(self.truth == k, self.proba[:, k]) for k in range(self.n_classes)]

    def residuals(self) -> Float64Array:
        """Subtract the truth, as ones and zeros, from the probabilities."""
        residuals = self.proba.copy()
        if residuals.shape[1] == 1:
            residuals[:, 0] -= self.truth
        else:
            residuals[np.arange(len(residuals)), self.truth] -= 1.0
        return residuals


def read_forecasts(y: object, proba: object, sample_weight: object, classes: object) -> Forecasts:
    """Read labels and probabilities of two or more classes."""
    labels = _label_array(y)
    numbers = as_floats(proba, "proba")
    n_columns = numbers.shape[1] if numbers.ndim == 2 else 1
    if n_columns > 2:
        truth = check_class_labels(labels, n_columns, classes)
        numbers = by_label(proba, numbers, lambda: class_labels(labels, n_columns, classes), "proba")
    else:
        pair, positive = check_binary_labels(labels, classes=classes)
        truth = positive.astype(np.intp)
        numbers = by_label(proba, numbers, lambda: pair, "proba")
    matrix = check_probabilities(numbers)
    check_same_length(labels=truth, proba=matrix)
    weights, kept = counting_rows(sample_weight, len(truth))
    return Forecasts(truth[kept], matrix.reshape(len(truth), n_columns)[kept], weights)


def read_class_forecasts(y: object, proba: object, sample_weight: object, classes: object) -> Forecasts:
    """Read labels and probabilities of all classes; refuse a single column."""
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    if forecasts.proba.shape[1] == 1:
        raise DataError(
            "proba must have one column per class, of shape (n, k) with k >= 2; got one column; use "
            "reliability_bins for the probabilities of one class"
        )
    return forecasts


def read_two_class(y: object, proba: object, sample_weight: object) -> TwoClassRows:
    """Read labels and probabilities of two classes."""
    is_positive, numbers = _read_positive(y, proba, "proba")
    return _counted(is_positive, check_probabilities(numbers), "proba", sample_weight)


def read_scores(y: object, scores: object, sample_weight: object, name: str) -> TwoClassRows:
    """Read labels of two classes and scores, which may be any finite numbers."""
    is_positive, numbers = _read_positive(y, scores, name)
    check_finite(numbers, name)
    return _counted(is_positive, numbers, name, sample_weight)


def positive_column(numbers: object, name: str) -> Float64Array:
    """Take the numbers of the positive class: those given, or the second of two columns."""
    array = np.asarray(as_floats(numbers, name), dtype=np.float64)
    if array.ndim == 2 and array.shape[1] in (1, 2):
        return np.asarray(array[:, -1])
    if array.ndim != 1:
        raise DataError(
            f"{name} must be of the positive class, of shape (n,), (n, 1) or (n, 2); got shape "
            f"{array.shape}; choose one class"
        )
    return array


def one_column(numbers: object, name: str) -> Float64Array:
    """Take any finite numbers, one per row."""
    array = np.asarray(as_floats(numbers, name), dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"{name} must be one column; got shape {array.shape}; pass one number per row")
    check_finite(array, name)
    return array


def counting_rows(sample_weight: object, n_rows: int) -> tuple[Float64Array, slice | BoolArray]:
    """Tell which rows count, and how much."""
    weights = check_weights(sample_weight, n_rows)
    if weights is None:
        return np.ones(n_rows), slice(None)
    kept = weights > 0
    return weights[kept], kept


def weighted_mean(values: Array, weights: Float64Array) -> float:
    """Average values, each counted as often as its weight says."""
    # Both sums add in the same order, so that rounding cannot carry a mean of ones above one.
    return float((weights * values).sum() / weights.sum())


def _label_array(y: object) -> Array:
    labels = as_array(y, "labels")
    if labels.ndim == 2 and labels.shape[1] > 1:
        raise DataError(
            f"labels must be one column, and come first; got shape {labels.shape} in their place; pass the "
            "labels before the scores or probabilities"
        )
    return labels


def _read_positive(y: object, numbers: object, name: str) -> tuple[BoolArray, Float64Array]:
    """Which rows are positive, and the numbers of the positive class."""
    pair, positive = check_binary_labels(_label_array(y))
    matrix = by_label(numbers, as_floats(numbers, name), lambda: pair, name)
    return np.asarray(positive, dtype=np.bool_), positive_column(matrix, name)


def _counted(is_positive: BoolArray, numbers: Float64Array, name: str, sample_weight: object) -> TwoClassRows:
    check_same_length(**{"labels": is_positive, name: numbers})
    weights, kept = counting_rows(sample_weight, len(is_positive))
    return is_positive[kept], numbers[kept], weights
