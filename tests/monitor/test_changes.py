"""One change or two: alarms of a change that nobody mended are told as such; one that was mended is over."""

import json

import numpy as np
import pytest

from calibrant import CalibrationMonitor
from calibrant.monitor._bound import RunLength
from calibrant.monitor._detector import BLOCK, Detector
from calibrant.report import summarize_monitor
from monitor.streams import cuts, draw


def stretches(*parts, n_classes=3, seed=0):
    """Rows of several stretches, each of so many rows and with what is off."""
    found = [draw(n, n_classes, seed + place, **off) for place, (n, off) in enumerate(parts)]
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))


def watched(*parts, **options):
    return CalibrationMonitor(window=None).update(*stretches(*parts, **options))


def test_how_much_speaks_against_an_alternative_is_what_it_says():
    """The greatest inverse of a product from the start on, whatever the blocks."""
    random = np.random.default_rng(0)
    detector = Detector(np.array([0.5, 0.5]), RunLength(1e300))
    logs = random.normal([-0.05, 0.02], 0.3, (5 * BLOCK, 2))
    for start in range(0, len(logs), BLOCK):
        place = np.column_stack([np.arange(start, start + BLOCK)] * 2).astype(float)
        detector.advance(np.exp(logs[start : start + BLOCK]), place, BLOCK)
    products = np.vstack([np.zeros(2), np.cumsum(logs, axis=0)])[:-1]  # before every row
    np.testing.assert_allclose(detector.against(), -products.min(axis=0), rtol=1e-9)


def test_rows_of_a_change_seldom_speak_against_it():
    """At most one stream in twenty has a greatest inverse of 20 or more (Ville)."""
    against = []
    for seed in range(200):
        p = 1 / (1 + np.exp(-np.random.default_rng(seed).normal(-1.4, 1.0, 4 * BLOCK)))
        odds = np.exp(0.5) * p / (1 - p)
        came = np.random.default_rng(1000 + seed).random(len(p)) < odds / (1 + odds)
        ratios = np.where(came, np.exp(0.5), 1.0) / (1 + p * (np.exp(0.5) - 1))
        detector = Detector(np.ones(1), RunLength(1e300))
        for start in range(0, len(p), BLOCK):
            place = np.column_stack([np.arange(start, start + BLOCK)] * 2).astype(float)
            detector.advance(ratios[start : start + BLOCK, np.newaxis].copy(), place, BLOCK)
        against.append(detector.against()[0])
    assert np.mean(np.array(against) >= np.log(20)) <= 0.05


@pytest.mark.parametrize("off", [{"shift": 1.0}, {"slope": 0.5}, {"shift": -0.7}])
def test_a_change_that_is_not_mended_stays_one(off):
    found = [watched((1000, {}), (6000, off), seed=10 * seed) for seed in range(5)]
    later = [alarm for each in found for alarm in each.alarms[1:]]
    assert len(later) > 25
    assert np.mean([not alarm.continues for alarm in later]) <= 0.04
    assert not any(alarm.over for each in found for alarm in each.changes()[-1][-1:])


def test_a_change_that_was_mended_is_over_and_can_come_again():
    found = watched((1000, {}), (2000, {"shift": 1.0}), (2000, {}), (2000, {"shift": 1.0}))
    first, second = found.changes()
    assert all(alarm.over for alarm in first)
    assert not second[-1].over
    assert 1000 < first[0].row < 1400
    assert second[0].began_low <= 5000 <= second[0].began_high + 100
    summary = summarize_monitor(found)
    assert summary.findings[0].startswith(f"Since about row {second[0].began:,}")
    assert "It seems to be over" in summary.findings[1]


def test_when_all_is_mended_the_page_says_so():
    found = watched((1000, {}), (2000, {"shift": 1.0}), (4000, {}))
    summary = summarize_monitor(found)
    assert summary.headline.startswith("It seems to be over: class 0 comes more often")
    assert summary.advice == ("What was off seems to be over, and no gain that is certain enough.",)
    assert found.advice().action == "nothing"
    assert found.advice().since_row >= found.alarms[-1].row - BLOCK


def test_the_headline_is_the_first_change_that_goes_on():
    """Another one on top of it, of its own kind, does not hide since when things are wrong."""
    parts = ((1000, {}), (1500, {"slope": 0.6}), (3000, {"slope": 0.6, "shift": -1.5}))
    found = watched(*parts)
    standing = [each for each in found.changes() if not all(alarm.over for alarm in each)]
    assert standing[0][0].began < 1100
    summary = summarize_monitor(found)
    assert summary.headline == f"Alarm: {standing[0][0].what}"
    assert abs(found.reliability()[1].first_row - standing[0][0].began) <= BLOCK


def test_the_same_however_rows_are_cut_and_resumed():
    proba, truth = stretches((500, {}), (2000, {"shift": 1.0}), (3000, {}), (1111, {"slope": 0.5}))
    whole = CalibrationMonitor(window=None).update(proba, truth)
    parts = CalibrationMonitor(window=None)
    for some in cuts(len(truth), 3):
        parts.update(proba[some], truth[some])
        parts = CalibrationMonitor.from_json(parts.to_json())
    assert parts.to_json() == whole.to_json()
    assert [(a.row, a.continues, a.over) for a in parts.alarms] == [
        (a.row, a.continues, a.over) for a in whole.alarms
    ]
    assert any(a.over for a in whole.alarms)


def test_states_without_it_are_read():
    monitor = watched((500, {}), (2000, {"shift": 1.0}))
    state = json.loads(monitor.to_json())
    for alarm in state["labelled"]["alarms"]:
        del alarm["over"]
    again = CalibrationMonitor.from_json(json.dumps(state))
    assert again.alarms == monitor.alarms
    assert [a.over for a in again.alarms] == [a.over for a in monitor.alarms]


def test_drift_goes_on_and_is_over():
    random = np.random.default_rng(0)
    usual, moved = random.beta(2, 5, 5000), random.beta(4, 3, 1500)
    monitor = CalibrationMonitor(reference=usual[:3000], window=None)
    monitor.update(usual[3000:]).update(moved)
    assert {alarm.kind for alarm in monitor.alarms} == {"drift"}
    assert [alarm.continues for alarm in monitor.alarms[:3]] == [False, True, True]
    assert not monitor.alarms[-1].over
    monitor.update(random.beta(2, 5, 4000))
    assert monitor.changes()[0][0].over
