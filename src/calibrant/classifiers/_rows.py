"""Which rows train a learner, and which rows it then scores for calibration."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_option, plain
from calibrant._core._errors import DataError, ParameterError

DATA = ("cv", "train", "holdout")


def drop_absent(
    X: Any, y: Array, weights: Float64Array | None, params: dict[str, Any], cv: Any
) -> tuple[Any, Array, Float64Array | None, dict[str, Any], Any]:
    """Leave out the rows of weight zero, also from metadata and from folds given as row numbers."""
    if weights is None or weights.all():
        return X, y, weights, params, cv
    kept = np.flatnonzero(weights)
    if not hasattr(cv, "split") and isinstance(cv, Iterable):
        new_number = np.cumsum(weights > 0) - 1
        cv = [tuple(new_number[rows[weights[rows] > 0]] for rows in map(np.asarray, split)) for split in cv]
    return _safe_indexing(X, kept), y[kept], weights[kept], rows_of_params(params, kept, len(y)), cv


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
    """Lay out the fits of one calibration protocol.

    Parameters
    ----------
    estimator : object
        The learner; a `FrozenEstimator` is not fitted again.
    X, y : object, ndarray
        The rows and their labels.
    data : {"cv", "train", "holdout"}
        The protocol.
    cv : int, splitter or iterable
        The folds, for ``data="cv"``.
    holdout_size : float
        The share of rows held out, for ``data="holdout"``.
    random_state : object
        Which rows are held out.
    split_params : dict
        What the splitter is given besides the rows, such as groups.

    Returns
    -------
    RowPlan
        Training rows and scored rows of every fit.
    """
    check_option("data", data, DATA)
    everything = np.arange(len(y))
    if isinstance(estimator, FrozenEstimator):
        return RowPlan([(None, everything)], refit=False)
    if data == "train":
        return RowPlan([(everything, everything)], refit=False)
    if data == "holdout":
        if not 0 < holdout_size < 1:
            raise ParameterError(f"holdout_size must be a share between 0 and 1; got {holdout_size!r}")
        splitter = StratifiedShuffleSplit(1, test_size=holdout_size, random_state=random_state)
        return RowPlan(_split(splitter, X, y, {}), refit=False)
    return RowPlan(_split(check_cv(cv, y, classifier=True), X, y, split_params), refit=True)


def _split(splitter: Any, X: Any, y: Array, params: dict[str, Any]) -> list[tuple[IntArray | None, IntArray]]:
    classes, counts = np.unique(y, return_counts=True)
    rarest = f"the rarest class is {plain(classes[counts.argmin()])!r} with {counts.min()} of {len(y)} rows"
    with warnings.catch_warnings():
        # Folds that lack a class are dealt with below, and only where they do harm.
        warnings.filterwarnings("ignore", "The least populated class")
        try:
            splits = [(train, test) for train, test in splitter.split(X, y, **params)]
        except ValueError as error:
            raise DataError(f"the rows must allow the split; {error}; {rarest}; use fewer folds") from error
    for number, (train, _) in enumerate(splits):
        present = np.unique(y[train])
        if len(present) < 2:
            raise DataError(
                f"every training fold must hold at least two classes; fold {number} holds only "
                f"{plain(present[0])!r}; {rarest}; use fewer folds"
            )
    return splits
