"""Probabilities of rows that the calibrator was not fitted to, whatever the number of rows and classes."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._chance import Seed, generator
from calibrant.calibrators import Calibrator, fit_rows
from calibrant.models._scored_rows import ScoredRows
from calibrant.passes import Rows

#: Makes the unfitted calibrator for a number of training rows.
NewCalibrator = Callable[[int], Calibrator]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Rows judged by calibrators that were not fitted to them.

    Attributes
    ----------
    rows : ScoredRows
        The rows.
    proba : ndarray of shape (m, k)
        Their probabilities.
    fold : ndarray of shape (m,)
        The fold that every row is in.
    n_folds : int
        How many calibrators judged; 0 where there were too few rows to leave any out.
    """

    rows: ScoredRows
    proba: Float64Array
    fold: IntArray
    n_folds: int

    def with_estimates(self) -> "Judged":
        """The rows that have probabilities."""
        known = np.logical_not(np.isnan(self.proba).any(axis=1))
        if known.all():
            return self
        return Judged(self.rows.only(known), self.proba[known], self.fold[known], self.n_folds)


def fit_scored(calibrator: Calibrator, rows: ScoredRows) -> Any:
    """Fit a calibrator, of one score or of several, to checked rows, without a word about their direction."""
    return fit_rows(calibrator, Rows(rows.scores, rows.position, rows.weights), rows.classes)


def stratified_folds(position: IntArray, n_folds: int, random_state: Seed) -> IntArray:
    """A fold for every row: the sizes of the folds differ by at most one row, and so do the rows of a class.

    A class with fewer rows than folds is in as many folds as it has rows.
    """
    shuffled = generator(random_state).permutation(len(position))
    by_class = shuffled[np.argsort(position[shuffled], kind="stable")]
    fold = np.empty(len(position), dtype=np.intp)
    fold[by_class] = np.arange(len(position)) % n_folds
    return fold


def judge(
    new: NewCalibrator, rows: ScoredRows, fold: IntArray, n_folds: int, *, only_first: bool = False
) -> Judged:
    """Judge the rows of every fold, or of the first one alone, by a calibrator fitted to the other folds.

    What such a fit warns of is not shown: it would come once per fold, and the fit to all rows says it too.
    """
    if n_folds < 2:
        return Judged(rows, _proba(new, rows, rows), fold, 0)
    if only_first:
        held_out = fold == 0
        judged = rows.only(held_out)
        return Judged(judged, _proba(new, rows.only(~held_out), judged), fold[held_out], 1)
    proba = np.empty((rows.n_rows, len(rows.classes)))
    for number in range(n_folds):
        held_out = fold == number
        proba[held_out] = _proba(new, rows.only(~held_out), rows.only(held_out))
    return Judged(rows, proba, fold, n_folds)


def _proba(new: NewCalibrator, train: ScoredRows, judged: ScoredRows) -> Float64Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = fit_scored(new(train.n_rows), train)
    return np.asarray(fitted.predict_proba(judged.scores))
