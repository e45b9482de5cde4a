"""Logistic fits stand at the optimum, by closed forms and by certificates that do not come from the solver.

Two distinct scores have a closed form: each gets the mean of its targets. In all other cases the optimum is
certified: the objective is convex, so that a place is the optimum if and only if the gradient vanishes there,
and the certificate tells, in extended precision, by how much one more step would move a probability. Whether
targets of 0 and 1 have an optimum at all is a linear program.
"""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.optimize import linprog, minimize
from sklearn.exceptions import ConvergenceWarning

from calibrant import RankedLogisticCalibrator, SigmoidCalibrator
from calibrant.files import Rows, fit
from calibrant.passes import _logistic, _logistic_plan
from calibrant.passes._logistic_fast import fit_fast

COUNT = st.integers(0, 6).flatmap(lambda digits: st.integers(10**digits // 10 + 1, 10**digits))


def targets(label, weights, smooth):
    positive, negative = weights[label].sum(), weights[~label].sum()
    high, low = ((positive + 1) / (positive + 2), 1 / (negative + 2)) if smooth else (1.0, 0.0)
    return np.where(label, high, low)


def in_passes(model, scores, label, weights, size=2):
    def rows():
        for start in range(0, len(scores), size):
            some = slice(start, start + size)
            yield Rows(scores[some], label[some].astype(np.intp), weights[some])

    return fit(model, rows, classes=[False, True])


def next_change(features, target, weights, slope, intercept):
    """How much a Newton step in extended precision would change the probability of any row."""
    features, target, weights = (np.asarray(each, np.longdouble) for each in (features, target, weights))
    z = np.asarray(slope, np.longdouble) @ features + np.longdouble(intercept)
    odds = np.exp(-np.abs(z))
    curvature = odds / (1 + odds) ** 2
    excess = np.where(z < 0, odds / (1 + odds) - (1 - target), target - odds / (1 + odds))
    mass = weights / weights.sum() * curvature
    about = np.vstack([features - (features @ mass / mass.sum())[:, None], np.ones_like(z)])
    scale = np.sqrt((about * about) @ mass)
    about /= scale[:, None]
    hessian, gradient = (about * mass) @ about.T, about @ (weights / weights.sum() * excess)
    step = np.linalg.solve(hessian.astype(float), gradient.astype(float))
    return float(np.abs(step @ about.astype(float) * curvature).max())


def has_an_optimum(features, label):
    """Whether no linear function is at least 0 for positives, at most 0 for others, and not 0 for all."""
    rows = np.vstack([features / np.abs(features).max(axis=1, keepdims=True), np.ones_like(label, float)])
    rows = (rows * np.where(label, 1, -1)).T
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=[(-1, 1)] * rows.shape[1])
    return bool(-found.fun < 1e-9)


@settings(max_examples=150, deadline=None)
@given(
    counts=st.tuples(COUNT, COUNT, COUNT, COUNT),
    kinds=st.sampled_from([(0, 3), (1, 2), (0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 2, 3)]),
    exponent=st.integers(-300, 300),
    shift=st.sampled_from([0, 1, -3, 1000]),
    smooth=st.booleans(),
    weight=st.sampled_from([1e-3, 1, 7.3, 1e6]),
)
@example(counts=(8, 1, 1, 300), kinds=(0, 3), exponent=0, shift=0, smooth=True, weight=1)
def test_two_distinct_scores_get_their_mean_targets(counts, kinds, exponent, shift, smooth, weight):
    """The counts are of negatives and positives at one score and of both at the other; some are absent."""
    smooth = smooth or len(kinds) < 4
    pair = (np.array([-1.0, 1.0]) + shift) * 10.0**exponent
    kinds = list(kinds)
    scores, label = pair.repeat(2)[kinds], np.array([False, True, False, True])[kinds]
    weights = np.array(counts, float)[kinds] * weight
    wanted = targets(label, weights, smooth)
    means = [np.average(wanted[scores == each], weights=weights[scores == each]) for each in pair]
    for model in (
        SigmoidCalibrator(smooth).fit(scores, label, weights),
        in_passes(SigmoidCalibrator(smooth), scores, label, weights),
    ):
        assert model.converged_
        assert model.n_iter_ <= 30
        np.testing.assert_allclose(model.predict_proba(pair)[:, 1], means, atol=1e-10)


@pytest.mark.parametrize("counts", [(8, 300), (300, 8), (3, 70_000), (1, 99_999)])
def test_counts_as_rows_and_a_start_from_some_of_them(counts):
    scores, label = np.repeat([-1.0, 1.0], counts), np.repeat([False, True], counts)
    means = [1 / (counts[0] + 2), (counts[1] + 1) / (counts[1] + 2)]
    for some in (slice(None), np.random.default_rng(0).permutation(len(label))):
        model = SigmoidCalibrator().fit(scores[some], label[some])
        np.testing.assert_allclose(model.predict_proba([-1, 1])[:, 1], means, atol=1e-12)
    twice = SigmoidCalibrator().fit(np.tile(scores, 2), np.tile(label, 2))  # beyond the rows of one start
    means = [1 / (2 * counts[0] + 2), (2 * counts[1] + 1) / (2 * counts[1] + 2)]
    np.testing.assert_allclose(twice.predict_proba([-1, 1])[:, 1], means, atol=1e-12)


def drawn_problem(rng, r, *, outlier):
    """A few distinct scores, with counts of very different size."""
    n = int(rng.integers(2, 9))
    features = rng.normal(size=(r, n))
    if rng.random() < 0.3:
        features = np.round(2 * features)
    if rng.random() < 0.3:
        features *= np.exp(3 * rng.normal(size=(r, n)))
    if outlier:
        features[:, rng.integers(n)] *= 10 ** rng.uniform(1, 10)
    counts = np.floor(10 ** rng.uniform(0, rng.choice([1, 3, 6]), size=2 * n))
    counts[rng.random(2 * n) < rng.choice([0, 0.3, 0.6])] = 0
    held = counts > 0
    return features.repeat(2, axis=1)[:, held], np.tile([False, True], n)[held], counts[held]


@pytest.mark.parametrize("outlier", [False, True])
def test_a_few_distinct_scores(outlier, monkeypatch):
    monkeypatch.setattr(_logistic_plan, "tame", lambda *_: False)  # passes must find the way on their own
    rng = np.random.default_rng(1)
    n_fitted = 0
    for number in range(150):
        (scores,), label, weights = drawn_problem(rng, 1, outlier=outlier)
        smooth = bool(rng.random() < 0.5)
        if label.all() or not label.any() or scores.min() == scores.max():
            continue
        if not smooth and not has_an_optimum(scores[None], label):
            with pytest.warns(ConvergenceWarning, match="separates"):
                model = SigmoidCalibrator(smooth).fit(scores, label, weights)
            assert not model.converged_
            continue
        models = [SigmoidCalibrator(smooth).fit(scores, label, weights)]
        if number < 40:
            models.append(in_passes(SigmoidCalibrator(smooth), scores, label, weights))
        for model in models:
            assert model.converged_
            wanted = targets(label, weights, smooth)
            assert next_change(scores[None], wanted, weights, [model.A_], model.B_) < 1e-10
        n_fitted += 1
    assert n_fitted > 80


def test_the_loss_with_an_outlier_is_that_of_a_general_optimiser():
    scores = np.array([-2.0, -1.0, -0.5, 0.2, 0.3, 0.9, 1.4, 2.0, 0.1, 1e8])
    label = np.array([0, 0, 1, 0, 1, 0, 1, 1, 1, 1], bool)
    model = SigmoidCalibrator(smooth=False).fit(scores, label)
    near = SigmoidCalibrator(smooth=False).fit(scores[:-1], label[:-1])  # the outlier is certain
    np.testing.assert_allclose([model.A_, model.B_], [near.A_, near.B_], rtol=1e-9)
    assert model.converged_


def test_several_features():
    """Against a trust region on the exact Hessian, and the certificate; without an optimum no convergence."""
    rng = np.random.default_rng(2)
    n_fitted = n_without = 0
    for _ in range(150):
        r = int(rng.integers(1, 4))
        features, label, weights = drawn_problem(rng, r, outlier=False)
        rows = np.vstack([features, np.ones(len(label))])
        if label.all() or not label.any():
            continue
        if np.linalg.matrix_rank(rows / np.abs(rows).max(axis=1, keepdims=True).clip(1e-9), 1e-3) <= r:
            continue
        smooth = bool(rng.random() < 0.5)
        wanted = targets(label, weights, smooth)
        fit = fit_fast(features, wanted, weights)
        if not smooth and not has_an_optimum(features, label):
            assert not fit.converged
            n_without += 1
            continue
        assert fit.converged
        assert next_change(features, wanted, weights, fit.slope, fit.intercept) < 1e-8
        n_fitted += 1
        if n_fitted % 10 == 0:

            def loss(theta, rows=rows, wanted=wanted, weights=weights):
                z = theta @ rows
                return weights @ (wanted * np.logaddexp(0, z) + (1 - wanted) * np.logaddexp(0, -z))

            found = minimize(loss, np.zeros(r + 1), method="Nelder-Mead", options={"maxiter": 1000})
            assert loss(np.append(fit.slope, fit.intercept)) <= found.fun * (1 + 1e-12)
    assert n_fitted > 40
    assert n_without > 10


@pytest.mark.parametrize("fitted", ["arrays", "passes"])
def test_ranked_scores_of_two_kinds_get_their_mean_targets(fitted):
    scores = np.array([[-0.31, -1.69]] * 2840 + [[1.0, 0.85]] * 12)
    label = np.repeat([0, 1], [2840, 12])
    model = RankedLogisticCalibrator("A", smooth=True)
    if fitted == "arrays":
        model.fit(scores, label)
    else:
        parts = [Rows(scores[:9], label[:9]), Rows(scores[9:], label[9:])]
        model = fit(model, lambda: iter(parts), classes=[0, 1])
    by_rank = model.predict_by_rank(scores[[0, -1]]).estimate
    np.testing.assert_allclose(by_rank, [[2841 / 2842, 1 / 2842], [1 / 14, 13 / 14]], atol=1e-10)


@pytest.mark.parametrize("total", [1e12, 1e17, 1e25])
def test_targets_stay_below_one_whatever_the_weight(total):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SigmoidCalibrator().fit([0, 1, 1], [0, 0, 1], [total, 1, total])
    np.testing.assert_allclose(model.predict_proba([0, 1])[:, 1], [0, 1], atol=1e-11)


def test_convergence_is_not_claimed_where_numbers_cannot_tell():
    scores = np.array([-1.0, 0.0, 1.0, 2.0, 1e30])
    model = SigmoidCalibrator(smooth=False)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        model.fit(scores, [0, 1, 0, 1, 1])
    assert not model.converged_


def many_rows(shape, n_rows=4_000):
    """Scores and labels of a shape with a name, enough for a start in single precision."""
    rng = np.random.default_rng(11)
    label = rng.random(n_rows) < (0.004 if shape == "rare" else 0.4)
    scores = rng.normal(size=n_rows) + 2.0 * label
    if shape == "outlier":
        scores[3] = 1e300
    elif shape == "far off":
        scores = scores * 1e-7 + 1.0
    elif shape == "skewed":
        scores = np.exp(4 * scores)
    elif shape == "probabilities":
        scores = 1 / (1 + np.exp(-9 * (scores - 2)))
    elif shape == "heavy tails":
        scores = rng.standard_t(1.5, size=n_rows) + 2.0 * label
    elif shape == "telling nothing":
        scores = rng.normal(size=n_rows)
    elif shape == "two points":
        scores = label.astype(float)
    elif shape == "nearly told apart":
        scores = np.where(label, 1.0, -1.0) + 0.4 * rng.normal(size=n_rows)
    return scores, label


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        "normal",
        "rare",
        "outlier",
        "far off",
        "skewed",
        "probabilities",
        "heavy tails",
        "telling nothing",
        "two points",
        "nearly told apart",
    ],
)
def test_a_start_in_single_precision_leads_to_the_same_place(shape, weighted, monkeypatch):
    """The last steps are those of a start without slope, so the answers agree to rounding."""
    scores, label = many_rows(shape)
    weights = 10 ** np.random.default_rng(12).uniform(-4, 4, len(label)) if weighted else None
    model = SigmoidCalibrator().fit(scores, label, weights)
    monkeypatch.setattr(_logistic, "MANY_ROWS", len(label) + 1)
    plain = SigmoidCalibrator().fit(scores, label, weights)
    assert model.converged_
    assert model.n_iter_ <= plain.n_iter_
    asked = np.append(scores, np.quantile(scores, [0.1, 0.5, 0.9]))
    known = 1e-8 if shape == "far off" else 1e-10  # scores of 1 that differ by 1e-7 have no more digits
    np.testing.assert_allclose(model.predict_proba(asked), plain.predict_proba(asked), rtol=known, atol=1e-13)
