"""Decisions and learned rules against brute force over all intervals, in exact arithmetic."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from calibrant.decisions import (
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    decide,
    equal_risk_point,
    expected_cost,
    realised_cost,
)
from fuzz.code_laws import solved
from fuzz.hostile import simplex
from fuzz.laws import law

#: Costs of mistakes as whole numbers, so that sums are exact and ties are ties.
MISTAKES = st.sampled_from([1, 2, 3, 7, 100]) | st.sampled_from([10**6, 10**9])
#: Intervals narrower than this may be taken for a point.
NARROW = Fraction(1, 10**9)
#: Products that differ by no more than this share are tied.
TIE = Fraction(1, 10**12)


FEW = st.integers(2, 4)


@st.composite
def judged(draw, n_classes=FEW):
    """Probabilities, labels, whole weights, and reasonable costs."""
    k = draw(n_classes)
    row = st.tuples(simplex(k), st.integers(0, k - 1), st.sampled_from([1, 1, 1, 2, 1000]))
    proba, y, weight = map(list, zip(*draw(st.lists(row, min_size=1, max_size=10)), strict=True))
    cost = [[0 if i == j else draw(MISTAKES) for j in range(k)] for i in range(k)]
    return {"k": k, "proba": proba, "y": y, "weight": weight, "cost": cost}


def exact(rows):
    return [[Fraction(each) for each in row] for row in rows]


def risks(p, matrix):
    return [sum(c * q for c, q in zip(row, p, strict=True)) for row in matrix]


def paid(given, decisions):
    """What decisions cost, exactly."""
    each = zip(decisions, given["y"], given["weight"], strict=True)
    return sum(Fraction(given["cost"][int(d)][y]) * w for d, y, w in each)


@law("numbers", few=100, given=judged())
def a_decision_is_the_first_of_least_risk(given):
    cost = exact(given["cost"])
    got = decide(given["proba"], given["cost"])
    for p, chosen in zip(exact(given["proba"]), got, strict=True):
        risk = risks(p, cost)
        bound = min(risk) + Fraction(1, 10**12) * max(1, min(risk))
        assert chosen == next(i for i, each in enumerate(risk) if each <= bound)
    table = realised_cost(given["y"], got, given["cost"], sample_weight=given["weight"])
    assert math.isclose(table.total, paid(given, got), rel_tol=1e-12)
    hoped = expected_cost(given["proba"], got, given["cost"], sample_weight=given["weight"]).total
    rows = zip(exact(given["proba"]), got, given["weight"], strict=True)
    wanted = sum(risks(p, cost)[d] * w for p, d, w in rows)
    assert math.isclose(hoped, wanted, rel_tol=1e-9)


def cost_of_step(given, matrix, i, step):
    """The cost if a step is added to row i of a matrix and taken from column i, ties to the first."""
    shifted = [
        [each + step * ((r == i) - (c == i)) * (r != c) for c, each in enumerate(row)]
        for r, row in enumerate(matrix)
    ]
    decisions = [min(range(given["k"]), key=risks(p, shifted).__getitem__) for p in exact(given["proba"])]
    return paid(given, decisions)


def best_steps(given, matrix, i):
    """The least cost of all permitted steps of one class, of the wide intervals and of all."""
    k = given["k"]
    others = [c for c in range(k) if c != i]
    low = max(matrix[j][j] - matrix[i][j] for j in others)
    high = min(matrix[c][i] - matrix[i][i] for c in others)
    changes = {low, high}
    for p in exact(given["proba"]):
        risk = risks(p, matrix)
        changes.add(min(risk[c] for c in others) - risk[i])
    ends = sorted(each for each in changes if low <= each <= high)
    middles = [((a + b) / 2, b - a) for a, b in pairwise(ends)]
    costs = [(cost_of_step(given, matrix, i, middle), width) for middle, width in middles]
    scale = max(abs(each) for row in matrix for each in row)
    wide = [cost for cost, width in costs if width > NARROW * max(1, scale / 100)]
    return min(wide, default=math.inf), min(cost for cost, _ in costs)


@law("numbers", few=80, given=judged(), passes=st.sampled_from([1, 1, 2]))
def a_parallel_partition_takes_the_best_step(given, passes):
    """The first visit is exact, the last one is; no visit raises the cost; the cost is what it says."""
    rule = ParallelPartitionRule(passes=passes)
    rule.fit(given["proba"], given["y"], given["cost"], given["weight"])
    assert rule.cost_after_ == paid(given, rule.decide(given["proba"]))
    assert rule.cost_before_ == paid(given, decide(given["proba"], given["cost"]))
    assert (np.diff([rule.cost_before_, *rule.costs_]) <= 0).all()
    matrix = exact(given["cost"])
    wide, least = best_steps(given, matrix, int(rule.order_[0]))
    assert least <= rule.costs_[0] <= min(wide, rule.cost_before_)
    if passes == 1:
        last = int(rule.order_[-1])
        delta = [Fraction(float(each)) for each in rule.parameters_]
        delta[last] = Fraction(0)
        before = [
            [(each + delta[r] - delta[c]) * (r != c) for c, each in enumerate(row)]
            for r, row in enumerate(matrix)
        ]
        wide, least = best_steps(given, before, last)
        assert least <= rule.cost_after_ <= wide, f"cost {rule.cost_after_}, and {wide} can be had"


def weighed(given, weights):
    """The first class of greatest weighted probability of every row, but for ties."""
    rows = ([w * q for w, q in zip(weights, p, strict=True)] for p in exact(given["proba"]))
    return [next(c for c, each in enumerate(row) if each >= max(row) * (1 - TIE)) for row in rows]


def weight_intervals(given, weights, i):
    """Ends of the intervals of weight i between which no decision changes, with the cost of each."""
    others = [c for c in range(given["k"]) if c != i]
    ratios = set()
    for p in exact(given["proba"]):
        best = max(weights[c] * p[c] for c in others)
        if p[i] and best:
            ratios.add(best / p[i])
    ends = [Fraction(0), *sorted(ratios), None]
    intervals = []
    for low, high in pairwise(ends):
        middle = low + 1 if high is None else (low + high) / 2
        tried = [*weights[:i], middle, *weights[i + 1 :]]
        intervals.append((low, high, paid(given, weighed(given, tried))))
    return intervals


@law("numbers", few=80, given=judged(), active=st.sampled_from(["all", "incremental"]))
def lachiche_flach_takes_the_best_last_weight(given, active):
    rule = LachicheFlachRule(active).fit(given["proba"], given["y"], given["cost"], given["weight"])
    assert rule.cost_after_ == paid(given, rule.decide(given["proba"]))
    assert rule.cost_before_ == paid(given, weighed(given, [1] * given["k"]))
    if active == "all":
        assert rule.cost_after_ <= rule.cost_before_
    count = np.bincount(given["y"], given["weight"], minlength=given["k"])
    last = int(np.argsort(-count, kind="stable")[-1])
    weights = [Fraction(float(each)) for each in rule.weights_]
    intervals = weight_intervals(given, weights, last)
    costs = [cost for *_, cost in intervals]
    wide = [cost for low, high, cost in intervals if high is None or high - low > NARROW * max(high, 1)]
    assert min(costs) <= rule.cost_after_ <= min(wide), f"cost {rule.cost_after_}, and {min(wide)} can be had"


@law("numbers", few=80, given=judged(st.just(3)), order=st.permutations(range(3)))
def mossman_finds_the_best_two_thresholds(given, order):
    rule = MossmanRule(tuple(order)).fit(given["proba"], given["y"], given["cost"], given["weight"])
    assert rule.cost_after_ == paid(given, rule.decide(given["proba"]))
    rows = [(p[order[0]], p[order[1]] - p[order[2]]) for p in exact(given["proba"])]

    def middles(values, low, high):
        ends = sorted({Fraction(low), Fraction(high), *(v for v in values if low < v < high)})
        return [(a + b) / 2 for a, b in pairwise(ends)]

    def cost(first, second):
        chosen = [order[0] if p > first else order[1] if lead > second else order[2] for p, lead in rows]
        return paid(given, chosen)

    firsts, seconds = middles([p for p, _ in rows], 0, 1), middles([lead for _, lead in rows], -1, 1)
    assert rule.cost_after_ == min(cost(first, second) for first in firsts for second in seconds)


@law("numbers", few=80, k=st.integers(2, 4), entries=st.lists(st.integers(-5, 9), min_size=16, max_size=16))
def the_equal_risk_point_solves_its_equations(k, entries):
    cost = [[Fraction(entries[4 * i + j]) for j in range(k)] for i in range(k)]
    rows = [[a - b for a, b in zip(cost[i], cost[-1], strict=True)] for i in range(k - 1)]
    wanted = solved([*rows, [Fraction(1)] * k], [Fraction(0)] * (k - 1) + [Fraction(1)])
    got = equal_risk_point([[int(each) for each in row] for row in cost])
    assert (got.kind == "unique") == (wanted is not None)
    if wanted is not None:
        np.testing.assert_allclose(got.point, [float(each) for each in wanted], rtol=1e-7, atol=1e-9)
    elif got.kind == "many":
        level = np.array(cost, dtype=float) @ got.point
        np.testing.assert_allclose(level, level[0], rtol=0, atol=1e-7)
        assert abs(got.point.sum() - 1) < 1e-9
