"""The numbers read off one sorted column are those of `calibrant.metrics`."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant import metrics
from calibrant.metrics._isotonic import put_in_order
from calibrant.report._chance import fit_and_test
from calibrant.report._column import added_up, detection_points, evenly, fill_bins, roc_curve

shares = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.9, 0.999, 1.0]) | st.floats(0, 1)
rows = st.lists(
    st.tuples(st.booleans(), shares, st.sampled_from([1.0, 2.0, 0.25, 3.5])), min_size=1, max_size=60
)


def columns(drawn, *, weighted):
    happened, forecast, weight = (np.array(values) for values in zip(*drawn, strict=True))
    return happened, forecast, weight if weighted else np.ones(len(weight))


@given(drawn=rows, weighted=st.booleans())
def test_the_roc_curve_is_roc_points(drawn, weighted):
    happened, forecast, weight = columns(drawn, weighted=weighted)
    fpr, tpr = roc_curve(added_up(put_in_order(happened, forecast, weight)), 1000)
    truth = metrics.roc_points(happened, forecast, sample_weight=weight)
    if math.isnan(truth.fpr[0]) or math.isnan(truth.tpr[0]):
        assert len(fpr) == len(tpr) == 0
    else:
        np.testing.assert_allclose(fpr, truth.fpr, atol=1e-12)
        np.testing.assert_allclose(tpr, truth.tpr, atol=1e-12)


@given(drawn=rows, weighted=st.booleans())
def test_the_bins_are_reliability_bins(drawn, weighted):
    happened, forecast, weight = columns(drawn, weighted=weighted)
    found = fill_bins(added_up(put_in_order(happened, forecast, weight)))
    truth = metrics.reliability_bins(happened, forecast, sample_weight=weight)
    for name in ("left", "right", "count", "mean_score", "frac_pos", "weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(truth, name), atol=1e-12, err_msg=name)


@given(drawn=rows, weighted=st.booleans())
def test_detection_lies_on_the_detection_curve(drawn, weighted):
    happened, confidence, weight = columns(drawn, weighted=weighted)
    coverage, share = detection_points(added_up(put_in_order(happened, confidence, weight)), 1000)
    truth = metrics.detection_curve(happened, confidence, sample_weight=weight)
    if happened.all():
        assert len(coverage) == 0
        return
    # Rows of equal confidence are one step here, so the points are some of the curve's.
    at = np.searchsorted(truth.coverage, coverage[1:] - 1e-9)
    np.testing.assert_allclose(truth.coverage[at], coverage[1:], atol=1e-9)
    np.testing.assert_allclose(truth.share[at], share[1:], atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [3, 500, 6000])
def test_fit_and_band_are_isotonic_reliability(n, weighted):
    rng = np.random.default_rng(n)
    forecast = rng.random(n)
    happened = rng.random(n) < forecast**1.3
    weight = rng.choice([1.0, 2.0, 0.5], n) if weighted else np.ones(n)
    found, _ = fit_and_test(added_up(put_in_order(happened, forecast, weight)), np.random.default_rng(7))
    truth = metrics.isotonic_reliability(happened, forecast, sample_weight=weight, random_state=7)
    for name in ("score", "frequency", "weight", "band_score", "lower", "upper", "level", "n_band_rows"):
        np.testing.assert_array_equal(getattr(found, name), getattr(truth, name), err_msg=name)


@given(
    steps=st.lists(st.floats(0, 1), min_size=1, max_size=300),
    most=st.integers(2, 40),
)
def test_thinned_curves_keep_their_ends_and_lose_no_more_than_a_step(steps, most):
    length = np.cumsum(steps)
    kept = evenly(length, most)
    assert len(kept) <= most
    assert kept[0] == 0
    assert kept[-1] == len(length) - 1
    assert (np.diff(kept) > 0).all()
    widest = max(np.diff(length[kept]).max(initial=0.0), 0.0)
    assert widest <= (length[-1] - length[0]) / (most - 1) + max(steps) + 1e-9
