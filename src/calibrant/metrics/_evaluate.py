"""All measures of probabilities at once, each with an interval; and differences between forecasts."""

from collections.abc import Sequence
from dataclasses import replace

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
from calibrant.metrics._evaluation import Evaluation
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._in_order import InOrder
from calibrant.metrics._intervals import in_units
from calibrant.metrics._rows import Forecasts, read_forecasts


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
    evaluate_difference : Whether one forecast is better than another on the same rows.

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
    if sample_weight is not None and decided is not None:
        given = check_weights(sample_weight, len(decided))
        assert given is not None
        decided = decided[given > 0]
    sums = EvaluationSums(
        forecasts.n_classes, forecasts.proba.shape[1], n_bins=int(n_bins), cost=matrix, exact=True
    )
    return evaluate_all(
        sums,
        forecasts,
        labels.tolist(),
        decided=decided,
        weighted=sample_weight is not None,
        seed=random_state,
    )


def evaluate_all(
    sums: EvaluationSums,
    forecasts: Forecasts,
    labels: Sequence[object],
    *,
    weighted: bool,
    decided: IntArray | None = None,
    ordered: InOrder | None = None,
    seed: Seed = 0,
) -> Evaluation:
    """Measure checked rows, all of which are here; `ordered` are the same rows in order."""
    weights, unit = in_units(forecasts.weights) if weighted else (None, 1.0)
    ordered = ordered if unit == 1 else None
    sums.add(forecasts.truth, forecasts.proba, weights, decided=decided, ordered=ordered)
    found = sums.result(labels, random_state=seed)
    return found if unit == 1 else _in_old_units(found, unit)


def _in_old_units(found: Evaluation, unit: float) -> Evaluation:
    """The evaluation with the weights that were given; the sum of very great ones may be infinite."""
    cost = found.cost
    with np.errstate(over="ignore"):
        if cost is not None:
            cost = replace(cost, total=cost.total * unit, weight=cost.weight * unit)
        diagrams = tuple(replace(each, weight=each.weight * unit) for each in found.reliability)
    return replace(found, weight=found.weight * unit, reliability=diagrams, cost=cost)


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
