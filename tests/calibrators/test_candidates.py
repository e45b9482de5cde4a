"""Candidates and likely errors: orders, counts and what is refused."""

import numpy as np
import pytest

from calibrant import (
    AccuracyTableCalibrator,
    CalibrantError,
    OneVsAllCalibrator,
    RankedLogisticCalibrator,
)
from calibrant.calibrators import likely_errors, top_candidates
from calibrant.metrics import detection_curve


def survey(n=200, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += 1.5
    return scores, np.array(list("dbca"))[y]


MODELS = [
    AccuracyTableCalibrator(n_cells=6, classes=list("dbca")),
    RankedLogisticCalibrator(smooth=True, classes=list("dbca")),
    OneVsAllCalibrator("sigmoid", classes=list("dbca")),
]
every = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@every
def test_candidates_are_the_best_classes_with_their_probabilities(model):
    scores, y = survey()
    model.fit(scores, y)
    proba = model.predict_proba(scores)
    by = proba if isinstance(model, OneVsAllCalibrator) else scores
    for n in (1, 3, 4):
        best = top_candidates(model, scores, n=n)
        assert best.label.shape == best.probability.shape == (200, n)
        for row in range(200):
            order = sorted(range(4), key=lambda column: (-by[row, column], column))[:n]
            assert best.label[row].tolist() == model.classes_[order].tolist()
            assert best.probability[row].tolist() == proba[row, order].tolist()


@every
def test_rows_to_check_come_least_probable_first(model):
    scores, y = survey()
    checks = likely_errors(model.fit(scores, y), scores)
    assert sorted(checks.row) == list(range(200))
    assert (np.diff(checks.confidence) >= 0).all()
    first = top_candidates(model, scores, n=1)
    assert checks.label.tolist() == first.label[checks.row, 0].tolist()
    if not isinstance(model, OneVsAllCalibrator):
        estimate = model.predict_by_rank(scores, n_ranks=1).estimate[:, 0]
        np.testing.assert_array_equal(checks.confidence, estimate[checks.row])
    assert checks.curve is checks.curve_by_score is checks.found is None


@every
def test_errors_found_are_counted(model):
    scores, y = survey()
    checks = likely_errors(model.fit(scores, y), scores, y)
    wrong = checks.label != y[checks.row]
    assert checks.found.total == wrong.sum()
    assert checks.found.checked.tolist() == [0.05, 0.1, 0.2]
    assert checks.found.errors.tolist() == [wrong[:10].sum(), wrong[:20].sum(), wrong[:40].sum()]
    np.testing.assert_array_equal(checks.curve.errors, np.cumsum(wrong))
    predicted = np.empty_like(y)
    predicted[checks.row] = checks.label
    baseline = detection_curve(predicted == y, scores.max(axis=1))
    np.testing.assert_array_equal(checks.curve_by_score.errors, baseline.errors)
    assert checks.found.errors_by_score.tolist() == baseline.errors[[9, 19, 39]].tolist()


def test_a_share_of_less_than_a_row_finds_nothing():
    scores, y = survey(10)
    model = RankedLogisticCalibrator(smooth=True, classes=list("dbca")).fit(scores, y)
    found = likely_errors(model, scores, y, shares=[0.05, 1.0]).found
    assert found.errors.tolist() == [0, found.total]


def test_rows_without_an_estimate_come_first():
    scores, y = survey(60)
    model = AccuracyTableCalibrator(width=0.2, smoothing="none", fallback="nan", classes=list("dbca"))
    model.fit(scores[:30], y[:30])
    checks = likely_errors(model, scores, y)
    n_unknown = int(np.isnan(checks.confidence).sum())
    assert n_unknown > 0
    assert np.isnan(checks.confidence[:n_unknown]).all()
    assert checks.curve.errors[-1] == checks.found.total


def test_bad_input_is_refused():
    scores, y = survey()
    model = RankedLogisticCalibrator(smooth=True, classes=list("dbca"))
    with pytest.raises(
        CalibrantError, match="this RankedLogisticCalibrator must be fitted before it is used"
    ):
        top_candidates(model, scores)
    model.fit(scores, y)
    for n in (0, 5, 1.5):
        with pytest.raises(CalibrantError, match=f"n must be a whole number from 1 to 4.*got {n}"):
            top_candidates(model, scores, n=n)
    with pytest.raises(CalibrantError, match="one column per class, 4 in all; got 3 columns"):
        top_candidates(model, scores[:, :3])
    for shares in ([0.0], [1.1], 0.1):
        with pytest.raises(CalibrantError, match=r"shares must be numbers above 0 and up to 1; got"):
            likely_errors(model, scores, y, shares=shares)
    with pytest.raises(CalibrantError, match="same number of rows; got 200 and 3"):
        likely_errors(model, scores, y[:3])
    with pytest.raises(CalibrantError, match=r"among the classes .*got 'x' in row 0"):
        likely_errors(model, scores, ["x"] * 200)


@every
def test_a_weight_counts_errors_as_copies_do(model):
    scores, y = survey()
    weight = np.random.default_rng(1).integers(0, 4, size=200)
    model.fit(scores, y)
    weighted = likely_errors(model, scores, y, sample_weight=weight, shares=[0.2, 1.0])
    copies = likely_errors(model, scores.repeat(weight, axis=0), y.repeat(weight), shares=[0.2, 1.0])
    assert weighted.found.total == copies.found.total
    assert weighted.found.errors[1] == copies.found.errors[1] == weighted.found.total
    # The order of the rows is the same; the last copy of a row may lie beyond the share.
    assert abs(weighted.found.errors[0] - copies.found.errors[0]) <= 3
    assert sorted(weighted.row) == list(range(200))
