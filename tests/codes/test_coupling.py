"""Coupling: golden cases, plain MM and SciPy as independent truth, laws."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import isotonic_regression, minimize
from sklearn.exceptions import ConvergenceWarning

from calibrant import CalibrantError
from calibrant.codes import (
    all_pairs,
    coupling,
    exhaustive,
    expected_answers,
    kl_objective,
    one_vs_all,
    ordinal,
    random_sparse,
    solve_coupling,
)
from codes.cases import CODES, noisy_answers, plain_mm, some_proba, some_weights
from golden import assert_golden, golden_cases

EVERY_CODE = pytest.mark.parametrize("code", CODES.values(), ids=CODES)
BOTH = pytest.mark.parametrize("algorithm", ["mm", "published"])
#: The published update is followed for as many steps as it takes to compare, not to its end.
CUT_SHORT = pytest.mark.filterwarnings("ignore:coupling did not converge")


@pytest.mark.parametrize("case", golden_cases("coupling", "coupling"))
def test_golden(case):
    code, answers, weights = case["in"]["M"], np.array([case["in"]["r"]]), case["in"].get("n")
    eps = case["in"]["eps"]
    proba = coupling(code, answers, weights, eps=eps)
    assert_golden(proba[0].tolist(), case["out"]["kl_minimiser"], min(case["tol"], 1e-9))
    value = kl_objective(code, np.clip(answers, eps, 1 - eps), proba, weights)
    assert_golden(float(value[0]), case["out"]["kl_value"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("coupling", "kl_objective"))
def test_golden_objective(case):
    got = kl_objective(case["in"]["M"], [case["in"]["r"]], [case["in"]["p"]], case["in"].get("n"))
    assert_golden(float(got[0]), case["out"], case["tol"])


@EVERY_CODE
@pytest.mark.parametrize("weighted", [False, True])
def test_as_plain_mm(code, weighted):
    answers = noisy_answers(code, n=4)
    weights = some_weights(code) if weighted else None
    result = solve_coupling(code, answers, weights)
    assert result.converged.all()
    want = plain_mm(code, answers, weights, max_iter=20_000)
    inside = result.proba.min(axis=1) > 0  # towards p_c = 0 MM creeps
    np.testing.assert_allclose(result.proba[inside], want[inside], atol=3e-8)
    np.testing.assert_allclose(result.proba, want, atol=2e-4)
    clipped = np.clip(answers, 1e-6, 1 - 1e-6)
    excess = kl_objective(code, clipped, result.proba, weights) - kl_objective(code, clipped, want, weights)
    assert (excess <= 1e-13).all()


@EVERY_CODE
def test_as_scipy(code):
    answers = noisy_answers(code, n=2, seed=5)
    weights = some_weights(code, seed=5)

    def loss(logs, row):
        return kl_objective(code, [row], [np.exp(logs - logs.max())], weights)[0]

    for row, got in zip(answers, coupling(code, answers, weights), strict=True):
        found = minimize(loss, np.zeros(len(code)), args=(row,), method="BFGS", options={"gtol": 1e-8})
        want = np.exp(found.x) / np.exp(found.x).sum()
        np.testing.assert_allclose(got, want, atol=2e-4)
        assert kl_objective(code, [row], [got], weights)[0] <= found.fun + 1e-12


@EVERY_CODE
@BOTH
def test_consistent_answers_come_back(code, algorithm):
    proba = some_proba(len(code))
    answers = expected_answers(code, proba)
    for weights in (None, some_weights(code)):
        got = coupling(code, answers, weights, algorithm, tol=1e-10, max_iter=20_000)
        np.testing.assert_allclose(got, proba, atol=1e-9 if algorithm == "mm" else 1e-6)


@EVERY_CODE
@BOTH
@CUT_SHORT
def test_relabelling_permutes_columns(code, algorithm):
    answers, order = noisy_answers(code), np.random.default_rng(0).permutation(len(code))
    relabelled = coupling(code[order], answers, algorithm=algorithm, max_iter=50)
    np.testing.assert_allclose(
        relabelled, coupling(code, answers, algorithm=algorithm, max_iter=50)[:, order], atol=1e-8
    )


@EVERY_CODE
@BOTH
@CUT_SHORT
def test_a_repeated_column_is_a_doubled_weight(code, algorithm):
    answers = noisy_answers(code)
    weights = np.where(np.arange(code.shape[1]) == 0, 2.0, 1.0)
    options = {"algorithm": algorithm, "max_iter": 50}
    doubled = coupling(code, answers, weights, **options)
    again = coupling(np.c_[code, code[:, 0]], np.c_[answers, answers[:, 0]], **options)
    opposite = coupling(np.c_[code, -code[:, 0]], np.c_[answers, 1 - answers[:, 0]], **options)
    np.testing.assert_allclose(again, doubled, atol=1e-8)
    np.testing.assert_allclose(opposite, doubled, atol=1e-8)


@EVERY_CODE
@BOTH
@CUT_SHORT
def test_the_scale_of_the_weights_does_not_matter(code, algorithm):
    answers, weights = noisy_answers(code), some_weights(code)
    options = {"algorithm": algorithm, "max_iter": 50}
    np.testing.assert_allclose(
        coupling(code, answers, 1e6 * weights, **options),
        coupling(code, answers, weights, **options),
        atol=1e-8,
    )


@pytest.mark.parametrize("name", ["one_vs_all", "all_pairs", "exhaustive", "random_dense", "random_sparse"])
@BOTH
@CUT_SHORT
def test_weight_zero_drops_a_column(name, algorithm):
    code = CODES[name]
    answers, weights = noisy_answers(code), np.ones(code.shape[1])
    weights[1] = 0
    options = {"algorithm": algorithm, "max_iter": 50}
    np.testing.assert_allclose(
        coupling(code, answers, weights, **options),
        coupling(np.delete(code, 1, axis=1), np.delete(answers, 1, axis=1), **options),
        atol=1e-8,
    )


@EVERY_CODE
def test_rows_do_not_see_each_other(code):
    answers = noisy_answers(code, n=5000, noise=1.0)
    together = solve_coupling(code, answers)
    np.testing.assert_allclose(together.proba.sum(axis=1), 1, atol=1e-12)
    for row in (0, 1, 2047, 2048, 4999):
        alone = solve_coupling(code, answers[[row]])
        np.testing.assert_allclose(alone.proba[0], together.proba[row], atol=1e-9)


@EVERY_CODE
def test_block_size_does_not_matter(code, monkeypatch):
    answers = noisy_answers(code, n=40, noise=1.0)
    want = coupling(code, answers)
    monkeypatch.setattr("calibrant.codes._answers._BLOCK", 7)
    monkeypatch.setattr("calibrant.codes._gram._SINGLE_THREAD", 1)
    np.testing.assert_allclose(coupling(code, answers), want, atol=1e-9)


def test_ordinal_is_isotonic_regression():
    answers = np.random.default_rng(0).random((30, 5))
    weights = np.random.default_rng(1).uniform(0.5, 2, 5)
    proba = coupling(ordinal(6), answers, weights)
    above = proba[:, ::-1].cumsum(axis=1)[:, -2::-1]
    want = [isotonic_regression(row, weights=weights, increasing=False).x for row in answers]
    np.testing.assert_allclose(above, want, atol=1e-8)
    assert (proba == 0).any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_certain_answers(seed):
    rng = np.random.default_rng(seed)
    code = list(CODES.values())[seed % len(CODES)]
    answers = rng.integers(0, 2, (3, code.shape[1])).astype(float)
    result = solve_coupling(code, answers)
    assert result.converged.all()
    np.testing.assert_allclose(result.proba.sum(axis=1), 1, atol=1e-12)
    assert (result.proba >= 0).all()
    clipped = np.clip(answers, 1e-6, 1 - 1e-6)
    near = result.proba[:, None] * np.exp(0.3 * rng.standard_normal((3, 30, len(code))))
    reached = kl_objective(code, clipped, result.proba)
    for row in range(3):
        around = kl_objective(
            code, np.repeat(clipped[[row]], 30, axis=0), near[row] / near[row].sum(axis=1)[:, None]
        )
        assert (around >= reached[row] - 1e-9).all()


def test_a_tournament_without_doubt():
    proba = coupling(all_pairs(6), np.ones((1, 15)))[0]
    assert proba[0] > 1 - 1e-5
    gaps = np.diff(np.log(proba))  # tiny as most are, the odds between neighbours are right
    np.testing.assert_allclose(gaps, gaps[::-1], rtol=1e-3)
    assert (gaps < -11).all()


def test_identical_rows_share_equally():
    code = np.array([[1, 1], [-1, 1], [-1, 1], [-1, -1]])
    proba = coupling(code, [[0.4, 0.8], [0.9, 0.2]])
    np.testing.assert_array_equal(proba[:, 1], proba[:, 2])
    merged = coupling(code[[0, 1, 3]], [[0.4, 0.8], [0.9, 0.2]])
    np.testing.assert_allclose(np.c_[proba[:, 0], 2 * proba[:, 1], proba[:, 3]], merged, atol=1e-12)


def test_islands_get_their_share():
    code = [[1, 0], [-1, 0], [0, 1], [0, -1], [0, 0]]
    np.testing.assert_allclose(
        coupling(code, [[0.9, 0.3]]), np.array([[0.9, 0.1, 0.3, 0.7, 0.5]]) * 0.4, atol=1e-12
    )


@BOTH
def test_no_weight_at_all_is_uniform(algorithm):
    np.testing.assert_array_equal(coupling(all_pairs(4), np.full((2, 6), 0.9), np.zeros(6), algorithm), 0.25)


@BOTH
def test_the_limit_of_iterations_gives_a_warning(algorithm):
    code = CODES["exhaustive"]
    with pytest.warns(
        ConvergenceWarning, match="not converge for 6 of 6 rows in 1 iterations; raise max_iter or tol"
    ):
        result = solve_coupling(code, noisy_answers(code), algorithm=algorithm, max_iter=1)
    assert not result.converged.any()
    assert (result.n_iter == 1).all()
    np.testing.assert_allclose(result.proba.sum(axis=1), 1, atol=1e-12)


@BOTH
def test_only_rows_that_fail_are_counted(algorithm):
    answers = np.vstack([noisy_answers(one_vs_all(5), n=1), expected_answers(one_vs_all(5), [[0.2] * 5])])
    with pytest.warns(ConvergenceWarning, match="for 1 of 2 rows in 2 iterations"):
        result = solve_coupling(one_vs_all(5), answers, algorithm=algorithm, max_iter=2)
    assert result.converged.tolist() == [False, True]


@EVERY_CODE
def test_a_smaller_tolerance_is_closer(code):
    answers = noisy_answers(code, noise=1.5)
    best = coupling(code, answers, tol=1e-13)
    for tol in (1e-4, 1e-8):
        assert np.abs(coupling(code, answers, tol=tol) - best).max() <= tol


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "newton"}, "algorithm must be one of 'mm', 'published'; got 'newton'"),
        ({"eps": 0}, "eps must be from 1e-15 to below 0.5; got 0"),
        ({"eps": 0.5}, "eps must be .*; got 0.5"),
        ({"tol": 0}, "tol must be a number above 0; got 0"),
        ({"tol": np.nan}, "tol must be .*; got nan"),
        ({"max_iter": 0}, "max_iter must be a whole number, at least 1; got 0"),
        ({"max_iter": 2.5}, "max_iter must be .*; got 2.5"),
        ({"max_iter": "many"}, "max_iter must be .*; got 'many'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(CalibrantError, match=message):
        coupling(all_pairs(2), [[0.5]], **options)


@BOTH
def test_columns_with_one_sign_are_refused(algorithm):
    code = [[1, 1, 1], [-1, -1, 1]]
    with pytest.raises(
        CalibrantError, match="only one sign in column 2; drop the column or give it weight 0"
    ):
        coupling(code, [[0.5, 0.5, 0.5]], algorithm=algorithm)
    np.testing.assert_allclose(coupling(code, [[0.3, 0.3, 0.9]], [1, 1, 0], algorithm), [[0.3, 0.7]])


def test_the_objective_of_certain_mistakes_is_infinite():
    assert kl_objective(all_pairs(2), [[0.5]], [[1.0, 0.0]])[0] == np.inf
    assert kl_objective(all_pairs(2), [[1.0]], [[1.0, 0.0]])[0] == 0
    np.testing.assert_allclose(kl_objective(all_pairs(3), [[1, 1, 0.5]], [[1.0, 0.0, 0.0]]), 0)
    assert kl_objective(one_vs_all(2), [[0.5, 1.0]], [[0.0, 1.0]], [0, 1])[0] == 0


def test_the_objective_sees_very_small_probabilities():
    value = kl_objective(all_pairs(2), [[1 - 1e-6]], [[1.0, 1e-30]])[0]
    np.testing.assert_allclose(value, 1e-6 * np.log(1e-6 / 1e-30) + (1 - 1e-6) * np.log(1 - 1e-6), rtol=1e-9)


def test_the_objective_needs_as_many_rows():
    with pytest.raises(CalibrantError, match="same number of rows; got 2 and 1"):
        kl_objective(all_pairs(2), [[0.5], [0.5]], [[0.5, 0.5]])


@pytest.mark.parametrize(
    "code", [all_pairs(30), one_vs_all(60), exhaustive(9), random_sparse(12, 0, n_draws=20)]
)
def test_larger_codes(code):
    proba = some_proba(len(code), n=30)
    result = solve_coupling(code, expected_answers(code, proba))
    assert result.converged.all()
    np.testing.assert_allclose(result.proba, proba, atol=1e-8)
