"""Monitors whose pages are opened in a browser, calm ones and odd ones."""

import numpy as np

from calibrant import CalibrationMonitor
from calibrant.report import summarize_monitor
from report.pages import NASTY


def rows(n, k, seed=0, changed=None, more=2.5):
    """Forecasts, and what came: the first class too often from a row on."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(k), n)
    true = proba.copy()
    if changed is not None:
        true[changed:, 0] *= more
    truth = (true.cumsum(axis=1) / true.sum(axis=1, keepdims=True) > rng.random((n, 1))).argmax(axis=1)
    return proba, truth, rng


def _dates(n, step=1800):
    return np.datetime64("2026-01-01", "us") + np.arange(n) * np.timedelta64(step, "s")


def _credit():
    proba, truth, rng = rows(6000, 2, changed=3000)
    group = {"region": rng.choice(["north", "south", "east"], 6000), "kind": rng.choice(["new", "old"], 6000)}
    monitor = CalibrationMonitor(
        classes=["late", "paid"], window="week", cost=[[0, 1], [8, 0]], reference=proba[:2000]
    )
    return summarize_monitor(
        monitor.update(proba, np.array(["late", "paid"])[truth], _dates(6000), group), title="Credit"
    )


def _calm():
    proba, truth, _ = rows(3000, 3, seed=1)
    return summarize_monitor(CalibrationMonitor(window=500, bound="ever").update(proba, truth), title="Calm")


def _ten():
    proba, truth, _ = rows(4000, 10, seed=2, changed=2000, more=4)
    return summarize_monitor(
        CalibrationMonitor(window=250).update(proba, truth, _dates(4000, 60)), title="Ten"
    )


def _nasty():
    proba, truth, rng = rows(2500, 4, seed=3, changed=1000, more=6)
    proba = np.where(proba < 0.02, 0.0, proba)  # events that were called impossible
    proba /= proba.sum(axis=1, keepdims=True)
    group = {"<i>g</i>": rng.choice(NASTY, 2500)}
    monitor = CalibrationMonitor(classes=NASTY, window=300).update(proba, np.array(NASTY)[truth], group=group)
    return summarize_monitor(monitor, title="</title><script>alert(2)</script>")


def _unlabelled():
    proba, _, _ = rows(1000, 2, seed=4)
    monitor = CalibrationMonitor(reference=proba, window=200).update(np.sqrt(proba[:, 1]))
    return summarize_monitor(monitor, title="No labels")


def _few():
    return summarize_monitor(CalibrationMonitor().update([0.2, 0.7], [0, 1]), title="Two rows")


def _empty():
    return summarize_monitor(CalibrationMonitor(), title="Nothing yet")


WATCHES = {
    "credit": _credit,
    "calm": _calm,
    "ten": _ten,
    "nasty": _nasty,
    "unlabelled": _unlabelled,
    "few": _few,
    "empty": _empty,
}
