"""What was learned, against what came."""

import numpy as np
import pytest

from calibrant import BinningCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant._core._errors import CalibrantError
from calibrant.metrics import reliability_bins
from calibrant.plots import calibration_map
from plots.cases import SCORE_BINS, SCORES, SIGMOID, Y


def test_points_and_map():
    ax = calibration_map(SIGMOID, SCORE_BINS, label="sigmoid")
    points, line = ax.lines
    np.testing.assert_array_equal(
        points.get_xydata(), np.column_stack([SCORE_BINS.mean_score, SCORE_BINS.frac_pos])
    )
    assert points.get_linestyle() == "None"
    scores, probability = line.get_xydata().T
    assert (scores[0], scores[-1]) == (-4, 4)
    np.testing.assert_array_equal(probability, SIGMOID.predict_proba(scores)[:, 1])
    assert [points.get_label(), line.get_label()] == ["observed frequency", "sigmoid"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score", "probability")
    assert ax.get_xlim() == (-4, 4)


@pytest.mark.parametrize("calibrator", [PAVCalibrator(), BinningCalibrator(), PAVCalibrator("linear")])
def test_steps_are_steep(calibrator):
    ax = calibration_map(calibrator.fit(SCORES, Y), SCORE_BINS)
    scores, probability = ax.lines[1].get_xydata().T
    assert (np.diff(scores) > 0).all()
    np.testing.assert_array_equal(probability, calibrator.predict_proba(scores)[:, 1])
    rises = np.abs(np.diff(probability)) > 0.05
    assert calibrator.get_params().get("between") == "linear" or np.diff(scores)[rises].max() < 1e-5
    # Nothing is jumped over: what the map says anywhere is within a small rise of what is drawn there.
    everywhere = np.random.default_rng(0).uniform(-4, 4, 500)
    drawn = np.interp(everywhere, scores, probability)
    assert np.mean(np.abs(drawn - calibrator.predict_proba(everywhere)[:, 1]) > 0.01) < 0.01


def test_more_maps_share_the_points():
    ax = calibration_map(SIGMOID, SCORE_BINS, label="sigmoid")
    calibration_map(PAVCalibrator().fit(SCORES, Y), SCORE_BINS, ax=ax, label="isotonic")
    assert [line.get_label() for line in ax.lines] == ["observed frequency", "sigmoid", "isotonic"]
    assert ax.lines[1].get_linestyle() != ax.lines[2].get_linestyle()


def test_counts():
    ax = calibration_map(SIGMOID, SCORE_BINS, counts=True)
    assert [text.get_text() for text in ax.texts] == [str(count) for count in SCORE_BINS.count]


def test_style():
    assert calibration_map(SIGMOID, SCORE_BINS, color="red").lines[1].get_color() == "red"


def test_one_bin():
    bins = reliability_bins([0, 1], [0.2, 0.4], width=1)
    ax = calibration_map(SigmoidCalibrator().fit([0, 1, 2, 3], [0, 1, 0, 1]), bins)
    assert ax.get_xlim() == (0, 1)


def test_not_fitted():
    with pytest.raises(CalibrantError, match="fit"):
        calibration_map(SigmoidCalibrator(), SCORE_BINS)
