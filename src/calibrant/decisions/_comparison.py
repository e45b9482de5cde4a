"""All rules side by side, on rows that they have not learned from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import (
    check_class_labels,
    check_flag,
    check_same_length,
    check_weights,
    class_labels,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant._core._folds import read_folds
from calibrant._core._names import by_label
from calibrant.decisions._estimates import check_estimates
from calibrant.decisions._ledger import saving_estimate
from calibrant.decisions._matrix import check_cost
from calibrant.decisions._names import RULES, new_rule
from calibrant.decisions._training import TrainingRows
from calibrant.metrics import Estimate, mean_of

Splits = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True, slots=True, eq=False)
class RuleResult:
    """What one rule costs on rows that it has not learned from.

    Attributes
    ----------
    name : str
        The rule.
    cost : Estimate
        The cost of its decisions in all folds together.
    saving : Estimate
        How much less that is than the cost of the plain rule, in percent of the latter; `nan` if the plain
        rule costs nothing. The interval is of rows that both decide about, given what was learned: another
        sample to learn from is not in it, but in `spread`.
    fold_costs, fold_savings : ndarray of shape (f,)
        The same in every fold.
    """

    name: str
    cost: Estimate
    saving: Estimate
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
    allow_any: bool = False,
) -> RuleComparison:
    """Put rules side by side: each learns in some folds and decides in the other.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Probabilities of the classes, for rows that the classifier behind them was not trained on.
    y : array-like of shape (n,)
        The true classes: column numbers of `proba`, or other labels in sorted order.
    cost : array-like of shape (k, k) or (a, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j. There may be other decisions than the
        classes, for rules that take these.
    rules : sequence of names or objects, optional
        The rules; by default all that are ready-made for these decisions and this number of classes.
    cv : int, splitter or iterable, default=10
        The folds, as in scikit-learn.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    allow_any : bool, default=False
        Whether as many decisions as classes may be others than the classes, see `DecisionRule.fit`.

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
    n_classes = estimates.shape[1]
    check_flag("allow_any", allow_any)
    matrix = check_cost(cost, n_classes, allow_any=True)
    any_decisions = allow_any or len(matrix) != n_classes
    truth = check_class_labels(y, n_classes)
    check_same_length(proba=estimates, labels=truth)
    estimates = by_label(proba, estimates, lambda: class_labels(y, n_classes), "proba")
    weights = check_weights(sample_weight, len(truth))
    rows = TrainingRows(estimates.astype(np.float64, copy=False), truth, matrix, weights)
    wanted = _wanted(rules, n_classes, any_decisions=any_decisions)
    trial = _Trial(rows, _split(cv, rows), any_decisions)
    plain = trial.paid("expected")
    results = [trial.result(rule, trial.paid(rule), plain) for rule in wanted]
    return RuleComparison(tuple(results), trial.result("expected", plain, plain))


def _wanted(rules: Sequence[object] | None, n_classes: int, *, any_decisions: bool) -> list[object]:
    if rules is None:
        ready = [name for name, rule in RULES.items() if rule.any_decisions or not any_decisions]
        return [name for name in ready if name != "mossman" or n_classes == 3]
    if isinstance(rules, str) or not np.iterable(rules):
        raise ParameterError(f"rules must be a sequence of rules; got {shown(rules)}; put it in a list")
    wanted = list(rules)
    if not wanted:
        raise ParameterError("rules must hold at least one rule; got none")
    return wanted


def _split(cv: Any, rows: TrainingRows) -> Splits:
    return read_folds(cv, rows.proba, rows.truth)  # a fold may lack a rare class; the rules cope with that


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """Rows in folds, and what rules make of them."""

    rows: TrainingRows
    splits: Splits
    any_decisions: bool

    def paid(self, rule: object) -> list[Float64Array]:
        """What the rows of every fold pay by the rule's decisions, learned outside it; without weights."""
        rows, how = self.rows, {"allow_any": True} if self.any_decisions else {}
        paid = []
        for train, test in self.splits:
            weights = None if rows.weights is None else rows.weights[train]
            fitted = new_rule(rule).fit(rows.proba[train], rows.truth[train], rows.cost, weights, **how)
            paid.append(rows.cost[fitted.decide(rows.proba[test]), rows.truth[test]])
        return paid

    def result(self, rule: object, paid: list[Float64Array], plain: list[Float64Array]) -> RuleResult:
        """Add up what was paid, and hold it against the plain rule."""
        costs, plain_costs = self._sums(paid), self._sums(plain)
        total, plain_total = costs.sum(), plain_costs.sum()
        each, each_plain = np.concatenate(paid), np.concatenate(plain)
        tested = np.concatenate([test for _, test in self.splits])
        weights = np.ones(len(tested)) if self.rows.weights is None else self.rows.weights[tested]
        counted = weights > 0
        each, each_plain, weights = each[counted], each_plain[counted], weights[counted]
        saving = float(_saving(total, plain_total))
        return RuleResult(
            name=str(rule),
            cost=_times(mean_of(each, weights), float(total), float(weights.sum())),
            saving=saving_estimate(saving, each_plain, each, weights),
            fold_costs=costs,
            fold_savings=_saving(costs, plain_costs),
        )

    def _sums(self, paid: list[Float64Array]) -> Float64Array:
        """What every fold pays."""
        folds = zip(self.splits, paid, strict=True)
        return np.array([self.rows.priced(each.copy(), test).sum() for (_, test), each in folds])


def _times(mean: Estimate, total: float, weight: float) -> Estimate:
    """A total with the interval of its mean."""
    return Estimate(total, mean.low * weight, mean.high * weight, mean.error * weight)


def _saving(cost: Any, plain: Any) -> Any:
    """Percent saved against the plain rule; against its size where that is a benefit, a negative cost."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(plain == 0, np.nan, 100 * (plain - cost) / np.abs(plain))
