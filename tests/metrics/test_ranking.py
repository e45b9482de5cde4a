"""AUC and ROC points against pairs, the trapezoid rule, and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics as sk

from calibrant.metrics import auc, roc_points

cheap = settings(max_examples=60, deadline=None)
rows_of_both_classes = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-3, 3).map(float), st.floats(0.1, 5)), min_size=2, max_size=15
).filter(lambda rows: len({label for label, _, _ in rows}) == 2)


def columns(rows):
    return tuple(list(column) for column in zip(*rows, strict=True))


@cheap
@given(rows=rows_of_both_classes)
def test_auc_is_the_share_of_pairs_in_order(rows):
    won = pairs = 0.0
    for label, score, weight in rows:
        for other_label, other_score, other_weight in rows:
            if label == 1 and other_label == 0:
                pairs += weight * other_weight
                won += weight * other_weight * (1.0 if score > other_score else 0.5 * (score == other_score))
    y, scores, weights = columns(rows)
    assert auc(y, scores, sample_weight=weights) == pytest.approx(won / pairs)


@cheap
@given(rows=rows_of_both_classes)
def test_auc_is_the_area_under_the_points(rows):
    y, scores, weights = columns(rows)
    curve = roc_points(y, scores, sample_weight=weights)
    area = np.trapezoid(curve.tpr, curve.fpr)
    assert auc(y, scores, sample_weight=weights) == pytest.approx(area)
    assert auc(y, scores, sample_weight=weights) == pytest.approx(
        sk.roc_auc_score(y, scores, sample_weight=weights)
    )


@cheap
@given(rows=rows_of_both_classes)
def test_points_are_the_rates_at_their_thresholds(rows):
    y, scores, weights = columns(rows)
    curve = roc_points(y, scores, sample_weight=weights)
    assert curve.threshold.tolist() == [math.inf, *sorted(set(scores), reverse=True)]
    for fpr, tpr, threshold in zip(curve.fpr, curve.tpr, curve.threshold, strict=True):
        for rate, wanted in ((fpr, 0), (tpr, 1)):
            called = sum(w for label, s, w in rows if label == wanted and s >= threshold)
            assert rate == pytest.approx(called / sum(w for label, _, w in rows if label == wanted))
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0.0, 0.0, 1.0, 1.0)


@cheap
@given(rows=rows_of_both_classes)
def test_rising_maps_change_nothing_and_falling_ones_mirror(rows):
    y, scores, weights = columns(rows)
    wanted = auc(y, scores, sample_weight=weights)
    assert auc(y, np.exp(scores), sample_weight=weights) == wanted
    assert auc(y, 3 * np.array(scores) - 7, sample_weight=weights) == wanted
    assert auc(y, -np.array(scores), sample_weight=weights) == pytest.approx(1 - wanted)


def test_one_class_only():
    assert math.isnan(auc([0, 0], [0.1, 0.2]))
    assert math.isnan(auc([0, 1], [0.1, 0.2], sample_weight=[1, 0]))
    curve = roc_points([1, 1], [0.1, 0.2])
    assert np.isnan(curve.fpr).all()
    assert curve.tpr.tolist() == [0.0, 0.5, 1.0]
    assert np.isnan(roc_points([0, 0], [0.1, 0.2]).tpr).all()


def test_zero_has_no_sign():
    assert auc([0, 1], [0.0, -0.0]) == 0.5
    assert len(roc_points([0, 1], [0.0, -0.0]).threshold) == 2
