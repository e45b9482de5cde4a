"""Which rows train a learner, and which rows it then scores for calibration."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import _safe_indexing

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_number, check_option, plain
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._folds import FEWER, read_folds
from calibrant.classifiers._kernels import is_pairwise, training_rows

DATA = ("cv", "train", "holdout")


@dataclass(frozen=True, slots=True)
class Given:
    """What `fit` was given, checked, without the rows of weight zero.

    Attributes
    ----------
    X : object
        The rows.
    y : ndarray of shape (n,)
        Their labels.
    weights : ndarray of shape (n,) or None
        Their weights; None where every row counts once.
    fit_params : dict
        What the learner's `fit` is given besides.
    cv : object
        The folds, renumbered where they are given as row numbers.
    kept : ndarray or None
        The rows of the user that are left, if some were left out and X is a kernel, whose columns they are.
    """

    X: Any
    y: Array
    weights: Float64Array | None
    fit_params: dict[str, Any]
    cv: Any
    kept: IntArray | None = None

    @property
    def importance(self) -> Float64Array:
        """How much every row counts."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def part(self, rows: IntArray, *, pairwise: bool) -> "Given":
        """Some of the rows."""
        before = np.arange(len(self.y)) if self.kept is None else self.kept
        return Given(
            X=training_rows(self.X, rows, pairwise=pairwise),
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            fit_params=rows_of_params(self.fit_params, rows, len(self.y)),
            cv=self.cv,
            kept=before[rows] if pairwise else None,
        )


def drop_absent(given: Given, estimator: Any) -> Given:
    """Leave out the rows of weight zero, also from metadata and from folds given as row numbers."""
    weights, cv = given.weights, given.cv
    if weights is None or weights.all():
        return given
    if not hasattr(cv, "split") and isinstance(cv, Iterable) and not isinstance(cv, str):
        new_number = np.cumsum(weights > 0) - 1
        folds = read_folds(cv, given.X, given.y)
        cv = [tuple(new_number[rows[weights[rows] > 0]] for rows in fold) for fold in folds]
    return replace(given, cv=cv).part(np.flatnonzero(weights), pairwise=is_pairwise(estimator))


def rows_of_params(params: dict[str, Any], rows: IntArray, n_rows: int) -> dict[str, Any]:
    """Cut the entries that have one value per row to the given rows."""
    return {
        name: _safe_indexing(value, rows) if _has_one_per_row(value, n_rows) else value
        for name, value in params.items()
    }


def _has_one_per_row(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | bytes | dict):
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n_rows
    return hasattr(value, "__len__") and len(value) == n_rows


@dataclass(frozen=True, slots=True)
class RowPlan:
    """Pairs of training rows and the rows scored after them.

    Attributes
    ----------
    splits : list of (train, scored)
        Row numbers. No training rows at all (None) mean a learner that is fitted already.
    refit : bool
        Whether the final learner is trained once more, on all rows.
    """

    splits: list[tuple[IntArray | None, IntArray]]
    refit: bool


def plan_rows(
    estimator: Any,
    X: Any,
    y: Array,
    *,
    data: str,
    cv: Any,
    holdout_size: float,
    random_state: Any,
    split_params: dict[str, Any],
) -> RowPlan:
    """Lay out the fits of one calibration protocol."""
    check_option("data", data, DATA)
    everything = np.arange(len(y))
    if isinstance(estimator, FrozenEstimator):
        return RowPlan([(None, everything)], refit=False)
    if data == "train":
        return RowPlan([(everything, everything)], refit=False)
    if data == "holdout":
        check_number("holdout_size", holdout_size, "a share between 0 and 1", lambda share: 0 < share < 1)
        if split_params:
            raise ParameterError(
                f"data must be 'cv' where the split has {', '.join(split_params)}; got 'holdout', which "
                "draws rows by chance"
            )
        splitter = StratifiedShuffleSplit(1, test_size=holdout_size, random_state=random_state)
        advice = "hold out another share, or use data='cv'"
        return RowPlan(_split(splitter, X, y, {}, advice), refit=False)
    return RowPlan(_split(cv, X, y, split_params, FEWER), refit=True)


def _split(
    cv: Any, X: Any, y: Array, params: dict[str, Any], advice: str
) -> list[tuple[IntArray | None, IntArray]]:
    classes, counts = np.unique(y, return_counts=True)
    rarest = f"; the rarest class is {plain(classes[counts.argmin()])!r} with {counts.min()} of {len(y)} rows"
    splits = read_folds(cv, X, y, params, note=rarest, advice=advice)
    for number, (train, _) in enumerate(splits):
        present = np.unique(y[train])
        if len(present) < 2:
            holds = f"holds only {plain(present[0])!r}" if len(present) else "is empty"
            raise DataError(
                f"every training fold must hold at least two classes; fold {number} {holds}{rarest}; {advice}"
            )
    return [(train, test) for train, test in splits]
