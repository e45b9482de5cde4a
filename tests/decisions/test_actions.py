"""Learned rules with other decisions than the classes: brute force, certain rows, order of the decisions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant.decisions import ExpectedCostRule, ParallelPartitionRule, compare_rules, decide, realised_cost
from calibrant.decisions._families import RowOffsets, homes, regrets_of
from calibrant.decisions._sweep import intervals_of
from calibrant.decisions._training import TrainingRows

FAMILIES = ("row_add", "row_mul", "col_mul", "free")
seeds = st.integers(0, 2**32 - 1)
law = settings(max_examples=40, deadline=None)


def drawn(seed, k, a, n=25):
    """Systematically wrong probabilities, labels, and costs of any decisions; some are whole, and tie."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.7), size=n)
    cost = rng.integers(0, 4, (a, k)).astype(float) if seed % 2 else rng.uniform(0, 5, (a, k))
    return proba, rng.integers(k, size=n), cost


def paid(proba, y, cost, matrix):
    return realised_cost(y, decide(proba, matrix, allow_any=True), cost).total


@law
@given(seed=seeds, k=st.integers(2, 4), a=st.integers(2, 6))
def test_one_offset_is_the_best_of_those_that_keep_certain_decisions(seed, k, a):
    """Plain Python over the midpoints between all places where anything changes."""
    proba, y, cost = drawn(seed, k, a)
    i = seed % a
    kept = [{d for d in range(a) if cost[d, j] == cost[:, j].min()} for j in range(k)]

    def permitted(step):
        moved = cost.copy()
        moved[i] += step
        return all(
            set(np.flatnonzero(moved[:, j] == moved[:, j].min()).tolist()) <= kept[j] for j in range(k)
        )

    others = [d for d in range(a) if d != i]
    points = {min(cost[d] @ p for d in others) - cost[i] @ p for p in [*proba, *np.eye(k)]}
    ends = sorted({-50.0, 0.0, 50.0, *points})
    steps = [(low + high) / 2 for low, high in itertools.pairwise(ends) if high - low > 1e-9]
    totals = []
    for step in filter(permitted, steps):
        moved = cost.copy()
        moved[i] += step
        totals.append(paid(proba, y, cost, moved))
    family = RowOffsets(proba, regrets_of(cost))
    rows = TrainingRows(proba, y, cost, None)
    intervals = intervals_of(family.events((i,)), rows, family.tolerance, family.limits((i,)))
    step, found = family.pick((i,), intervals)
    assert math.isfinite(step)
    assert found <= min([paid(proba, y, cost, cost), *totals]) + 1e-9
    family.move((i,), step)
    assert found == pytest.approx(paid(proba, y, cost, family.matrix()))


@law
@given(seed=seeds, k=st.integers(2, 4), a=st.integers(1, 6), family=st.sampled_from(FAMILIES))
def test_never_dearer_and_certain_rows_are_decided_as_the_costs_say(seed, k, a, family):
    proba, y, cost = drawn(seed, k, a)
    rule = ParallelPartitionRule(family=family, passes=2, restarts=1, random_state=0)
    rule.fit(proba, y, cost, allow_any=True)
    assert rule.cost_after_ <= rule.cost_before_ == pytest.approx(paid(proba, y, cost, cost))
    assert rule.cost_after_ == pytest.approx(realised_cost(y, rule.decide(proba), cost).total)
    assert rule.matrix_.shape == (a, k)
    assert np.isfinite(rule.matrix_).all()
    sure = rule.decide(np.eye(k))
    assert (cost[sure, np.arange(k)] == cost.min(axis=0)).all()


@law
@given(seed=seeds, k=st.integers(2, 4))
def test_the_order_of_the_decisions_changes_nothing(seed, k):
    """Of deciding for classes, none as frequent as another, and of a decision that is at home nowhere."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(k), 10 + np.arange(k)))
    proba = rng.dirichlet(np.full(k, 0.7), size=len(y))
    cost = np.vstack([rng.uniform(1, 5, (k, k)) * (1 - np.eye(k)), rng.uniform(0.2, 0.9, (1, k))])
    order = np.append(rng.permutation(k), k)
    one, other = (ParallelPartitionRule().fit(proba, y, each, allow_any=True) for each in (cost, cost[order]))
    assert other.cost_after_ == pytest.approx(one.cost_after_)
    np.testing.assert_allclose(other.matrix_, one.matrix_[order], atol=1e-9)


def test_deciding_for_none_of_the_classes():
    """Whether to send a letter: two decisions for two classes, neither of which is a class."""
    rng = np.random.default_rng(3)
    chance = rng.beta(1, 6, 4000)
    y = (rng.random(4000) < chance).astype(int)
    timid = np.column_stack([1 - chance / 2, chance / 2])
    cost = [[1.0, -9.0], [0.0, 0.0]]  # sending costs 1 and brings 10; keeping, nothing
    rule = ParallelPartitionRule().fit(timid, y, cost, allow_any=True)
    assert rule.cost_after_ < rule.cost_before_ < 0
    right = realised_cost(y, (chance < 0.1).astype(int), cost).total
    assert rule.cost_after_ == pytest.approx(right, rel=0.1)
    swapped = ParallelPartitionRule().fit(timid, y, cost[::-1])
    np.testing.assert_array_equal(swapped.decide(timid), 1 - rule.decide(timid))


def test_a_question_that_is_too_dear_is_never_asked_again():
    proba, y = [[0.6, 0.4], [0.45, 0.55], [0.9, 0.1]], [0, 1, 0]
    rule = ParallelPartitionRule().fit(proba, y, [[0, 1], [1, 0], [0.42, 0.42]])
    assert rule.cost_before_ == pytest.approx(0.42)
    assert rule.cost_after_ == 0
    assert rule.decide(proba).tolist() == y


def test_homes_are_the_cheapest_decisions_and_regrets_start_there():
    cost = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 5.0]])
    assert homes(cost).tolist() == [1, 0, 0]
    assert regrets_of(cost).tolist() == [[2, 0, 0], [0, 0, 3]]


def test_rules_side_by_side_are_those_that_take_the_decisions():
    proba, y, cost = drawn(4, 3, 5, n=400)
    found = compare_rules(proba, y, cost, sample_weight=np.arange(400) % 3)
    assert [result.name for result in found.results] == ["expected", "parallel"]
    for result in found.results:
        assert result.cost == pytest.approx(result.fold_costs.sum())
        assert result.cost.low < result.cost < result.cost.high
    expected, parallel = found.results
    assert expected.saving == 0
    assert parallel.saving.low < parallel.saving < parallel.saving.high
    assert ExpectedCostRule().fit(proba, y, cost).decide(proba).tolist() == decide(proba, cost).tolist()


def test_the_interval_of_a_saving_covers_it():
    """Of a rule that is known beforehand, in 400 samples; the truth is that of a hundred thousand rows."""
    rng = np.random.default_rng(0)
    cost = np.array([[0, 1, 10], [2, 0, 5], [1, 4, 0]])

    def sample(n):
        right = rng.dirichlet([1, 1, 1], size=n)
        y = (rng.random(n)[:, None] > right.cumsum(axis=1)).sum(axis=1)
        return right**0.5 / (right**0.5).sum(axis=1, keepdims=True), y

    class Known:
        def __init__(self, power=2.0):
            self.power = power

        def get_params(self, deep=True):
            return {"power": self.power}

        def set_params(self, **params):
            self.power = params.get("power", self.power)
            return self

        def fit(self, proba, y, cost, sample_weight=None):
            self.cost = cost
            return self

        def decide(self, proba):
            return decide(proba**self.power / (proba**self.power).sum(axis=1, keepdims=True), self.cost)

    truth = float(compare_rules(*sample(100_000), cost, [Known()], cv=2).best.saving)
    found = [compare_rules(*sample(400), cost, [Known()], cv=2).best.saving for _ in range(400)]
    assert 0.92 <= np.mean([each.low <= truth <= each.high for each in found]) <= 0.98
