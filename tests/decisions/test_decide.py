"""The least-cost decision: brute force, ties, shapes, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import decide, random_costs
from calibrant.decisions._estimates import row_blocks

seeds = st.integers(0, 2**32 - 1)


def by_hand(proba, cost):
    """The rule in plain Python; `cost` is a matrix, or one per row."""
    decisions = []
    for n, p in enumerate(proba):
        matrix = cost[n] if np.ndim(cost) == 3 else cost
        risks = [sum(c * q for c, q in zip(row, p, strict=True)) for row in matrix]
        least = min(risks)
        bound = least + 1e-12 * max(1, abs(least))
        decisions.append(next(i for i, risk in enumerate(risks) if risk <= bound))
    return decisions


@settings(max_examples=60, deadline=None)
@given(seed=seeds, k=st.integers(1, 6), n_actions=st.integers(1, 6), per_row=st.booleans())
def test_it_is_the_rule_of_least_risk(seed, k, n_actions, per_row):
    rng = np.random.default_rng(seed)
    # Coarse numbers, so that ties are frequent.
    proba = rng.multinomial(4, np.full(k, 1 / k), size=9) / 4
    cost = rng.integers(-3, 4, size=(9, n_actions, k) if per_row else (n_actions, k)).astype(float)
    assert decide(proba, cost, allow_any=True).tolist() == by_hand(proba, cost)


def test_every_block_of_rows_is_decided():
    rng = np.random.default_rng(0)
    proba, cost = rng.dirichlet(np.ones(5), size=20_000), random_costs(5, random_state=0)
    np.testing.assert_array_equal(decide(proba, cost), (proba @ cost.T).argmin(axis=1))
    assert sum(rows.stop - rows.start for rows in row_blocks(20_000, 5)) == 20_000


def test_two_equal_rows_of_a_singular_matrix_tie_for_the_first():
    cost = [[0, 1, 1], [2, 2, 2], [2, 2, 2]]
    assert decide([[0.0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]], cost, allow_any=True).tolist() == [0, 0]
    assert decide(np.eye(3), np.ones((3, 3)), allow_any=True).tolist() == [0, 0, 0]


def test_a_tie_is_one_within_rounding():
    third = [0.1 + 0.2, 0.3, 0.4]  # the first is larger than the second by rounding alone
    assert third[0] > third[1]
    assert decide([third], 1 - np.eye(3)).tolist() == [2]
    assert decide([[0.35 - 1e-14, 0.35 + 1e-14, 0.3]], 1 - np.eye(3)).tolist() == [0]
    assert decide([[0.35 - 1e-11, 0.35 + 1e-11, 0.3]], 1 - np.eye(3)).tolist() == [1]


def test_negative_costs_are_benefits():
    assert decide([[0.9, 0.1], [0.5, 0.5]], [[0, 0], [1, -5]]).tolist() == [0, 1]


def test_an_extra_action_may_be_best_in_the_middle():
    cost = [[0, 10], [10, 0], [2, 2]]
    assert decide([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], cost).tolist() == [0, 2, 1]


@pytest.mark.parametrize("wrap", [list, pd.DataFrame, pl.DataFrame, lambda p: p.astype(np.float32)])
def test_probabilities_of_any_kind(wrap):
    proba = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    assert decide(wrap(proba), 1 - np.eye(3)).tolist() == [0, 2]


def test_no_rows_are_no_decisions():
    assert decide(np.empty((0, 3)), 1 - np.eye(3)).shape == (0,)


def test_rounding_below_zero_is_zero():
    assert decide([[1 + 1e-10, -1e-10]], [[0, 1], [1, 0]]).tolist() == [0]


GOOD = [[0.5, 0.5], [0.2, 0.8]]
BAD = {
    "sum above": ([[0.5, 0.5], [0.5, 0.75]], None, "row 1 sums to 1.25, 0.25 too much; divide every row"),
    "sum below": (
        [[0.5, 0.4], [0.5, 0.25]],
        None,
        r"row 0 sums to 0\.9, 0\.1 too little \(and 1 more rows are off\)",
    ),
    "nan": ([[0.5, np.nan], [0.5, 0.5]], None, "proba must be finite; got nan in row 0, column 1"),
    "negative": (
        [[1.2, -0.2]],
        None,
        r"proba must lie in \[0, 1\]; got 1.2 in row 0; calibrate margins first",
    ),
    "one column": ([0.5, 0.5], None, r"shape \(n, k\); got shape \(2,\); two classes need two columns"),
    "no columns": (np.empty((2, 0)), None, r"got shape \(2, 0\)"),
    "too few costs": (GOOD, [[0], [1]], r"one column per class, 2 in all; got shape \(2, 1\); cost\[i, j\]"),
    "flat costs": (GOOD, [0, 1], r"got shape \(2,\); cost\[i, j\] is the cost of deciding i"),
    "no actions": (GOOD, np.empty((0, 2)), r"one row per decision .*got shape \(0, 2\)"),
    "ragged costs": (GOOD, [[0, 1], [1]], "cost must be a regular array; got rows of different lengths"),
    "text costs": (GOOD, [["a", "b"], ["c", "d"]], "cost must be numbers; got values of type <U1"),
    "nan cost": (GOOD, [[0, np.nan], [1, 0]], r"cost must be finite; got nan at cost\[0, 1\]; a decision"),
    "infinite cost": (GOOD, [[0, 1], [-np.inf, 0]], r"cost must be finite; got -inf at cost\[1, 0\]"),
    "unreasonable": (
        GOOD,
        [[2, 1], [1, 0]],
        r"got cost\[0, 0\] = 2 and cost\[1, 0\] = 1; check that rows are decisions .*allow_any=True",
    ),
    "equal": (GOOD, [[0, 0], [1, 0]], r"got cost\[1, 1\] = 0 and cost\[0, 1\] = 0"),
    "matrices": (GOOD, np.zeros((3, 2, 2)), "one matrix per row, 2 in all; got 3; one matrix for all rows"),
    "nothing": (GOOD, "rarity", r"cost must be a matrix; got 'rarity'; cost\[i, j\] is the cost"),
    "mapping": (GOOD, {"a": {"a": 0}}, r"cost must be an array here.*got a dict; pass cost_matrix\("),
    "frame": (GOOD, pd.DataFrame([[0, 1], [1, 0]]), r"got a DataFrame; pass cost_matrix\(cost, classes\)"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_input_is_refused_with_a_reason(case):
    proba, cost, message = case
    with pytest.raises(CalibrantError, match=message):
        decide(proba, [[0, 1], [1, 0]] if cost is None else cost)


def test_the_row_that_does_not_sum_to_one_is_found_in_any_block():
    proba = np.full((50_000, 2), 0.5)
    proba[40_123, 1] = 0.6
    with pytest.raises(CalibrantError, match="row 40123 sums to 1.1, 0.1 too much; divide"):
        decide(proba, [[0, 1], [1, 0]])


def test_printed_probabilities_may_be_off_by_their_last_digits():
    assert decide([[0.3333, 0.3333, 0.3333]], 1 - np.eye(3)).tolist() == [0]
    with pytest.raises(CalibrantError, match="row 0 sums to 0.99, 0.01 too little"):
        decide([[0.33, 0.33, 0.33]], 1 - np.eye(3))
