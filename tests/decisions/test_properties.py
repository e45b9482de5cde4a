"""Properties 1 to 7 of O'Brien, Gupta and Gray on random matrices, and the geometry of the simplex."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import (
    add_to_column,
    add_to_row,
    boundary_segment,
    column_scale_point,
    decide,
    equal_risk_point,
    multiply_column,
    multiply_row,
    random_costs,
    reasonable,
    row_shift_bounds,
    scale_costs,
    two_class_threshold,
    zero_diagonal,
)

seeds = st.integers(0, 2**32 - 1)
classes = st.integers(2, 6)
factors = st.floats(0.05, 20)
law = settings(max_examples=50, deadline=None)


def drawn(seed, k):
    """Reasonable costs, some of them benefits, and probabilities that do not tie."""
    rng = np.random.default_rng(seed)
    cost = add_to_column(random_costs(k, random_state=rng), int(rng.integers(k)), rng.normal())
    return cost, rng.dirichlet(np.ones(k), size=40), rng


@law
@given(seed=seeds, k=classes, factor=factors)
def test_1_a_positive_factor_changes_no_decision(seed, k, factor):
    cost, proba, _ = drawn(seed, k)
    np.testing.assert_array_equal(decide(proba, scale_costs(cost, factor)), decide(proba, cost))


@law
@given(seed=seeds, k=classes)
def test_2_all_risks_are_equal_at_the_equal_risk_point(seed, k):
    cost, _, _ = drawn(seed, k)
    result = equal_risk_point(cost)
    assert (result.kind, result.dimension) == ("unique", 0)
    risks = cost @ result.point
    np.testing.assert_allclose(risks, risks[0], atol=1e-7 * (1 + np.abs(result.point).max() * 10))
    assert math.isclose(result.point.sum(), 1, abs_tol=1e-7)
    # The signed sum, not the norm that is printed.
    by_inverse = np.linalg.solve(cost, np.ones(k))
    np.testing.assert_allclose(result.point, by_inverse / by_inverse.sum(), rtol=1e-5, atol=1e-7)


@law
@given(seed=seeds, k=classes, amount=st.floats(-5, 5))
def test_3_and_4_adding_to_a_column_changes_no_decision(seed, k, amount):
    cost, proba, rng = drawn(seed, k)
    column = int(rng.integers(k))
    np.testing.assert_array_equal(decide(proba, add_to_column(cost, column, amount)), decide(proba, cost))
    regrets = zero_diagonal(cost)
    np.testing.assert_array_equal(decide(proba, regrets), decide(proba, cost))
    assert (np.diag(regrets) == 0).all()
    assert (regrets[~np.eye(k, dtype=bool)] > 0).all()


@law
@given(seed=seeds, k=classes, share=st.floats(0.01, 0.99))
def test_5_adding_to_a_row_moves_its_boundaries_parallel(seed, k, share):
    cost, proba, rng = drawn(seed, k)
    row = int(rng.integers(k))
    low, high = row_shift_bounds(cost, row)
    assert low < 0 < high
    amount = low + share * (high - low)
    moved = add_to_row(cost, row, amount)
    assert reasonable(moved)
    assert not reasonable(add_to_row(cost, row, high + 1e-9))
    assert not reasonable(add_to_row(cost, row, low - 1e-9))
    risks = proba @ cost.T
    risks[:, row] += amount
    np.testing.assert_array_equal(decide(proba, moved), risks.argmin(axis=1))
    for other in set(range(k)) - {row}:
        np.testing.assert_allclose(
            proba @ (moved[row] - moved[other]), proba @ (cost[row] - cost[other]) + amount
        )


@law
@given(seed=seeds, k=classes, factor=factors)
def test_6_multiplying_a_column_moves_the_point_through_its_corner(seed, k, factor):
    cost, proba, rng = drawn(seed, k)
    column = int(rng.integers(k))
    moved = multiply_column(cost, column, factor)
    before, after = equal_risk_point(cost).point, column_scale_point(cost, column, factor)
    assume(after.point is not None and np.abs(after.point).max() < 1e4)
    np.testing.assert_allclose(after.point, equal_risk_point(moved).point, rtol=1e-5, atol=1e-7)
    corner = np.eye(k)[column]
    np.testing.assert_allclose(after.point - corner, after.lam * (before - corner), atol=1e-9)
    face = proba.copy()
    face[:, column] = 0
    face /= face.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(decide(face, moved, allow_any=True), decide(face, cost))


@law
@given(seed=seeds, k=classes, factor=factors)
def test_7_multiplying_a_row_keeps_the_others_equal(seed, k, factor):
    cost, _, rng = drawn(seed, k)
    row = int(rng.integers(k))
    moved = equal_risk_point(multiply_row(cost, row, factor))
    assume(moved.point is not None and np.abs(moved.point).max() < 1e4)
    others = np.delete(cost @ moved.point, row)
    np.testing.assert_allclose(others, others[0], atol=1e-6)


def test_a_column_of_weight_zero_does_not_move_the_point():
    cost = [[0, 1], [0, 2]]  # the point is the corner of class 0
    assert equal_risk_point(cost).point.round(9).tolist() == [1, 0]
    np.testing.assert_allclose(column_scale_point(cost, 1, 7).point, [1, 0], atol=1e-12)


def test_a_point_can_go_to_infinity():
    # With e_0 = 2 the denominator 1 - 2 + 2/alpha is zero at alpha = 2.
    cost = [[0, 0], [1, 2]]
    assert equal_risk_point(cost).point.round(9).tolist() == [2, -1]
    moved = column_scale_point(cost, 0, 2)
    assert moved.point is None
    assert moved.lam == math.inf
    assert equal_risk_point(multiply_column(cost, 0, 2)).kind == "none"


@pytest.mark.parametrize(
    ("cost", "kind", "dimension"),
    [
        ([[1, 2], [3, 4]], "none", -1),
        ([[0, 1], [0, 2]], "unique", 0),
        ([[1, 2], [1, 2]], "many", 1),
        (np.ones((4, 4)), "many", 3),
        ([[0, 1, 1], [0, 1, 1], [1, 0, 1]], "many", 1),
        ([[0, 0, 0], [1, 1, 1], [2, -1, 0.5]], "none", -1),
        ([[5]], "unique", 0),
    ],
)
@pytest.mark.parametrize("currency", [1e-8, 1, 1e8])
def test_the_three_outcomes_whatever_the_currency(cost, kind, dimension, currency):
    result = equal_risk_point(np.array(cost) * currency)
    assert (result.kind, result.dimension) == (kind, dimension)
    if kind == "many":
        risks = np.array(cost) @ result.point
        np.testing.assert_allclose(risks, risks[0], atol=1e-9)
    if kind == "many" and dimension == len(cost) - 1:
        np.testing.assert_allclose(result.point, 1 / len(cost))  # the point of least norm
    assert (result.point is None) == (kind == "none")


@law
@given(seed=seeds)
def test_the_threshold_is_where_the_decision_changes(seed):
    cost, _, _ = drawn(seed, 2)
    t = two_class_threshold(cost)
    assert 0 < t < 1
    near = np.array([t - 1e-6, t, t + 1e-6]).clip(0, 1)
    assert decide(np.column_stack([near, 1 - near]), cost).tolist() == [1, 0, 0]
    np.testing.assert_allclose(equal_risk_point(cost).point, [t, 1 - t], atol=1e-9)


def neighbours(cost, n=60):
    """Pairs of decisions that meet along a grid of the simplex, far from where a third one is near."""
    grid = [np.array([a, b, n - a - b]) / n for a in range(n + 1) for b in range(n + 1 - a)]
    for p in grid:
        risks = np.sort(cost @ p)
        if risks[2] - risks[1] > 1:
            i, k = np.argsort(cost @ p)[:2]
            direction = cost[i] - cost[k]
            step = -(direction @ p) / (direction @ (direction - direction.mean()))
            there = p + step * (direction - direction.mean())
            if there.min() > 0.02 and (cost @ there).max() > (cost @ there)[i] + 1:
                yield int(i), int(k)


@law
@given(seed=seeds)
def test_segments_lie_on_the_boundary_and_cannot_be_longer(seed):
    cost, _, _ = drawn(seed, 3)
    for i, k in ((0, 1), (1, 2), (2, 0)):
        segment = boundary_segment(cost, i, k)
        if segment is None:
            seen = {tuple(sorted(pair)) for pair in neighbours(cost)}
            assert (min(i, k), max(i, k)) not in seen
            continue
        assert segment.tolist() == sorted(segment.tolist())
        middle = segment.mean(axis=0)
        for p in (*segment, middle):
            risks = cost @ p
            assert p.min() >= 0
            assert math.isclose(p.sum(), 1)
            assert math.isclose(risks[i], risks[k], abs_tol=1e-9)
            assert risks[i] <= risks.min() + 1e-9
        for end in segment:
            beyond = end + 1e-4 * (end - middle) / np.linalg.norm(end - middle)
            risks = cost @ beyond
            assert beyond.min() < 0 or risks[i] > risks.min()


def test_segments_that_are_not_there():
    assert boundary_segment([[0, 1, 6], [1, 0, 1], [6, 1, 0]], 0, 2) is None
    assert boundary_segment([[1, 2, 3], [1, 2, 3], [0, 9, 9]], 0, 1) is None  # equal everywhere
    assert boundary_segment([[0, 0, 0], [1, 1, 1], [9, 9, 9]], 0, 1) is None  # equal nowhere
    assert boundary_segment([[1, 1, 2], [0, 0, 0], [9, 9, 9]], 0, 1) is None  # equal where p_2 = -1
    # The third decision costs the same as the first, so it does not cut anything off.
    whole = boundary_segment([[0, 1, 1], [1, 0, 1], [0, 1, 1]], 0, 1)
    np.testing.assert_allclose(whole, [[0, 0, 1], [0.5, 0.5, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: scale_costs([[0, 1], [1, 0]], -1), "factor must be a positive number; got -1"),
        (lambda: multiply_row([[0, 1], [1, 0]], 0, 0), "factor must be a positive number; got 0"),
        (lambda: multiply_column([[0, 1], [1, 0]], 2, 1), "column must be a whole number from 0 to 1; got 2"),
        (lambda: add_to_row([[0, 1], [1, 0]], "a", 1), "row must be a whole number from 0 to 1; got 'a'"),
        (lambda: add_to_column([[0, 1], [1, 0]], 0, np.nan), "amount must be a finite number; got nan"),
        (lambda: zero_diagonal([[0, 1]]), r"shape \(k, k\); got shape \(1, 2\)"),
        (lambda: row_shift_bounds([[1, 0], [0, 1]], 0), "as only reasonable costs have bounds"),
        (
            lambda: column_scale_point([[1, 2], [3, 4]], 0, 2),
            "must have a unique equal-risk point; this one has none",
        ),
        (lambda: two_class_threshold(1 - np.eye(3)), r"shape \(2, 2\); got shape \(3, 3\)"),
        (lambda: two_class_threshold([[1, 0], [0, 1]]), "as otherwise one decision is always best"),
        (lambda: boundary_segment([[0, 1], [1, 0]], 0, 1), r"shape \(3, 3\); got shape \(2, 2\)"),
        (lambda: boundary_segment(1 - np.eye(3), 1, 1), "i and k must be different decisions; got 1 twice"),
        (lambda: boundary_segment(1 - np.eye(3), 0, 3), "k must be a whole number from 0 to 2; got 3"),
        (lambda: equal_risk_point([[0, np.inf], [1, 0]]), r"cost must be finite; got inf at cost\[0, 1\]"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(CalibrantError, match=message):
        make()
