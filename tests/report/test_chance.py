"""The test against chance: it seldom accuses the innocent, and finds the guilty."""

from dataclasses import replace

import numpy as np
import pytest

from calibrant.report import summarize
from calibrant.report._chance import ChanceTest, fit_and_test, p_values
from calibrant.report._column import sort_column
from report.forecasts import bold, honest


def examine(happened, forecast, weight=None):
    weight = np.ones(len(forecast)) if weight is None else weight
    return fit_and_test(sort_column(happened, forecast, weight), np.random.default_rng(0))[1]


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "n_forecasters", "most"), [(100, 2, 100, 5), (200, 6, 30, 3), (200, 20, 10, 2)]
)
def test_believable_forecasters_are_accused_as_seldom_as_promised(n_rows, n_classes, n_forecasters, most):
    """An honest test exceeds these binomial counts with a chance of less than one in a thousand."""
    found = [summarize(*honest(n_rows, n_classes, seed)).verdict.p_value for seed in range(n_forecasters)]
    assert sum(p_value < 0.01 for p_value in found) <= most
    assert np.mean(found) > 0.3


@pytest.mark.parametrize("n_classes", [2, 6, 20])
def test_bold_forecasters_are_found(n_classes):
    assert all(summarize(*bold(1500, n_classes, seed)).verdict.p_value < 0.01 for seed in range(2))


def test_a_row_of_weight_m_is_m_rows():
    forecast = np.repeat([0.2, 0.8], 10)
    happened = np.tile([True, False], 10)
    heavy, light = examine(happened, forecast, np.full(20, 10.0)), examine(happened, forecast)
    copies = examine(np.repeat(happened, 10), np.repeat(forecast, 10))
    assert heavy.calibration == pytest.approx(copies.calibration) == pytest.approx(0.09)
    np.testing.assert_allclose(heavy.drawn_calibration, copies.drawn_calibration, atol=1e-12)
    np.testing.assert_allclose(heavy.drawn_bias, copies.drawn_bias, atol=1e-12)
    assert heavy.chance_gap < light.chance_gap


@pytest.mark.parametrize(("happened", "p_value"), [(True, 1.0), (False, 1 / 101)])
def test_certain_forecasts_leave_nothing_to_chance(happened, p_value):
    test = examine(np.full(50, happened), np.ones(50))
    assert test.chance_gap == 0
    assert test.gap == (0 if happened else 1)
    assert p_values([test], 1, 0) == [pytest.approx(p_value)]


def test_many_columns_are_judged_by_the_worst_of_them():
    rng = np.random.default_rng(0)
    tests = [ChanceTest(0.03, 0.0, rng.gamma(4, 0.005, 100), np.zeros(100)) for _ in range(5)]
    alone = p_values(tests[:1], 1, 0)[0]
    together = p_values(tests, 5, 0)[0]
    selected = p_values(tests, 1000, 0)[0]
    assert alone < together < selected
    assert selected == 1.0


def test_the_gap_is_what_chance_does_not_explain():
    nothing, drawn = np.zeros(2), np.array([0.005, 0.015])
    test = ChanceTest(0.05, 0.0, drawn, nothing)
    assert test.gap == pytest.approx(0.2)
    assert test.chance_gap == pytest.approx(0.1)
    assert ChanceTest(0.001, 0.0, drawn, nothing).gap == 0
    assert ChanceTest(0.001, -0.05, drawn, np.array([0.03, -0.03])).gap == pytest.approx(0.04)


def test_what_is_off_all_together_is_found_though_no_point_stands_out():
    """A small shift is lost in a fit with many blocks, and sure in the mean."""
    rng = np.random.default_rng(0)
    right = rng.beta(8, 2, 4000)
    truth = rng.random(4000) < right
    assert p_values([examine(truth, right)], 1, 0)[0] > 0.1
    shifted = examine(truth, 0.968 * right)
    assert shifted.bias == pytest.approx(0.032 * right.mean(), abs=0.01)
    assert p_values([shifted], 1, 0)[0] < 0.01
    point_by_point = replace(shifted, bias=0.0, drawn_bias=np.zeros(100))
    assert p_values([point_by_point], 1, 0)[0] > 0.01
