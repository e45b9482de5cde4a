"""The border of fits in passes: rows that a caller has put into batches."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, as_array, as_floats
from calibrant._core._checks import check_finite, check_same_length
from calibrant._core._errors import DataError, ParameterError
from calibrant.passes import Rows, RowsOfPass


def checked_rows(rows_of_pass: RowsOfPass, n_classes: int) -> RowsOfPass:
    """Check every batch."""

    def checked() -> Iterator[Rows]:
        for number, batch in enumerate(rows_of_pass()):
            try:
                yield _check(batch, n_classes)
            except DataError as error:
                raise DataError(f"batch {number} (the first is 0): {error}") from error

    return checked


def _check(batch: Rows, n_classes: int) -> Rows:
    scores = np.asarray(as_floats(batch.scores, "scores"), dtype=np.float64)
    if scores.ndim not in (1, 2):
        raise DataError(f"scores must have shape (n,) or (n, l); got shape {scores.shape}")
    check_finite(scores, "scores")
    truth = as_array(batch.truth, "truth")
    if truth.ndim != 1 or truth.dtype.kind not in "biu":
        raise DataError(
            "truth must be one whole number per row, that of its class; got "
            f"{truth.dtype} of shape {truth.shape}"
        )
    truth = truth.astype(np.intp, copy=False)
    if len(truth) and not (truth.min() >= 0 and truth.max() < n_classes):
        outside = int(truth[(truth < 0) | (truth >= n_classes)][0])
        raise DataError(f"truth must be from 0 to {n_classes - 1}, the number of a class; got {outside}")
    weight = None if batch.weight is None else np.asarray(as_floats(batch.weight, "weight"), np.float64)
    if weight is not None:
        check_finite(weight, "weight")
        if len(weight) and weight.min() < 0:
            raise DataError(f"weight must not be negative; got {weight.min()}")
    check_same_length(scores=scores, truth=truth, weight=weight, key=batch.key)
    return replace(batch, scores=scores, truth=truth, weight=weight)


def labels_of(classes: object, rows: Any, model: Any) -> Array:
    """The labels that the numbers in batches stand for: those given, or what rows or a model know."""
    for given in (classes, getattr(rows, "classes", None), getattr(model, "classes", None)):
        if given is not None:
            labels = as_array(given, "classes")
            if len(labels) < 2 or len(np.unique(labels)) < len(labels):
                raise ParameterError(f"classes must be two or more distinct labels; got {labels.tolist()}")
            return labels
    raise ParameterError("classes must be given where rows have only the numbers of their classes; got none")
