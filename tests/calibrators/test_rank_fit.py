"""The logistic fit in two precisions: the same as the safeguarded solver, and as a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant.passes import _logistic_fast, _logistic_rough
from calibrant.passes._logistic import fit_logistic
from calibrant.passes._logistic_fast import fit_fast


def drawn(n, slopes, intercept=0.0, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(len(slopes), n))
    proba = 1 / (1 + np.exp(slopes @ scores + intercept))
    return scores, (rng.random(n) < proba).astype(float)


def loss(theta, scores, target, weights):
    z = theta[:-1] @ scores + theta[-1]
    return np.sum(weights * (target * np.logaddexp(0, z) + (1 - target) * np.logaddexp(0, -z)))


@pytest.mark.parametrize(
    ("slopes", "intercept"),
    [([-1.0], 0.0), ([-2.0, 1.0], 1.0), ([-1.0, 0.3, 2.0], 4.0), ([-9.0, 3.0], 0.0), (np.zeros(10), 0.5)],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_maximum_of_the_likelihood(slopes, intercept, weighted):
    scores, target = drawn(600, np.array(slopes), intercept)
    weights = np.random.default_rng(1).gamma(1, size=600) + 0.01 if weighted else None
    fit = fit_fast(scores, target, weights)
    assert fit.converged
    assert fit.n_iter < 20
    safe = fit_logistic(scores.T, target, weights)
    np.testing.assert_allclose([*fit.slope, fit.intercept], [*safe.slope, safe.intercept], atol=1e-9)
    mass = np.ones(600) if weights is None else weights
    found = minimize(loss, np.zeros(len(slopes) + 1), (scores, target, mass), tol=1e-10)
    assert loss(np.append(fit.slope, fit.intercept), scores, target, mass) <= found.fun + 1e-9


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1.0, 1e8, 1e150])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_scale_and_origin_do_not_matter(scale, shift):
    scores, target = drawn(300, np.array([-1.0, 0.5]))
    plain = fit_fast(scores, target, None)
    moved = fit_fast((scores + shift) * scale, target, None)
    np.testing.assert_allclose(moved.slope * scale, plain.slope, rtol=1e-6)
    np.testing.assert_allclose(
        moved.intercept + moved.slope @ np.full(2, shift * scale), plain.intercept, atol=1e-6
    )


def test_scores_that_differ_by_rounding_alone_are_equal():
    scores, target = drawn(300, np.array([-1.0, 0.5]))
    plain = fit_fast(scores, target, None)
    noisy = -2 + np.random.default_rng(2).integers(0, 4, 300) * np.spacing(2.0)
    beside = fit_fast(np.vstack([scores[0], noisy, scores[1]]), target, None)
    np.testing.assert_allclose(beside.slope, [plain.slope[0], 0, plain.slope[1]], atol=1e-12)
    np.testing.assert_allclose(beside.intercept, plain.intercept, atol=1e-12)
    alone = fit_fast(noisy[None], target, None)
    np.testing.assert_allclose([*alone.slope, alone.intercept], [0, np.log(1 / target.mean() - 1)])


def test_all_ways_lead_to_the_same_place(monkeypatch):
    scores, target = drawn(500, np.array([-1.0, 0.5]))
    fast = fit_fast(scores, target, None)
    safe = fit_logistic(scores.T, target, None)
    np.testing.assert_allclose(fast.slope, safe.slope, atol=1e-9)
    for few_rows in (100, 2):  # two rows can be told apart, and are no start
        monkeypatch.setattr(_logistic_rough, "MANY_ROWS", 100)
        monkeypatch.setattr(_logistic_rough, "FEW_ROWS", few_rows)
        monkeypatch.setattr(_logistic_rough, "BLOCK", 64)
        np.testing.assert_allclose(fit_fast(scores, target, None).slope, safe.slope, atol=1e-9)
        monkeypatch.undo()
    monkeypatch.setattr(_logistic_rough, "ROUGH_STEPS", 1)
    np.testing.assert_allclose(fit_fast(scores, target, None).slope, safe.slope, atol=1e-9)
    monkeypatch.undo()
    monkeypatch.setattr(_logistic_fast, "LAST_STEPS", 0)
    np.testing.assert_allclose(fit_fast(scores, target, None).slope, safe.slope, atol=1e-9)


def test_scores_that_depend_on_each_other_share_the_slope():
    scores, target = drawn(200, np.array([-1.0]))
    alone = fit_fast(scores, target, None)
    twice = fit_fast(np.concatenate([scores, 3 * scores + 1, np.ones((1, 200))]), target, None)
    assert twice.converged
    np.testing.assert_allclose(twice.slope[0] + 3 * twice.slope[1], alone.slope[0], atol=1e-9)
    np.testing.assert_allclose(twice.slope[0], 3 * twice.slope[1], atol=1e-9)  # equal when standardised
    assert twice.slope[2] == 0


def test_scores_that_do_not_vary_leave_the_mean():
    fit = fit_fast(np.array([[2.0] * 4, [0.0] * 4]), np.array([1.0, 0, 0, 0]), np.array([1.0, 1, 1, 2]))
    assert fit.slope.tolist() == [0, 0]
    assert fit.intercept == pytest.approx(np.log(4))
    assert fit.converged


@pytest.mark.parametrize(
    ("scores", "target"),
    [
        ([[0.0, 1, 2, 3]], [0.0, 0, 1, 1]),
        ([[0.0, 1, 2, 3], [1.0, 0, 0, 1]], [0.0, 0, 1, 1]),
        ([[0.0, 1, 1, 2]], [0.0, 0, 1, 1]),  # they touch
        ([[0.0, 0, 1, 1, 2]], [0.0, 1, 1, 1, 1]),  # one side is certain
        ([[0.0, 5, 5, 5], [5.0, 5, 0, 9]], [1.0, 0, 0, 0]),
    ],
    ids=str,
)
def test_what_can_be_told_apart_has_no_optimum(scores, target):
    assert not fit_fast(np.array(scores), np.array(target), None).converged
    assert fit_fast(np.array(scores), np.clip(target, 0.1, 0.9), None).converged


def test_one_row_on_the_wrong_side_is_enough_for_an_optimum():
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=2000))[None]
    target = (scores[0] > 0.5).astype(float)
    target[3] = 1.0
    fit = fit_fast(scores, target, None)
    assert fit.converged
    np.testing.assert_allclose(fit.slope, fit_logistic(scores.T, target, None).slope, rtol=1e-7)


def test_what_single_precision_cannot_tell_apart_is_left_to_the_safe_solver(monkeypatch):
    scores, target = drawn(400, np.array([-1.0]))
    close = np.concatenate([scores, scores + 1e-5 * np.random.default_rng(2).normal(size=(1, 400))])
    safe = fit_logistic(close.T, target, None)
    np.testing.assert_allclose(fit_fast(close, target, None).slope, safe.slope, rtol=1e-6)

    def singular(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", singular)
    np.testing.assert_allclose(fit_fast(close, target, None).slope, safe.slope, rtol=1e-6)
