"""The folds that a user asks for, in any form that scikit-learn knows, as pairs of row numbers."""

import warnings
from typing import Any

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, IntArray, as_array
from calibrant._core._chance import Seed, generator
from calibrant._core._errors import CalibrantError, DataError, ParameterError

#: Row numbers that train, and row numbers that test.
Folds = list[tuple[IntArray, IntArray]]

FEWER = "use fewer folds"


def read_folds(
    cv: Any, X: Any, y: Array, params: dict[str, Any] | None = None, *, note: str = "", advice: str = FEWER
) -> Folds:
    """Split rows by a number of folds, a splitter, or folds that are given as rows."""
    if isinstance(cv, str):
        frozen = "; a trained learner is passed as FrozenEstimator(learner), of sklearn.frozen"
        raise ParameterError(
            f"cv must be a number of folds, a splitter, or folds as rows; got {cv!r}"
            f"{frozen if cv == 'prefit' else ''}"
        )
    with warnings.catch_warnings():
        # What a fold does that lacks a class is for the caller to say, where it does harm.
        warnings.filterwarnings("ignore", "The least populated class")
        try:
            given = list(late.model_selection.check_cv(cv, y, classifier=True).split(X, y, **(params or {})))
            pairs = [(train, test) for train, test in given]
        except CalibrantError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if "groups" in str(error) and "None" in str(error):
                note, advice = "", "pass groups= to fit, one per row"
            raise DataError(f"the rows must allow the split; {error}{note}; {advice}") from error
    if not pairs:
        raise ParameterError(
            "cv must give at least one fold; got none; a generator gives its folds once: pass list(...)"
        )
    return [
        (as_rows(train, len(y), f"fold {number}"), as_rows(test, len(y), f"fold {number}"))
        for number, (train, test) in enumerate(pairs)
    ]


def as_rows(rows: Any, n_rows: int, name: str) -> IntArray:
    """Row numbers, from numbers or from a mask, in any container."""
    if not isinstance(rows, np.ndarray) and hasattr(rows, "__iter__") and not hasattr(rows, "__len__"):
        rows = list(rows)
    array = as_array(rows, name)
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    if array.size == 0:
        array = array.astype(np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"{name} must hold row numbers, or a mask with one entry per row, {n_rows} in all; got shape "
            f"{array.shape} of type {array.dtype}"
        )
    if len(array) and not (array.min() >= 0 and array.max() < n_rows):
        raise ParameterError(
            f"{name} must hold row numbers from 0 to {n_rows - 1}; got "
            f"{array.min() if array.min() < 0 else array.max()}"
        )
    return array.astype(np.intp, copy=False)


def stratified_folds(truth: IntArray, n_folds: int, random_state: Seed) -> IntArray:
    """A fold for every row: the sizes of the folds differ by at most one row, and so do the rows of a class.

    A class with fewer rows than folds is in as many folds as it has rows.
    """
    shuffled = generator(random_state).permutation(len(truth))
    kind = np.min_scalar_type(int(truth.max(initial=0)))  # few bits are sorted without comparisons
    by_class = shuffled[np.argsort(truth.astype(kind)[shuffled], kind="stable")]
    fold = np.empty(len(truth), dtype=np.intp)
    fold[by_class] = np.arange(len(truth)) % n_folds
    return fold
