"""How well scores put the positives above the negatives, whatever the scores mean."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.metrics._bins import group_sums
from calibrant.metrics._rows import read_scores, weighted_mean


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """The points of a ROC curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    fpr : ndarray of shape (m,)
        Share of the negatives that are called positive.
    tpr : ndarray of shape (m,)
        Share of the positives that are called positive.
    threshold : ndarray of shape (m,)
        A row is called positive if its score is at least this; falling, from infinity.
    """

    fpr: Float64Array
    tpr: Float64Array
    threshold: Float64Array


def auc(y: object, scores: object, *, sample_weight: object = None) -> float:
    r"""Chance that a random positive has a higher score than a random negative; ties count one half.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    scores : array-like of shape (n,) or (n, 2)
        Any finite numbers that should be higher for positives, or one such column per class.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    float
        From 0 to 1; 1 is best, and 0.5 is chance. `nan` if a class has no rows.

    See Also
    --------
    roc_points : The curve under which this is the area.

    Notes
    -----
    With :math:`w_+(s)`, :math:`w_-(s)` the weights of the positives and negatives at score :math:`s`,

    .. math::
        \frac{\sum_s w_+(s) \left(\sum_{t < s} w_-(t) + \tfrac{1}{2} w_-(s)\right)}
        {\sum_s w_+(s) \, \sum_s w_-(s)},

    which takes one sort.

    Examples
    --------
    A small squared error does not imply a good ranking. Here one positive has probability 0, and the
    negatives share the mistake:

    >>> from calibrant.metrics import auc, brier_score
    >>> y, proba = [1] + [0] * 99, [0.0] + [1 / 99] * 99
    >>> round(brier_score(y, proba, convention="positive"), 3)
    0.01
    >>> auc(y, proba)
    0.0
    """
    is_positive, numbers, weights = read_scores(y, scores, sample_weight, "scores")
    _, positives, negatives = _weights_by_score(is_positive, numbers, weights)
    if not (positives.any() and negatives.any()):
        return math.nan
    reached = np.cumsum(negatives)
    share_below = (reached - negatives / 2) / reached[-1]
    return weighted_mean(share_below, positives)


def roc_points(y: object, scores: object, *, sample_weight: object = None) -> RocCurve:
    """Trace the rates of true and false positives over every threshold that makes a difference.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    scores : array-like of shape (n,) or (n, 2)
        Any finite numbers that should be higher for positives, or one such column per class.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    RocCurve
        One point per distinct score after the first, which is (0, 0) with threshold infinity. Without
        negatives there is no rate of false positives, and all of `fpr` is `nan`; without positives the
        same holds for `tpr`.

    See Also
    --------
    auc : The area under this curve.

    Examples
    --------
    The area under the points is the AUC:

    >>> import numpy as np
    >>> from calibrant.metrics import auc, roc_points
    >>> y, scores = [0, 1, 0, 1, 1], [-1.0, 0.5, 0.5, 0.5, 2.0]
    >>> curve = roc_points(y, scores)
    >>> curve.threshold
    array([ inf,  2. ,  0.5, -1. ])
    >>> bool(np.isclose(np.trapezoid(curve.tpr, curve.fpr), auc(y, scores)))
    True
    """
    is_positive, numbers, weights = read_scores(y, scores, sample_weight, "scores")
    distinct, positives, negatives = _weights_by_score(is_positive, numbers, weights)
    return RocCurve(
        fpr=_rate_from_above(negatives),
        tpr=_rate_from_above(positives),
        threshold=np.concatenate([[np.inf], distinct[::-1]]),
    )


def _weights_by_score(
    is_positive: BoolArray, scores: Float64Array, weights: Float64Array
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """The distinct scores, rising, with the weight of the positives and of the negatives at each."""
    distinct, places = np.unique(scores, return_inverse=True)
    return distinct, group_sums(places, weights * is_positive), group_sums(places, weights * ~is_positive)


def _rate_from_above(weights: Float64Array) -> Float64Array:
    reached = np.concatenate([[0.0], np.cumsum(weights[::-1])])
    return reached / reached[-1] if reached[-1] > 0 else np.full(len(reached), np.nan)
