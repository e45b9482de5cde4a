"""The golden cases of cost rules, partitions, weights and thresholds."""

import numpy as np
import pytest

from calibrant.decisions import (
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    boundary_segment,
    column_scale_point,
    decide,
    equal_risk_point,
    mossman_matrix,
    partition_matrix,
    rarity_costs,
    reasonable,
    row_shift_bounds,
    two_class_threshold,
    weight_matrix,
    zero_diagonal,
)
from calibrant.decisions._choice import feasible_offset, paper_offset
from calibrant.decisions._sweep import Intervals, changepoints
from golden import assert_golden, golden_cases


def point_of(cost):
    result = equal_risk_point(cost)
    return {"kind": result.kind, "e": result.point}


def moved_point(cost, column, alpha):
    result = column_scale_point(cost, column, alpha)
    return {"e": result.point, "lam": result.lam}


def pick_delta(intervals, lo, hi, strategy, margin):
    assert margin == 1e-9
    pick = {"feasible": feasible_offset, "paper": paper_offset}[strategy]
    delta, cost = pick(Intervals(*np.array(intervals).T), lo, hi, 1e-12)
    return {"delta": delta, "interval_cost": cost}


def changepoints_of(c, P, i):
    value, other = changepoints(np.array(c) @ np.array(P).T, i)
    return {"value": value, "other": other}


def parallel_partition(c, P, y, strategy, passes):
    rule = ParallelPartitionRule(strategy, passes=passes).fit(P, y, c)
    return {
        "delta": rule.parameters_,
        "partition_matrix": rule.matrix_,
        "cost_before": rule.cost_before_,
        "cost_after": rule.cost_after_,
        "order": rule.order_,
        "costs": rule.costs_,
    }


def lf_learn(c, P, y, active, passes):
    rule = LachicheFlachRule(active, passes).fit(P, y, c)
    return {"w": rule.weights_, "cost_before": rule.cost_before_, "cost_after": rule.cost_after_}


def lf_decide(w, P):
    rule = LachicheFlachRule()
    rule.weights_, rule.matrix_, rule.cost_after_ = np.array(w), weight_matrix(w), 0.0
    return rule.decide(P)


def mossman_decide(g1, g2, P):
    rule = MossmanRule()
    rule.thresholds_, rule.matrix_, rule.cost_after_ = np.array([g1, g2]), mossman_matrix(g1, g2), 0.0
    np.testing.assert_array_equal(decide(P, rule.matrix_), rule.decide(P))
    return rule.decide(P)


OPERATIONS = {
    "decide": lambda c, P: decide(P, c),
    "equal_risk_point": point_of,
    "zero_diagonal": zero_diagonal,
    "threshold_two_class": two_class_threshold,
    "column_scale_point": moved_point,
    "row_shift_bounds": row_shift_bounds,
    "boundary_segment": boundary_segment,
    "reasonable": reasonable,
    "rarity_costs": rarity_costs,
    "parallel_partition": parallel_partition,
    "changepoints": changepoints_of,
    "pick_delta": pick_delta,
    "partition_matrix": partition_matrix,
    "lf_decide": lf_decide,
    "lf_matrix": weight_matrix,
    "lf_learn": lf_learn,
    "mossman_decide": mossman_decide,
    "mossman_matrix": lambda g1, g2, L: mossman_matrix(g1, g2, scale=L),
}
#: The golden files' names of our first argument.
RENAMED = {"equal_risk_point", "zero_diagonal", "threshold_two_class", "column_scale_point"} | {
    "row_shift_bounds",
    "boundary_segment",
    "reasonable",
    "partition_matrix",
}


@pytest.mark.parametrize(
    "case", [*golden_cases("cost_rule"), *golden_cases("partition"), *golden_cases("lf_mossman")]
)
def test_golden(case):
    given = dict(case["in"])
    if case["op"] in RENAMED:
        given["cost"] = given.pop("c")
    if case["op"] == "lf_matrix":
        given["weights"] = given.pop("w")
    assert_golden(OPERATIONS[case["op"]](**given), case["out"], case["tol"])
