"""Sigmoid calibration against golden cases and an independent optimiser."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from calibrant import CalibrantError, SigmoidCalibrator
from calibrant.passes import class_totals, targets
from golden import assert_golden, golden_cases


def cross_entropy(A, B, scores, targets, weights):
    z = A * scores + B
    return np.sum(weights * (targets * np.logaddexp(0, z) + (1 - targets) * np.logaddexp(0, -z)))


@pytest.mark.parametrize("case", golden_cases("platt", "platt"))
def test_golden(case):
    given_, want = case["in"], case["out"]
    scores, y = np.array(given_["f"]), np.array(given_["y"])
    weights = np.array(given_.get("w", np.ones(len(y))))
    sigmoid = SigmoidCalibrator(smooth=given_["smooth"]).fit(scores, y, given_.get("w"))
    wanted = targets(y == 1, class_totals(y == 1, weights), smooth=given_["smooth"])
    got = {
        "predict": sigmoid.predict_proba(given_["query"])[:, 1].tolist(),
        "nll": cross_entropy(sigmoid.A_, sigmoid.B_, scores, wanted, weights),
        "A": sigmoid.A_,
        "B": sigmoid.B_,
    }
    assert_golden(got, want, case["tol"])
    assert sigmoid.converged_


@pytest.mark.parametrize("case", golden_cases("platt", "platt_targets"))
def test_golden_targets(case):
    y = np.array(case["in"]["y"]) == 1
    weights = case["in"].get("w")
    totals = class_totals(y, None if weights is None else np.array(weights))
    assert_golden(targets(y, totals, smooth=True).tolist(), case["out"], case["tol"])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(4, 200),
    scale=st.sampled_from([1e-200, 1e-6, 1.0, 1e6, 1e200]),
    shift=st.sampled_from([0.0, 3.0, -1e4]),
)
def test_affine_changes_of_the_score_change_no_prediction(seed, n, scale, shift):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + np.exp(-3 * scores - 1))
    plain = SigmoidCalibrator().fit(scores, y).predict_proba(scores)
    moved = scale * (scores + shift)
    np.testing.assert_allclose(SigmoidCalibrator().fit(moved, y).predict_proba(moved), plain, atol=1e-9)
    turned = SigmoidCalibrator().fit(-moved, y).predict_proba(-moved)
    np.testing.assert_allclose(turned, plain, atol=1e-9)


@pytest.mark.parametrize("rate", [0.5, 0.1, 0.001])
@pytest.mark.parametrize("steepness", [0.1, 2, 50])
def test_the_optimum_of_an_independent_optimiser(rate, steepness):
    rng = np.random.default_rng(7)
    scores = rng.normal(size=3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-steepness * scores - logit(rate)))
    y[:2] = True, False
    weights = rng.gamma(2, size=3000)
    wanted = targets(y, class_totals(y, weights), smooth=True)
    sigmoid = SigmoidCalibrator().fit(scores, y, weights)
    ours = cross_entropy(sigmoid.A_, sigmoid.B_, scores, wanted, weights)
    theirs = minimize(
        lambda theta: cross_entropy(*theta, scores, wanted, weights),
        [0, 0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-10, "maxiter": 4000},
    ).fun
    assert ours <= theirs + 1e-9
    assert sigmoid.n_iter_ < 30


def test_raw_targets_are_logistic_regression():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=500)
    y = rng.random(500) < 1 / (1 + np.exp(-scores))
    theirs = LogisticRegression(C=np.inf, tol=1e-12).fit(scores[:, None], y)
    ours = SigmoidCalibrator(smooth=False).fit(scores, y)
    np.testing.assert_allclose(-ours.A_, theirs.coef_[0, 0], rtol=1e-5)
    np.testing.assert_allclose(-ours.B_, theirs.intercept_[0], atol=1e-5)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [1, 1, 0, 0]])
@pytest.mark.parametrize("scores", [[-2, -1, 1, 2], [-2, 0, 0, 2]])
def test_raw_targets_of_separable_classes_warn(scores, labels):
    sigmoid = SigmoidCalibrator(smooth=False)
    with pytest.warns(ConvergenceWarning, match="a threshold separates the classes.*use smooth=True"):
        sigmoid.fit(scores, labels)
    assert not sigmoid.converged_
    assert np.isfinite(sigmoid.predict_proba(scores)).all()


def test_too_few_steps_warn():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=100)
    sigmoid = SigmoidCalibrator(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps; raise max_iter"):
        sigmoid.fit(scores, scores + rng.normal(size=100) > 0)
    assert not sigmoid.converged_


def test_logit_is_the_identity_on_log_odds():
    rng = np.random.default_rng(5)
    proba = rng.random(200)
    y = rng.random(200) < proba**2
    ours = SigmoidCalibrator(transform="logit").fit(proba, y).predict_proba(proba)
    same = SigmoidCalibrator().fit(logit(proba), y).predict_proba(logit(proba))
    np.testing.assert_allclose(ours, same, atol=1e-12)
    certain = SigmoidCalibrator(transform="logit").fit([0, 0.3, 0.6, 1], [0, 1, 0, 1])
    assert np.isfinite(certain.predict_proba([0, 1])).all()


def test_logit_needs_probabilities():
    with pytest.raises(CalibrantError, match=r"scores with transform='logit' must lie in \[0, 1\]; got 1.5"):
        SigmoidCalibrator(transform="logit").fit([0.5, 1.5], [0, 1])


def test_degenerate_answers():
    constant = SigmoidCalibrator().fit([1, 1, 1, 1, 1], [0, 1, 1, 0, 1])
    np.testing.assert_allclose(constant.predict_proba([1])[:, 1], (3 * 4 / 5 + 2 * 1 / 4) / 5)
    assert (constant.A_, constant.n_iter_, constant.converged_) == (0.0, 0, True)
    for smooth in (True, False):
        ones = SigmoidCalibrator(smooth=smooth).fit([1, 2, 3], [1, 1, 1])
        np.testing.assert_allclose(ones.predict_proba([-9, 9])[:, 1], 4 / 5)


@pytest.mark.parametrize("size", [1.0, -3.0, 1e-300, 1e300])
@pytest.mark.parametrize("smooth", [True, False])
def test_scores_that_differ_by_rounding_alone_are_equal(size, smooth):
    y = [0, 0, 1, 0, 1]
    ulps = np.array([0, 1, 2, 3, 4])
    plain = SigmoidCalibrator(smooth=smooth).fit(np.ones(5), y)
    noisy = SigmoidCalibrator(smooth=smooth).fit(size + ulps * np.spacing(size), y)
    assert (noisy.A_, noisy.B_, noisy.converged_) == (0.0, plain.B_, True)


@pytest.mark.parametrize("places", [2**6, 2**12, 2**26])
def test_any_map_that_tells_scores_apart_is_better_than_none(places):
    """A positive and a negative at one score, five negatives at another."""
    target = np.array([2 / 3, 1 / 8, 1 / 8])
    scores, weights = 1 + np.array([places, places, 0]) * np.spacing(1.0), np.array([1.0, 1.0, 5.0])
    model = SigmoidCalibrator().fit(scores, [1, 0, 0], weights)
    got = model.predict_proba(scores)[:, 1]
    wanted = np.array([(2 / 3 + 1 / 8) / 2, (2 / 3 + 1 / 8) / 2, 1 / 8])
    np.testing.assert_allclose(got, wanted, atol=8 / places)  # log-odds are rounded by about so much
    flat = np.average(target, weights=weights)

    def loss(proba):
        return -weights @ (target * np.log(proba) + (1 - target) * np.log(1 - proba))

    assert loss(got) < loss(np.full(3, flat))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"transform": "log"}, "transform must be one of 'identity', 'logit'; got 'log'"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1; got 0"),
    ],
)
def test_options_that_cannot_be(parameters, message):
    with pytest.raises(CalibrantError, match=message):
        SigmoidCalibrator(**parameters).fit([1, 2], [0, 1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sort", [False, True])
def test_many_rows_reach_the_same_optimum(weighted, sort):
    """Above 100,000 rows the fit starts from a sample; at the optimum the gradient still vanishes."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=150_000)
    y = rng.random(150_000) < 1 / (1 + np.exp(3 - 2 * scores))
    if sort:
        order = np.argsort(y)
        scores, y = scores[order], y[order]
    weights = rng.gamma(2, size=150_000) if weighted else np.ones(150_000)
    sigmoid = SigmoidCalibrator().fit(scores, y, weights if weighted else None)
    excess = targets(y, class_totals(y, weights), smooth=True) - sigmoid.predict_proba(scores)[:, 1]
    gradient = [np.average(excess, weights=weights), np.average(excess * scores, weights=weights)]
    np.testing.assert_allclose(gradient, 0, atol=1e-13)


def test_many_separable_rows_do_not_mislead_the_start():
    scores = np.linspace(-1, 1, 200_001)
    y = scores > 0.3
    y[128_000] = True  # one row on the wrong side: raw targets have a solution, but a sample has none
    sigmoid = SigmoidCalibrator(smooth=False).fit(scores, y)
    excess = y - sigmoid.predict_proba(scores)[:, 1]
    assert sigmoid.converged_
    np.testing.assert_allclose([excess.mean(), (excess * scores).mean()], 0, atol=1e-12)


def test_scores_far_out_are_certain_without_a_warning():
    model = SigmoidCalibrator().fit(np.array([-1.0, -1, -1, 1, 1, 1]) * 1e-200, [0, 1, 0, 1, 0, 1])
    assert model.A_ < -1e199
    assert model.predict_proba([-1e300, 1e300])[:, 1].tolist() == [0.0, 1.0]
