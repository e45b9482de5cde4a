"""Temperature scaling: the one number of least log loss, found exactly."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from calibrant import TemperatureCalibrator
from calibrant._core._errors import DataError, ParameterError
from calibrant.maps import LOG_CLIP
from calibrators.joint_rows import three_ways_wrong


def loss_of(inverse, logs, y, weight):
    proba = log_softmax(inverse * logs, axis=1)
    return -weight @ proba[np.arange(len(y)), y] / weight.sum()


@pytest.mark.parametrize("kind", ["probability", "margin"])
@pytest.mark.parametrize("k", [2, 3, 20])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e6])
def test_no_other_number_has_less_log_loss(kind, k, weighted, unit):
    scores, y = three_ways_wrong(500, k, kind=kind)
    if kind == "margin":
        scores = scores * unit
    logs = scores if kind == "margin" else np.log(scores)
    weight = np.random.default_rng(1).random(len(y)) + 0.1 if weighted else np.ones(len(y))
    model = TemperatureCalibrator(kind).fit(scores, y, weight if weighted else None)
    begin = np.log(model.inverse_temperature_)
    best = minimize_scalar(
        lambda log: loss_of(np.exp(log), logs, y, weight),
        bounds=(begin - 3, begin + 3),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert model.inverse_temperature_ == pytest.approx(np.exp(best.x), rel=1e-6)
    assert loss_of(model.inverse_temperature_, logs, y, weight) <= best.fun + 1e-14
    expected = np.exp(log_softmax(model.inverse_temperature_ * logs, axis=1))
    np.testing.assert_allclose(model.predict_proba(scores), expected, atol=1e-14)


def test_the_slope_of_the_loss_is_zero_to_rounding():
    scores, y = three_ways_wrong(20_000, 5)
    logs = np.log(scores)
    proba = np.exp(log_softmax(TemperatureCalibrator().fit(scores, y).inverse_temperature_ * logs, axis=1))
    slope = (proba * logs).sum() - logs[np.arange(len(y)), y].sum()
    assert abs(slope) < 1e-9 * np.abs(logs).sum()


@pytest.mark.parametrize("kind", ["probability", "margin"])
def test_a_single_score_is_that_of_the_second_of_two_classes(kind):
    scores, y = three_ways_wrong(300, 2, kind=kind)
    if kind == "margin":
        single = scores[:, 1] - scores[:, 0]
    else:
        single = scores[:, 1]
        scores = np.column_stack([1 - single, single])
    one, two = TemperatureCalibrator(kind).fit(single, y), TemperatureCalibrator(kind).fit(scores, y)
    assert one.inverse_temperature_ == pytest.approx(two.inverse_temperature_, rel=1e-9)
    np.testing.assert_allclose(one.predict_proba(single), two.predict_proba(scores), atol=1e-9)
    assert one.n_scores == 1
    with pytest.raises(DataError, match="scores must be one per row, as in the fit; got 2 columns"):
        one.predict_proba(scores)


def test_probabilities_too_small_to_be_told_from_zero_count_alike():
    """As 1 - p rounds to 1 long before p rounds to 0: nothing can be learned from how small it is."""
    proba = np.array([[1.0, 1e-11, 1e-250], [1e-220, 1.0, 0.0], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4]])
    said = TemperatureCalibrator().fit(proba, [1, 1, 0, 2]).predict_proba(proba)
    assert said[0, 0] > said[0, 1] > said[0, 2] > 0
    assert said[1, 0] == said[1, 2]
    clipped = TemperatureCalibrator().fit(np.clip(proba, LOG_CLIP, 1 - LOG_CLIP), [1, 1, 0, 2])
    np.testing.assert_array_equal(clipped.predict_proba(proba), said)


@pytest.mark.parametrize(
    ("scores", "y", "inverse"),
    [
        ([[0.9, 0.1], [0.2, 0.8]], [1, 0], 0.0),  # worse than nothing
        ([[0.5, 0.5], [0.5, 0.5]], [1, 0], 1.0),  # no opinion
    ],
)
def test_scores_that_say_nothing(scores, y, inverse):
    assert TemperatureCalibrator().fit(scores, y).inverse_temperature_ == inverse


def test_of_separable_rows_the_true_class_has_a_target_below_one():
    scores, y = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([0, 1, 2])
    model = TemperatureCalibrator("margin").fit(scores, y)
    rest = 3 / (3 + 3)  # the true class gets (n + 1)/(n + k), every other 1/(n + k)
    target = (1 - rest) * np.eye(3) + rest / 3
    best = minimize_scalar(
        lambda log: -(target * log_softmax(np.exp(log) * scores, axis=1)).sum(), bounds=(-5, 5)
    )
    assert model.inverse_temperature_ == pytest.approx(np.exp(best.x), rel=1e-4)


def test_what_the_scores_are_is_declared_and_never_guessed():
    scores, y = three_ways_wrong(kind="margin")
    with pytest.raises(DataError, match=r"scores of TemperatureCalibrator with kind='probability' must lie"):
        TemperatureCalibrator().fit(scores, y)
    with pytest.raises(ParameterError, match="kind must be one of 'margin', 'probability'; got 'proba'"):
        TemperatureCalibrator("proba").fit(scores, y)
