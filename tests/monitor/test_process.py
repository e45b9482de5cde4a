"""The process: equal to its definition, and its promises kept."""

import math

import numpy as np
import pytest

from calibrant import CalibrationMonitor
from calibrant.monitor._alternatives import Alternatives
from calibrant.monitor._bound import Ever, RunLength
from calibrant.monitor._detector import BLOCK, STEP, Scan
from calibrant.monitor._learning import learned
from monitor.naive import process
from monitor.streams import changing, draw


def terms(t):
    return 1 / ((t + 2) * math.log(t + 2) ** 2)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_process_is_that_of_its_definition(n_classes, weighted):
    proba, truth = changing(500, 520, n_classes, shift=1.2, slope=0.8)
    weights = (
        np.random.default_rng(3).choice([0.25, 0.5, 1.0], len(truth)) if weighted else np.ones(len(truth))
    )
    alarms, value = process(proba, truth, weights, lambda t: 1.0, lambda t: 0.0, 1e4)
    monitor = CalibrationMonitor(run_length=1e4).update(proba, truth, sample_weight=weights)
    assert [each.row for each in monitor.alarms] == alarms
    assert alarms
    assert monitor.value == pytest.approx(value, rel=1e-9)


def test_the_process_of_ever_is_that_of_its_definition():
    proba, truth = changing(300, 300, 3, shift=-1.0)
    first = 10**6
    rest = 1 / math.log(first + 2.5)  # the integral of the terms, to eight digits there
    total = math.fsum(terms(t) for t in range(1, first + 1)) + rest
    left = [1.0]
    for t in range(1, 601):
        left.append(left[-1] - terms(t) / total)
    alarms, value = process(proba, truth, np.ones(600), lambda t: terms(t) / total, lambda t: left[t], 100.0)
    monitor = CalibrationMonitor(bound="ever").update(proba, truth)
    assert [each.row for each in monitor.alarms] == alarms
    assert monitor.value == pytest.approx(value, rel=1e-6)


def test_weights_of_beginnings_sum_to_one():
    bound = Ever(100.0)
    for passed in (0, 1, 5, 63, 64, 65, 1000):
        assert bound.entering(1, passed).sum() + bound.coming(passed) == pytest.approx(1.0, abs=1e-9)
    assert RunLength(10.0).coming(5) == 0


def test_a_scan_is_its_recursion():
    random = np.random.default_rng(0)
    ratios, entering = random.uniform(0.2, 4.0, (BLOCK, 3)), random.random(BLOCK)
    scan = Scan((STEP, BLOCK // STEP, 3))
    scan.ratios[:] = ratios.reshape(-1, STEP, 3).swapaxes(0, 1)
    scan.run(entering.reshape(-1, STEP).T[..., np.newaxis], np.full(3, 5.0))
    value, expected = np.full(3, 5.0), []
    for ratio, new in zip(ratios, entering, strict=True):
        value = ratio * (value + new)
        expected.append(value)
    np.testing.assert_allclose(scan.values.swapaxes(0, 1).reshape(BLOCK, 3), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("change", "kind", "what"),
    [
        ({"shift": 1.0}, "level", "class 0 comes more often than forecast"),
        ({"shift": -1.5}, "level", "class 0 comes less often than forecast"),
        ({"slope": 0.4}, "sharpness", "forecasts are too sure"),
        ({"slope": 2.5}, "sharpness", "forecasts are too timid"),
    ],
)
def test_an_alarm_says_what_changed_and_when(change, kind, what):
    proba, truth = changing(2000, 2000, 3, seed=5, **change)
    alarm = CalibrationMonitor().update(proba, truth).alarms[0]
    assert (alarm.kind, alarm.what) == (kind, what)
    assert 2000 < alarm.row < 2600
    assert alarm.began_low <= alarm.began <= alarm.began_high <= alarm.row
    assert alarm.began_low - 100 <= 2000 <= alarm.began_high + 100
    assert alarm.value >= alarm.bound == 1e6


def test_an_unmended_change_goes_on():
    proba, truth = changing(1000, 3000, 3, shift=1.0)
    alarms = CalibrationMonitor().update(proba, truth).alarms
    assert [each.continues for each in alarms[:3]] == [False, True, True]


def test_calibrated_streams_seldom_ever_alarm():
    alarmed = sum(
        bool(CalibrationMonitor(bound="ever", alpha=0.1, window=None).update(*draw(1500, 2, seed)).alarms)
        for seed in range(120)
    )
    assert alarmed <= 0.1 * 120


def test_a_change_of_several_things_is_learned():
    random = np.random.default_rng(0)
    proba, _ = draw(12000, 4, 1)
    true = proba * np.exp([0.5, -0.6, 0.4, -0.3])
    true /= true.sum(axis=1, keepdims=True)
    truth = (random.random(12000)[:, np.newaxis] > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    monitor = CalibrationMonitor(run_length=1e9).update(proba, truth)
    assert "learned" in {each.kind for each in monitor.alarms}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_impossible_event_is_an_alarm_of_its_own(n_classes):
    proba, truth = draw(300, n_classes)
    proba[100] = np.eye(n_classes)[0]
    truth[100] = 1
    monitor = CalibrationMonitor(classes=list("abc")[:n_classes], cost=1 - np.eye(n_classes))
    monitor.update(proba, np.array(list("abc"))[truth])
    (alarm,) = (each for each in monitor.alarms if each.kind == "impossible")
    assert (alarm.row, alarm.label, alarm.began) == (100, "b", 100)
    assert "class b came, and its forecast was 0" in alarm.what
    assert np.isfinite(monitor.value)
    assert np.isfinite(float(monitor.windows()[0].log_loss))


def test_only_impossible_events():
    proba, truth = np.tile([1.0, 0.0], (1000, 1)), np.ones(1000, dtype=int)
    monitor = CalibrationMonitor(bound="ever").update(proba, truth)
    assert monitor.n_alarms >= 1000
    assert len(monitor.alarms) == 1000
    assert np.isfinite(monitor.value)
    assert np.isfinite(monitor.advice().gain)


def test_permuting_classes_permutes_the_result():
    proba, truth = changing(800, 800, 4, shift=1.3)
    order = np.array([2, 0, 3, 1])
    one = CalibrationMonitor(window=1600).update(proba, truth)
    other = CalibrationMonitor(window=1600).update(proba[:, order], np.argsort(order)[truth])
    assert [each.row for each in one.alarms] == [each.row for each in other.alarms]
    assert order[other.alarms[0].label] == one.alarms[0].label
    assert other.value == pytest.approx(one.value, rel=1e-9)
    (left,), (right,) = one.windows(), other.windows()
    np.testing.assert_allclose(np.array(left.frequency)[order], right.frequency)
    np.testing.assert_allclose(np.array(left.intercept)[order], right.intercept, atol=1e-6)


def extreme(n_classes):
    """Forecasts of every kind, down to those that can hardly happen."""
    random = np.random.default_rng(1)
    parts = [random.dirichlet(np.full(n_classes, size), 40) for size in (100.0, 1.0, 0.1, 0.01)]
    tiny = np.full((3, n_classes), [[1e-5], [1e-12], [1e-15]])
    tiny[:, 0] = 1 - tiny[:, 1:].sum(axis=1)
    proba = np.concatenate([*parts, tiny, np.eye(n_classes)])
    return proba / proba.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_no_bet_wins_on_average_against_right_forecasts(n_classes):
    # The mean over all truths is exact, so that the promises need no simulation.
    proba = extreme(n_classes)
    alternatives = Alternatives(np.full(n_classes, 1 / n_classes))
    random = np.random.default_rng(2)
    mean = np.zeros((len(proba), len(alternatives.weights)))
    theta = np.append(random.normal(size=n_classes), 0.6)
    for label in range(n_classes):
        truth = np.full(len(proba), label)
        ratios = np.empty_like(mean)
        alternatives.ratios(proba, truth, ratios)
        ratios[:, -1] = learned(proba, truth, None, theta)[0]
        mean += proba[:, [label]] * ratios
    assert mean.max() <= 1 + 1e-12
