"""Curves of right and wrong predictions against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError
from calibrant.metrics import accuracy_by_threshold, detection_curve, reliability_by_coverage

cheap = settings(max_examples=40, deadline=None)
judged_rows = st.lists(
    st.tuples(st.booleans(), st.integers(0, 8).map(lambda number: number / 8), st.floats(0.1, 5)),
    min_size=1,
    max_size=15,
)


def columns(rows):
    return tuple(list(column) for column in zip(*rows, strict=True))


@cheap
@given(rows=judged_rows)
def test_detection_curve_is_what_a_loop_gives(rows):
    curve = detection_curve(*columns(rows)[:2], sample_weight=columns(rows)[2])
    total = sum(w for _, _, w in rows)
    all_errors = sum(w for correct, _, w in rows if not correct)
    looked_at = found = 0.0
    for at, (correct, _, weight) in enumerate(sorted(rows, key=lambda row: row[1])):  # sorted() is stable
        looked_at += weight
        found += weight * (not correct)
        assert curve.coverage[at] == pytest.approx(looked_at / total)
        assert curve.errors[at] == pytest.approx(found)
        assert curve.share[at] == pytest.approx(found / all_errors if all_errors else math.nan, nan_ok=True)
    assert curve.coverage[-1] == 1.0
    assert len(curve.share) == len(rows)


@cheap
@given(rows=judged_rows)
def test_reliability_by_coverage_is_what_a_loop_gives(rows):
    curve = reliability_by_coverage(*columns(rows)[:2], sample_weight=columns(rows)[2])
    reached = right = promised = 0.0
    for at, (correct, p, weight) in enumerate(sorted(rows, key=lambda row: -row[1])):
        reached += weight
        right += weight * correct
        promised += weight * p
        assert curve.coverage[at] == pytest.approx(reached / sum(w for _, _, w in rows))
        assert curve.accuracy[at] == pytest.approx(right / reached)
        assert curve.mean_p[at] == pytest.approx(promised / reached)


@cheap
@given(rows=judged_rows, thresholds=st.lists(st.sampled_from([-1.0, 0.0, 0.3, 0.5, 1.0, 2.0, math.inf])))
def test_accuracy_by_threshold_is_what_a_loop_gives(rows, thresholds):
    correct, confidence, weights = columns(rows)
    curve = accuracy_by_threshold(correct, confidence, np.array(thresholds), sample_weight=weights)
    assert curve.threshold.tolist() == thresholds
    for at, threshold in enumerate(thresholds):
        used = sum(w for _, p, w in rows if p >= threshold)
        right = sum(w for is_correct, p, w in rows if p >= threshold and is_correct)
        assert curve.coverage[at] == pytest.approx(used / sum(weights))
        assert curve.accuracy[at] == pytest.approx(right / used if used else math.nan, nan_ok=True)


def test_raw_scores_can_be_compared():
    curve = detection_curve([1, 0, 1], [3.5, -2.0, 17.0])
    assert curve.errors.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(DataError, match=r"confidence must lie in \[0, 1\]; got 3\.5 in row 0"):
        reliability_by_coverage([1, 0, 1], [3.5, 0.2, 0.7])


def test_without_errors_there_is_no_share():
    curve = detection_curve([True, True], [0.2, 0.9])
    assert np.isnan(curve.share).all()
    assert curve.errors.tolist() == [0.0, 0.0]


def test_equal_confidence_keeps_the_order_given():
    assert detection_curve([1, 0, 1], [0.5, 0.5, 0.5]).errors.tolist() == [0.0, 1.0, 1.0]
    assert reliability_by_coverage([1, 0, 1], [0.5, 0.5, 0.5]).accuracy.tolist() == [1.0, 0.5, 2 / 3]


@pytest.mark.parametrize(
    ("correct", "got"), [([2, 1], r"got 2\.0 in row 0"), ([1, -1], r"got -1\.0 in row 1")]
)
def test_correct_is_yes_or_no(correct, got):
    with pytest.raises(DataError, match=f"correct must be True or False, 1 or 0, and come first; {got}"):
        detection_curve(correct, [0.5, 0.5])


def test_correct_is_not_the_predictions():
    with pytest.raises(DataError, match="correct must be numbers; got values of type <U3"):
        detection_curve(["cat", "dog"], [0.5, 0.5])


def test_thresholds_that_cannot_be():
    with pytest.raises(DataError, match="thresholds must be numbers; got nan at place 1"):
        accuracy_by_threshold([1, 0], [0.5, 0.5], [0.1, math.nan])
    with pytest.raises(DataError, match=r"thresholds must be one row of numbers; got shape \(1, 2\)"):
        accuracy_by_threshold([1, 0], [0.5, 0.5], [[0.1, 0.2]])
