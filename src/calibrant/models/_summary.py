"""What is remembered of the training rows: how many, how often every class, how good the probabilities."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import decisions, metrics
from calibrant._core._arrays import Float64Array
from calibrant._core._folds import stratified_folds
from calibrant.models._costs import Costs

if TYPE_CHECKING:
    from calibrant.models._plan import Predictions

#: With more numbers than this, calibration and refinement would take longer than the fit.
MOST_FOR_DECOMPOSITION = 5_000_000


@dataclass(frozen=True, slots=True)
class FitMetrics:
    """How good the probabilities of a fit are, on rows that they were not fitted to.

    After a fit, and not from a file, every number knows its interval (`calibrant.metrics.Estimate`).

    Attributes
    ----------
    log_loss : float or None
        Mean negative logarithm of the probability of the true class; infinite if that was 0 for some row.
    brier_score : float or None
        Mean squared error: of the positive class for two classes, summed over the classes for more.
    calibration, refinement : float or None
        The parts of the Brier score, by isotonic regression.
    error_rate : float or None
        Share of rows whose most probable class is not the true one.
    mean_cost : float or None
        What the decisions cost per row; learned rules decide about rows that they have not learned from.
    mean_cost_plain : float or None
        The same without the learned rule, by least expected cost.
    """

    log_loss: float | None = None
    brier_score: float | None = None
    calibration: float | None = None
    refinement: float | None = None
    error_rate: float | None = None
    mean_cost: float | None = None
    mean_cost_plain: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSummary:
    """What a model remembers of its training rows.

    Attributes
    ----------
    n_rows : int
        Number of rows with a weight.
    weight : float
        Their total weight.
    base_rates : ndarray of shape (k,)
        The share of every class in that weight.
    n_folds : int
        How many calibrators, each fitted to other rows, gave the probabilities that were measured: 1 for a
        part of the rows held out, 0 if the rows that were fitted to had to be measured themselves.
    n_measured : int
        Number of rows measured.
    score_columns : tuple of str or None
        The names of the columns that the scores came from, if they had names.
    metrics : FitMetrics
        What was measured; None where nothing was.
    """

    n_rows: int
    weight: float
    base_rates: Float64Array
    n_folds: int = 0
    n_measured: int = 0
    score_columns: tuple[str, ...] | None = None
    metrics: FitMetrics = field(default_factory=FitMetrics)


def measure(judged: "Predictions", costs: Costs | None, rule: Any) -> FitMetrics:
    """Measure probabilities and decisions about rows that the calibrator was not fitted to."""
    if not len(judged):
        return FitMetrics()
    mean_cost, mean_cost_plain = _mean_costs(judged, costs, rule)
    return replace(_losses(judged), mean_cost=mean_cost, mean_cost_plain=mean_cost_plain)


def _losses(judged: "Predictions") -> FitMetrics:
    """What is lost on average; of very many numbers without the parts of the Brier score."""
    truth, weight, proba = judged.rows.truth, judged.rows.weight, judged.proba
    n_classes = proba.shape[1]
    if proba.size <= MOST_FOR_DECOMPOSITION:
        sums = metrics.EvaluationSums(n_classes, n_classes, exact=True).add(truth, proba, weight)
        found = sums.losses(part_intervals=True)
        return FitMetrics(
            found.log_loss, found.brier_score, found.calibration, found.refinement, found.error_rate
        )
    how: dict[str, Any] = {"sample_weight": weight, "classes": np.arange(n_classes)}
    squares = metrics.brier_score(truth, proba, **how)
    return FitMetrics(
        metrics.log_loss(truth, proba, **how), squares, error_rate=metrics.error_rate(truth, proba, **how)
    )


def _mean_costs(judged: "Predictions", costs: Costs | None, rule: Any) -> tuple[float | None, float | None]:
    """Cost per row of the decisions, and of the plain ones where the decisions are learned."""
    if costs is None:
        return None, None
    rows, proba = judged.rows, judged.proba
    paid = costs.matrix[decisions.decide(proba, costs.matrix, allow_any=True), rows.truth]
    plain = metrics.mean_of(paid, np.ones(len(paid)) if rows.weight is None else rows.weight)
    if rule is None or isinstance(rule, decisions.ExpectedCostRule) or len(rows) < 2:
        return plain, None
    fold = judged.fold
    if judged.n_folds < 2:
        fold = stratified_folds(rows.truth, min(5, len(rows)), 0)
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]
    compared = decisions.compare_rules(
        proba, rows.truth, costs.matrix, [rule], cv=splits, sample_weight=rows.weight, **costs.allowed
    )
    total = float(len(rows) if rows.weight is None else rows.weight.sum())
    cost = compared.best.cost
    return metrics.Estimate(cost / total, cost.low / total, cost.high / total, cost.error / total), plain
