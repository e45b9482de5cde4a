"""Windows beside `evaluate`; groups beside brute force; drift beside counting; advice."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from calibrant import CalibrationMonitor
from calibrant._core._mix import mix
from calibrant.metrics import evaluate
from calibrant.monitor import e_bh
from calibrant.monitor._bound import RunLength
from calibrant.monitor._drift import Drift
from calibrant.monitor._groups import GENTLE_SHIFTS
from monitor.naive import SLOPES, safe, tilt
from monitor.streams import changing, draw


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_window_has_what_evaluate_finds(n_classes, weighted):
    proba, truth = draw(4000, n_classes, 2, slope=0.8)
    weights = np.random.default_rng(0).choice([0.5, 1.0], 4000) if weighted else None
    cost = 1.0 - np.eye(n_classes) + np.arange(n_classes)[:, np.newaxis] / 10
    (window,) = (
        CalibrationMonitor(window=4000, cost=cost).update(proba, truth, sample_weight=weights).windows()
    )
    found = evaluate(truth, proba, sample_weight=weights, cost=cost, classes=range(n_classes))
    for name in ("log_loss", "brier_score", "error_rate"):
        ours, theirs = getattr(window, name), getattr(found, name)
        assert ours == pytest.approx(theirs, abs=1e-6)
        assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.05)
    assert window.cost == pytest.approx(found.cost.mean_cost, abs=1e-6)
    # In cells the regression follows the rows less.
    assert found.calibration.low <= window.calibration <= found.calibration
    assert window.calibration + window.refinement == pytest.approx(window.brier_score)
    assert window.slope == pytest.approx(found.calibration_slope, rel=0.01)
    assert window.slope.error == pytest.approx(found.calibration_slope.error, rel=0.15)
    intercepts = [found.calibration_intercept] if n_classes == 2 else found.calibration_intercept
    np.testing.assert_allclose(window.intercept, intercepts, atol=0.01)
    for ours, p, each in zip(window.frequency, window.mean_forecast, found.by_class, strict=True):
        assert ours == pytest.approx(each.share, abs=1e-6)
        assert p == pytest.approx(each.mean_probability, abs=1e-6)
        assert p.error == pytest.approx(each.mean_probability.error, rel=0.01)


def test_windows_of_the_calendar():
    proba, truth = draw(90, 2)
    days = np.datetime64("2026-01-01") + np.arange(90)
    by_month = CalibrationMonitor(window="month").update(proba, truth, time=days).windows()
    assert [each.n_rows for each in by_month] == [31, 28, 31]
    by_week = CalibrationMonitor(window="week").update(proba, truth, time=days).windows()
    assert [each.n_rows for each in by_week] == [4, *[7] * 12, 2]  # the first of January is a Thursday
    monitor = CalibrationMonitor(window="year").update(proba, truth, time=pd.Series(days))
    (year,) = monitor.windows()
    assert monitor.shown_time(year.ended) == "2026-03-31"


def test_a_window_of_one_row_has_numbers_only():
    monitor = CalibrationMonitor(window=1, cost=[[0, 1], [1, 0]]).update([0.3, 1.0, 0.0], [1, 1, 1])
    for window in monitor.windows():
        for name in ("log_loss", "brier_score", "error_rate", "cost", "promised_log_loss", "promised_cost"):
            each = getattr(window, name)
            assert np.isfinite([each, each.low, each.high, each.error]).all()
        assert window.slope is None


@pytest.mark.parametrize("seed", range(20))
def test_e_bh_is_brute_force(seed):
    random = np.random.default_rng(seed)
    logs = random.normal(2, 3, size=random.integers(1, 9))
    m, alpha = len(logs), 0.2
    e = np.exp(logs)
    best = 0
    for r in range(1, m + 1):
        for some in combinations(range(m), r):
            if min(e[list(some)]) >= m / (r * alpha):
                best = max(best, r)
    said = e_bh(logs, alpha)
    assert said.sum() == best
    assert not said.any() or e[said].min() >= (e[~said].max() if (~said).any() else 0)


def test_the_e_value_of_a_group_is_the_product_of_its_rows():
    proba, truth = draw(300, 3, 1, shift=1.0)
    sex, region = (np.random.default_rng(s).integers(0, 2, 300) for s in (1, 2))
    groups = CalibrationMonitor().update(proba, truth, group={"sex": sex, "region": region}).groups()
    assert len(groups) == 2 + 2 + 4
    (group,) = (each for each in groups if each.name == "sex=1, region=0")
    rows = (sex == 1) & (region == 0)
    total = 0.0
    sizes = [sign * d * np.eye(3)[j] for d in (0.5, 1.0) for sign in (1, -1) for j in range(3)]
    for shifts in sizes:
        ratios = [
            np.exp(shifts)[y] / (p @ np.exp(shifts)) for p, y in zip(proba[rows], truth[rows], strict=True)
        ]
        total += 0.6 / 0.9 / 12 * math.prod(ratios)
    for slope in SLOPES:
        ratios = [safe(tilt(p, slope)[y] / p[y]) for p, y in zip(proba[rows], truth[rows], strict=True)]
        total += 0.3 / 0.9 / 4 * math.prod(ratios)
    gaps = np.eye(3)[truth[rows]] - proba[rows]
    variances = (proba[rows] * (1 - proba[rows])).sum(axis=0)
    for size in (1 / 4, 1 / 8, 1 / 16, 1 / 32):
        for shift in (size, -size):
            bets = np.exp(shift * gaps.sum(axis=0) - variances * (math.exp(size) - 1 - size))
            total += float(bets.mean()) / 8
    assert group.e_value == pytest.approx(total / 2, rel=1e-5)
    assert group.n_rows == rows.sum()
    assert group.values == {"sex": 1, "region": 0}
    np.testing.assert_allclose(group.frequency, np.bincount(truth[rows], minlength=3) / rows.sum(), atol=1e-6)
    np.testing.assert_allclose(group.mean_forecast, proba[rows].mean(axis=0), atol=1e-6)
    gap = (truth[rows] == group.worst_class) - proba[rows][:, group.worst_class]
    assert group.gap == pytest.approx(gap.mean(), abs=1e-6)
    assert group.gap.error == pytest.approx(gap.std() / math.sqrt(rows.sum()), rel=1e-3)


def test_the_worst_groups_come_first_and_few_rows_are_said():
    proba, truth = draw(6000, 2)
    off, others = draw(600, 2, 1, shift=1.5), draw(5, 2, 2)
    names = ["well"] * 6000 + ["ill"] * 600 + ["few"] * 5
    monitor = CalibrationMonitor(classes=["no", "yes"]).update(
        np.concatenate([proba, off[0], others[0]]),
        np.array(["no", "yes"])[np.concatenate([truth, off[1], others[1]])],
        group=pd.Series(names, name="state"),
    )
    ill, *rest = monitor.groups()
    assert (ill.name, ill.found) == ("state=ill", True)
    assert ill.verdict == "off: class yes comes less often than forecast"
    assert {each.name: each.verdict for each in rest} == {
        "state=well": "no evidence that it is off",
        "state=few": "too few rows to tell",
    }


def test_an_interval_without_zero_is_not_called_no_evidence():
    """An interval is of one group, looked at once; what is found holds for all groups, whenever one looks."""
    proba, truth = draw(4000, 2, 3)
    off = draw(400, 2, 4, shift=0.4)
    group = np.repeat(["well", "odd"], [4000, 400])
    monitor = CalibrationMonitor().update(
        np.concatenate([proba, off[0]]), np.concatenate([truth, off[1]]), group=pd.Series(group, name="state")
    )
    (odd,) = (each for each in monitor.groups() if each.name == "state=odd")
    assert not odd.found
    assert not odd.gap.low <= 0 <= odd.gap.high
    assert odd.verdict == "not sure: little evidence for so many groups"


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("shift", [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, -0.1, -0.4])
def test_a_gap_of_many_standard_errors_is_found_whatever_its_size(shift, n_classes):
    """Many rows that are off a little are as much evidence as few that are off by much."""
    n = math.ceil(1000 / shift**2)
    proba, truth = draw(n, n_classes, 7, shift=shift)
    calibrated = draw(2000, n_classes, 8)
    monitor = CalibrationMonitor(window=None).update(
        np.concatenate([proba, calibrated[0]]),
        np.concatenate([truth, calibrated[1]]),
        group=np.repeat(["off", "well"], [n, 2000]),
    )
    worst, other = monitor.groups()
    assert abs(worst.gap) > 6 * worst.gap.error
    assert (worst.values, worst.found, other.found) == ({"group": "off"}, True, False)


def test_no_gentle_bet_wins_on_average():
    p = np.linspace(0, 1, 2001)[:, np.newaxis]
    size = np.abs(GENTLE_SHIFTS)
    for weight in (1.0, 0.5, 0.01):
        won = np.exp(weight * GENTLE_SHIFTS * (1 - p))
        lost = np.exp(-weight * GENTLE_SHIFTS * p)
        price = np.exp(weight**2 * p * (1 - p) * (np.expm1(size) - size))
        assert np.all(p * won + (1 - p) * lost <= price * (1 + 1e-15))


def test_ranks_are_counted():
    random = np.random.default_rng(0)
    reference, proba = (random.dirichlet([1, 1, 1], n).round(2) for n in (200, 300))
    drift = Drift.against(reference, RunLength(1e6))
    numbers = np.arange(300, dtype=np.float64)
    ranks = drift.ranks(proba, numbers)
    for column in range(3):
        edges = drift.edges[column]
        seen = np.searchsorted(edges, reference[:, column], side="right").tolist()
        for row in range(300):
            place = int(np.searchsorted(edges, proba[row, column], side="right"))
            key = mix(mix(np.array([row], dtype=np.uint64)) + np.uint64(column))[0]
            chance = (float(int(key) >> 11) + 0.5) / 2**53
            lower, same = sum(each < place for each in seen), seen.count(place)
            assert ranks[row, column] == pytest.approx((lower + chance * (same + 1)) / (len(seen) + 1))
            seen.append(place)


def test_drift_is_found_without_labels_and_no_drift_is_not():
    reference, _ = draw(3000, 3, 1)
    steady, _ = draw(3000, 3, 2)
    moved, _ = draw(3000, 3, 3, spread=2.5)
    monitor = CalibrationMonitor(reference=reference).update(steady)
    assert not monitor.alarms
    alarm = monitor.update(moved).alarms[0]
    assert alarm.kind == "drift"
    assert 3000 < alarm.row < 4500
    assert "than in the reference" in alarm.what
    assert alarm.began_low <= alarm.began <= alarm.began_high


def test_ranks_of_steady_scores_are_uniform():
    reference, proba = draw(500, 2, 1)[0], draw(4000, 2, 2)[0]
    drift = Drift.against(reference, RunLength(1e6))
    ranks = drift.ranks(proba, np.arange(4000.0))[:, 0]
    counts = np.bincount((ranks * 10).astype(int), minlength=10)
    assert ((counts - 400) ** 2 / 400).sum() < 25


def test_steady_scores_seldom_ever_alarm():
    alarmed = 0
    for seed in range(60):
        proba, _ = draw(1600, 3, seed)
        monitor = CalibrationMonitor(bound="ever", alpha=0.1, reference=proba[:400], window=None)
        alarmed += bool(monitor.update(proba[400:]).alarms)
    assert alarmed <= 0.1 * 60


def test_advice_is_to_refit_when_that_is_certain():
    proba, truth = changing(2000, 1500, 3, shift=1.0)
    monitor = CalibrationMonitor().update(proba, truth)
    advice = monitor.advice()
    assert advice.action == "refit"
    assert 1200 < advice.n_rows < 1700
    # What a refit gains is what the true probabilities gain, but for the few parameters.
    true = proba[2000:] * np.exp([1.0, 0, 0])
    true /= true.sum(axis=1, keepdims=True)
    gain = (true * np.log(true / proba[2000:])).sum(axis=1).mean()
    assert advice.gain.low <= gain <= advice.gain.high
    assert "recalibrate with the last" in advice.text


def test_advice_before_a_change_and_soon_after():
    proba, truth = draw(1000, 3)
    assert CalibrationMonitor().update(proba, truth).advice().action == "nothing"
    monitor = CalibrationMonitor(run_length=10).update(proba, truth)
    advice = monitor.advice()
    assert monitor.alarms  # of so short a promise
    assert advice.action == "collect"
    assert "collect more labels" in advice.text
    assert CalibrationMonitor().update(proba).advice().text == "no labelled rows yet"


class TestReliability:
    """Forecasts against what came, before and since a change, are sums over the rows themselves."""

    @pytest.mark.parametrize("k", [2, 4])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_cells_are_those_of_the_rows(self, k, weighted):
        rng = np.random.default_rng(k)
        proba = rng.dirichlet(np.ones(k), 3000)
        true = proba.copy()
        true[1500:, 0] *= 5
        truth = (true.cumsum(axis=1) / true.sum(axis=1, keepdims=True) > rng.random((3000, 1))).argmax(axis=1)
        weights = rng.random(3000) if weighted else np.ones(3000)
        monitor = CalibrationMonitor().update(proba, truth, sample_weight=weights if weighted else None)
        before, since = monitor.reliability()
        assert 0 <= since.first_row - monitor.alarms[0].began <= 256
        forecast = proba[:, 1] if k == 2 else proba.max(axis=1)
        came = truth == (1 if k == 2 else proba.argmax(axis=1))
        for part, rows in ((before, slice(0, since.first_row)), (since, slice(since.first_row, None))):
            w, p, c = weights[rows], forecast[rows], came[rows]
            assert part.weight == pytest.approx(w.sum())
            for cell in part.cells:
                inside = (p >= cell.left) & (p < cell.right)
                assert cell.weight == pytest.approx(w[inside].sum())
                assert cell.mean_forecast == pytest.approx(np.average(p[inside], weights=w[inside]))
                assert cell.frequency == pytest.approx(np.average(c[inside], weights=w[inside]))
        resumed = CalibrationMonitor.from_json(monitor.to_json())
        assert resumed.reliability() == (before, since)

    def test_without_a_change_all_rows_are_before_it(self):
        rng = np.random.default_rng(0)
        proba = rng.random(700)
        before, since = CalibrationMonitor().update(proba, rng.random(700) < proba).reliability()
        assert (before.weight, since.weight, since.cells) == (700, 0, ())
