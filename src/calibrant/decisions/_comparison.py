"""All rules side by side, on rows that they have not learned from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import (
    check_class_labels,
    check_same_length,
    check_weights,
    class_labels,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant._core._folds import read_folds
from calibrant._core._names import by_label
from calibrant.decisions._estimates import check_estimates
from calibrant.decisions._matrix import check_square_cost
from calibrant.decisions._names import RULES, new_rule
from calibrant.decisions._training import TrainingRows

Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, slots=True, eq=False)
class RuleResult:
    """What one rule costs on rows that it has not learned from.

    Attributes
    ----------
    name : str
        The rule.
    cost : float
        The cost of its decisions in all folds together.
    saving : float
        How much less that is than the cost of the plain rule, in percent of the latter; `nan` if the plain
        rule costs nothing.
    fold_costs, fold_savings : ndarray of shape (f,)
        The same in every fold.
    """

    name: str
    cost: float
    saving: float
    fold_costs: Float64Array
    fold_savings: Float64Array

    @property
    def spread(self) -> float:
        """The standard deviation of the saving over the folds in which the plain rule costs something."""
        counted = self.fold_savings[~np.isnan(self.fold_savings)]
        return float(np.std(counted, ddof=1)) if len(counted) > 1 else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class RuleComparison:
    """Rules side by side; printed, it is a table.

    Attributes
    ----------
    results : tuple of RuleResult
        One per rule, in the order asked for.
    baseline : RuleResult
        The plain rule of least expected cost.
    """

    results: tuple[RuleResult, ...]
    baseline: RuleResult

    @property
    def best(self) -> RuleResult:
        """The rule of least cost; of equals the first."""
        return min(self.results, key=lambda result: result.cost)

    def __str__(self) -> str:
        width = max(len("rule"), *(len(result.name) for result in self.results))
        lines = [f"{'rule':<{width}}  {'cost':>12}  {'saving':>8}  {'spread':>8}"]
        lines += [
            f"{result.name:<{width}}  {result.cost:>12.6g}  {result.saving:>7.1f}%  {result.spread:>7.1f}%"
            for result in self.results
        ]
        return "\n".join(lines)


def compare_rules(
    proba: object,
    y: object,
    cost: object,
    rules: Sequence[object] | None = None,
    *,
    cv: Any = 10,
    sample_weight: object = None,
) -> RuleComparison:
    """Put rules side by side: each learns in some folds and decides in the other.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Probabilities of the classes, for rows that the classifier behind them was not trained on.
    y : array-like of shape (n,)
        The true classes: column numbers of `proba`, or other labels in sorted order.
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    rules : sequence of names or objects, optional
        The rules; by default all that are ready-made for this number of classes.
    cv : int, splitter or iterable, default=10
        The folds, as in scikit-learn.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    RuleComparison
        Cost, saving and spread of every rule.

    Examples
    --------
    A timid classifier, whose probabilities are drawn towards one third:

    >>> import numpy as np
    >>> from calibrant.decisions import compare_rules
    >>> rng = np.random.default_rng(0)
    >>> right = rng.dirichlet([1, 1, 1], size=2000)
    >>> y = (rng.random(2000)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    >>> proba = right**0.5 / (right**0.5).sum(axis=1, keepdims=True)
    >>> print(compare_rules(proba, y, [[0, 1, 10], [2, 0, 5], [1, 4, 0]]))
    rule                    cost    saving    spread
    expected                2408      0.0%      0.0%
    parallel                2239      7.0%      9.1%
    lachiche_flach          2317      3.8%      8.0%
    mossman                 2338      2.9%      5.7%
    """
    estimates = check_estimates(proba)
    matrix = check_square_cost(cost, estimates.shape[1])
    truth = check_class_labels(y, len(matrix))
    check_same_length(proba=estimates, labels=truth)
    estimates = by_label(proba, estimates, lambda: class_labels(y, len(matrix)), "proba")
    weights = check_weights(sample_weight, len(truth))
    rows = TrainingRows(estimates.astype(np.float64, copy=False), truth, matrix, weights)
    splits = _split(cv, rows)
    wanted = _wanted(rules, len(matrix))
    plain = _fold_costs("expected", rows, splits)
    results = [_result(rule, _fold_costs(rule, rows, splits), plain) for rule in wanted]
    return RuleComparison(tuple(results), _result("expected", plain, plain))


def _wanted(rules: Sequence[object] | None, n_classes: int) -> list[object]:
    if rules is None:
        return [name for name in RULES if name != "mossman" or n_classes == 3]
    if isinstance(rules, str) or not np.iterable(rules):
        raise ParameterError(f"rules must be a sequence of rules; got {shown(rules)}; put it in a list")
    wanted = list(rules)
    if not wanted:
        raise ParameterError("rules must hold at least one rule; got none")
    return wanted


def _split(cv: Any, rows: TrainingRows) -> Splits:
    return read_folds(cv, rows.proba, rows.truth)  # a fold may lack a rare class; the rules cope with that


def _fold_costs(rule: object, rows: TrainingRows, splits: Splits) -> Float64Array:
    """The cost of the rule's decisions in every fold, learned outside it."""
    costs = []
    for train, test in splits:
        weights = None if rows.weights is None else rows.weights[train]
        fitted = new_rule(rule).fit(rows.proba[train], rows.truth[train], rows.cost, weights)
        costs.append(rows.paid(fitted.decide(rows.proba[test]), test).sum())
    return np.array(costs)


def _result(rule: object, costs: Float64Array, plain: Float64Array) -> RuleResult:
    total, plain_total = costs.sum(), plain.sum()
    return RuleResult(
        name=str(rule),
        cost=float(total),
        saving=float(_saving(total, plain_total)),
        fold_costs=costs,
        fold_savings=_saving(costs, plain),
    )


def _saving(cost: Any, plain: Any) -> Any:
    """Percent saved against the plain rule; against its size where that is a benefit, a negative cost."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(plain == 0, np.nan, 100 * (plain - cost) / np.abs(plain))
