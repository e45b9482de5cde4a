"""What an alarm says."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from calibrant._core._arrays import Array
from calibrant._core._checks import plain
from calibrant._core._names import label_text
from calibrant.monitor._alternatives import Alternatives, Change, words
from calibrant.monitor._detector import Crossing


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm.

    Attributes
    ----------
    row : int
        The number of the row, counted from 0 over all rows, after which it was raised.
    time : float
        Its time; the row number if there are none, microseconds since 1970 if times are dates (see
        `CalibrationMonitor.shown_time`).
    kind : {"level", "sharpness", "learned", "impossible", "drift"}
        What changed: the level of a class; how sure forecasts are; several things at once; a class came whose
        forecast was 0; or, without labels, the scores.
    what : str
        The same in words.
    label : object
        The class that it is about; None if it is about all.
    size : float
        Shift of the log-odds of the class, or slope of the forecasts, of the alternative that leads; 0 if
        there is none.
    value : float
        The evidence: the value of the process.
    bound : float
        What it has reached.
    began, began_low, began_high : int
        The row with which the change most probably began, and an interval of 95%.
    began_time, began_low_time, began_high_time : float
        Their times.
    continues : bool
        Whether it tells of the change of the alarm before, which has not been mended: no rows have spoken
        against it since the process started again.
    over : bool
        Whether rows after it have spoken against it: they are a hundred times as probable without the change
        as with it. It is no part of what makes two alarms equal.
    """

    row: int
    time: float
    kind: str
    what: str
    label: object
    size: float
    value: float
    bound: float
    began: int
    began_low: int
    began_high: int
    began_time: float
    began_low_time: float
    began_high_time: float
    continues: bool = False
    over: bool = field(default=False, compare=False)


def mended(change: Sequence[Alarm]) -> bool:
    """Whether what the alarms of a change say is over, all of it."""
    return all(each.over for each in change)


def change_alarm(
    crossing: Crossing, at: tuple[int, float], alternatives: Alternatives, labels: Array, bound: float
) -> Alarm:
    """The alarm of forecasts that are not calibrated any more."""
    change = _leading(crossing, alternatives)
    label = None if change.label is None else plain(labels[change.label])
    return _alarm(crossing, at, change.kind, words(change, labels), label, change.size, bound)


def drift_alarm(crossing: Crossing, at: tuple[int, float], what: str, label: object, bound: float) -> Alarm:
    """The alarm of scores that are not those of the reference any more."""
    return _alarm(crossing, at, "drift", what, plain(label), 0.0, bound)


def impossible_alarm(at: tuple[int, float], label: object, least: float) -> Alarm:
    """The alarm of a class that came though its forecast was 0."""
    what = (
        f"class {label_text(label)} came, and its forecast was 0: an impossible event; it counts as {least:g}"
    )
    row, time = at
    return Alarm(row, time, "impossible", what, plain(label), 0.0, 1.0, 1.0, row, row, row, time, time, time)


def _leading(crossing: Crossing, alternatives: Alternatives) -> Change:
    """The change whose sizes have most evidence together, with the size that has most of it."""
    totals: dict[tuple[str, int | None, bool], float] = {}
    for change, share in zip(alternatives.changes, crossing.shares.tolist(), strict=True):
        totals[change.family] = totals.get(change.family, 0.0) + share
    family = max(totals, key=lambda each: totals[each])
    members = [place for place, each in enumerate(alternatives.changes) if each.family == family]
    return alternatives.changes[max(members, key=lambda place: crossing.shares[place])]


def _alarm(
    crossing: Crossing,
    at: tuple[int, float],
    kind: str,
    what: str,
    label: object,
    size: float,
    bound: float,
) -> Alarm:
    (began, began_time), (low, low_time), (high, high_time) = (
        crossing.began,
        crossing.earliest,
        crossing.latest,
    )
    return Alarm(
        *at,
        kind,
        what,
        label,
        size,
        crossing.value,
        bound,
        began,
        low,
        high,
        began_time,
        low_time,
        high_time,
    )
