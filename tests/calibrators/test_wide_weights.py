"""Weights over any range: every sum is that of exact arithmetic, so no heavy row hides a light one."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import BinningCalibrator, PAVCalibrator
from calibrant.files import PassOptions, Rows, fit
from calibrant.metrics import auc, evaluate, reliability_bins, roc_points
from calibrant.metrics._isotonic import put_in_order
from calibrant.report._column import added_up, fill_bins

WEIGHTS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.booleans(),
        st.sampled_from([1e-17, 1e-9, 0.3, 1.0, 2.0, 7.0, 1e9, 1e17, 3e17]),
    ),
    min_size=2,
    max_size=12,
)


def rows_of(drawn):
    scores, label, weights = zip(*drawn, strict=True)
    return np.array(scores) / 10 + 0.05, np.array(label), np.array(weights)


def exact_share(label, weights):
    positive = sum(Fraction(weight) for weight, each in zip(weights, label, strict=True) if each)
    return positive / sum(map(Fraction, weights))


def in_passes(model, scores, label, weights):
    parts = [
        Rows(scores[some], label[some].astype(np.intp), weights[some])
        for some in (slice(0, 2), slice(2, None))
        if len(scores[some])
    ]
    few = PassOptions(n_bins=20)
    return fit(model, lambda: iter(parts), classes=[False, True], options=few)


def test_a_heavy_first_bin_does_not_change_the_second():
    model = BinningCalibrator(2).fit([1, 2, 3, 4], [0, 1, 0, 1], [1e17, 1, 1, 1])
    assert model.bins_.value.tolist() == [pytest.approx(1e-17), 0.5]
    assert model.bins_.weight.tolist() == [1e17, 2]


@settings(max_examples=60)
@given(drawn=WEIGHTS, n_bins=st.integers(1, 5))
def test_every_bin_has_the_share_of_its_own_rows(drawn, n_bins):
    scores, label, weights = rows_of(drawn)
    for model in (
        BinningCalibrator(n_bins).fit(scores, label, weights),
        in_passes(BinningCalibrator(n_bins), scores, label, weights),
    ):
        for lo, hi, value in zip(model.bins_.lo, model.bins_.hi, model.bins_.value, strict=True):
            held = (scores >= lo) & (scores <= hi)
            assert value == pytest.approx(float(exact_share(label[held], weights[held])), rel=1e-14)


@settings(max_examples=15)
@given(drawn=st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=8, max_size=40))
def test_bins_are_chosen_by_the_light_rows_too(drawn):
    """Rows of weight 1, and as many copies of one row: the same choice as if the copies were rows."""
    scores, label = (np.array(each) for each in zip(*drawn, strict=True))
    if label.all() or not label.any():
        return
    plain = BinningCalibrator("cv", candidates=[1, 2, 3]).fit(scores, label)
    heavy = BinningCalibrator("cv", candidates=[1, 2, 3]).fit(scores, label, np.full(len(label), 1e17))
    assert heavy.n_bins_ == plain.n_bins_
    assert heavy.cv_scores_ == pytest.approx(plain.cv_scores_, rel=1e-12)


def exact_isotonic(scores, label, weights):
    """The value of every score, by pooling in exact arithmetic."""
    blocks = []
    for score in np.unique(scores):
        held = scores == score
        weight = sum(map(Fraction, weights[held]))
        blocks.append([exact_share(label[held], weights[held]) * weight, weight, [score]])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [mine + its for mine, its in zip(blocks[-1], last, strict=True)]
    return {score: float(positive / weight) for positive, weight, members in blocks for score in members}


@pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")  # a heavy row is as good as many
@settings(max_examples=60)
@given(drawn=WEIGHTS)
def test_isotonic_values(drawn):
    scores, label, weights = rows_of(drawn)
    expected = exact_isotonic(scores, label, weights)
    for model in (
        PAVCalibrator(clip=0).fit(scores, label, weights),
        in_passes(PAVCalibrator(clip=0), scores, label, weights),
    ):
        got = model.predict_proba(list(expected))[:, 1]
        np.testing.assert_allclose(got, list(expected.values()), rtol=0, atol=1e-11)


@settings(max_examples=60)
@given(drawn=WEIGHTS)
def test_reliability_bins_by_either_way(drawn):
    scores, label, weights = rows_of(drawn)
    for bins in (
        reliability_bins(label, scores, sample_weight=weights),
        fill_bins(added_up(put_in_order(label, scores, weights))),
    ):
        assert len(bins.left) == len(np.unique(scores))
        for left, right, share, weight in zip(bins.left, bins.right, bins.frac_pos, bins.weight, strict=True):
            held = (scores > left) & (scores < right)
            assert share == pytest.approx(float(exact_share(label[held], weights[held])), rel=1e-13)
            assert weight == pytest.approx(float(sum(map(Fraction, weights[held]))), rel=1e-14)


@settings(max_examples=60)
@given(drawn=WEIGHTS)
def test_the_area_under_the_curve(drawn):
    """Also where negatives weigh nothing beside positives, or the other way round."""
    scores, label, weights = rows_of(drawn)
    if label.all() or not label.any():
        return
    pairs = [
        (Fraction(hit) * Fraction(miss), Fraction(np.sign(above - below).item() + 1) / 2)
        for above, hit in zip(scores[label], weights[label], strict=True)
        for below, miss in zip(scores[~label], weights[~label], strict=True)
    ]
    expected = float(sum(mass * won for mass, won in pairs) / sum(mass for mass, _ in pairs))
    curve = roc_points(label, scores, sample_weight=weights)
    assert auc(label, scores, sample_weight=weights) == pytest.approx(expected, abs=1e-14)
    assert evaluate(label, scores / 10, sample_weight=weights).auc == pytest.approx(expected, abs=1e-14)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(expected, abs=1e-14)
