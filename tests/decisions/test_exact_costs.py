"""Learned rules beside oracles in fractions: costs and weights of any ratio, no ties but exact ones."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import (
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    decide,
    scale_costs,
)
from calibrant.decisions._training import TrainingRows

FAMILIES = ("row_add", "row_mul", "col_mul", "free")
TWO_CLASS_RULES = [
    *(ParallelPartitionRule(family=family) for family in FAMILIES),
    LachicheFlachRule(),
    LachicheFlachRule("incremental"),
]
seeds = st.integers(0, 2**32 - 1)
law = settings(max_examples=40, deadline=None)


def drawn(seed, k, *, decades=(0, 9), whole=True, n=20):
    """Rows with costs and weights spread over many decades; half of the problems have no weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, n))
    cost, weights = 10 ** rng.uniform(*decades, size=(k, k)), 10 ** rng.uniform(*decades, size=n)
    if whole:
        cost, weights = np.ceil(cost), np.ceil(weights)
    np.fill_diagonal(cost, 0)
    return (
        rng.dirichlet(np.ones(k), size=n),
        rng.integers(k, size=n),
        cost,
        weights if seed % 2 else np.ones(n),
    )


def exact_total(decisions, y, cost, weights):
    return sum(
        Fraction(w) * Fraction(cost[d, j])
        for d, j, w in zip(decisions, y.tolist(), weights.tolist(), strict=True)
    )


def by_frequency(y, weights, k):
    frequency = [
        sum(Fraction(w) for w, j in zip(weights.tolist(), y, strict=True) if j == i) for i in range(k)
    ]
    return sorted(range(k), key=lambda i: (-frequency[i], i))


def exact_offsets(proba, y, cost, weights):
    """Section by section the definition of "feasible" offsets, in fractions; the cost after every visit."""
    n, k = proba.shape
    p, c = [[[Fraction(v) for v in row] for row in table.tolist()] for table in (proba, cost)]
    w = [Fraction(v) for v in weights.tolist()]
    delta, costs = [Fraction(0)] * k, []
    for i in by_frequency(y, weights, k):
        matrix = [[c[a][j] - c[j][j] + delta[a] - delta[j] for j in range(k)] for a in range(k)]
        low = max(-matrix[i][j] for j in range(k) if j != i)
        high = min(matrix[a][i] for a in range(k) if a != i)
        changes = []
        for t in range(n):
            risk = [sum(map(Fraction.__mul__, row, p[t])) for row in matrix]
            other = min((a for a in range(k) if a != i), key=lambda a: (risk[a], a))
            changes.append((risk[other] - risk[i], w[t] * c[i][y[t]], w[t] * c[other][y[t]]))
        ends = sorted({low, high, *(at for at, _, _ in changes if low < at < high)})
        found = []
        for left, right in itertools.pairwise(ends):
            paid = sum(stay if (left + right) / 2 < at else leave for at, stay, leave in changes)
            distance = -1 if left < 0 < right else min(abs(left), abs(right))
            found.append((paid, distance, left, right))
        paid, distance, left, right = min(found)
        if distance == 0:
            delta[i] += (left + right) / 2
        elif distance > 0:
            mean = math.sqrt(abs(left)) * math.sqrt(abs(right))
            delta[i] += Fraction(math.copysign(mean, left))
        costs.append(paid)
    return [float(number) for number in delta], [float(paid) for paid in costs]


@law
@given(seed=seeds, k=st.integers(2, 4), top=st.sampled_from([1, 4, 9, 15]))
def test_offsets_are_those_of_exact_arithmetic(seed, k, top):
    proba, y, cost, weights = drawn(seed, k, decades=(0, top))
    rule = ParallelPartitionRule().fit(proba, y, cost, weights)
    delta, costs = exact_offsets(proba, y, cost, weights)
    np.testing.assert_allclose(rule.parameters_, delta, rtol=1e-6)
    np.testing.assert_allclose(rule.costs_, costs, rtol=1e-12)


@pytest.mark.parametrize("rule", TWO_CLASS_RULES, ids=repr)
@law
@example(seed=None)
@given(seed=seeds)
def test_two_classes_get_the_best_of_all_thresholds(rule, seed):
    """Between two classes every rule is a threshold, so that brute force over all of them is the optimum."""
    if seed is None:  # as it was found: one mistake in a thousand million was a tie
        proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.3, 0.7]])
        y, cost, weights = np.array([0, 0, 0, 0, 1]), np.array([[0, 1e9], [1, 0]]), np.ones(5)
    else:
        proba, y, cost, weights = drawn(seed, 2)
    rule.fit(proba, y, cost, weights)
    cuts = [-1.0, *proba[:, 1].tolist()]
    best = min(exact_total((proba[:, 1] > cut).astype(int), y, cost, weights) for cut in cuts)
    assert exact_total(rule.decide(proba), y, cost, weights) == best


@law
@given(seed=seeds, order=st.permutations([0, 1, 2]), whole=st.booleans())
def test_two_thresholds_are_the_best_of_all_pairs(seed, order, whole):
    proba, y, cost, weights = drawn(seed, 3, decades=(0, 9) if whole else (-9, 9), whole=whole, n=10)
    rule = MossmanRule(order).fit(proba, y, cost, weights)
    asked, second, third = order
    chance, lead = proba[:, asked], proba[:, second] - proba[:, third]
    best = min(
        exact_total(np.where(chance > g1, asked, np.where(lead > g2, second, third)), y, cost, weights)
        for g1 in (0, *chance)
        for g2 in (-1, *lead)
    )
    reached = exact_total(rule.decide(proba), y, cost, weights)
    assert reached == best if whole else float(reached) <= float(best) * (1 + 1e-15)


def on_a_grid(proba, y, cost, incremental):
    """The weights one after the other by trying all the middles between ratios, and many others."""
    n, k = proba.shape
    first, *later = by_frequency(y, np.ones(n), k)
    weights = np.zeros(k) if incremental else np.ones(k)
    weights[first] = 1
    for i in later:
        weights[i] = 0
        ratios = np.unique((weights * proba).max(axis=1) / proba[:, i])
        ratios = ratios[ratios > 0]
        inner = np.sqrt(ratios[1:] * ratios[:-1])
        values = [1.0, ratios[0] / 2, *inner, 2 * ratios[-1], *np.exp(np.linspace(-9, 9, 181))]
        ends = np.append(np.append(0, ratios), np.inf)
        found = []
        for value in values:
            weights[i] = value
            place = np.searchsorted(ratios, value)
            left, right = ends[place], ends[place + 1]
            with np.errstate(divide="ignore"):
                distance = -1 if left < 1 < right else np.abs(np.log([left, right])).min()
            paid = exact_total((weights * proba).argmax(axis=1), y, cost, np.ones(n))
            found.append((paid, distance, left, right))
        _, distance, left, right = min(found)
        if distance == -1:
            weights[i] = 1
        else:
            weights[i] = right / 2 if left == 0 else 2 * left if right == np.inf else math.sqrt(left * right)
    return weights


@law
@given(seed=seeds, k=st.integers(2, 4), incremental=st.booleans(), top=st.sampled_from([1, 9]))
def test_weights_are_those_of_a_search_class_by_class(seed, k, incremental, top):
    proba, y, cost, _ = drawn(seed, k, decades=(0, top))
    rule = LachicheFlachRule("incremental" if incremental else "all").fit(proba, y, cost)
    np.testing.assert_allclose(rule.weights_, on_a_grid(proba, y, cost, incremental), rtol=1e-9)


def test_classes_not_yet_visited_do_not_count():
    proba = [[0.19, 0.46, 0.35], [0.4, 0.11, 0.49], [0.25, 0.26, 0.49]]
    cost = [[0, 2, 2], [2, 0, 3], [1, 1, 0]]
    rule = LachicheFlachRule("incremental").fit(proba, [0, 1, 2], cost)
    np.testing.assert_allclose(rule.weights_, [1, 0.19 / 0.46 / 2, 1])


@pytest.mark.parametrize("rule", [*TWO_CLASS_RULES, MossmanRule()], ids=repr)
@law
@given(seed=seeds, whole=st.booleans(), decades=st.sampled_from([(0, 1), (-9, 9), (0, 15), (-15, 0)]))
def test_the_cost_is_what_the_decisions_cost(rule, seed, whole, decades):
    proba, y, cost, weights = drawn(seed, 3, decades=decades, whole=whole)
    rule.fit(proba, y, cost, weights)
    assert rule.cost_after_ == math.fsum(cost[rule.decide(proba), y] * weights)
    if getattr(rule, "active", "all") == "all" and not isinstance(rule, MossmanRule):
        assert rule.cost_after_ <= rule.cost_before_


@law
@example(seed=8080, unit=1e-9, by_weight=True)  # classes of equal frequency in a unit that is rounded
@given(seed=seeds, unit=st.sampled_from([1e-15, 1e-9, 0.1, 1 / 3, 1e9]), by_weight=st.booleans())
@pytest.mark.parametrize("rule", [*TWO_CLASS_RULES, MossmanRule()], ids=repr)
def test_ties_of_whole_numbers_stay_ties_in_any_unit(rule, seed, unit, by_weight):
    """Many intervals tie here; a unit in which the numbers are rounded must not tell them apart."""
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), size=12), rng.integers(3, size=12)
    cost, weights = rng.integers(1, 4, size=(3, 3)) * (1.0 - np.eye(3)), rng.integers(1, 3, size=12)
    here = rule.fit(proba, y, cost, weights).decide(proba)
    there = rule.fit(proba, y, cost if by_weight else unit * cost, weights * (unit if by_weight else 1))
    np.testing.assert_array_equal(there.decide(proba), here)


@law
@given(seed=seeds, power=st.integers(-1000, 900))
def test_a_scale_changes_no_decision(seed, power):
    rng = np.random.default_rng(seed)
    proba, cost = rng.dirichlet(np.ones(3), size=20), rng.uniform(1, 10, size=(3, 3)) * (1 - np.eye(3))
    np.testing.assert_array_equal(decide(proba, scale_costs(cost, 2.0**power)), decide(proba, cost))
    matrices = np.broadcast_to(cost, (20, 3, 3)) * 2.0**power
    np.testing.assert_array_equal(decide(proba, matrices), decide(proba, cost))


def test_sums_of_whole_numbers_beyond_floats():
    """One in ten thousand million million: the sums differ where floats cannot tell."""
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    y, cost = np.array([1, 0, 1]), [[0, 2.0**60], [1, 0]]
    rule = ParallelPartitionRule().fit(proba, y, cost, [1, 1, 1])
    assert rule.decide(proba).tolist() == [1, 1, 1]
    heavy = ParallelPartitionRule().fit(proba, np.array([0, 1, 0]), cost, [2.0**60, 1, 1])
    assert heavy.decide(proba).tolist() == [0, 1, 1]


def test_costs_that_add_up_to_infinity_are_refused():
    with pytest.raises(CalibrantError, match="must add up to a finite number; got costs up to 1e"):
        ParallelPartitionRule().fit([[0.9, 0.1]] * 50, [0, 1] * 25, [[0, 1e308], [1, 0]])


def test_rows_know_when_floats_are_exact():
    rows = TrainingRows(np.eye(2), np.array([0, 1]), np.array([[0.0, 3], [5, 0]]), None)
    assert rows.never_round
    assert not TrainingRows(rows.proba, rows.truth, rows.cost / 3, None).never_round
    assert not TrainingRows(rows.proba, rows.truth, rows.cost * 2.0**52, None).never_round
