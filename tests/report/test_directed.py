"""The tests of one direction: their chances are those of slow and exact enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant.metrics import log_loss
from calibrant.metrics._isotonic import Draws, put_in_order
from calibrant.report._column import added_up
from calibrant.report._directed import MeanTest, measure_surprise
from calibrant.report._rows import read_rows


def mean_test(happened, forecast, weight=None):
    forecast = np.asarray(forecast, dtype=np.float64)
    weight = np.ones(len(forecast)) if weight is None else np.asarray(weight, dtype=np.float64)
    column = added_up(put_in_order(np.asarray(happened, dtype=bool), forecast, weight))
    return MeanTest.of(column, Draws.of(column.rows))


def count_chances(forecast):
    """The chance of every number of hits, one row at a time."""
    chances = np.ones(1)
    for chance in forecast:
        chances = np.convolve(chances, [1 - chance, chance])
    return chances


@pytest.mark.parametrize(
    "forecast",
    [
        np.full(50, 0.01),
        np.full(400, 0.01),
        np.full(300, 0.98),
        np.linspace(0.02, 0.98, 60),
        np.random.default_rng(0).beta(0.3, 5, 500),
    ],
    ids=["rare", "seldom", "nearly sure", "all over", "skewed"],
)
def test_the_chance_of_a_mean_is_that_of_counting(forecast):
    chances = count_chances(forecast)
    for hits in range(len(forecast) + 1):
        exact = min(1.0, 2 * min(chances[: hits + 1].sum(), chances[hits:].sum()))
        if 1e-3 < exact < 0.2:
            happened = np.arange(len(forecast)) < hits
            assert 0.6 < mean_test(happened, forecast).p_value / exact < 1.8, hits


def test_the_normal_distribution_would_not_do_for_rare_events():
    happened = np.arange(50) < 3
    exact = 2 * count_chances(np.full(50, 0.01))[3:].sum()
    z = (3 - 0.5) / np.sqrt(50 * 0.01 * 0.99)
    assert z > 3.5
    assert exact > 0.02
    assert mean_test(happened, np.full(50, 0.01)).p_value == pytest.approx(exact, rel=0.3)


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(0, 1), st.sampled_from([1.0, 2.0, 5.0])), min_size=1, max_size=40
    )
)
def test_a_mean_of_weighted_rows_is_that_of_copies(rows):
    happened, forecast, weight = (np.array(values) for values in zip(*rows, strict=True))
    copies = np.repeat(np.arange(len(rows)), weight.astype(int))
    found, wanted = mean_test(happened, forecast, weight), mean_test(happened[copies], forecast[copies])
    assert found.bias == pytest.approx(wanted.bias, abs=1e-12)
    assert found.variance == pytest.approx(wanted.variance, abs=1e-12)
    assert found.p_value == pytest.approx(wanted.p_value, rel=1e-6, abs=1e-12)


def test_small_weights_are_no_more_than_their_rows():
    """A scale of the weights below one changes nothing: so many rows are there, and not fewer or more."""
    forecast, happened = np.full(200, 0.3), np.arange(200) < 80
    whole, scaled = mean_test(happened, forecast), mean_test(happened, forecast, np.full(200, 0.01))
    assert scaled.variance == pytest.approx(whole.variance)
    assert scaled.p_value == pytest.approx(whole.p_value, rel=1e-6)


def surprise(truth, proba, weight=None):
    proba = np.asarray(proba, dtype=np.float64)
    return measure_surprise(read_rows(truth, proba, list(range(proba.shape[1])), weight), 0).p_value


def test_the_chance_of_a_surprise_is_that_of_enumeration():
    proba = np.random.default_rng(3).dirichlet([1.0, 1.0, 1.0], 9)
    log = np.log(proba)
    outcomes = np.array(list(itertools.product(range(3), repeat=9)))
    chance = np.exp(log[np.arange(9), outcomes].sum(axis=1))
    loss = log[np.arange(9), outcomes].sum(axis=1) - (proba * log).sum()
    order = np.random.default_rng(0).permutation(len(outcomes))[:200]
    for place in order:
        below, above = chance[loss <= loss[place]].sum(), chance[loss >= loss[place]].sum()
        exact = min(1.0, 2 * min(below, above))
        found = surprise(outcomes[place], proba)
        assert found > 0.25 * exact
        if exact > 0.01:
            assert found < 4 * exact


def test_a_log_loss_beyond_the_promise_tells_of_a_temperature_that_no_column_shows():
    """With thirty classes the surprise is half as strong again as the mean confidence."""
    rng = np.random.default_rng(0)
    stronger = found = 0
    for _ in range(20):
        logits = 2.5 * rng.normal(size=(1000, 30))
        right, hot = (np.exp(factor * logits) for factor in (1.0, 1.12))
        right, hot = right / right.sum(axis=1, keepdims=True), hot / hot.sum(axis=1, keepdims=True)
        truth = (rng.random(1000)[:, None] > right.cumsum(axis=1)[:, :-1]).sum(axis=1)
        top = hot.argmax(axis=1)
        p_value = surprise(truth, hot)
        found += p_value < 0.01
        stronger += p_value < mean_test(top == truth, hot.max(axis=1)).p_value
    assert found >= 16
    assert stronger >= 14


def test_the_excess_is_the_log_loss_beyond_the_entropy():
    rng = np.random.default_rng(0)
    proba, truth = rng.dirichlet(np.full(4, 5.0), 500), rng.integers(4, size=500)
    found = measure_surprise(read_rows(truth, proba, list(range(4)), None), 0)
    entropy = -np.sum(proba * np.log(proba), axis=1).mean()
    assert found.excess == pytest.approx(log_loss(truth, proba) - entropy)


def test_what_cannot_surprise_does_not():
    assert surprise([0, 1, 2] * 30, np.tile(np.eye(3), (30, 1))) == 1
    assert surprise([0, 1, 2] * 30, np.full((90, 3), 1 / 3)) == 1
    assert surprise([1, 2, 0] * 30, np.tile(np.eye(3), (30, 1))) == 0


def test_one_zero_of_a_rounded_file_that_came_is_no_proof():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(5), 2000)
    truth = (rng.random(2000)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    before = surprise(truth, proba)
    place = np.flatnonzero((truth == 0) & (proba[:, 0] < 0.05))[0]
    proba[place] = [0, *(proba[place, 1:] / proba[place, 1:].sum())]
    assert before > 0.05
    assert surprise(truth, proba) > 0.05


def test_weights_of_the_surprise_are_copies():
    rng = np.random.default_rng(0)
    proba, truth, weight = rng.dirichlet(np.ones(3), 50), rng.integers(3, size=50), rng.integers(1, 4, 50)
    copies = np.repeat(np.arange(50), weight)
    assert surprise(truth, proba, weight) == pytest.approx(surprise(truth[copies], proba[copies]))


def test_of_very_many_rows_a_sample_is_surprised(monkeypatch):
    rng = np.random.default_rng(0)
    proba, truth = rng.dirichlet(np.ones(3), 3000), rng.integers(3, size=3000)
    monkeypatch.setattr("calibrant.report._directed.MAX_ENTRIES", 1500)
    assert surprise(truth, proba) < 0.01
