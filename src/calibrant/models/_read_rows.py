"""Scored rows with their labels, read once, whatever their form."""

from collections.abc import Sequence

import numpy as np

from calibrant._core._arrays import Array, FloatArray, as_floats
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
from calibrant.passes import Rows


def read_rows(
    scores: object,
    y: object,
    sample_weight: object,
    classes: Sequence[object] | None,
    *,
    coded: bool = False,
) -> Rows:
    """Check scores, labels and weights."""
    array = read_scores(scores)
    check_not_empty(len(array))
    found: Array
    if array.ndim == 1 and not coded:
        found, positive = check_binary_labels(y, classes=classes)
        truth = np.asarray(positive, dtype=np.intp)
    else:
        found = _labels(y, classes, array, coded=coded)
        truth = check_class_labels(y, len(found) if coded else array.shape[1], found)
    check_same_length(scores=array, labels=truth)
    weights = check_weights(sample_weight, len(array))
    return Rows(array, truth, weights, classes=found)


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
