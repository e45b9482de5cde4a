"""Whatever comes in as whatever argument of a monitor: it works, or an error of ours says why not."""

from contextlib import suppress

import numpy as np
import pytest

from calibrant import CalibrantError, CalibrationMonitor
from test_hostile import HOSTILE, PROBA, TRUTH, N

#: What rows usually have.
ROWS = {
    "proba": PROBA,
    "y": TRUTH,
    "time": np.arange(N),
    "group": {"a": TRUTH},
    "sample_weight": np.ones(N),
    "key": np.arange(N),
}
OPTIONS = (
    *("bound", "run_length", "alpha", "classes", "reference", "reference_weight", "window", "n_windows"),
    *("cost", "group_alpha", "max_groups", "max_waiting"),
)


def used(monitor, rows):
    """Everything that can be asked of a monitor."""
    monitor.update(**rows)
    found = (monitor.alarms, monitor.windows(), monitor.groups(), monitor.value, monitor.curve())
    assert CalibrationMonitor.from_json(monitor.to_json()).to_json() == monitor.to_json()
    return found


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", ROWS)
def test_rows(name, hostile):
    monitor = CalibrationMonitor().update(**ROWS)
    before = monitor.to_json()
    rows = ROWS | {"time": np.arange(N, 2 * N), "key": np.arange(N, 2 * N), name: HOSTILE[hostile]()}
    try:
        monitor.update(**rows)
    except CalibrantError:
        assert monitor.to_json() == before
    with suppress(CalibrantError):
        used(CalibrationMonitor(), ROWS | {name: HOSTILE[hostile]()})


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", OPTIONS)
def test_options(name, hostile):
    usual = {"reference": PROBA} if name == "reference_weight" else {}
    with suppress(CalibrantError):
        used(CalibrationMonitor(**usual | {name: HOSTILE[hostile]()}), {"proba": PROBA, "y": TRUTH})


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", ["key", "y"])
def test_labels(name, hostile):
    monitor = CalibrationMonitor().update(PROBA, key=np.arange(N))
    given = {"key": np.arange(N), "y": TRUTH} | {name: HOSTILE[hostile]()}
    before = monitor.to_json()
    try:
        monitor.add_labels(**given)
    except CalibrantError:
        assert monitor.to_json() == before


@pytest.mark.parametrize("hostile", HOSTILE)
def test_states(hostile):
    with pytest.raises(CalibrantError):
        CalibrationMonitor.from_json(HOSTILE[hostile]())
    with pytest.raises(CalibrantError):
        CalibrationMonitor().merge(HOSTILE[hostile]())
