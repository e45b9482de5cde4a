"""For people who check what a model proposes: the best candidates, and the rows to check first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import metrics
from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray, as_floats
from calibrant._core._checks import check_class_labels, check_same_length, check_score_matrix
from calibrant._core._errors import ParameterError
from calibrant._core._fitted import check_fitted
from calibrant._core._names import NamedColumns, without_names
from calibrant.calibrators._ranked import RankedCalibrator, check_n_ranks
from calibrant.calibrators._ranking import lead

if TYPE_CHECKING:
    from calibrant.metrics import DetectionCurve


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The best classes of every row.

    Attributes
    ----------
    label : ndarray of shape (n, m)
        Their labels, the best first.
    probability : ndarray of shape (n, m)
        Their probabilities.
    """

    label: Array
    probability: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class ErrorsFound:
    """How many errors are found by checking the first rows.

    Attributes
    ----------
    checked : ndarray of shape (m,)
        Share of the rows that is checked.
    errors : ndarray of shape (m,)
        Number of errors among them, if the least probable predictions are checked first; with weights, their
        weight.
    errors_by_score : ndarray of shape (m,)
        The same, if the predictions with the lowest scores are checked first.
    total : float
        Number of errors in all rows; with weights, their weight.
    """

    checked: Float64Array
    errors: Float64Array
    errors_by_score: Float64Array
    total: float


@dataclass(frozen=True, slots=True, eq=False)
class LikelyErrors:
    """Rows in the order in which they should be checked, and what that is worth.

    Attributes
    ----------
    row : ndarray of shape (n,)
        Numbers of the rows, the prediction least likely to be right first.
    label : ndarray of shape (n,)
        The predictions of these rows.
    confidence : ndarray of shape (n,)
        The probabilities that they are right; `nan` comes first.
    curve, curve_by_score : DetectionCurve or None
        Errors found after so many rows: in this order, and in that of the highest raw score. None if the
        true labels are not known.
    found : ErrorsFound or None
        The same at a few shares of the rows.
    """

    row: IntArray
    label: Array
    confidence: Float64Array
    curve: "DetectionCurve | None"
    curve_by_score: "DetectionCurve | None"
    found: ErrorsFound | None


def top_candidates(model: Any, scores: object, n: int = 3) -> Candidates:
    """Give the best classes of every row with their probabilities.

    Parameters
    ----------
    model : object
        A fitted calibrator of a matrix of scores, such as `RankedLogisticCalibrator`,
        `AccuracyTableCalibrator` or `OneVsAllCalibrator`.
    scores : array-like of shape (n_rows, k)
        One finite score per row and class, columns in the order of ``model.classes_``.
    n : int, default=3
        How many candidates to give.

    Returns
    -------
    Candidates
        Labels and probabilities.

    See Also
    --------
    likely_errors : Which rows to check first.

    Notes
    -----
    Calibrators of ranked scores keep the order of the scores: the first candidate is what the model
    predicts, even where the table finds the second more probable. For others the most probable class comes
    first. Of equal ones the first in ``model.classes_`` does.

    Examples
    --------
    >>> from calibrant import OneVsAllCalibrator
    >>> from calibrant.calibrators import top_candidates
    >>> scores = [[2, 1, 0], [3, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 2], [1, 0, 3]]
    >>> model = OneVsAllCalibrator("sigmoid").fit(scores, ["a", "a", "b", "b", "c", "c"])
    >>> best = top_candidates(model, [[2, 1, 1]], n=2)
    >>> best.label
    array([['a', 'b']], dtype='<U1')
    >>> best.probability.round(2)
    array([[0.43, 0.35]])
    """
    matrix = _check_matrix(model, scores)
    model = without_names(model)
    n_ranks = check_n_ranks("n", n, matrix.shape[1])
    proba = np.asarray(model.predict_proba(matrix))
    order = lead(matrix if isinstance(model, RankedCalibrator) else proba, n_ranks)[0].T
    return Candidates(model.classes_[order], np.take_along_axis(proba, order, axis=1))


def likely_errors(
    model: Any,
    scores: object,
    y: object = None,
    *,
    sample_weight: object = None,
    shares: Sequence[float] = (0.05, 0.1, 0.2),
) -> LikelyErrors:
    """Put the rows into the order in which a person should check the predictions.

    Parameters
    ----------
    model : object
        A fitted calibrator of a matrix of scores, such as `RankedLogisticCalibrator`,
        `AccuracyTableCalibrator` or `OneVsAllCalibrator`.
    scores : array-like of shape (n, k)
        One finite score per row and class, columns in the order of ``model.classes_``.
    y : array-like of shape (n,), optional
        The true labels, to see how many errors are found.
    sample_weight : array-like of shape (n,), optional
        How often every row counts, in the errors and in the shares of the rows. It does not change the order.
    shares : sequence of float, default=(0.05, 0.1, 0.2)
        The shares of the rows at which the errors are counted.

    Returns
    -------
    LikelyErrors
        The rows, least likely to be right first; and with `y` the errors found on the way, beside those
        found if the rows are taken by their highest raw score.

    See Also
    --------
    top_candidates : What to put in place of a wrong prediction.
    calibrant.metrics.detection_curve : The curve alone.

    Notes
    -----
    The confidence of a calibrator of ranked scores is its estimate for the first rank, before it is
    normalised; that of others the greatest probability of the row.

    Examples
    --------
    The highest score is the same everywhere, and cannot say which row to check first; the distance of the
    second can:

    >>> from calibrant.calibrators import AccuracyTableCalibrator, likely_errors
    >>> scores = [[2, 0], [2, 1.9], [0, 2], [2, 1.8], [1.8, 2], [0.1, 2], [1.7, 2], [2, 0.1]]
    >>> y = [0, 1, 1, 0, 0, 1, 1, 0]
    >>> checks = likely_errors(AccuracyTableCalibrator(width=0.5).fit(scores, y), scores, y, shares=[0.5])
    >>> checks.row[:4]
    array([1, 3, 4, 6])
    >>> int(checks.found.errors[0]), int(checks.found.errors_by_score[0]), checks.found.total
    (2, 1, 2.0)
    """
    matrix = _check_matrix(model, scores)
    model = without_names(model)
    limits = _check_shares(shares)
    predicted, confidence = _first_guess(model, matrix)
    known = np.where(np.isnan(confidence), -np.inf, confidence)
    row = np.argsort(known, kind="stable")
    curve = curve_by_score = found = None
    if y is not None:
        position = check_class_labels(y, matrix.shape[1], model.classes_)
        check_same_length(scores=matrix, labels=position)
        correct = position == predicted
        curve = metrics.detection_curve(correct, np.maximum(known, -1.0), sample_weight=sample_weight)
        curve_by_score = metrics.detection_curve(correct, matrix.max(axis=1), sample_weight=sample_weight)
        found = ErrorsFound(
            limits, _errors_at(curve, limits), _errors_at(curve_by_score, limits), float(curve.errors[-1])
        )
    return LikelyErrors(row, model.classes_[predicted[row]], confidence[row], curve, curve_by_score, found)


def _check_matrix(model: Any, scores: object) -> FloatArray:
    check_fitted(model, "classes_")
    classes, n_classes = model.classes_, len(model.classes_)
    if isinstance(model, NamedColumns):
        scores = model._in_order(scores, classes, n_classes)
    return check_score_matrix(scores, n_classes)


def _first_guess(model: Any, matrix: FloatArray) -> tuple[IntArray, Float64Array]:
    """The number of the predicted class, and the probability that it is right."""
    if isinstance(model, RankedCalibrator):
        return matrix.argmax(axis=1), model.predict_by_rank(matrix, n_ranks=1).estimate[:, 0]
    proba = np.asarray(model.predict_proba(matrix))
    return proba.argmax(axis=1), proba.max(axis=1)


def _check_shares(shares: Sequence[float]) -> Float64Array:
    limits = np.asarray(as_floats(shares, "shares"), dtype=np.float64)
    if limits.ndim != 1 or not np.all((limits > 0) & (limits <= 1)):
        raise ParameterError(f"shares must be numbers above 0 and up to 1; got {shares!r}")
    return limits


def _errors_at(curve: "DetectionCurve", limits: Float64Array) -> Float64Array:
    """Errors among the first rows, where these are as many as a share of all allows."""
    n_checked = np.searchsorted(curve.coverage, limits + 1e-9, side="right")
    return np.asarray(np.append(0.0, curve.errors)[n_checked])
