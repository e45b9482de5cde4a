"""Intervals: by formulas that are checked in other ways, and by how often they cover."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from calibrant._core._errors import DataError
from calibrant.metrics import Estimate, evaluate, evaluate_difference, paired_difference


def two_classes(n, seed=0, *, slope=1.0, digits=None):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n) * 1.5 - 0.5
    y = (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int)
    p = 1 / (1 + np.exp(-slope * logits))
    return y, p if digits is None else p.round(digits)


def delong(y, p, w=None):
    """Area and variance from all pairs of rows."""
    w = np.ones(len(y)) if w is None else w
    one, zero = p[y == 1], p[y == 0]
    by_one, by_zero = w[y == 1], w[y == 0]
    wins = (one[:, None] > zero) + 0.5 * (one[:, None] == zero)
    area = by_one @ wins @ by_zero / by_one.sum() / by_zero.sum()
    variance = 0.0
    for mass, chance in (
        (by_one, wins @ by_zero / by_zero.sum()),
        (by_zero, by_one @ wins / by_one.sum()),
    ):
        size = mass.sum() ** 2 / (mass**2).sum()
        variance += (mass**2 @ (chance - area) ** 2) / mass.sum() ** 2 * size / (size - 1)
    return area, variance


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_of_an_area_is_that_of_all_pairs(digits, weighted):
    y, p = two_classes(150, digits=digits)
    w = np.random.default_rng(3).exponential(size=150) if weighted else None
    found = evaluate(y, p, sample_weight=w).auc
    area, variance = delong(y, p, w)
    assert found == pytest.approx(area, rel=1e-12)
    assert found.error == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_the_mean_area_varies_as_its_rows_do():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(400, 3))
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (rng.random(400)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = evaluate(y, proba)

    def without(row):
        kept = np.arange(400) != row
        return evaluate(y[kept], proba[kept]).auc

    jackknife = np.array([without(row) for row in range(0, 400, 10)])
    spread = np.sqrt(399 * np.mean((jackknife - jackknife.mean()) ** 2))
    assert found.auc.error == pytest.approx(spread, rel=0.35)  # the spread of 40 numbers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
def test_the_slope_is_that_of_a_logistic_regression(slope, weighted):
    y, p = two_classes(500, slope=slope)
    w = np.random.default_rng(3).exponential(size=500) if weighted else None
    x = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x, y, sample_weight=w)
    found = evaluate(y, p, sample_weight=w)
    assert found.calibration_slope == pytest.approx(fit.coef_[0, 0], rel=1e-5)
    assert found.calibration_intercept == pytest.approx(fit.intercept_[0], abs=1e-5)
    # The sandwich, written out.
    mass = np.ones(500) if w is None else w
    q = fit.predict_proba(x)[:, 1]
    design = np.column_stack([x, np.ones(500)])
    bread = np.linalg.inv((design * (mass * q * (1 - q))[:, None]).T @ design)
    scores = design * (mass * (y - q))[:, None]
    error = np.sqrt((bread @ scores.T @ scores @ bread)[0, 0])
    assert found.calibration_slope.error == pytest.approx(error, rel=0.01)


def test_the_slope_of_very_many_rows_is_found_in_cells():
    y, p = two_classes(100_000, slope=1.4)
    x = np.log(p / (1 - p))[:, None]
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000).fit(x, y)
    assert evaluate(y, p).calibration_slope == pytest.approx(fit.coef_[0, 0], rel=1e-5)


def test_the_slope_of_many_classes_is_shared():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(600, 3)) * 1.5
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = (rng.random(600)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    x = np.log(proba / (1 - proba))
    stacked = np.column_stack([x.T.ravel(), np.repeat(np.eye(3), 600, axis=0)])
    came = (y[None] == np.arange(3)[:, None]).ravel()
    fit = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=1000).fit(stacked, came)
    found = evaluate(y, proba)
    assert found.calibration_slope == pytest.approx(fit.coef_[0, 0], rel=1e-5)
    np.testing.assert_allclose(found.calibration_intercept, fit.coef_[0, 1:], atol=1e-4)


def test_classes_that_are_apart_have_no_finite_slope():
    assert evaluate([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.7]).calibration_slope == math.inf
    assert evaluate([1, 1, 0, 0], [0.1, 0.2, 0.6, 0.7]).calibration_slope == -math.inf
    assert math.isnan(evaluate([0, 1, 1], [0.5, 0.5, 0.5]).calibration_slope)
    assert math.isnan(evaluate([1, 1], [0.5, 0.6]).calibration_slope)


def test_a_difference_is_that_of_pairs():
    rng = np.random.default_rng(0)
    one = rng.exponential(size=300)
    other = one + 0.1 * rng.normal(size=300) + 0.02
    found = paired_difference(one, other)
    difference = one - other
    assert found == pytest.approx(difference.mean())
    assert found.error == pytest.approx(difference.std(ddof=1) / math.sqrt(300))
    assert found.high - found.low < 0.2 * (2 * 1.96 * one.std() / math.sqrt(300))
    swapped = paired_difference(other, one)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))
    w = rng.integers(1, 4, 300)
    copied = paired_difference(np.repeat(one, w), np.repeat(other, w))
    weighted = paired_difference(one, other, sample_weight=w)
    assert (weighted, weighted.low, weighted.high) == pytest.approx((copied, copied.low, copied.high))


def test_infinite_losses_have_differences():
    inf = math.inf
    assert paired_difference([0.5, inf], [0.25, inf]) == 0.125
    assert paired_difference([0.5, inf], [0.25, 1.0]) == inf
    assert paired_difference([0.5, 1.0], [0.25, inf]) == -inf
    assert math.isnan(paired_difference([inf, 1.0], [0.25, inf]))
    with pytest.raises(DataError, match="second must not be nan; got it in row 1"):
        paired_difference([0.5, 1.0], [0.25, math.nan])
    with pytest.raises(DataError, match="first must be one loss per row"):
        paired_difference([], [])


def test_two_forecasts_differ_as_their_measures_do():
    y, p = two_classes(400)
    _, q = two_classes(400, slope=2.0)
    q = np.clip(q + 0.1 * np.random.default_rng(1).normal(size=400), 0.01, 0.99)
    one, other, found = evaluate(y, p), evaluate(y, q), evaluate_difference(y, p, q)
    for name in ("log_loss", "brier_score", "error_rate", "auc"):
        difference = getattr(found, name)
        assert difference == pytest.approx(getattr(one, name) - getattr(other, name))
        assert isinstance(difference, Estimate)
        assert difference.error < getattr(one, name).error + getattr(other, name).error
    same = evaluate_difference(y, p, p)
    assert all(getattr(same, name) == 0 for name in ("log_loss", "brier_score", "error_rate", "auc"))
    with pytest.raises(DataError, match="same classes; got 2 and 3"):
        evaluate_difference([0, 1], [0.5, 0.5], np.full((2, 3), 1 / 3), classes=None)


#: Of 200 cases 95% cover if an interval is right; fewer than 89% do once in 5,000 times.
LEAST = 0.89


@pytest.mark.parametrize("slope", [1.0, 1.6])
def test_intervals_cover(slope):
    """A wrong interval would be seen here; `python -m benchmarks.coverage` measures it."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=400_000) * 1.5 - 0.5
    true, said = 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(-slope * logits))
    truths = {
        "log_loss": -np.mean(true * np.log(said) + (1 - true) * np.log1p(-said)),
        "brier_score": np.mean(true * (1 - 2 * said) + said**2),
        "error_rate": np.mean(np.minimum(true, 1 - true)),
        "confidence": np.mean(np.maximum(said, 1 - said)),
        "calibration": np.mean((true - said) ** 2),
        "refinement": np.mean(true * (1 - true)),
        "uncertainty": true.mean() * (1 - true.mean()),
        "expected_calibration_error": np.abs(
            np.bincount(np.minimum((15 * said).astype(int), 14), said - true)
        ).sum()
        / len(said),
        "calibration_slope": 1 / slope,
        "calibration_intercept": 0.0,
    }
    ordered = true[np.argsort(said)]
    below = np.cumsum(1 - ordered) - (1 - ordered) / 2
    truths["auc"] = ordered @ below / ordered.sum() / (1 - ordered).sum()
    covered = dict.fromkeys(truths, 0)
    for seed in range(200):
        y, p = two_classes(200, seed=[1, seed], slope=slope)
        found = evaluate(y, p)
        for name, truth in truths.items():
            estimate = getattr(found, name)
            covered[name] += estimate.low <= truth <= estimate.high
    shares = {name: count / 200 for name, count in covered.items()}
    assert min(shares.values()) >= LEAST, shares
    means = ("log_loss", "brier_score", "error_rate", "confidence", "auc", "calibration_slope")
    assert max(shares[name] for name in means) < 0.995, shares
