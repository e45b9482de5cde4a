"""Finding the predictions that are probably wrong, from how confident the classifier was.

Nothing here knows classes: `correct` says of every row whether its prediction was right.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, as_floats
from calibrant._core._checks import check_not_empty, check_probabilities, check_same_length
from calibrant._core._errors import DataError
from calibrant.metrics._rows import counting_rows, one_column


@dataclass(frozen=True, slots=True, eq=False)
class DetectionCurve:
    """How many of the errors one finds by looking at the least confident rows first.

    Attributes
    ----------
    coverage : ndarray of shape (n,)
        Share of the rows that have been looked at.
    errors : ndarray of shape (n,)
        Number of wrong predictions among them; with weights, their weight.
    share : ndarray of shape (n,)
        The same as a share of all errors; `nan` if there is none.
    """

    coverage: Float64Array
    errors: Float64Array
    share: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdCurve:
    """What is left, and how right it is, if only confident predictions are used.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Predictions of at least this confidence are used.
    coverage : ndarray of shape (m,)
        Share of the rows whose predictions are used.
    accuracy : ndarray of shape (m,)
        Share of right predictions among them; `nan` if there are none.
    """

    threshold: Float64Array
    coverage: Float64Array
    accuracy: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class CoverageCurve:
    """How right the most confident rows are, and how right they were said to be.

    Attributes
    ----------
    coverage : ndarray of shape (n,)
        Share of the rows, the most confident ones first.
    accuracy : ndarray of shape (n,)
        Share of right predictions among them.
    mean_p : ndarray of shape (n,)
        Mean of their probabilities of being right.
    """

    coverage: Float64Array
    accuracy: Float64Array
    mean_p: Float64Array


def detection_curve(correct: object, confidence: object, *, sample_weight: object = None) -> DetectionCurve:
    """Count the errors among the m least confident rows, for every m.

    Parameters
    ----------
    correct : array-like of shape (n,)
        Whether the prediction of a row was right, as booleans or as 0 and 1.
    confidence : array-like of shape (n,)
        The probability that it is right, or any other finite number that should be higher for right ones.
    sample_weight : array-like of shape (n,), optional
        How often every row counts. Coverage, errors and share then add weights. A row of weight m gives
        one point, the last of those that m copies would give; the straight line to it passes through
        the others.

    Returns
    -------
    DetectionCurve
        One point per row, the least confident first; rows of equal confidence in the order given.

    See Also
    --------
    reliability_by_coverage : The most confident rows first.

    Notes
    -----
    The curve by which Takahashi, Takamura and Okumura compare probabilities with the raw score of the
    first-ranked class.

    Examples
    --------
    Looking at the least confident half finds both errors:

    >>> from calibrant.metrics import detection_curve
    >>> curve = detection_curve([True, False, True, False], [0.9, 0.4, 0.8, 0.6])
    >>> curve.coverage
    array([0.25, 0.5 , 0.75, 1.  ])
    >>> curve.share
    array([0.5, 1. , 1. , 1. ])
    """
    is_correct, numbers, weights = _read_judged(correct, confidence, sample_weight)
    order = np.argsort(numbers, kind="stable")
    errors = np.cumsum((weights * ~is_correct)[order])
    share = errors / errors[-1] if errors[-1] > 0 else np.full(len(errors), np.nan)
    return DetectionCurve(coverage=_shares_of_total(weights[order]), errors=errors, share=share)


def accuracy_by_threshold(
    correct: object, confidence: object, thresholds: object, *, sample_weight: object = None
) -> ThresholdCurve:
    """Coverage and accuracy if only predictions of at least some confidence are used.

    Parameters
    ----------
    correct : array-like of shape (n,)
        Whether the prediction of a row was right, as booleans or as 0 and 1.
    confidence : array-like of shape (n,)
        The probability that it is right, or any other finite number that should be higher for right ones.
    thresholds : array-like of shape (m,)
        The confidences to try, in any order.
    sample_weight : array-like of shape (n,), optional
        How often every row counts. The shares are then shares of weight.

    Returns
    -------
    ThresholdCurve
        One point per threshold, in the order given.

    Examples
    --------
    >>> from calibrant.metrics import accuracy_by_threshold
    >>> curve = accuracy_by_threshold([1, 0, 1, 0], [0.9, 0.4, 0.8, 0.6], [0.0, 0.6, 0.7, 0.95])
    >>> curve.coverage
    array([1.  , 0.75, 0.5 , 0.  ])
    >>> curve.accuracy.round(2)
    array([0.5 , 0.67, 1.  ,  nan])
    """
    is_correct, numbers, weights = _read_judged(correct, confidence, sample_weight)
    limits = _check_thresholds(thresholds)
    order = np.argsort(numbers, kind="stable")
    first_used = np.searchsorted(numbers[order], limits, side="left")
    used = _sums_from(weights[order])
    right = _sums_from((weights * is_correct)[order])[first_used]
    accuracy = np.full(len(limits), np.nan)
    np.divide(right, used[first_used], out=accuracy, where=used[first_used] > 0)
    return ThresholdCurve(threshold=limits, coverage=used[first_used] / used[0], accuracy=accuracy)


def reliability_by_coverage(
    correct: object, confidence: object, *, sample_weight: object = None
) -> CoverageCurve:
    """Accuracy and mean probability of the m most confident rows, for every m.

    Parameters
    ----------
    correct : array-like of shape (n,)
        Whether the prediction of a row was right, as booleans or as 0 and 1.
    confidence : array-like of shape (n,)
        The probability that it is right.
    sample_weight : array-like of shape (n,), optional
        How often every row counts. Shares and means are then weighted. A row of weight m gives one point,
        the last of those that m copies would give.

    Returns
    -------
    CoverageCurve
        One point per row, the most confident first; rows of equal confidence in the order given.

    See Also
    --------
    detection_curve : The least confident rows first.

    Examples
    --------
    Where the mean probability stays above the accuracy, the classifier is overconfident:

    >>> from calibrant.metrics import reliability_by_coverage
    >>> curve = reliability_by_coverage([1, 0, 1, 0], [0.9, 0.4, 0.8, 0.7])
    >>> curve.accuracy.round(2)
    array([1.  , 1.  , 0.67, 0.5 ])
    >>> curve.mean_p
    array([0.9 , 0.85, 0.8 , 0.7 ])
    """
    is_correct, numbers, weights = _read_judged(correct, confidence, sample_weight)
    probability = check_probabilities(numbers, "confidence")
    order = np.argsort(-probability, kind="stable")
    reached = np.cumsum(weights[order])
    return CoverageCurve(
        coverage=_shares_of_total(weights[order]),
        accuracy=np.cumsum((weights * is_correct)[order]) / reached,
        mean_p=np.cumsum((weights * probability)[order]) / reached,
    )


def _read_judged(
    correct: object, confidence: object, sample_weight: object
) -> tuple[BoolArray, Float64Array, Float64Array]:
    """Which predictions were right, how confident they were, and their weights."""
    is_correct = _check_correct(correct)
    numbers = one_column(confidence, "confidence")
    check_same_length(correct=is_correct, confidence=numbers)
    weights, kept = counting_rows(sample_weight, len(is_correct))
    return is_correct[kept], numbers[kept], weights


def _check_correct(correct: object) -> BoolArray:
    numbers = one_column(correct, "correct")
    check_not_empty(len(numbers), "correct")
    told = (numbers == 0) | (numbers == 1)
    if not told.all():
        row = int(np.argmin(told))
        raise DataError(
            f"correct must be True or False, 1 or 0, and come first; got {numbers[row]} in row {row}; "
            "compare the predictions with the labels"
        )
    return np.asarray(numbers == 1)


def _check_thresholds(thresholds: object) -> Float64Array:
    """Thresholds may be infinite, as the first one of a ROC curve is."""
    limits = np.asarray(as_floats(thresholds, "thresholds"), dtype=np.float64)
    if limits.ndim != 1:
        raise DataError(f"thresholds must be one row of numbers; got shape {limits.shape}")
    if np.isnan(limits).any():
        raise DataError(f"thresholds must be numbers; got nan at place {int(np.argmax(np.isnan(limits)))}")
    return limits


def _shares_of_total(weights: Float64Array) -> Float64Array:
    reached = np.cumsum(weights)
    return np.asarray(reached / reached[-1])


def _sums_from(weights: Float64Array) -> Float64Array:
    """Sum of the weights from every place to the end; and zero past the end."""
    return np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
