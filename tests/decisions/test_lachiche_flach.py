"""Weights of the classes: brute force per weight, matrix form, scales, incremental starts."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import (
    LachicheFlachRule,
    decide,
    random_costs,
    rarity_costs,
    realised_cost,
    weight_matrix,
)

seeds = st.integers(0, 2**32 - 1)
law = settings(max_examples=50, deadline=None)


def drawn(seed, k, n=25, *, coarse=False):
    rng = np.random.default_rng(seed)
    proba = rng.multinomial(4, np.full(k, 1 / k), size=n) / 4 if coarse else rng.dirichlet(np.full(k, 0.7), n)
    return proba, rng.integers(k, size=n), random_costs(k, random_state=rng)


@law
@given(seed=seeds, coarse=st.booleans())
def test_two_classes_get_the_best_of_all_ratios(seed, coarse):
    """With two classes one weight is learned, so brute force over all ratios is the optimum."""
    proba, y, cost = drawn(seed, 2, coarse=coarse)
    rule = LachicheFlachRule().fit(proba, y, cost)
    first = 0 if (y == 0).sum() >= (y == 1).sum() else 1
    with np.errstate(divide="ignore"):
        ratios = proba[:, first] / proba[:, 1 - first]
    finite = np.unique(ratios[np.isfinite(ratios) & (ratios > 0)])
    tries = [1.0, *(finite * 0.999), *(finite * 1.001)]
    costs = []
    for weight in tries:
        decisions = [1 - first if weight * p[1 - first] > p[first] else first for p in proba]
        costs.append(realised_cost(y, decisions, cost).total)
    # Ties at weight 1 may be decided better by the order of the classes than by any weight.
    assert rule.cost_after_ <= min(costs[1:], default=costs[0]) + 1e-9
    assert rule.weights_[first] == 1


@law
@given(seed=seeds, k=st.integers(2, 5))
def test_the_last_weight_is_the_best_of_all(seed, k):
    proba, y, cost = drawn(seed, k)
    rule = LachicheFlachRule().fit(proba, y, cost)
    last = np.argsort(-np.bincount(y, minlength=k), kind="stable")[-1]
    for log in np.linspace(-8, 8, 161):
        weights = rule.weights_.copy()
        weights[last] = math.exp(log)
        paid = realised_cost(y, (weights * proba).argmax(axis=1), cost).total
        assert rule.cost_after_ <= paid + 1e-9


@law
@given(seed=seeds, k=st.integers(2, 5), coarse=st.booleans())
def test_learning_never_raises_the_cost_of_the_most_probable_class(seed, k, coarse):
    proba, y, cost = drawn(seed, k, coarse=coarse)
    rule = LachicheFlachRule().fit(proba, y, cost)
    before = realised_cost(y, proba.argmax(axis=1), cost).total
    assert math.isclose(rule.cost_before_, before, abs_tol=1e-9)
    assert rule.cost_after_ <= before + 1e-9
    assert math.isclose(rule.cost_after_, realised_cost(y, rule.decide(proba), cost).total, abs_tol=1e-9)


@law
@given(seed=seeds, k=st.integers(2, 5))
def test_the_matrix_decides_as_the_weights_do(seed, k):
    proba, _, _ = drawn(seed, k)
    weights = np.random.default_rng(seed).uniform(0.2, 5, k)
    by_matrix = decide(proba, weight_matrix(weights))
    np.testing.assert_array_equal(by_matrix, (weights * proba).argmax(axis=1))


@law
@given(seed=seeds, k=st.integers(2, 5), active=st.sampled_from(["all", "incremental"]))
def test_restarts_never_cost_more(seed, k, active):
    proba, y, cost = drawn(seed, k)
    once = LachicheFlachRule(active, passes=2).fit(proba, y, cost)
    often = LachicheFlachRule(active, passes=2, restarts=3, random_state=seed).fit(proba, y, cost)
    assert often.cost_after_ <= once.cost_after_
    assert realised_cost(y, often.decide(proba), cost).total == pytest.approx(often.cost_after_)
    assert (often.weights_ == 1).any()
    again = LachicheFlachRule(active, passes=2, restarts=3, random_state=seed).fit(proba, y, cost)
    np.testing.assert_array_equal(often.weights_, again.weights_)


def test_restarts_leave_a_local_optimum():
    """Costs far from equal, where the weights that decide well are far from the equal ones."""
    left = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.append(np.arange(4), rng.choice(4, 56, p=[0.6, 0.25, 0.1, 0.05]))
        proba = rng.dirichlet(np.ones(4), 60) + 0.5 * np.eye(4)[y]
        proba /= proba.sum(axis=1, keepdims=True)
        cost = rarity_costs(np.bincount(y), "ratio")
        once, often = (LachicheFlachRule(passes=5, restarts=n, random_state=0) for n in (0, 10))
        left += often.fit(proba, y, cost).cost_after_ < once.fit(proba, y, cost).cost_after_ - 1e-9
    assert left >= 5


def test_weights_are_exact_where_probabilities_are_extreme():
    """The ratio that matters is 1e-15; sums of risks could not tell these rows apart."""
    small = np.array([1e-15, 3e-15, 2e-16, 5e-15])
    rule = LachicheFlachRule().fit(np.column_stack([1 - small, small]), [0, 1, 0, 1], [[0, 9], [1, 0]])
    assert rule.cost_after_ == 0
    assert math.isclose(rule.weights_[1], math.sqrt(1e15 * 1e15 / 3), rel_tol=1e-2)


def test_incremental_weights_start_with_the_first_class_alone():
    proba = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.3, 0.5, 0.2], [0.2, 0.7, 0.1], [0.4, 0.1, 0.5]]
    y = [0, 0, 0, 1, 2]
    rule = LachicheFlachRule("incremental").fit(proba, y, 1 - np.eye(3))
    assert rule.cost_after_ == 0
    # Class 1 is given 5/3 ... 3.5, against class 0 only; of that 1 is not part, so the geometric mean.
    assert math.isclose(rule.weights_[1], math.sqrt((3 / 5) * (2 / 7)), rel_tol=1e-9)
    for passes, active in itertools.product((1, 2), ("all", "incremental")):
        again = LachicheFlachRule(active, passes=passes).fit(proba, y, 1 - np.eye(3))
        assert again.cost_after_ == 0


def test_a_row_without_any_class_visited_so_far_does_not_disturb():
    proba = [[0.0, 0.0, 1.0], [0.6, 0.3, 0.1], [0.4, 0.5, 0.1], [0.7, 0.2, 0.1]]
    rule = LachicheFlachRule("incremental").fit(proba, [2, 0, 1, 0], 1 - np.eye(3))
    assert rule.decide(proba).tolist() == [2, 0, 1, 0]


def test_rows_that_no_weight_can_move():
    """Class 1 is impossible for the first row, and certain for the second."""
    proba, y = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [1, 0, 1]
    rule = LachicheFlachRule().fit(proba, y, [[0, 1], [1, 0]])
    assert rule.decide(proba).tolist() == [0, 1, 1]
    assert rule.cost_after_ == 2


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (LachicheFlachRule("some"), "active must be one of 'all', 'incremental'; got 'some'"),
        (LachicheFlachRule(passes=0), "passes must be a whole number, at least 1; got 0"),
    ],
)
def test_what_is_refused(rule, message):
    with pytest.raises(CalibrantError, match=message):
        rule.fit([[0.5, 0.5]], [0], [[0, 1], [1, 0]])


def test_weights_are_one_row():
    with pytest.raises(CalibrantError, match=r"weights must be one number per class; got shape \(1, 2\)"):
        weight_matrix([[1, 2]])
