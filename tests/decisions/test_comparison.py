"""Rules side by side: folds by hand, savings, the table, and what is refused."""

import math

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from calibrant import CalibrantError
from calibrant.decisions import (
    ExpectedCostRule,
    LachicheFlachRule,
    ParallelPartitionRule,
    compare_rules,
    random_costs,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    right = rng.dirichlet(np.ones(3), size=600)
    y = (rng.random(600)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    timid = np.sqrt(right) / np.sqrt(right).sum(axis=1, keepdims=True)
    return timid, y, random_costs(3, random_state=0)


def test_folds_by_hand(data):
    proba, y, cost = data
    comparison = compare_rules(proba, y, cost, ["parallel"], cv=4)
    (result,) = comparison.results
    costs, plain = [], []
    for train, test in StratifiedKFold(4).split(proba, y):
        for rule, paid in ((ParallelPartitionRule(), costs), (ExpectedCostRule(), plain)):
            decisions = rule.fit(proba[train], y[train], cost).decide(proba[test])
            paid.append(cost[decisions, y[test]].sum())
    np.testing.assert_allclose(result.fold_costs, costs)
    np.testing.assert_allclose(comparison.baseline.fold_costs, plain)
    savings = [100 * (p - c) / p for p, c in zip(plain, costs, strict=True)]
    np.testing.assert_allclose(result.fold_savings, savings)
    assert math.isclose(result.saving, 100 * (sum(plain) - sum(costs)) / sum(plain))
    assert math.isclose(result.spread, np.std(savings, ddof=1))
    assert math.isclose(result.cost, sum(costs))


def test_all_ready_made_rules_by_default(data):
    proba, y, cost = data
    three = compare_rules(proba, y, cost, cv=3)
    assert [result.name for result in three.results] == ["expected", "parallel", "lachiche_flach", "mossman"]
    pair = proba[:, :2] / proba[:, :2].sum(axis=1, keepdims=True)
    two = compare_rules(pair, np.minimum(y, 1), cost[:2, :2], cv=3)
    assert [result.name for result in two.results] == ["expected", "parallel", "lachiche_flach"]
    assert three.baseline.saving == three.results[0].saving == 0
    assert three.best.cost == min(result.cost for result in three.results)


def test_the_table(data):
    rules = ["expected", LachicheFlachRule(passes=2)]
    lines = str(compare_rules(*data, rules, cv=ShuffleSplit(2, random_state=0))).splitlines()
    assert lines[0].split() == ["rule", "cost", "saving", "spread"]
    assert lines[1].split()[0] == "expected"
    assert lines[2].startswith("LachicheFlachRule(passes=2)")
    assert len({len(line) for line in lines}) == 1


def test_a_baseline_that_costs_nothing_has_no_saving():
    proba, y = np.repeat(np.eye(2), 6, axis=0), np.repeat([0, 1], 6)
    comparison = compare_rules(proba, y, [[0, 1], [1, 0]], cv=2)
    assert all(math.isnan(result.saving) for result in comparison.results)
    assert math.isnan(comparison.baseline.spread)


def test_a_saving_on_benefits_is_positive():
    """Benefits are negative costs; to earn more is to save."""
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]] * 5)
    y = np.array([0, 0, 1, 1] * 5)
    result = compare_rules(proba, y, [[-2, 1], [1, -2]], ["parallel"], cv=2).results[0]
    assert result.cost == -40
    assert math.isclose(result.saving, 100 * (-10 + 40) / 10)


def test_weights_count(data):
    proba, y, cost = data
    weights = np.where(y == 0, 2.0, 1.0)
    splits = [(np.arange(300), np.arange(300, 600))]
    result = compare_rules(proba, y, cost, ["parallel"], cv=splits, sample_weight=weights).results[0]
    rule = ParallelPartitionRule().fit(proba[:300], y[:300], cost, weights[:300])
    paid = cost[rule.decide(proba[300:]), y[300:]] * weights[300:]
    assert math.isclose(result.cost, paid.sum())


def test_rare_classes_are_no_warning(data):
    proba, y, cost = data
    y = np.where(y == 2, 0, y)
    y[0] = 2
    assert len(compare_rules(proba, y, cost, cv=5).baseline.fold_costs) == 5


def test_what_is_refused(data):
    proba, y, cost = data
    with pytest.raises(
        CalibrantError, match=r"the rows must allow the split; .*n_splits=10.*use fewer folds"
    ):
        compare_rules(proba[:4], y[:4], cost)
    with pytest.raises(CalibrantError, match="rule must be one of 'expected', .*got 'best'"):
        compare_rules(proba, y, cost, ["best"])
    with pytest.raises(CalibrantError, match=r"one column per class, 3 in all; got shape \(2, 2\)"):
        compare_rules(proba, y, cost[:2, :2])
