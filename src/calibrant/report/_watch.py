"""What a monitor has found, as plain values for a page."""

from dataclasses import dataclass

from calibrant._core._checks import shown
from calibrant._core._errors import ParameterError
from calibrant._core._names import label_text
from calibrant.metrics import Estimate
from calibrant.monitor import (
    Advice,
    Alarm,
    CalibrationMonitor,
    Group,
    Reliability,
    Window,
    mended,
    shown_time,
)
from calibrant.report._words import number
from calibrant.report._written import Written

#: Where to look first, by what changed.
FIRST_LOOK = {
    "level": "Look at base rates first: another way of sampling, a new segment; the groups below say which.",
    "sharpness": "Look at the inputs first: some may have lost their meaning, or new kinds of cases came.",
    "learned": "Look at the windows below first: intercepts of the classes, and the slope.",
    "impossible": "Look at the model's output first: no forecast should ever be exactly 0.",
    "drift": "Look at the inputs first: units, missing values, another population.",
}
#: Sentences on changes, the last ones.
MOST_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Change:
    """A change, by its first alarm.

    Attributes
    ----------
    alarm : Alarm
        The first alarm.
    n_more : int
        Alarms that came after it, as it was not mended.
    last : Alarm
        The last of them.
    over : bool
        Whether rows since have spoken against all that they say.
    """

    alarm: Alarm
    n_more: int
    last: Alarm
    over: bool


@dataclass(frozen=True, slots=True)
class WatchSummary(Written):
    """What a monitor has found.

    Attributes
    ----------
    title : str
        The title.
    n_rows, n_labelled, n_waiting, n_given_up, n_alarms : int
        Rows, those with labels, those that wait for one or did in vain, and alarms.
    classes : tuple of str
        The classes.
    dated : bool
        Whether times are dates, in microseconds since 1970.
    bound : {"run_length", "ever"}
        What is promised of false alarms.
    promise : str
        The same in words.
    level : {"believable", "not", "unknown"}
        Whether there is no alarm, or one, or nothing to tell it by.
    headline : str
        The answer.
    findings, advice : tuple of str
        What was found, and what to do.
    changes : tuple of Change
        The alarms, by the change that they tell of.
    threshold, value, drift_value : float
        The evidence at which there is an alarm; the present evidence of labels; and of scores.
    curve : tuple of tuple of float
        Row, time and evidence, in time order.
    windows : tuple of Window
        Estimates over time.
    groups : tuple of Group
        Groups, those with most evidence first.
    before, since : Reliability or None
        Forecasts against what came, before the first change that has not been mended, or the last one, and
        since; None where there are no rows.
    gain : Estimate or None
        By how much a refit is expected to lower the log loss of a row.
    """

    schema = "calibrant-watch-1"

    title: str
    n_rows: int
    n_labelled: int
    n_waiting: int
    n_given_up: int
    n_alarms: int
    classes: tuple[str, ...]
    dated: bool
    bound: str
    promise: str
    level: str
    headline: str
    findings: tuple[str, ...]
    advice: tuple[str, ...]
    changes: tuple[Change, ...]
    threshold: float
    value: float
    drift_value: float
    curve: tuple[tuple[float, ...], ...]
    windows: tuple[Window, ...]
    groups: tuple[Group, ...]
    before: Reliability | None
    since: Reliability | None
    gain: Estimate | None

    def to_html(self) -> str:
        """Write it as one HTML page that needs no other file and no network.

        Returns
        -------
        str
            The page.
        """
        from calibrant.report._watch_html import render_watch  # noqa: PLC0415  (jinja2)

        return render_watch(self)

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.n_rows} rows, {self.n_labelled} with labels", self.headline]
        return "\n".join(lines + [f"- {line}" for line in (*self.findings, *self.advice)])


def summarize_monitor(monitor: CalibrationMonitor, *, title: str = "Calibration over time") -> WatchSummary:
    """Put together what a monitor has found: one page for whoever is woken by its alarm.

    Parameters
    ----------
    monitor : CalibrationMonitor
        The monitor.
    title : str, optional
        The title of the page; by default "Calibration over time".

    Returns
    -------
    WatchSummary
        What was found, as plain values; `WatchSummary.save` writes the page.

    See Also
    --------
    calibrant.plots.monitor_chart : The same as a figure.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import CalibrationMonitor
    >>> from calibrant.report import summarize_monitor
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.beta(1, 4, size=6000)
    >>> true = np.where(np.arange(6000) < 3000, proba, 2 * proba / (1 + proba))
    >>> monitor = CalibrationMonitor().update(proba, rng.random(6000) < true)
    >>> summarize_monitor(monitor).headline
    'Alarm: class 1 comes more often than forecast'
    """
    if not isinstance(monitor, CalibrationMonitor):
        raise ParameterError(f"monitor must be a CalibrationMonitor; got {shown(monitor)}")
    labelled = monitor.n_labelled > 0
    changes = tuple(Change(each[0], len(each) - 1, each[-1], mended(each)) for each in monitor.changes())
    before, since = monitor.reliability() if labelled else (None, None)
    advice = monitor.advice() if labelled else None
    groups = monitor.groups()
    level, headline = _verdict(monitor, changes)
    return WatchSummary(
        title=str(title),
        n_rows=monitor.n_rows,
        n_labelled=monitor.n_labelled,
        n_waiting=monitor.n_waiting,
        n_given_up=monitor.n_given_up,
        n_alarms=monitor.n_alarms,
        classes=tuple(str(label_text(each)) for each in monitor.classes),
        dated=monitor.dated,
        bound=monitor.bound,
        promise=_promise(monitor),
        level=level,
        headline=headline,
        findings=tuple(_findings(monitor, changes, groups)),
        advice=tuple(_advice(advice, changes)),
        changes=changes,
        threshold=monitor.threshold,
        value=monitor.value,
        drift_value=monitor.drift_value,
        curve=tuple(tuple(point) for point in monitor.curve().tolist()),
        windows=monitor.windows(),
        groups=groups,
        before=before if before is not None and before.cells else None,
        since=since if since is not None and since.cells else None,
        gain=None if advice is None else advice.gain,
    )


def moment(time: float, dated: bool) -> str:
    """A time as it is read in a sentence: to the minute, or to the second where it has one."""
    text = shown_time(time, dated)
    return text.replace("T", " ").removesuffix(":00") if dated else number(time, 10)


def _promise(monitor: CalibrationMonitor) -> str:
    if monitor.bound == "ever":
        return f"the chance that believable forecasts ever raise an alarm is at most {100 * monitor.alpha:g}%"
    return (
        f"believable forecasts raise an alarm at most once in {number(monitor.run_length)} rows, on average"
    )


def _verdict(monitor: CalibrationMonitor, changes: tuple[Change, ...]) -> tuple[str, str]:
    if changes:
        first = _by_weight(changes)[0]
        return "not", f"{'It seems to be over' if first.over else 'Alarm'}: {first.alarm.what}"
    if monitor.n_labelled:
        return "believable", "No alarm: what comes is still what was forecast"
    return "unknown", "No labels yet: nothing tells whether the forecasts are right"


def _findings(
    monitor: CalibrationMonitor, changes: tuple[Change, ...], groups: tuple[Group, ...]
) -> list[str]:
    found = [_sentence(monitor, each) for each in _by_weight(changes)]
    if len(found) > MOST_CHANGES:
        found = [*found[:MOST_CHANGES], f"There were {len(found) - MOST_CHANGES:,} earlier changes."]
    if not changes and monitor.n_labelled:
        found.append(
            f"The evidence against the forecasts stands at {number(monitor.value, 3)}; there is an alarm at "
            f"{number(monitor.threshold)}."
        )
    if groups:
        n_off = sum(each.found for each in groups)
        found.append(f"{n_off:,} of {len(groups):,} groups are off.")
    if monitor.n_waiting:
        found.append(f"{monitor.n_waiting:,} rows wait for labels, or behind rows that do.")
    return found or ["What forecasts promise is below."]


def _by_weight(changes: tuple[Change, ...]) -> list[Change]:
    """What is not mended first, what labels tell before what scores alone do.

    Of changes that are not mended the first one comes first, since things have been wrong for so long; of
    others the last, and so of events that were called impossible.
    """

    def weight(change: Change) -> tuple[bool, bool, bool, int]:
        event = change.alarm.kind == "impossible"
        late = change.over or event
        return (
            change.over,
            change.alarm.kind == "drift",
            event,
            -change.last.row if late else change.alarm.row,
        )

    return sorted(changes, key=weight)


def _sentence(monitor: CalibrationMonitor, change: Change) -> str:
    alarm = change.alarm
    dated = monitor.dated
    timed = monitor.last_time is not None
    at = f"{moment(alarm.time, dated)} (row {alarm.row:,})" if timed else f"row {alarm.row:,}"
    if alarm.kind == "impossible":
        more = f" So did {change.n_more:,} more." if change.n_more else ""
        return f"At {at}: {alarm.what}.{more}"
    began, low, high = (
        moment(each, dated) for each in (alarm.began_time, alarm.began_low_time, alarm.began_high_time)
    )
    since = began if timed else f"row {began}"
    text = f"Since about {since} (95%: {low} to {high}) {alarm.what}; the alarm came at {at}."
    more = f"{change.n_more:,} more alarm{'s' if change.n_more > 1 else ''}"
    if change.over:
        told = f" after {more}" if change.n_more else ""
        return f"{text} It seems to be over{told}: rows since then speak against it."
    if change.n_more:
        text += f" It goes on: {more}, the last at {moment(change.last.time, dated)}."
    return text


def _advice(advice: Advice | None, changes: tuple[Change, ...]) -> list[str]:
    said = [] if advice is None else [advice.text[0].upper() + advice.text[1:] + "."]
    kinds = dict.fromkeys(each.alarm.kind for each in _by_weight(changes) if not each.over)
    if advice is None:
        said.append("Collect labels: without them only drift of the scores can be told.")
    return said + [FIRST_LOOK[kind] for kind in list(kinds)[:2]]
