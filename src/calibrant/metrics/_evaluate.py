"""All measures of probabilities at once, each with an interval; and differences between forecasts."""

import math

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray, as_array, as_floats
from calibrant._core._chance import Seed
from calibrant._core._checks import (
    check_binary_labels,
    check_finite,
    check_same_length,
    check_weights,
    class_labels,
    is_whole,
    label_column,
    positions_of,
    shown,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import Evaluation
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._intervals import mean_estimate, moments_of, power_sums
from calibrant.metrics._rows import counting_rows, read_forecasts


def evaluate(
    y: object,
    proba: object,
    *,
    sample_weight: object = None,
    classes: object = None,
    cost: object = None,
    decisions: object = None,
    n_bins: int = 15,
    random_state: Seed = 0,
) -> Evaluation:
    r"""Measure probabilities in every usual way, each measure with the interval that chance leaves it.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    sample_weight : array-like of shape (n,), optional
        How often every row counts. For intervals, whole weights are copies of rows; others tell how rows
        count against each other.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.
    cost : array-like of shape (k, k) or (a, k), optional
        ``cost[i, j]`` is the cost of deciding i when the truth is j; many libraries use the transpose.
    decisions : array-like of shape (n,), optional
        What was decided: labels if the costs are those of classes, else rows of `cost`. By default what costs
        least by the probabilities.
    n_bins : int, default=15
        Number of bins of the expected calibration errors.
    random_state : int, Generator, RandomState or None, default=0
        The draws behind intervals that have no formula.

    Returns
    -------
    Evaluation
        The measures; printed, it is a table.

    See Also
    --------
    EvaluationSums : The same for rows that come in batches.
    paired_difference : Whether one forecast is better than another on the same rows.

    Notes
    -----
    Intervals are for the value that very many rows of the same kind would have, and cover it in 95% of cases.

    - Means (log loss, Brier score, confidence, cost): by the standard error, corrected for skewness (Hall,
      1992). Shares (error rate, share of a class): Wilson's.
    - AUC: the variance of DeLong, DeLong and Clarke-Pearson (1988), symmetric in the log-odds of the area.
    - Slope and intercept: the sandwich of the regression.
    - Calibration, refinement and expected calibration errors of few rows are further off than what they
      estimate. The interval is about what is left without that, and reaches to 0 where forecasts may be
      right. Rows are drawn anew from forecasters that are as far off as these are beyond chance.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import evaluate
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.random(1000)
    >>> y = rng.random(1000) < proba
    >>> found = evaluate(y, proba)
    >>> print(found.log_loss)
    0.494 ± 0.030
    >>> found.calibration.low
    0.0
    """
    if not is_whole(n_bins, 1):
        raise ParameterError(f"n_bins must be a whole number from 1; got {shown(n_bins)}")
    forecasts = read_forecasts(y, proba, sample_weight, classes)
    labels = _labels(y, classes, forecasts.n_classes)
    matrix = _costs(cost, forecasts.n_classes)
    decided = _decided(decisions, matrix, labels, len(label_column(y)))
    weights = None
    if sample_weight is not None:
        weights = forecasts.weights
        if decided is not None:
            given = check_weights(sample_weight, len(decided))
            assert given is not None
            decided = decided[given > 0]
    sums = EvaluationSums(
        forecasts.n_classes, forecasts.proba.shape[1], n_bins=int(n_bins), cost=matrix, exact=True
    )
    sums.add(forecasts.truth, forecasts.proba, weights, decided=decided)
    return sums.result(labels.tolist(), random_state=random_state)


def paired_difference(first: object, second: object, *, sample_weight: object = None) -> Estimate:
    """Give the mean difference of two losses of the same rows: that of the first minus that of the second.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        What every row lost by either forecast.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    Estimate
        The mean difference. Below 0 the first is better; if the whole interval is, that is not chance.

    See Also
    --------
    evaluate : Measures of one forecast.

    Notes
    -----
    Both forecasts find the same rows easy, so that their losses rise and fall together. The interval is that
    of the mean of the differences, which is far shorter than those of the losses suggest. Where both lose
    infinitely much, neither is worse.

    Examples
    --------
    >>> from calibrant.metrics import paired_difference
    >>> print(paired_difference([0.3, 0.1, 0.9, 0.4], [0.4, 0.2, 0.8, 0.6]))
    -0.08 [-0.21, 0.25]
    """
    losses = [_losses(each, name) for each, name in ((first, "first"), (second, "second"))]
    check_same_length(first=losses[0], second=losses[1])
    weights, kept = counting_rows(sample_weight, len(losses[0]))
    one, other = (each[kept] for each in losses)
    difference = np.subtract(one, other, out=np.zeros(len(one)), where=one != other)
    if not np.isfinite(difference).all():
        mean = float(difference[~np.isfinite(difference)].sum())
        return Estimate(mean, -math.inf if math.isnan(mean) else mean, math.inf if math.isnan(mean) else mean)
    return mean_of(difference, weights)


def mean_of(losses: Float64Array, weights: Float64Array, *, copies: bool = True) -> Estimate:
    """The mean of what rows lost; whole weights count copies, unless they are those of groups of rows."""
    whole = copies and bool(np.all(weights == np.floor(weights)))
    return mean_estimate(moments_of(power_sums(losses, weights), whole=whole))


def _losses(losses: object, name: str) -> Float64Array:
    array = np.asarray(as_floats(losses, name), dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise DataError(f"{name} must be one loss per row; got shape {array.shape}")
    if np.isnan(array).any():
        raise DataError(f"{name} must not be nan; got it in row {int(np.argmax(np.isnan(array)))}")
    return array


def _labels(y: object, classes: object, n_classes: int) -> Array:
    """The labels of the columns, by the rules by which labels become column numbers."""
    if n_classes == 2:
        return check_binary_labels(as_array(y, "labels"), classes=classes)[0]
    labels = label_column(y)
    if classes is None and labels.dtype.kind in "biuf":
        return np.arange(n_classes)
    return class_labels(labels, n_classes, classes)


def _costs(cost: object, n_classes: int) -> Float64Array | None:
    if cost is None:
        return None
    matrix = np.asarray(as_floats(cost, "cost"), dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != n_classes or len(matrix) == 0:
        raise ParameterError(
            f"cost must have one row per decision and one column per class, {n_classes} in all; got shape "
            f"{matrix.shape}"
        )
    check_finite(matrix, "cost")
    return matrix


def _decided(decisions: object, matrix: Float64Array | None, labels: Array, n_rows: int) -> IntArray | None:
    if decisions is None:
        return None
    if matrix is None:
        raise ParameterError("decisions must come with their costs; got no cost; pass cost=")
    given = label_column(decisions)
    check_same_length(labels=np.empty(n_rows), decisions=given)
    if len(matrix) == len(labels):
        return positions_of(given, labels)
    if given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= len(matrix):
        raise DataError(
            f"decisions must be rows of cost, whole numbers from 0 to {len(matrix) - 1}; got others"
        )
    return given.astype(np.intp)
