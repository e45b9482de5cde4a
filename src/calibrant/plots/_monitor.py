"""What a monitor has found, over time."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant.metrics import Estimate
from calibrant.monitor import CalibrationMonitor
from calibrant.plots._axes import axes_or_new, expect, say
from calibrant.plots._style import BLUE, ORANGE, VERMILION

#: What can be drawn, and the name of its axis.
MEASURES = {
    "evidence": "evidence against the forecasts",
    "log_loss": "log loss",
    "brier_score": "Brier score",
    "error_rate": "error rate",
    "cost": "cost of a decision",
    "slope": "slope (1 is right)",
    "frequency": "frequency",
}


def monitor_chart(
    monitor: CalibrationMonitor, measure: str = "evidence", *, label: object = None, ax: Any = None
) -> Any:
    """Draw what a monitor has found over time, with its alarms.

    The evidence is drawn on a log scale with the bound at which there is an alarm. Estimates are drawn window
    by window, in bands of 95%, beside what the forecasts promised (dashed). Upright lines are changes, at
    their first alarms; the shaded span is when each began (95%).

    Parameters
    ----------
    monitor : CalibrationMonitor
        The monitor.
    measure : {"evidence", "log_loss", "brier_score", "error_rate", "cost", "slope", "frequency"}, optional
        What to draw; by default the evidence.
    label : object, optional
        For the frequency: the class. By default the last one.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    See Also
    --------
    calibrant.report.summarize_monitor : All of it on one page.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import CalibrationMonitor
    >>> from calibrant.plots import monitor_chart
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.beta(1, 4, size=6000)
    >>> true = np.where(np.arange(6000) < 3000, proba, 2 * proba / (1 + proba))
    >>> monitor = CalibrationMonitor(window=500).update(proba, rng.random(6000) < true)
    >>> monitor_chart(monitor).get_yscale()
    'log'
    >>> monitor_chart(monitor, "frequency", label=1).get_ylabel()
    'frequency of class 1'
    """
    expect(monitor, CalibrationMonitor, "monitor", "CalibrationMonitor")
    check_option("measure", measure, tuple(MEASURES))
    place = _place(monitor, label) if measure == "frequency" else 0
    if label is not None and measure != "frequency":
        raise ParameterError(f"label is for the frequency of a class; got measure={measure!r}; leave it out")
    ax = axes_or_new(ax, (7.0, 3.6))
    name = MEASURES[measure]
    ax.set_ylabel(f"{name} of class {label_text(monitor.classes[place])}" if measure == "frequency" else name)
    ax.set_xlabel("time" if monitor.last_time is not None else "row")
    if not (_draw_evidence(ax, monitor) if measure == "evidence" else _draw(ax, monitor, measure, place)):
        say(ax, "no rows with labels yet")
        return ax
    for alarms in monitor.changes():
        first = alarms[0]
        span = _times(monitor, [first.began_low_time, first.began_high_time])
        ax.axvspan(*span, color=VERMILION, alpha=0.18, linewidth=0, zorder=0.5)
        ax.axvline(_times(monitor, [first.time])[0], color=VERMILION, linewidth=1.3, zorder=2.5)
    return ax


def _draw_evidence(ax: Any, monitor: CalibrationMonitor) -> bool:
    curve = monitor.curve()
    if not len(curve):
        return False
    ax.set_yscale("log")
    ax.plot(_times(monitor, curve[:, 1]), np.maximum(curve[:, 2], 1e-3), color=BLUE, linewidth=1.4, zorder=2)
    ax.axhline(monitor.threshold, color="0.35", linestyle=(0, (4, 3)), linewidth=1, label="alarm")
    return True


def _draw(ax: Any, monitor: CalibrationMonitor, measure: str, place: int) -> bool:
    drawn = False
    for window in monitor.windows():
        came = _of(getattr(window, measure), place)
        other = "mean_forecast" if measure == "frequency" else f"promised_{measure}"
        promised = _of(getattr(window, other, None), place)
        ends = _times(monitor, [window.began, window.ended])
        if came is not None:
            drawn = True
            ax.fill_between(ends, came.low, came.high, color=BLUE, alpha=0.22, linewidth=0, zorder=1)
            ax.plot(ends, [came, came], color=BLUE, linewidth=1.8, zorder=2)
        if promised is not None:
            drawn = True
            ax.plot(ends, [promised, promised], color=ORANGE, linestyle=(0, (4, 2)), linewidth=1.5, zorder=2)
    if measure == "slope":
        ax.axhline(1.0, color="0.55", linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    return drawn


def _of(value: Any, place: int) -> Estimate | None:
    """An estimate, or that of a class; None where there is none."""
    if isinstance(value, tuple):
        return value[place] if value else None
    return value if isinstance(value, Estimate) else None


def _times(monitor: CalibrationMonitor, times: Any) -> Array:
    """Times as an axis takes them."""
    numbers = np.asarray(times, dtype=np.float64)
    return numbers.astype(np.int64).astype("datetime64[us]") if monitor.dated else numbers


def _place(monitor: CalibrationMonitor, label: object) -> int:
    texts = [label_text(each) for each in monitor.classes]
    if label is None:
        return len(texts) - 1
    if label_text(label) not in texts:
        raise DataError(f"label must be one of the classes {texts}; got {label!r}")
    return texts.index(label_text(label))
