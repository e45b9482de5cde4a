"""Least squares on the simplex: golden cases, brute force over supports, laws."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import isotonic_regression, nnls

from calibrant import CalibrantError
from calibrant.codes import (
    all_pairs,
    exhaustive,
    expected_answers,
    least_squares,
    one_vs_all,
    ordinal,
    random_sparse,
    solve_least_squares,
)
from codes.cases import CODES, noisy_answers, some_proba, some_weights, squared_error
from golden import assert_golden, golden_cases

EVERY_CODE = pytest.mark.parametrize("code", CODES.values(), ids=CODES)


@pytest.mark.parametrize("case", golden_cases("least_squares", "ls_simplex"))
def test_golden(case):
    code, answers, weights = np.array(case["in"]["M"]), [case["in"]["r"]], case["in"].get("w")
    result = solve_least_squares(code, answers, weights)
    objective = squared_error(code, np.array(answers[0]), result.proba[0], np.array(weights or 1.0))
    got = {"p": result.proba[0].tolist(), "objective": float(objective), "unique": bool(result.unique[0])}
    assert_golden(got, case["out"], min(case["tol"], 1e-10))


@pytest.mark.parametrize("case", golden_cases("least_squares", "ls_nonneg"))
def test_golden_without_the_sum(case):
    got = least_squares(case["in"]["M"], [case["in"]["r"]], sum_constraint=False)
    assert_golden(got[0].tolist(), case["out"], case["tol"])


def over_all_supports(code, answers, weights):
    """The best of the equality-constrained solutions of all supports that is feasible."""
    k = len(code)
    sides = np.where(code > 0, 1 - answers, 0) - np.where(code < 0, answers, 0)
    system = (sides * np.sqrt(weights)).T
    best, least = None, np.inf
    for size in range(1, k + 1):
        for support in map(list, combinations(range(k), size)):
            basis = np.linalg.svd(np.ones((1, size)))[2][1:]
            start = np.full(size, 1 / size)
            own = system[:, support]
            move = np.linalg.lstsq(own @ basis.T, -own @ start, rcond=None)[0]
            p = np.zeros(k)
            p[support] = start + move @ basis
            if p.min() > -1e-12 and (value := squared_error(code, answers, p, weights)) < least - 1e-15:
                best, least = p, value
    return best


@EVERY_CODE
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_as_the_best_support(code, weighted, noise):
    answers = noisy_answers(code, n=8, noise=noise)
    weights = some_weights(code) if weighted else np.ones(code.shape[1])
    result = solve_least_squares(code, answers, weights if weighted else None)
    assert result.unique.all()
    want = [over_all_supports(code, row, weights) for row in answers]
    np.testing.assert_allclose(result.proba, want, atol=1e-9)
    if noise > 1 and code.all() and len(code) > 2:
        assert (result.proba == 0).any()  # the bounds matter


@EVERY_CODE
def test_consistent_answers_come_back(code):
    proba = some_proba(len(code))
    answers = expected_answers(code, proba)
    np.testing.assert_allclose(least_squares(code, answers), proba, atol=1e-12)
    np.testing.assert_allclose(least_squares(code, answers, some_weights(code)), proba, atol=1e-12)


@EVERY_CODE
def test_relabelling_permutes_columns(code):
    answers, order = noisy_answers(code), np.random.default_rng(0).permutation(len(code))
    np.testing.assert_allclose(
        least_squares(code[order], answers), least_squares(code, answers)[:, order], atol=1e-12
    )


@EVERY_CODE
def test_a_repeated_column_is_a_doubled_weight(code):
    answers = noisy_answers(code)
    weights = np.where(np.arange(code.shape[1]) == 0, 2.0, 1.0)
    doubled = least_squares(code, answers, weights)
    again = least_squares(np.c_[code, code[:, 0]], np.c_[answers, answers[:, 0]])
    opposite = least_squares(np.c_[code, -code[:, 0]], np.c_[answers, 1 - answers[:, 0]])
    np.testing.assert_allclose(again, doubled, atol=1e-12)
    np.testing.assert_allclose(opposite, doubled, atol=1e-12)


@pytest.mark.parametrize("name", ["one_vs_all", "all_pairs", "exhaustive", "random_dense", "random_sparse"])
def test_weight_zero_drops_a_column(name):
    code = CODES[name]
    answers, weights = noisy_answers(code), np.ones(code.shape[1])
    weights[1] = 0
    np.testing.assert_allclose(
        least_squares(code, answers, weights),
        least_squares(np.delete(code, 1, axis=1), np.delete(answers, 1, axis=1)),
        atol=1e-10,
    )


@EVERY_CODE
def test_rows_do_not_see_each_other(code):
    answers = noisy_answers(code, n=5000, noise=2.0)
    together = least_squares(code, answers)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-12)
    for row in (0, 1, 2047, 2048, 4999):
        np.testing.assert_allclose(least_squares(code, answers[[row]])[0], together[row], atol=1e-12)


def test_one_vs_all_is_the_projection():
    answers = np.random.default_rng(0).random((50, 7))
    with_a_detour = least_squares(
        np.c_[one_vs_all(7), one_vs_all(7)[:, 0]], np.c_[answers, answers[:, 0]], [1] * 7 + [0]
    )
    np.testing.assert_allclose(least_squares(one_vs_all(7), answers), with_a_detour, atol=1e-12)
    weights = np.random.default_rng(1).uniform(0.5, 2, 7)
    weighted = least_squares(one_vs_all(7), answers, weights)
    better = squared_error(one_vs_all(7), answers, weighted, weights)
    assert (better <= squared_error(one_vs_all(7), answers, with_a_detour, weights)).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_vs_all_without_any_preference_is_uniform(value):
    np.testing.assert_allclose(least_squares(one_vs_all(4), np.full((1, 4), value)), 0.25)


def test_all_pairs_never_needs_the_bounds():
    answers = np.random.default_rng(0).uniform(1e-6, 1 - 1e-6, (200, 15))
    assert (least_squares(all_pairs(6), answers) > 0).all()


def test_ordinal_is_isotonic_regression():
    answers = np.random.default_rng(0).random((30, 5))
    weights = np.random.default_rng(1).uniform(0.5, 2, 5)
    proba = least_squares(ordinal(6), answers, weights)
    above = proba[:, ::-1].cumsum(axis=1)[:, -2::-1]
    want = [isotonic_regression(row, weights=weights, increasing=False).x for row in answers]
    np.testing.assert_allclose(above, want, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_certain_answers_need_no_clipping(seed):
    rng = np.random.default_rng(seed)
    code = list(CODES.values())[seed % len(CODES)]
    answers = rng.integers(0, 2, (3, code.shape[1])).astype(float)
    proba = least_squares(code, answers)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    errors = squared_error(code, answers, proba)
    others = rng.dirichlet(np.ones(len(code)), 50)
    for row, error in zip(answers, errors, strict=True):
        assert (squared_error(code, row, others) >= error - 1e-12).all()


def test_identical_rows_share_equally():
    result = solve_least_squares([[1, 1], [-1, 1], [-1, 1], [-1, -1]], [[0.4, 0.8], [0.9, 0.2]])
    np.testing.assert_allclose(result.proba[:, 1], result.proba[:, 2], atol=1e-12)
    np.testing.assert_allclose(result.proba[0], [0.4, 0.2, 0.2, 0.2], atol=1e-9)
    assert not result.unique.any()


def test_an_unused_class_gets_the_rest_at_smallest_norm():
    proba = least_squares([[1], [-1], [0]], [[0.9]])[0]
    mass = np.linspace(0, 1, 100_001)
    norms = (0.9 * mass) ** 2 + (0.1 * mass) ** 2 + (1 - mass) ** 2
    best = mass[np.argmin(norms)]
    np.testing.assert_allclose(proba, [0.9 * best, 0.1 * best, 1 - best], atol=1e-4)


def test_no_weight_at_all_is_uniform():
    for code in (all_pairs(3), one_vs_all(3), exhaustive(3)):
        result = solve_least_squares(code, [[0.9, 0.1, 0.4]], [0, 0, 0])
        np.testing.assert_allclose(result.proba, 1 / 3)
        assert not result.unique.any()


def test_rows_given_up_by_the_fast_solver(monkeypatch):
    code = random_sparse(4, 0, n_draws=10)
    answers = noisy_answers(code, n=20, noise=2.0)
    want = least_squares(code, answers)
    monkeypatch.setattr("calibrant.codes._least_squares._FLOOR", 2.0)
    result = solve_least_squares(code, answers)
    assert result.unique.all()
    np.testing.assert_allclose(result.proba, want, atol=1e-10)


@pytest.mark.parametrize("name", ["one_vs_all", "exhaustive", "random_dense", "ordinal"])
def test_without_the_sum_as_nnls(name):
    code = CODES[name]
    answers, weights = noisy_answers(code, noise=2.0), some_weights(code)
    root = np.sqrt(weights)
    system = root[:, None] * (code.T > 0)
    raw = least_squares(code, answers, weights, sum_constraint=False)
    for row, got in zip(answers, raw, strict=True):
        want, residual = nnls(system, root * row)
        np.testing.assert_allclose(np.linalg.norm(system @ got - root * row), residual, atol=1e-10)
        assert got.min() >= 0
        assert np.linalg.norm(got) <= np.linalg.norm(want) + 1e-9


def test_without_the_sum_zeros_are_refused():
    with pytest.raises(
        CalibrantError, match="no zeros where sum_constraint=False; got one in column 2; leave"
    ):
        least_squares([[1, -1, 1], [-1, 1, 0]], [[0.5, 0.5, 0.5]], sum_constraint=False)


def exact_minimiser(code, answers, weights):
    """The least value on the simplex in exact arithmetic: all supports are tried."""
    k = len(code)
    rows = [
        [1 - Fraction(r) if side > 0 else -Fraction(r) if side < 0 else Fraction(0) for side in column]
        for column, r in zip(code.T, answers, strict=True)
    ]
    best = None
    for size in range(1, k + 1):
        for support in map(list, combinations(range(k), size)):
            gram = [
                [
                    sum(Fraction(w) * row[i] * row[j] for w, row in zip(weights, rows, strict=True))
                    for j in support
                ]
                for i in support
            ]
            bordered = [[*line, Fraction(-1)] for line in gram] + [[Fraction(1)] * size + [Fraction(0)]]
            found = exact_solution(bordered, [Fraction(0)] * size + [Fraction(1)])
            if found is None or min(found[:size]) < 0:
                continue
            if best is None or found[-1] < best[0]:
                best = found[-1], dict(zip(support, found, strict=False))
    return [float(best[1].get(place, 0)) for place in range(k)]


def exact_solution(matrix, right):
    """Gauss and Jordan's; None if the matrix is singular."""
    table = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for place in range(len(table)):
        pivot = next((row for row in range(place, len(table)) if table[row][place]), None)
        if pivot is None:
            return None
        table[place], table[pivot] = table[pivot], table[place]
        for row in range(len(table)):
            if row != place:
                share = table[row][place] / table[place][place]
                table[row] = [mine - share * its for mine, its in zip(table[row], table[place], strict=True)]
    return [line[-1] / line[place] for place, line in enumerate(table)]


@pytest.mark.parametrize(
    "code", [one_vs_all(3), all_pairs(3), all_pairs(4), exhaustive(3)], ids=["1", "2", "3", "4"]
)
@pytest.mark.parametrize("digits", [2, 5, 8])
def test_weights_over_a_wide_range_are_right(code, digits):
    rng = np.random.default_rng(digits)
    for _ in range(5):
        answers, weights = rng.random(code.shape[1]), 10.0 ** rng.uniform(-digits, 0, code.shape[1])
        expected = exact_minimiser(np.asarray(code), answers, weights)
        np.testing.assert_allclose(least_squares(code, [answers], weights)[0], expected, atol=1e-7)


def test_weights_over_too_wide_a_range_are_refused():
    answers, weights = np.full((1, 6), 0.3), np.array([1, 1e-10, 1, 1e-10, 1, 1])
    with pytest.raises(
        CalibrantError, match=r"factor of 1e8 of each other, or be 0; got one that is 1e-10 of"
    ):
        least_squares(all_pairs(4), answers, weights)
    assert least_squares(all_pairs(4), answers, np.where(weights < 1, 0, 1)).sum() == pytest.approx(1)
    right = exact_minimiser(np.asarray(one_vs_all(3)), [0.2, 0.9, 0.7], [1, 1e-10, 1e-16])
    np.testing.assert_allclose(least_squares(one_vs_all(3), [[0.2, 0.9, 0.7]], [1, 1e-10, 1e-16])[0], right)
