"""Parallel-partition learning: brute force per coordinate, thresholds of two classes, never a higher cost."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import (
    ParallelPartitionRule,
    decide,
    partition_matrix,
    random_costs,
    realised_cost,
    reasonable,
    row_shift_bounds,
)
from calibrant.decisions._choice import feasible_offset, log_factor, paper_offset
from calibrant.decisions._families import ColumnFactors, FreeEntries, RowFactors, RowOffsets
from calibrant.decisions._sweep import Intervals, intervals_of
from calibrant.decisions._training import TrainingRows
from calibrant.metrics import roc_points

FAMILIES = ("row_add", "row_mul", "col_mul", "free")
seeds = st.integers(0, 2**32 - 1)
law = settings(max_examples=40, deadline=None)


def drawn(seed, k, n=25, *, coarse=False):
    """Systematically wrong probabilities, labels and costs; coarse ones tie all the time."""
    rng = np.random.default_rng(seed)
    if coarse:
        proba = rng.multinomial(4, np.full(k, 1 / k), size=n) / 4
        cost = rng.integers(1, 4, size=(k, k)).astype(float)
        np.fill_diagonal(cost, 0)
    else:
        proba, cost = rng.dirichlet(np.full(k, 0.7), size=n), random_costs(k, random_state=rng)
    return proba, rng.integers(k, size=n), cost


def total(proba, y, cost, matrix):
    return realised_cost(y, decide(proba, matrix, allow_any=True), cost).total


@law
@given(seed=seeds, k=st.integers(2, 5))
def test_one_offset_is_the_best_of_all_intervals(seed, k):
    """Plain Python over the midpoints between changepoints, as the definition has it."""
    proba, y, cost = drawn(seed, k)
    i = seed % k
    low, high = row_shift_bounds(cost, i)
    points = []
    for p in proba:
        risks = [sum(c * q for c, q in zip(row, p, strict=True)) for row in cost]
        points.append(min(r for j, r in enumerate(risks) if j != i) - risks[i])
    ends = sorted({low, high, *(point for point in points if low < point < high)})
    least = math.inf
    for left, right in itertools.pairwise(ends):
        if right - left > 1e-9:
            delta = np.zeros(k)
            delta[i] = (left + right) / 2
            least = min(least, total(proba, y, cost, partition_matrix(cost, delta)))
    rows = TrainingRows(proba, y, cost, None)
    family = RowOffsets(proba, cost)
    step, reached = family.pick((i,), intervals_of(family.events((i,)), rows, 1e-12, family.limits((i,))))
    assert low < step < high
    family.move((i,), step)
    assert math.isclose(reached, least, abs_tol=1e-9)
    assert math.isclose(total(proba, y, cost, family.matrix()), least, abs_tol=1e-9)


@law
@given(seed=seeds, k=st.integers(2, 5))
@pytest.mark.parametrize("make", [RowFactors, ColumnFactors, FreeEntries])
def test_one_factor_is_the_best_of_all(make, seed, k):
    """A fine grid of factors finds nothing better than the sweep, which knows its own cost."""
    proba, y, cost = drawn(seed, k)
    rows = TrainingRows(proba, y, cost, None)
    family = make(proba, cost)
    coordinate = list(family.coordinates(np.arange(k)))[seed % k]
    step, reached = family.pick(coordinate, intervals_of(family.events(coordinate), rows, family.tolerance))
    best_of_grid = math.inf
    for log in np.linspace(-6, 6, 241):
        other = make(proba, cost)
        other.move(coordinate, log)
        best_of_grid = min(best_of_grid, total(proba, y, cost, other.matrix()))
    family.move(coordinate, step)
    assert math.isclose(total(proba, y, cost, family.matrix()), reached, abs_tol=1e-9)
    assert reached <= best_of_grid + 1e-9


@law
@given(seed=seeds)
def test_two_classes_are_a_choice_on_the_roc_curve(seed):
    proba, y, cost = drawn(seed, 2)
    y[:2] = 0, 1
    curve = roc_points(y, proba[:, 1])
    misses, alarms = (1 - curve.tpr) * (y == 1).sum(), curve.fpr * (y == 0).sum()
    best = (cost[0, 1] * misses + cost[1, 0] * alarms).min()
    rule = ParallelPartitionRule().fit(proba, y, cost)
    assert math.isclose(rule.cost_after_, best, abs_tol=1e-9)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(2, 5), coarse=st.booleans(), passes=st.integers(1, 3))
@pytest.mark.parametrize("family", FAMILIES)
def test_learning_never_raises_the_training_cost(family, seed, k, coarse, passes):
    proba, y, cost = drawn(seed, k, coarse=coarse)
    rule = ParallelPartitionRule(family=family, passes=passes).fit(proba, y, cost)
    before = total(proba, y, cost, cost)
    assert math.isclose(rule.cost_before_, before, abs_tol=1e-9)
    assert rule.cost_after_ <= before + 1e-9
    assert math.isclose(rule.cost_after_, rule.costs_[-1], abs_tol=1e-9)
    assert (np.diff([before, *rule.costs_]) <= 1e-9).all()
    assert math.isclose(rule.cost_after_, total(proba, y, cost, rule.matrix_), abs_tol=1e-9)
    assert reasonable(rule.matrix_)


def test_ties_that_are_decided_well_are_left_alone():
    """Both rows tie for class 1, and the order of the classes decides both right; no offset does."""
    proba, y, cost = [[0.5, 0.5, 0], [0, 0.5, 0.5]], [0, 1], 1 - np.eye(3)
    rule = ParallelPartitionRule().fit(proba, y, cost)
    assert (rule.cost_before_, rule.cost_after_) == (0, 0)


def test_the_printed_strategy_can_raise_the_cost_and_the_feasible_one_cannot():
    rose = 0
    for seed in range(60):
        proba, y, cost = drawn(seed, 4, n=12)
        printed = ParallelPartitionRule("paper").fit(proba, y, cost)
        assert math.isclose(printed.cost_after_, total(proba, y, cost, printed.matrix_), abs_tol=1e-9)
        rose += any(np.diff([printed.cost_before_, *printed.costs_]) > 1e-9)
        assert printed.matrix_.min() > -1e-12  # reasonable, but clipping twice can end on the border
    assert rose > 0


@law
@given(seed=seeds, k=st.integers(2, 4))
def test_more_passes_and_restarts_never_cost_more(seed, k):
    proba, y, cost = drawn(seed, k)
    once, twice, often = (
        ParallelPartitionRule(passes=passes, restarts=restarts, random_state=0).fit(proba, y, cost)
        for passes, restarts in ((1, 0), (2, 0), (2, 4))
    )
    assert often.cost_after_ <= twice.cost_after_ + 1e-9 <= once.cost_after_ + 2e-9
    again = ParallelPartitionRule(passes=2, restarts=4, random_state=0).fit(proba, y, cost)
    np.testing.assert_array_equal(again.matrix_, often.matrix_)


@law
@given(seed=seeds, k=st.integers(2, 4), currency=st.sampled_from([1e-3, 1e6]))
@pytest.mark.parametrize("family", FAMILIES)
def test_the_currency_of_the_costs_does_not_matter(family, seed, k, currency):
    proba, y, cost = drawn(seed, k)
    here = ParallelPartitionRule(family=family).fit(proba, y, cost)
    there = ParallelPartitionRule(family=family).fit(proba, y, currency * cost)
    np.testing.assert_allclose(there.matrix_, currency * here.matrix_, rtol=1e-6)


@law
@given(seed=seeds, k=st.integers(2, 4))
def test_only_regrets_matter(seed, k):
    """Adding to a column changes no decision, and so neither what is learned."""
    proba, y, cost = drawn(seed, k)
    here = ParallelPartitionRule().fit(proba, y, cost)
    there = ParallelPartitionRule().fit(proba, y, cost + np.arange(k))
    np.testing.assert_allclose(there.matrix_, here.matrix_, atol=1e-6)


def test_perfect_probabilities_leave_nothing_to_learn():
    for family in FAMILIES:
        rule = ParallelPartitionRule(family=family).fit(np.eye(3), [0, 1, 2], random_costs(3, random_state=0))
        np.testing.assert_allclose(rule.matrix_, random_costs(3, random_state=0))


def test_the_visits_are_listed():
    proba, y, cost = drawn(0, 3)
    y[:] = 1
    y[:3] = 2
    assert ParallelPartitionRule(passes=2).fit(proba, y, cost).order_.tolist() == [1, 2, 0] * 2
    pairs = ParallelPartitionRule(family="free").fit(proba, y, cost).order_
    assert pairs.tolist() == [[1, 2], [1, 0], [2, 1], [2, 0], [0, 1], [0, 2]]
    assert ParallelPartitionRule(family="free").fit(proba, y, cost).parameters_.shape == (3, 3)


PICKS = {
    "printed mean": (paper_offset, [(-np.inf, 1, 5), (1, 4, 3), (4, np.inf, 4)], (-6, 6), 2),
    "printed, straddles": (paper_offset, [(-np.inf, -1, 5), (-1, 2, 3), (2, np.inf, 4)], (-6, 6), 0),
    "printed, infinite": (paper_offset, [(-np.inf, 1, 5), (1, np.inf, 3)], (-6, 6), 6 - 12e-9),
    "printed, minus infinite": (paper_offset, [(-np.inf, -1, 3), (-1, np.inf, 5)], (-6, 6), -6 + 12e-9),
    "printed, clipped": (paper_offset, [(-np.inf, 5, 5), (5, 20, 3), (20, np.inf, 5)], (-6, 6), 6 - 12e-9),
    "factor, mean": (log_factor, [(-np.inf, 1, 5), (1, 3, 3), (3, np.inf, 4)], (-9, 9), 2),
    "factor, half": (log_factor, [(-np.inf, -1, 3), (-1, np.inf, 4)], (-9, 9), -1 - math.log(2)),
    "factor, double": (log_factor, [(-np.inf, 1, 4), (1, np.inf, 3)], (-9, 9), 1 + math.log(2)),
    "factor, stay": (log_factor, [(-np.inf, -1, 3), (-1, 1, 3), (1, np.inf, 3)], (-9, 9), 0),
    "factor, a little less": (
        log_factor,
        [(-np.inf, -1, 3), (-1, 1, 3), (1, np.inf, 3 - 1e-12)],
        (-9, 9),
        1 + math.log(2),
    ),
    "factor, equally near": (
        log_factor,
        [(-np.inf, -1, 3), (-1, 1, 4), (1, np.inf, 3)],
        (-9, 9),
        -1 - math.log(2),
    ),
    "factor, near its limit": (log_factor, [(-np.inf, 1, 4), (1, np.inf, 3)], (-9, 1.2), 1.1),
    "factor, near its lower limit": (log_factor, [(-np.inf, -1, 3), (-1, np.inf, 4)], (-1.2, 9), -1.1),
    "end on zero": (feasible_offset, [(-np.inf, 0, 3), (0, np.inf, 4)], (-4, 4), -2),
    "rounded zero": (feasible_offset, [(-np.inf, 1e-15, 3), (1e-15, np.inf, 4)], (-4, 4), -2),
}


@pytest.mark.parametrize("case", PICKS.values(), ids=PICKS)
def test_the_value_within_the_interval(case):
    pick, intervals, bounds, wanted = case
    step, _ = pick(Intervals(*np.array(intervals, dtype=float).T), *bounds, 1e-12)
    assert math.isclose(step, wanted, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (ParallelPartitionRule("greedy"), "strategy must be one of 'feasible', 'paper'; got 'greedy'"),
        (ParallelPartitionRule(family="rows"), "family must be one of 'row_add', .*got 'rows'"),
        (ParallelPartitionRule(passes=0), "passes must be a whole number, at least 1; got 0"),
        (ParallelPartitionRule(passes=1.5), "passes must be a whole number, at least 1; got 1.5"),
        (ParallelPartitionRule(restarts=-1), "restarts must be a whole number, at least 0; got -1"),
        (
            ParallelPartitionRule("paper", "free"),
            "'paper' is defined for family='row_add' only; got family='free'; use strategy='feasible'",
        ),
    ],
)
def test_what_is_refused(rule, message):
    with pytest.raises(CalibrantError, match=message):
        rule.fit([[0.5, 0.5]], [0], [[0, 1], [1, 0]])


def test_offsets_must_fit_the_matrix():
    with pytest.raises(
        CalibrantError, match=r"delta must have one number per class, 2 in all; got shape \(3,\)"
    ):
        partition_matrix([[0, 1], [1, 0]], [1, 2, 3])
