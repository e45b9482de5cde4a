"""Venn-Abers calibration: two isotonic fits for every score, with one row more of either class."""

from typing import TYPE_CHECKING

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_scores
from calibrant._core._field_groups import Record
from calibrant._core._fitted import check_fitted
from calibrant.calibrators._method import ScoreCalibrator
from calibrant.maps import AnyMap, Bounds, IntervalLookup, Map

if TYPE_CHECKING:
    from calibrant.passes import Learning, VennAbersFit


class VennAbersCalibrator(ScoreCalibrator, name="venn_abers"):
    """Calibrate one score by a lower and an upper probability, after Vovk, Petej and Fedorova.

    For a new score the rows of the fit and one more with that score are regressed isotonically, once with
    label 0 and once with label 1. The values at the new score are the lower and the upper probability, p0
    and p1. Whatever the label is, one of them is a calibrated probability, for rows that are exchangeable.
    The single probability is ``P = p1 / (1 - p0 + p1)``, which is never 0 or 1.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    map_ : Bounds
        The steps of both probabilities.

    See Also
    --------
    PAVCalibrator : One isotonic fit.
    OneVsAllCalibrator : Many classes, each against the others.

    Notes
    -----
    This is the inductive predictor: the rows must be others than those that the classifier was trained on.
    It is exact. All answers are found in the fit, in ``O(n log n)`` steps, and a prediction looks them up;
    the notes of `calibrant.passes.VennAbers` say how. P is the answer of least regret by log loss.

    The new row has weight 1. So weights are numbers of copies, and weights that sum to one make the new row
    as heavy as all others together.

    The map has at most two steps for every distinct score, and may need them: among scores at one end that
    all have the same label, every one is a step. In passes and on Spark scores are told apart where an answer
    may change by more than 2.5e-13; the blocks of an isotonic fit are not enough. The driver then holds some
    millions of scores at most, for however many rows.

    Where the scores rank the classes the wrong way round beyond chance, there is a `ScoreDirectionWarning`.

    The paper has an algorithm of the same order that walks over the scores one by one. This one finds all
    answers at once, and takes weights, and shares of the positive class for labels.

    References
    ----------
    V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without guarantees of
    validity", NIPS 2015.

    Examples
    --------
    Isotonic regression would say 0 and 1 at the ends, on the word of two rows each:

    >>> from calibrant import VennAbersCalibrator
    >>> venn = VennAbersCalibrator().fit([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1])
    >>> venn.predict_interval([1, 3.5, 6])
    array([[0.        , 0.33333333],
           [0.33333333, 0.66666667],
           [0.66666667, 1.        ]])
    >>> venn.predict_proba([1, 3.5, 6])[:, 1]
    array([0.25, 0.5 , 0.75])
    """

    fitted = Record(map=AnyMap(Bounds))
    complexity = 3.5
    map_: Bounds

    @property
    def can_only_rise(self) -> bool:
        """Nothing is made of a score that points the wrong way."""
        return True

    def _learn(self) -> "Learning[Map]":
        found: VennAbersFit = yield passes.VennAbers()
        self._direction = found.direction
        return Bounds(
            IntervalLookup(found.lower_edges), found.lower, IntervalLookup(found.upper_edges), found.upper
        )

    def predict_interval(self, scores: object) -> Float64Array:
        """Give the lower and the upper probability of the positive class.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            One finite score per row.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper probabilities.
        """
        check_fitted(self, "classes_")
        column = check_scores(self._in_order(scores, self.classes_, 1))
        return np.stack(self.map_.bounds(column.astype(np.float64, copy=False)), axis=1)
