"""The two laws of weights, for every metric: weight m is m copies, weight zero is absence."""

import math
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import metrics

CONVENTIONS = ["sum", "mean", "positive"]
EDGES = [0.0, 0.3, 0.6, 1.0]


def floats_of(answer):
    """The floats of an answer, in order: of a float, a dataclass, or a tuple of these."""
    if isinstance(answer, tuple):
        return np.concatenate([floats_of(part) for part in answer])
    if isinstance(answer, float):
        return np.array([answer])
    # Rows are counted as rows, whatever they weigh.
    return np.concatenate(
        [np.atleast_1d(getattr(answer, field.name)) for field in fields(answer) if field.name != "count"]
    )


BINARY = {
    **{
        f"brier_{convention}": lambda y, p, w, convention=convention: metrics.brier_score(
            y, p, convention=convention, sample_weight=w
        )
        for convention in CONVENTIONS
    },
    "rms": lambda y, p, w: metrics.rms_error(y, p, sample_weight=w),
    "cross_entropy": lambda y, p, w: metrics.cross_entropy(y, p, sample_weight=w),
    "cross_entropy_sum": lambda y, p, w: metrics.cross_entropy(y, p, reduce="sum", sample_weight=w),
    "cross_entropy_clip": lambda y, p, w: metrics.cross_entropy(y, p, clip=0.001, base=2, sample_weight=w),
    "log_loss": lambda y, p, w: metrics.log_loss(y, p, sample_weight=w),
    "auc": lambda y, p, w: metrics.auc(y, p, sample_weight=w),
    "roc_points": lambda y, p, w: metrics.roc_points(y, p, sample_weight=w),
    "error_rate": lambda y, p, w: metrics.error_rate(y, p, sample_weight=w),
    "reliability_bins": lambda y, p, w: metrics.reliability_bins(y, p, width=0.15, sample_weight=w),
    "split_exact": lambda y, p, w: metrics.brier_decomposition(y, p, sample_weight=w),
    "split_binned": lambda y, p, w: metrics.brier_decomposition(y, p, edges=EDGES, sample_weight=w),
    "split_isotonic": lambda y, p, w: metrics.brier_decomposition(y, p, isotonic=True, sample_weight=w),
    "by_threshold": lambda y, p, w: metrics.accuracy_by_threshold(y, p, [0.0, 0.5, 1.0], sample_weight=w),
    "profit": lambda y, p, w: metrics.mailing_profit(p, 2.0 + y, 3.0 * y, cost=0.68, sample_weight=w),
}
MULTICLASS = {
    "brier": lambda y, p, w: metrics.brier_score(y, p, sample_weight=w),
    "brier_mean": lambda y, p, w: metrics.brier_score(y, p, convention="mean", sample_weight=w),
    "log_loss": lambda y, p, w: metrics.log_loss(y, p, sample_weight=w),
    "error_rate": lambda y, p, w: metrics.error_rate(y, p, sample_weight=w),
    "by_class": lambda y, p, w: metrics.reliability_by_class(y, p, width=0.15, sample_weight=w),
    "at_rank": lambda y, p, w: metrics.reliability_at_rank(y, p, rank=2, sample_weight=w),
    "split_joint": lambda y, p, w: metrics.brier_decomposition(y, p, sample_weight=w),
    "split_classwise": lambda y, p, w: metrics.brier_decomposition(y, p, mode="classwise", sample_weight=w),
    "split_bins": lambda y, p, w: metrics.brier_decomposition(y, p, edges=EDGES, sample_weight=w),
    "split_isotonic": lambda y, p, w: metrics.brier_decomposition(
        y, p, isotonic=True, mode="classwise", sample_weight=w
    ),
}
CURVES = {
    "detection_curve": lambda y, p, w: metrics.detection_curve(y, p, sample_weight=w),
    "reliability_by_coverage": lambda y, p, w: metrics.reliability_by_coverage(y, p, sample_weight=w),
}

eighths = st.integers(0, 8).map(lambda number: number / 8)
weighted_rows = st.lists(
    st.tuples(st.integers(0, 1), eighths, st.integers(0, 3)), min_size=1, max_size=12
).filter(lambda rows: any(weight for _, _, weight in rows))


@st.composite
def weighted_class_rows(draw):
    n = draw(st.integers(1, 10))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    parts = rng.multinomial(8, [0.5, 0.3, 0.2], size=n)
    weights = rng.integers(0, 4, n)
    weights[rng.integers(n)] = 2
    return rng.integers(0, 3, n), parts / 8, weights


def columns(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def check_both_laws(metric, y, proba, weights):
    got = floats_of(metric(y, proba, weights))
    copies = np.repeat(np.arange(len(y)), weights)
    np.testing.assert_allclose(got, floats_of(metric(y[copies], proba[copies], None)), atol=1e-12)
    present = weights > 0
    np.testing.assert_array_equal(got, floats_of(metric(y[present], proba[present], weights[present])))


@pytest.mark.parametrize("metric", BINARY.values(), ids=BINARY)
@settings(max_examples=25, deadline=None)
@given(rows=weighted_rows)
def test_binary(metric, rows):
    check_both_laws(metric, *columns(rows))


@pytest.mark.parametrize("metric", MULTICLASS.values(), ids=MULTICLASS)
@settings(max_examples=25, deadline=None)
@given(rows=weighted_class_rows())
def test_multiclass(metric, rows):
    check_both_laws(metric, *rows)


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@settings(max_examples=25, deadline=None)
@given(rows=weighted_rows)
def test_a_row_gives_the_last_point_of_its_copies(curve, rows):
    correct, confidence, weights = columns(rows)
    got = curve(correct, confidence, weights)
    copies = np.repeat(np.arange(len(correct)), weights)
    dense = curve(correct[copies], confidence[copies], None)
    shared = np.searchsorted(dense.coverage, got.coverage - 1e-9)
    for field in fields(got):
        np.testing.assert_allclose(
            getattr(got, field.name), getattr(dense, field.name)[shared], atol=1e-12, equal_nan=True
        )
    present = weights > 0
    alone = curve(correct[present], confidence[present], weights[present])
    np.testing.assert_array_equal(floats_of(got), floats_of(alone))


@settings(max_examples=25, deadline=None)
@given(rows=weighted_rows)
def test_the_line_of_the_detection_curve_passes_through_the_copies(rows):
    correct, confidence, weights = columns(rows)
    got = metrics.detection_curve(correct, confidence, sample_weight=weights)
    copies = np.repeat(np.arange(len(correct)), weights)
    dense = metrics.detection_curve(correct[copies], confidence[copies])
    line = np.interp(dense.coverage, np.append(0.0, got.coverage), np.append(0.0, got.errors))
    np.testing.assert_allclose(line, dense.errors, atol=1e-9)


def test_absent_certain_mistake_is_not_nan():
    assert metrics.cross_entropy([1, 0], [0.0, 0.0], sample_weight=[0, 1]) == 0.0
    assert metrics.log_loss([1, 0], [[1.0, 0.0], [1.0, 0.0]], sample_weight=[0, 1]) == 0.0
    assert metrics.cross_entropy([1, 0], [0.0, 0.0], reduce="sum", sample_weight=[0.5, 1]) == math.inf


@pytest.mark.parametrize("weight", [0.1, 1e-3, 7.3])
def test_rounding_of_weights_leaves_shares_in_range(weight):
    weights = np.full(1001, weight)
    ones, half = np.ones(1001, dtype=int), np.full(1001, 0.25)
    assert metrics.error_rate(ones, half, sample_weight=weights) == 1.0
    parts = metrics.brier_decomposition(ones, half, sample_weight=weights)
    assert parts.uncertainty == 0.0
    assert metrics.reliability_bins(ones, half, sample_weight=weights).frac_pos.tolist() == [1.0]
    y = np.append(ones, 0)
    scores = np.append(np.arange(1, 1002), 0)
    assert metrics.auc(y, scores, sample_weight=np.append(weights, weight)) == 1.0
