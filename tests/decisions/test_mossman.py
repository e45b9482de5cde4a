"""Two thresholds for three classes: the best of all pairs, by brute force."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import MossmanRule, decide, mossman_matrix, random_costs
from calibrant.decisions._prefix_sums import least_prefix_sums

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(arrivals=st.lists(st.tuples(st.integers(0, 9), st.integers(-3, 3)), min_size=1, max_size=20))
def test_least_prefix_sums(arrivals):
    place, value = (np.array(column) for column in zip(*arrivals, strict=True))
    wanted = [
        min(sum(value[t] for t in range(now + 1) if place[t] < end) for end in range(11))
        for now in range(len(place))
    ]
    np.testing.assert_allclose(least_prefix_sums(place, value.astype(float)), wanted)


def middles(values, low, high):
    """Thresholds between neighbouring values, inside the bounds."""
    ends = np.unique([low, high, *np.clip(values, low, high)])
    ends = ends[np.append(True, np.diff(ends) > 1e-11)]
    return (ends[1:] + ends[:-1]) / 2


@settings(max_examples=60, deadline=None)
@given(seed=seeds, coarse=st.booleans(), order=st.permutations([0, 1, 2]))
def test_the_thresholds_are_the_best_of_all_pairs(seed, coarse, order):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    proba = rng.multinomial(5, [1 / 3] * 3, size=n) / 5 if coarse else rng.dirichlet([0.7] * 3, size=n)
    y, cost = rng.integers(3, size=n), random_costs(3, random_state=rng)
    rule = MossmanRule(order).fit(proba, y, cost)
    asked, second, third = order
    chance, lead = proba[:, asked], proba[:, second] - proba[:, third]
    least = math.inf
    for g1 in middles(chance, 0, 1):
        for g2 in middles(lead, -1, 1):
            decisions = np.where(chance > g1, asked, np.where(lead > g2, second, third))
            least = min(least, cost[decisions, y].sum())
    assert math.isclose(rule.cost_after_, least, abs_tol=1e-9)
    assert 0 < rule.thresholds_[0] < 1
    assert -1 < rule.thresholds_[1] < 1
    near = (np.abs(chance - rule.thresholds_[0]) < 1e-5) | (np.abs(lead - rule.thresholds_[1]) < 1e-5)
    np.testing.assert_array_equal(decide(proba, rule.matrix_)[~near], rule.decide(proba)[~near])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MossmanRule().fit([[0.5, 0.5]], [0], [[0, 1], [1, 0]]),
            "Mossman's rule must have three classes; got 2; use ParallelPartitionRule",
        ),
        (
            lambda: MossmanRule((0, 1, 1)).fit(np.eye(3), [0, 1, 2], 1 - np.eye(3)),
            r"order must hold 0, 1 and 2 once each; got \(0, 1, 1\)",
        ),
        (lambda: mossman_matrix(1.5, 0), "first must be between 0 and 1; got 1.5"),
        (lambda: mossman_matrix(0.5, -1), "second must be between -1 and 1; got -1"),
        (lambda: mossman_matrix(0.5, 0, scale=0), "scale must be a positive number; got 0"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(CalibrantError, match=message):
        make()
