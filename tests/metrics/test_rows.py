"""What every metric takes and refuses: order of arguments, shapes, weights, bad numbers, frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant import metrics
from calibrant._core._errors import DataError, ParameterError

Y = [0, 1, 1, 0, 1]
P = [0.125, 0.75, 0.5, 0.25, 1.0]
Y3 = [0, 1, 2, 2]
P3 = [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.125, 0.75], [0.5, 0.375, 0.125]]


def positive_brier(y, proba, **options):
    return metrics.brier_score(y, proba, convention="positive", **options)


#: Metrics of two classes, of labels and numbers.
TWO_CLASS = [
    positive_brier,
    metrics.auc,
    metrics.brier_decomposition,
    metrics.cross_entropy,
    metrics.error_rate,
    metrics.log_loss,
    metrics.reliability_bins,
    metrics.rms_error,
    metrics.roc_points,
]
#: Those of them whose numbers must be probabilities.
OF_PROBABILITIES = [
    metric
    for metric in TWO_CLASS
    if metric not in (metrics.auc, metrics.roc_points, metrics.reliability_bins)
]
#: Metrics of any number of classes.
MULTICLASS = [
    metrics.brier_score,
    metrics.brier_decomposition,
    metrics.error_rate,
    metrics.log_loss,
    metrics.reliability_at_rank,
    metrics.reliability_by_class,
]
#: Metrics of right and wrong predictions.
JUDGED = [
    metrics.detection_curve,
    metrics.reliability_by_coverage,
    lambda correct, confidence, **options: metrics.accuracy_by_threshold(
        correct, confidence, [0.5], **options
    ),
]


def assert_same(one, other):
    """Floats, dataclasses and tuples of dataclasses with the same content."""
    if isinstance(one, tuple):
        for part, partner in zip(one, other, strict=True):
            assert_same(part, partner)
    elif isinstance(one, float):
        np.testing.assert_equal(one, other)
    else:
        for name in one.__slots__:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("metric", TWO_CLASS)
def test_swapped_two_class(metric):
    with pytest.raises(DataError, match=r"got the number 0\.125, which can name no class"):
        metric(P, Y)


@pytest.mark.parametrize("metric", TWO_CLASS)
def test_swapped_two_class_with_signs_as_labels(metric):
    with pytest.raises(DataError, match=r"got the number 0\.125, which can name no class"):
        metric(P, [-1, 1, 1, -1, 1])


@pytest.mark.parametrize("metric", MULTICLASS)
def test_swapped_multiclass(metric):
    with pytest.raises(DataError, match=r"come first; got shape \(4, 3\) in their place"):
        metric(P3, Y3)


@pytest.mark.parametrize("metric", JUDGED)
def test_swapped_judged(metric):
    with pytest.raises(DataError, match=r"correct must be True or False.* got 0\.125 in row 0"):
        metric(P, Y)


# Two columns ask `brier_decomposition` for the split of another score.
@pytest.mark.parametrize(
    "metric", [metric for metric in TWO_CLASS if metric is not metrics.brier_decomposition]
)
def test_two_columns_are_the_positive_one(metric):
    matrix = np.column_stack([1 - np.array(P), P])
    assert_same(metric(Y, matrix), metric(Y, P))
    assert_same(metric(Y, np.array(P)[:, None]), metric(Y, P))


@pytest.mark.parametrize("metric", TWO_CLASS)
@pytest.mark.parametrize("names", [("no", "yes"), (-1, 1), (False, True), (3.0, 7.0)])
def test_labels_are_any_two_values(metric, names):
    assert_same(metric([names[label] for label in Y], P), metric(Y, P))


@pytest.mark.parametrize("metric", MULTICLASS)
def test_columns_can_be_named(metric):
    named = metric([["c", "a", "b"][label] for label in Y3], P3, classes=["c", "a", "b"])
    assert_same(named, metric(Y3, P3))


@pytest.mark.parametrize("metric", MULTICLASS)
def test_label_without_column(metric):
    with pytest.raises(DataError, match="column numbers from 0 to 2; got 3"):
        metric([0, 1, 2, 3], P3)
    with pytest.raises(DataError, match=r"among the classes \['a', 'b', 'c'\]; got 'd' in row 3"):
        metric(["a", "b", "c", "d"], P3, classes=["a", "b", "c"])
    with pytest.raises(ParameterError, match=r"classes must be 3 distinct labels.* got \['a', 'b'\]"):
        metric(["a", "b", "b", "b"], P3, classes=["a", "b"])


@pytest.mark.parametrize("metric", TWO_CLASS)
def test_three_labels_for_one_column(metric):
    with pytest.raises(DataError, match="labels must have two values; got 3: 0, 1, 2"):
        metric([0, 1, 2], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "metric", [metrics.auc, metrics.cross_entropy, metrics.reliability_bins, metrics.rms_error]
)
def test_three_columns_for_two_classes(metric):
    with pytest.raises(DataError, match=r"of the positive class.* got shape \(4, 3\)"):
        metric([0, 1, 0, 1], P3)


@pytest.mark.parametrize("metric", [metrics.reliability_at_rank, metrics.reliability_by_class])
def test_one_column_where_all_are_needed(metric):
    with pytest.raises(DataError, match=r"one column per class.* got one column; use reliability_bins"):
        metric(Y, P)


@pytest.mark.parametrize("metric", [*TWO_CLASS, *JUDGED])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_numbers(metric, bad):
    with pytest.raises(DataError, match=f"must be finite; got {bad} in row 2"):
        metric(Y, [0.1, 0.2, bad, 0.3, 0.4])


@pytest.mark.parametrize("metric", TWO_CLASS)
def test_missing_label(metric):
    with pytest.raises(DataError, match="labels must be finite; got nan in row 1"):
        metric([0, np.nan, 1, 0, 1], P)


@pytest.mark.parametrize("metric", OF_PROBABILITIES)
def test_margins_are_no_probabilities(metric):
    with pytest.raises(DataError, match=r"proba must lie in \[0, 1\]; got -2\.0 in row 1"):
        metric(Y, [0.5, -2.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize("metric", TWO_CLASS)
def test_lengths_differ(metric):
    with pytest.raises(DataError, match=r"labels and (proba|scores) must have the same .* got 4 and 5"):
        metric(Y[:4], P)


@pytest.mark.parametrize("metric", MULTICLASS)
def test_lengths_differ_multiclass(metric):
    with pytest.raises(DataError, match=r"labels and proba must have the same .* got 3 and 4"):
        metric(Y3[:3], P3)


@pytest.mark.parametrize("metric", JUDGED)
def test_lengths_differ_judged(metric):
    with pytest.raises(DataError, match=r"correct and confidence must have the same .* got 4 and 5"):
        metric(Y[:4], P)


@pytest.mark.parametrize("metric", [*TWO_CLASS, *JUDGED])
def test_empty(metric):
    with pytest.raises(DataError, match=r"(labels|correct) must have at least one row; got none"):
        metric([], [])


@pytest.mark.parametrize("metric", [*TWO_CLASS, *JUDGED])
def test_weights_that_cannot_be(metric):
    with pytest.raises(DataError, match=r"must not be negative; got -1\.0 in row 1"):
        metric(Y, P, sample_weight=[1, -1, 1, 1, 1])
    with pytest.raises(DataError, match="must not be all zero"):
        metric(Y, P, sample_weight=[0, 0, 0, 0, 0])
    with pytest.raises(DataError, match=r"one weight per row, 5 in all; got shape \(2,\)"):
        metric(Y, P, sample_weight=[1, 1])


@pytest.mark.parametrize("metric", JUDGED)
def test_confidence_is_one_column(metric):
    assert_same(metric(np.array(Y)[:, None], np.array(P)[:, None]), metric(Y, P))
    with pytest.raises(DataError, match=r"confidence must be one column; got shape \(4, 3\)"):
        metric([1, 0, 1, 0], P3)


@pytest.mark.parametrize("library", [pd.Series, pl.Series, pa.array, np.array, tuple])
@pytest.mark.parametrize("metric", [*TWO_CLASS, *JUDGED])
def test_columns_of_any_library(metric, library):
    weights = [1.0, 2.0, 0.0, 0.5, 1.0]
    got = metric(library(Y), library(P), sample_weight=library(weights))
    assert_same(got, metric(Y, P, sample_weight=weights))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("metric", MULTICLASS)
def test_frames_of_any_library(metric, library):
    columns = dict(zip("abc", zip(*P3, strict=True), strict=True))
    frame = library({name: list(column) for name, column in columns.items()})
    labels = pl.Series(["abc"[label] for label in Y3])
    assert_same(metric(labels, frame, classes=["a", "b", "c"]), metric(Y3, P3))


@pytest.mark.parametrize("metric", [*TWO_CLASS, *JUDGED])
def test_inputs_are_not_written_to(metric):
    y, proba, weights = np.array(Y), np.array(P), np.array([1.0, 0.0, 2.0, 1.0, 1.0])
    for array in (y, proba, weights):
        array.setflags(write=False)
    metric(y, proba, sample_weight=weights)
    metric(y, proba)
    assert (y.tolist(), proba.tolist()) == (list(Y), list(P))


def test_public_names():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)
