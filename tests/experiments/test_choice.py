"""Which calibrator suits some scores."""

import numpy as np
from scipy.special import expit

from calibrant import OneVsAllCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant.experiments._choice import choose

RANDOM = np.random.default_rng(0)


def test_the_right_shape_wins_and_is_fitted_to_all_rows():
    scores = RANDOM.normal(size=2000)
    candidates = {"PAV": PAVCalibrator(), "sigmoid": SigmoidCalibrator()}
    smooth = choose(candidates, scores, RANDOM.random(2000) < expit(2 * scores))
    assert smooth.name == "sigmoid"
    y = RANDOM.random(2000) < np.where(np.abs(scores) < 1, 0.5, scores > 0)
    stepped = choose(candidates, scores, y)
    assert stepped.name == "PAV"
    assert stepped.losses["PAV"] < stepped.losses["sigmoid"]
    expected = PAVCalibrator().fit(scores, y).predict_proba(scores)
    np.testing.assert_array_equal(stepped.calibrator.predict_proba(scores), expected)


def test_many_classes():
    y = RANDOM.integers(0, 3, 300)
    scores = 3 * np.eye(3)[y] + RANDOM.normal(size=(300, 3))
    backwards = {"worse": OneVsAllCalibrator("binning"), "PAV": OneVsAllCalibrator("pav")}
    found = choose(backwards, scores, y)
    assert set(found.losses) == {"worse", "PAV"}
    assert found.losses[found.name] == min(found.losses.values())
