"""Learners of precomputed kernels: their rows are columns too.

A learner that is trained on some rows gets the kernel among these, and what it is asked about later must have
the columns of these rows alone. So whoever takes rows away cuts kernels on both sides here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, get_tags

from calibrant._core._arrays import Array, IntArray
from calibrant._core._errors import DataError

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def is_pairwise(estimator: Any) -> bool:
    """Whether a learner is trained on a kernel; one that is trained already knows its columns."""
    if isinstance(estimator, FrozenEstimator | type) or not hasattr(estimator, "__sklearn_tags__"):
        return False
    return bool(get_tags(estimator).input_tags.pairwise)


def tags_of_learner(tags: Any, estimator: Any) -> Any:
    """What a wrapper takes, which is what its learner takes."""
    if not isinstance(estimator, type) and hasattr(estimator, "__sklearn_tags__"):
        learner = get_tags(estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = learner.sparse, learner.allow_nan
        tags.input_tags.pairwise = is_pairwise(estimator)
    return tags


def training_rows(X: Any, rows: IntArray, *, pairwise: bool) -> Any:
    """Some rows to train on, with the columns of these rows alone if X is a kernel."""
    if not pairwise:
        return _safe_indexing(X, rows)
    shape = np.shape(X)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(f"X must be a square kernel, one row and one column per row; got shape {shape}")
    return kernel_columns(_safe_indexing(X, rows), rows)


def kernel_columns(X: Any, rows: IntArray | None) -> Any:
    """The columns of the rows that a learner was trained on; None stands for all."""
    return X if rows is None else _safe_indexing(X, rows, axis=1)


def fit_on(model: Any, X: Any, rows: IntArray | None, y: Array, params: dict[str, Any]) -> Any:
    """Fit an unfitted learner to some rows of X, or to all; y and params are those of these rows."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows is None or (len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows))):
        model.fit(X, y, **params)  # without a copy
        return model
    pairwise = is_pairwise(model)
    model.fit(training_rows(X, rows, pairwise=pairwise), y, **params)
    return OnColumns(model, rows) if pairwise else model


@dataclass(frozen=True)
class OnColumns:
    """A fitted learner of a kernel, which is asked with the columns of more rows than it was trained on.

    Attributes
    ----------
    model : object
        The learner.
    rows : ndarray
        The rows that it was trained on.
    """

    model: Any
    rows: IntArray

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("model", "rows"):
            raise AttributeError(name)
        found = getattr(self.model, name)
        return (lambda X: found(kernel_columns(X, self.rows))) if name in METHODS else found
