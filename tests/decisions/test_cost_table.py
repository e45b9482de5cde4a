"""What decisions cost: by plain counting, with weights, by label, with more decisions than classes."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import decide, expected_cost, random_costs, realised_cost

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, per_row=st.booleans())
def test_realised_cost_is_plain_counting(seed, per_row):
    rng = np.random.default_rng(seed)
    n, n_actions, k = 12, 4, 3
    y, decisions, weights = rng.integers(k, size=n), rng.integers(n_actions, size=n), rng.integers(0, 3, n)
    weights[0] = 1
    cost = rng.normal(size=(n, n_actions, k) if per_row else (n_actions, k))
    table = realised_cost(y, decisions, cost, sample_weight=weights)
    counts, costs = np.zeros((n_actions, k)), np.zeros((n_actions, k))
    for row in range(n):
        for _ in range(weights[row]):
            counts[decisions[row], y[row]] += 1
            costs[decisions[row], y[row]] += (cost[row] if per_row else cost)[decisions[row], y[row]]
    np.testing.assert_array_equal(table.counts, counts)
    np.testing.assert_allclose(table.costs, costs, atol=1e-12)
    np.testing.assert_allclose(table.total, costs.sum(), atol=1e-12)
    np.testing.assert_allclose(table.mean, costs.sum() / weights.sum(), atol=1e-12)
    np.testing.assert_allclose(table.by_decision.sum(), table.by_truth.sum(), atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, per_row=st.booleans())
def test_certain_probabilities_expect_what_happens(seed, per_row):
    rng = np.random.default_rng(seed)
    y, decisions = rng.integers(3, size=10), rng.integers(2, size=10)
    cost = rng.normal(size=(10, 2, 3) if per_row else (2, 3))
    expected, realised = expected_cost(np.eye(3)[y], decisions, cost), realised_cost(y, decisions, cost)
    np.testing.assert_allclose(expected.counts, realised.counts)
    np.testing.assert_allclose(expected.costs, realised.costs)


def test_right_probabilities_expect_the_realised_cost_on_average():
    rng = np.random.default_rng(0)
    proba, cost = rng.dirichlet(np.ones(3), size=40_000), random_costs(3, random_state=0)
    y = (rng.random(40_000)[:, None] > proba.cumsum(axis=1)).sum(axis=1)
    decisions = decide(proba, cost)
    expected, realised = expected_cost(proba, decisions, cost), realised_cost(y, decisions, cost)
    np.testing.assert_allclose(realised.mean, expected.mean, rtol=0.02)
    # No other decision is expected to cost less.
    assert expected.mean <= min(expected_cost(proba, np.full(40_000, i), cost).mean for i in range(3))


def test_labels_are_taken_by_name():
    cost = [[0, 100], [1, 0]]
    table = realised_cost(["no", "yes", "yes"], ["no", "no", "yes"], cost, classes=["no", "yes"])
    assert table.costs.tolist() == [[0, 100], [0, 0]]
    swapped = realised_cost(["no", "yes", "yes"], ["no", "no", "yes"], cost, classes=["yes", "no"])
    assert swapped.costs.tolist() == [[0, 0], [1, 0]]
    expected = expected_cost([[0.5, 0.5]], ["yes"], cost, classes=["no", "yes"])
    assert expected.costs.tolist() == [[0, 0], [0.5, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([0, 1], [0], [[0, 1], [1, 0]]),
            "labels and decisions must have the same number of rows; got 2 and 1",
        ),
        (([0, 2], [0, 1], [[0, 1], [1, 0]]), "labels must be column numbers from 0 to 1; got 2"),
        (([0, 1], [0, 2], [[0, 1], [1, 0]]), "decisions: labels must be column numbers from 0 to 1; got 2"),
        (([0, 1], [0, 1], np.zeros((3, 2, 2))), "cost must have one matrix per row, 2 in all; got 3"),
        (([0, 1], [0, 1], [0, 1]), r"one row per decision and one column per class; got shape \(2,\)"),
        (([0, 1], [0, 1], [[0, np.nan], [1, 0]]), r"cost must be finite; got nan at cost\[0, 1\]"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(CalibrantError, match=message):
        realised_cost(*arguments)


def test_empty_and_mismatched_probabilities_are_refused():
    with pytest.raises(CalibrantError, match="proba must have one column per class, 3 in all; got 2 columns"):
        expected_cost([[0.5, 0.5]], [0], np.zeros((2, 3)))
    with pytest.raises(CalibrantError, match="proba and decisions must have the same number of rows; got 1"):
        expected_cost([[0.5, 0.5]], [0, 1], [[0, 1], [1, 0]])
    with pytest.raises(CalibrantError, match="sample_weight must not be negative; got -1.0 in row 0"):
        realised_cost([0], [0], [[0, 1], [1, 0]], sample_weight=[-1])
