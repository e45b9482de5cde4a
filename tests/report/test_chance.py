"""The test against chance: it seldom accuses the innocent, and finds the guilty."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import expit

from calibrant.metrics._isotonic import put_in_order
from calibrant.report import summarize
from calibrant.report._chance import ChanceTest, fit_and_test, p_values
from calibrant.report._column import added_up
from calibrant.report._directed import MeanTest
from report.forecasts import bold, honest


def examine(happened, forecast, weight=None):
    weight = np.ones(len(forecast)) if weight is None else weight
    return fit_and_test(added_up(put_in_order(happened, forecast, weight)), np.random.default_rng(0))[1]


def column(calibration, drawn, bias=0.0, variance=0.0, growth=0.0):
    return ChanceTest(calibration, drawn, MeanTest(bias, variance, growth, 1.0), variance, variance)


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
    assert heavy.mean == pytest.approx(copies.mean)
    assert heavy.bound == pytest.approx(copies.bound)
    assert heavy.chance_gap < light.chance_gap
    assert heavy.bound < light.bound


@pytest.mark.parametrize("happened", [True, False])
def test_certain_forecasts_leave_nothing_to_chance(happened):
    test = examine(np.full(50, happened), np.ones(50))
    assert test.chance_gap == 0
    assert test.gap == (0 if happened else 1)
    assert test.mean.p_value == happened
    (p_value,) = p_values([test], 1, 0)
    assert p_value == 1 if happened else p_value < 1e-5


def test_beyond_all_draws_the_chance_falls_with_the_distance():
    drawn = np.random.default_rng(0).gamma(4, 0.005, 100)
    largest = drawn.max()
    found = [
        p_values([column(calibration, drawn)], 1, 0)[0]
        for calibration in largest * np.array([1, 1.2, 1.5, 2])
    ]
    assert found[0] == pytest.approx(2 / 101)
    assert all(np.diff(found) < 0)
    assert found[1] < 1 / 101


def test_the_tail_beyond_the_draws_is_no_longer_than_it_is():
    """Not more right columns are beyond a level than it says, here a quarter of the least rank."""
    rng = np.random.default_rng(0)
    level, n_columns = 1 / 404, 4000
    draws = rng.gamma(8, size=(n_columns, 101))
    called = sum(p_values([column(draw[0], draw[1:])], 1, 0)[0] < level for draw in draws)
    assert called <= n_columns * level + 3 * np.sqrt(n_columns * level)


def test_many_columns_are_judged_by_the_worst_of_them():
    rng = np.random.default_rng(0)
    tests = [column(0.03, rng.gamma(4, 0.005, 100)) for _ in range(5)]
    alone = p_values(tests[:1], 1, 0)[0]
    together = p_values(tests, 5, 0)[0]
    selected = p_values(tests, 1000, 0)[0]
    assert alone < together < selected
    assert selected == 1.0


def test_the_gap_is_what_chance_does_not_explain():
    drawn = np.array([0.005, 0.015])
    test = column(0.05, drawn)
    assert test.gap == pytest.approx(0.2)
    assert test.chance_gap == pytest.approx(0.1)
    assert column(0.001, drawn).gap == 0
    assert column(0.001, drawn, bias=-0.05, variance=0.03**2).gap == pytest.approx(0.04)


@given(
    calibration=st.floats(0, 1),
    drawn=st.lists(st.floats(0, 1), min_size=2, max_size=9),
    bias=st.floats(-1, 1),
    variance=st.floats(0, 0.25),
    growth=st.floats(0, 1),
)
def test_the_bound_is_above_the_gap_and_that_of_the_mean(calibration, drawn, bias, variance, growth):
    test = column(calibration, np.array(drawn), bias, variance, growth)
    assert test.gap <= test.bound * (1 + 1e-12) or test.bound == 1
    assert abs(bias) <= test.mean_bound <= test.bound <= 1


@pytest.mark.parametrize("shift", [0.5, 1.0])
def test_the_bound_holds_95_times_in_100_where_the_gap_is_where_chance_is(shift):
    """Odds that are too high all over: forecasts are off most where outcomes scatter most."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(200):
        logits = 2 * rng.normal(size=1500)
        right, said = expit(logits), expit(logits + shift)
        held += examine(rng.random(1500) < right, said).bound >= np.sqrt(np.mean((said - right) ** 2))
    assert held >= 180  # of 200 at 95% less are held once in 400 times


@pytest.mark.parametrize("n_rows", [30, 1000])
def test_certain_and_right_forecasts_may_still_be_wrong_by_the_rule_of_three(n_rows):
    test = examine(np.arange(n_rows) % 2 == 1, np.arange(n_rows) % 2.0)
    assert test.bound == test.mean_bound == pytest.approx(3 / n_rows, rel=0.1)


def test_what_is_off_all_together_is_found_though_no_point_stands_out():
    """A small shift is lost in a fit with many blocks, and sure in the mean."""
    rng = np.random.default_rng(0)
    right = rng.beta(8, 2, 4000)
    truth = rng.random(4000) < right
    assert examine(truth, right).mean.p_value > 0.1
    shifted = examine(truth, 0.968 * right)
    assert shifted.mean.bias == pytest.approx(0.032 * right.mean(), abs=0.01)
    assert shifted.mean.p_value < 0.001
    assert p_values([shifted], 1, 0)[0] > 0.01
