"""What the report is about: forecasts of all classes beside the truth, read once."""

from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray, as_array, as_floats
from calibrant._core._checks import (
    check_binary_labels,
    check_class_labels,
    check_probabilities,
    check_same_length,
    distinct_labels,
    label_column,
    plain,
)
from calibrant._core._errors import DataError
from calibrant._core._names import by_label
from calibrant.decisions import check_estimates
from calibrant.metrics import counting_rows, weighted_mean


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows that count.

    Attributes
    ----------
    truth : ndarray of int of shape (n,)
        The number of the true class.
    proba : ndarray of shape (n, k)
        The forecasts; rows sum to one.
    weight : ndarray of shape (n,)
        How much every row counts.
    weighted : bool
        Whether the user gave weights.
    number : ndarray of int of shape (n,)
        Where the row stands in what the user gave, counted from 0.
    n_given : int
        Number of rows that the user gave, with those of weight zero.
    classes : tuple
        The labels of the columns.
    """

    truth: IntArray
    proba: Float64Array
    weight: Float64Array
    weighted: bool
    number: IntArray
    n_given: int
    classes: tuple[object, ...]

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels as text."""
        return tuple(map(str, self.classes))

    @property
    def total(self) -> float:
        """How many rows there are, each counted as often as its weight says."""
        return float(self.weight.sum())

    def mean(self, values: Array) -> float:
        """Average one value per row."""
        return weighted_mean(values, self.weight)

    def take(self, places: IntArray) -> "Rows":
        """Give only the rows at these places, in this order."""
        return replace(
            self,
            truth=self.truth[places],
            proba=self.proba[places],
            weight=self.weight[places],
            number=self.number[places],
        )


def read_rows(y: object, proba: object, classes: object, sample_weight: object) -> Rows:
    """Read labels and forecasts; one column of forecasts is that of the positive class of two."""
    labels = label_column(y)
    numbers = as_floats(proba, "proba")
    names, truth = _read_labels(labels, numbers.shape[1] if numbers.ndim == 2 else 1, classes)
    matrix = forecast_matrix(by_label(proba, numbers, lambda: names, "proba"))
    check_same_length(labels=truth, proba=matrix)
    weights, kept = counting_rows(sample_weight, len(truth))
    number = np.arange(len(truth))[kept]
    return Rows(truth[kept], matrix[kept], weights, sample_weight is not None, number, len(truth), names)


def forecast_matrix(numbers: FloatArray) -> Float64Array:
    """Forecasts of all classes; a single column is that of the positive class of two."""
    if numbers.ndim == 1 or (numbers.ndim == 2 and numbers.shape[1] == 1):
        positive = check_probabilities(numbers.reshape(-1))
        return np.column_stack([1.0 - positive, positive])
    return np.asarray(check_estimates(numbers), dtype=np.float64)


def _read_labels(labels: Array, n_columns: int, classes: object) -> tuple[tuple[object, ...], IntArray]:
    """The labels of the columns, and for every row the number of its class."""
    if n_columns <= 2:
        pair, positive = check_binary_labels(labels, classes=classes)
        return tuple(map(plain, pair)), positive.astype(np.intp)
    truth = check_class_labels(labels, n_columns, classes)
    if classes is not None:
        return tuple(map(plain, as_array(classes, "classes"))), truth
    if labels.dtype.kind in "biuf":
        return tuple(range(n_columns)), truth
    return tuple(map(plain, distinct_labels(labels))), truth


def read_row_names(row_names: object, n_rows: int) -> Array | None:
    """One name per row that the user gave, or none at all."""
    if row_names is None:
        return None
    names = as_array(row_names, "row_names")
    if names.ndim != 1 or len(names) != n_rows:
        raise DataError(f"row_names must be one name per row, {n_rows} in all; got shape {names.shape}")
    return names
