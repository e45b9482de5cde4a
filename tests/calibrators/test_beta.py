"""Beta calibration: the constrained optimum, as an independent optimiser with bounds finds it."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from calibrant import BetaCalibrator, SigmoidCalibrator
from calibrant._core._errors import DataError
from calibrant.files import Rows, fit
from calibrant.models import from_document, to_document

#: Which signs the slopes of the labels have, and which constraints then bind.
SLOPES = [
    (2.0, 0.5),
    (0.3, 0.2),
    (1.0, 1.0),
    (-0.6, 1.5),
    (1.5, -0.6),
    (-0.5, 0.3),
    (0.3, -0.5),
    (-1.0, -1.0),
]


def rows(a=2.0, b=0.5, c=-0.3, n_rows=600, seed=0):
    """Scores in (0, 1), and labels that follow a beta map of them."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.8, 0.8, n_rows).clip(1e-6, 1 - 1e-6)
    return scores, rng.random(n_rows) < expit(a * np.log(scores) - b * np.log1p(-scores) + c)


class Loss:
    """The cross entropy of a beta map, written down once more."""

    def __init__(self, scores, label, weight, smooth):
        kept = np.clip(scores, 1e-12, 1 - 1e-12)
        self.f = np.stack([np.log(kept), -np.log1p(-kept), np.ones(len(kept))])
        positive, negative = weight @ label, weight @ ~label
        low, high = (1 / (negative + 2), (positive + 1) / (positive + 2)) if smooth else (0.0, 1.0)
        self.target, self.weight = np.where(label, high, low), weight

    def __call__(self, theta):
        z = theta @ self.f
        return self.weight @ (np.logaddexp(0, z) - self.target * z)

    def slopes(self, theta):
        return self.f @ (self.weight * (expit(theta @ self.f) - self.target))


@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("a", "b"), SLOPES)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_map_that_is_allowed(a, b, weighted, smooth, seed):
    """No map of an optimiser with bounds is better, and no allowed change goes downhill."""
    scores, label = rows(a, b, seed=seed)
    weight = np.random.default_rng(2).integers(1, 5, len(label)) * 0.5 if weighted else np.ones(len(label))
    loss = Loss(scores, label, weight, smooth)
    fitted = BetaCalibrator(smooth).fit(scores, label, weight if weighted else None)
    found = np.array([fitted.a_, fitted.b_, fitted.c_])
    assert (found[:2] >= 0).all()
    slopes = loss.slopes(found) / weight.sum()
    free = np.append(found[:2] > 0, True)
    np.testing.assert_allclose(slopes[free], 0, atol=1e-9)
    assert (slopes[~free] >= -1e-9).all()
    bounds = [(0, None), (0, None), (None, None)]
    best = minimize(loss, [1, 1, 0], jac=loss.slopes, bounds=bounds, method="L-BFGS-B")
    assert loss(found) <= best.fun + 1e-9
    np.testing.assert_allclose(fitted.predict_proba(scores)[:, 1], expit(found @ loss.f), rtol=1e-12)


def test_every_set_of_binding_constraints_occurs():
    found = set()
    for a, b in SLOPES:
        fitted = BetaCalibrator().fit(*rows(a, b))
        found.add((fitted.a_ > 0, fitted.b_ > 0))
    assert found == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize("seed", range(40))
def test_few_rows_meet_the_constraints_exactly(seed):
    """Labels by chance: every sign of the slopes, two scores or three, zeros and ones among them."""
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 1e-9, 0.2, 0.5, 0.8, 1.0], rng.integers(2, 12))
    label = rng.random(len(scores)) < 0.5
    label[:2] = [False, True]
    fitted = BetaCalibrator().fit(scores, label)
    loss = Loss(scores, label, np.ones(len(scores)), smooth=True)
    found = np.array([fitted.a_, fitted.b_, fitted.c_])
    slopes = loss.slopes(found)
    assert (found[:2] >= 0).all()
    assert abs(slopes[2]) < 1e-7
    assert (slopes[:2] >= -1e-6).all()
    assert found[:2] @ slopes[:2] == pytest.approx(0, abs=1e-6)


def test_plain_likelihood_is_the_regression_of_the_paper():
    scores, label = rows(n_rows=2000)
    features = np.stack([np.log(scores), -np.log1p(-scores)]).T
    paper = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(features, label)
    fitted = BetaCalibrator(smooth=False).fit(scores, label)
    expected = [*paper.coef_[0], paper.intercept_[0]]
    np.testing.assert_allclose([fitted.a_, fitted.b_, fitted.c_], expected, rtol=1e-4)


def test_labels_that_follow_a_beta_map_give_it_back():
    fitted = BetaCalibrator().fit(*rows(1.7, 0.4, -0.5, n_rows=400_000))
    np.testing.assert_allclose([fitted.a_, fitted.b_, fitted.c_], [1.7, 0.4, -0.5], atol=0.03)


def test_a_sigmoid_of_the_log_odds_is_one_of_its_maps():
    """So its likelihood cannot be greater."""
    scores, label = rows()
    loss = Loss(scores, label, np.ones(len(label)), smooth=True)
    beta, sigmoid = (
        BetaCalibrator().fit(scores, label),
        SigmoidCalibrator(transform="logit").fit(scores, label),
    )
    inside = np.array([-sigmoid.A_, -sigmoid.A_, -sigmoid.B_])
    assert loss(np.array([beta.a_, beta.b_, beta.c_])) < loss(inside)


def test_zero_and_one_count_as_nearly_so():
    scores, label = rows(n_rows=60)
    scores[:6], label[:6] = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]
    kept = np.clip(scores, 1e-12, 1 - 1e-12)
    one, other = BetaCalibrator().fit(scores, label), BetaCalibrator().fit(kept, label)
    assert to_document(one) == to_document(other)
    np.testing.assert_array_equal(one.predict_proba([0, 1]), one.predict_proba([1e-12, 1 - 1e-12]))
    proba = one.predict_proba([0, 1])
    assert ((proba > 0) & (proba < 1)).all()


def test_scores_without_information_give_the_mean_target():
    fitted = BetaCalibrator().fit([0.3] * 5, [0, 1, 1, 0, 1])
    assert (fitted.a_, fitted.b_) == (0, 0)
    np.testing.assert_allclose(fitted.predict_proba([0.0, 0.9])[:, 1], (3 * 4 / 5 + 2 * 1 / 4) / 5)
    turned = BetaCalibrator(smooth=False).fit([0.8, 0.2, 0.6, 0.4, 0.3], [0, 1, 0, 1, 1])
    np.testing.assert_allclose(turned.predict_proba([0.0, 0.9])[:, 1], 3 / 5)


@pytest.mark.parametrize(("a", "b"), SLOPES)
def test_in_passes_the_same_constraints_bind(a, b):
    scores, label = rows(a, b)
    parts = np.split(np.arange(len(label)), [100, 101, 400])
    batches = [Rows(scores[part], label[part].astype(np.intp)) for part in parts]
    passed = fit("beta", lambda: batches, classes=[0, 1])
    whole = BetaCalibrator().fit(scores, label)
    assert (passed.a_ == 0, passed.b_ == 0) == (whole.a_ == 0, whole.b_ == 0)
    np.testing.assert_allclose(
        [passed.a_, passed.b_, passed.c_], [whole.a_, whole.b_, whole.c_], rtol=1e-9, atol=1e-11
    )


def test_where_there_is_no_optimum_it_says_so():
    scores = np.linspace(0.01, 0.99, 50)
    with pytest.warns(ConvergenceWarning, match="a threshold separates the classes; use smooth=True") as told:
        fitted = BetaCalibrator(smooth=False).fit(scores, scores > 0.5)
    assert told[0].filename == __file__
    assert (np.abs(fitted.predict_proba(scores)[:, 1] - (scores > 0.5)) < 1e-3).all()
    BetaCalibrator().fit(scores, scores > 0.5)  # with Platt's targets there is one


def test_margins_are_refused():
    with pytest.raises(DataError, match=r"scores of BetaCalibrator must lie in \[0, 1\]; got -1\.0"):
        BetaCalibrator().fit([-1.0, 0.5], [0, 1])


def test_a_file_with_a_negative_slope_is_refused():
    document = json.loads(json.dumps(to_document(BetaCalibrator().fit(*rows()))))
    document["fitted"]["a"] = -0.1
    with pytest.raises(DataError.__base__, match=r"fitted\.a must be"):
        from_document(document | {"checksum": None})
