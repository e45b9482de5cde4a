"""`monitor_chart` draws the numbers of the monitor, and nothing else."""

import numpy as np
import pytest

from calibrant import CalibrationMonitor
from calibrant._core._errors import DataError, ParameterError
from calibrant.plots import monitor_chart
from plots.cases import WATCHED


def test_the_evidence_and_its_bound():
    ax = monitor_chart(WATCHED)
    curve = WATCHED.curve()
    line, bound, *alarms = ax.lines
    np.testing.assert_array_equal(line.get_xydata(), curve[:, 1:])
    assert set(bound.get_ydata()) == {WATCHED.threshold}
    assert [each.get_xdata()[0] for each in alarms] == [each[0].time for each in WATCHED.changes()]


@pytest.mark.parametrize("measure", ["log_loss", "brier_score", "error_rate", "cost", "slope", "frequency"])
def test_windows_are_drawn_where_they_are(measure):
    ax = monitor_chart(WATCHED, measure)
    windows = WATCHED.windows()
    values = [getattr(each, measure) for each in windows]
    values = [each[-1] if isinstance(each, tuple) else each for each in values]
    bands = [each.get_paths()[0].get_extents() for each in ax.collections[: len(windows)]]
    assert [band.ymin for band in bands] == pytest.approx([each.low for each in values])
    assert [band.ymax for band in bands] == pytest.approx([each.high for each in values])
    assert [band.xmin for band in bands] == [each.began for each in windows]
    drawn = {float(line.get_ydata()[0]) for line in ax.lines}
    assert {float(each) for each in values} <= drawn


def test_dates_are_dates():
    times = np.datetime64("2026-01-01") + np.arange(len(WATCHED.curve()) * 0 + 500)
    proba = np.random.default_rng(0).random(500)
    monitor = CalibrationMonitor(window="month").update(proba, proba > 0.5, times)
    ax = monitor_chart(monitor, "frequency")
    ax.figure.canvas.draw()
    assert "2026" in " ".join(each.get_text() for each in ax.get_xticklabels())


def test_without_labels_it_says_so():
    assert monitor_chart(CalibrationMonitor()).texts[0].get_text() == "no rows with labels yet"


def test_refuses_what_is_not_there():
    with pytest.raises(ParameterError, match="measure must be"):
        monitor_chart(WATCHED, "accuracy")
    with pytest.raises(DataError, match="label must be one of the classes"):
        monitor_chart(WATCHED, "frequency", label="maybe")
    with pytest.raises(ParameterError, match="label is for the frequency"):
        monitor_chart(WATCHED, "slope", label=1)
