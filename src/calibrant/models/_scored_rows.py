"""Scored rows with their labels, read once, whatever their form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray, as_floats
from calibrant._core._checks import (
    check_binary_labels,
    check_class_labels,
    check_finite,
    check_not_empty,
    check_same_length,
    check_weights,
    distinct_labels,
    label_column,
    labels_of_columns,
    read_classes,
)
from calibrant._core._errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows that count, each with its scores and the number of its class.

    Attributes
    ----------
    scores : ndarray of shape (n,) or (n, l)
        One score of the second of two classes, or one per class, or one per column of a code.
    position : ndarray of shape (n,)
        The number of every row's class.
    weights : ndarray of shape (n,) or None
        Positive weights; None where every row counts once.
    classes : ndarray of shape (k,)
        The labels.
    """

    scores: FloatArray
    position: IntArray
    weights: Float64Array | None
    classes: Array

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.position)

    def only(self, rows: IntArray | Array) -> "ScoredRows":
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return ScoredRows(self.scores[rows], self.position[rows], weights, self.classes)

    def mass(self) -> Float64Array:
        """Total weight of every class."""
        return np.bincount(self.position, self.weights, len(self.classes)).astype(np.float64)


def read_rows(
    scores: object,
    y: object,
    sample_weight: object,
    classes: Sequence[object] | None,
    *,
    coded: bool = False,
) -> ScoredRows:
    """Check scores, labels and weights, and leave out the rows of weight zero."""
    array = read_scores(scores)
    check_not_empty(len(array))
    found: Array
    if array.ndim == 1 and not coded:
        found, positive = check_binary_labels(y, classes=classes)
        position = np.asarray(positive, dtype=np.intp)
    else:
        found = _labels(y, classes, array, coded=coded)
        position = check_class_labels(y, len(found) if coded else array.shape[1], found)
    check_same_length(scores=array, labels=position)
    weights = check_weights(sample_weight, len(array))
    rows = ScoredRows(array, position, weights, found)
    return rows if weights is None or weights.all() else rows.only(weights > 0)


def read_scores(scores: object) -> FloatArray:
    """Finite scores, (n,) or (n, l); a single column is (n,)."""
    array = as_floats(scores, "scores")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise DataError(f"scores must have shape (n,) or (n, k); got shape {array.shape}")
    check_finite(array, "scores")
    return array


def _labels(y: object, classes: Sequence[object] | None, scores: FloatArray, *, coded: bool) -> Array:
    if not coded:
        return labels_of_columns(classes, y, scores.shape[1])
    return distinct_labels(label_column(y)) if classes is None else read_classes(classes)
