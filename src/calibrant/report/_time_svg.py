"""Where things stand in drawings over time, and in the dot plot of groups.

Figures hold coordinates and text, no markup; the templates draw them, and the style sheet colours them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant.metrics import Estimate
from calibrant.monitor import Group, Reliability, Window
from calibrant.report._svg import Scale, Tick, UnitPlot, path, shorten, unit_plot
from calibrant.report._watch import Change
from calibrant.report._words import number, percent

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 360, 210, 46, 10, 12, 30
#: The height of the line of a group, room for its name, and the width of all.
LINE, NAMES, GROUPS_WIDTH = 22, 152, 400
#: The least width of what is drawn.
THIN = 1.5
#: Units of the calendar, how many of them a grid may have between lines, and what of a date names a line.
CALENDAR = (
    ("m", (1, 2, 5, 10, 15, 30), 11, 16),
    ("h", (1, 2, 3, 6, 12), 5, 16),
    ("D", (1, 2, 5, 7, 14), 5, 10),
    ("M", (1, 2, 3, 6), 0, 7),
    ("Y", (1, 2, 5, 10, 20, 50, 100, 1000), 0, 4),
)
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True, slots=True)
class TimePlot:
    """A plot over time.

    Attributes
    ----------
    x, y : Scale
        The axes.
    x_ticks, y_ticks : tuple of Tick
        Their grids.
    alarms : tuple of float
        Where changes were found.
    began : tuple of tuple of float
        Between which places they began, most probably.
    width, height, left, right, top, bottom : float
        The drawing, and the plot within.
    """

    x: Scale
    y: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    alarms: tuple[float, ...]
    began: tuple[tuple[float, float], ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM


@dataclass(frozen=True, slots=True)
class Span:
    """An estimate of a window: between two times, at a height, with its interval."""

    x1: float
    x2: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TimeFigure:
    """Estimates over time, beside what was promised, or what would be right."""

    title: str
    plot: TimePlot
    spans: tuple[Span, ...]
    promised: tuple[Span, ...]
    right: float | None


@dataclass(frozen=True, slots=True)
class EvidenceFigure:
    """The evidence over time, on a scale of its logarithm."""

    plot: TimePlot
    line: str
    bound: float


def time_ticks(low: float, high: float, dated: bool, most: int = 4) -> list[tuple[float, str]]:
    """Times of a grid with their names: years, months, days, hours, or round numbers."""
    if not dated:
        return [(value, number(value, 4)) for value in round_numbers(low, high, most)]
    for unit, steps, first, last in CALENDAR:
        kind: Any = f"datetime64[{unit}]"
        start, end = (
            int(np.datetime64(int(each), "us").astype(kind).astype(np.int64)) for each in (low, high)
        )
        step = next((each for each in steps if (end - start) // each < most), None)
        if step is None:
            continue
        moments = np.arange(-(-start // step) * step, end + 1, step).astype(kind)
        times = moments.astype("datetime64[us]").astype(np.int64).tolist()
        names = [str(each)[first:last].replace("T", " ") for each in moments]
        return [(float(at), name) for at, name in zip(times, names, strict=True) if low <= at <= high]
    return [(low, _date(low)[:10]), (high, _date(high)[:10])]


def _date(time: float) -> str:
    return str(np.datetime64(int(time), "us"))


def round_numbers(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two, at most so many."""
    if not high > low:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(size * each for each in (1, 2, 2.5, 5, 10, 20) if (high - low) / (size * each) <= most)
    return [step * each for each in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def time_plot(
    times: tuple[float, float],
    values: tuple[float, float],
    y_ticks: Sequence[tuple[float, str]],
    changes: Sequence[Change],
    *,
    dated: bool,
) -> TimePlot:
    """A plot between two times and two values."""
    low, high = times if times[1] > times[0] else (times[0] - 0.5, times[0] + 0.5)
    x = Scale(low, high, LEFT, WIDTH - RIGHT)
    y = Scale(*values, HEIGHT - BOTTOM, TOP)
    shown = [each.alarm for each in changes if low <= each.alarm.time <= high]
    # Scores drift slowly: when that began would cover what labels tell.
    told = [each for each in shown if each.kind != "drift"] or shown
    inside = [(max(each.began_low_time, low), max(each.began_high_time, low)) for each in told]
    return TimePlot(
        x,
        y,
        _apart([Tick(x(at), text) for at, text in time_ticks(low, high, dated)]),
        tuple(Tick(y(at), text) for at, text in y_ticks),
        tuple(x(each.time) for each in shown),
        tuple((x(a), max(x(b), x(a) + THIN)) for a, b in inside),
    )


def _apart(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Lines of the grid whose names do not touch, from the right."""
    kept: list[Tick] = []
    for tick in reversed(ticks):
        middle = max(tick.place, LEFT + 24)  # where the name of the first one stands
        if not kept or kept[-1].place - middle > 8 * len(tick.label):
            kept.append(tick)
    return tuple(reversed(kept))


def time_figure(
    title: str,
    windows: Sequence[Window],
    came: Sequence[Estimate | None],
    promised: Sequence[Estimate | None],
    changes: Sequence[Change],
    *,
    dated: bool,
    shares: bool = False,
    right: float | None = None,
) -> TimeFigure | None:
    """Lay out estimates window by window; None if there are none."""
    known = [each for each in (*came, *promised) if each is not None]
    if not known:
        return None
    ends = [end for each in known for end in (float(each), each.low, each.high) if math.isfinite(end)]
    ends += [] if right is None else [right]
    low, high = min(ends), max(ends)
    margin = 0.06 * (high - low) or max(abs(high), 1.0) * 0.1
    low, high = low - margin, high + margin
    if shares:
        low, high = max(low, 0.0), min(high, 1.0)
    ticks = [(value, percent(value) if shares else number(value, 3)) for value in round_numbers(low, high)]
    plot = time_plot((windows[0].began, windows[-1].ended), (low, high), ticks, changes, dated=dated)
    return TimeFigure(
        title,
        plot,
        _spans(plot, windows, came),
        _spans(plot, windows, promised),
        None if right is None else plot.y(right),
    )


def _spans(plot: TimePlot, windows: Sequence[Window], values: Sequence[Estimate | None]) -> tuple[Span, ...]:
    spans = []
    for window, value in zip(windows, values, strict=True):
        if value is None:
            continue
        x1, x2 = plot.x(window.began), plot.x(window.ended)
        if x2 - x1 < THIN:
            x1, x2 = max(x1 - THIN / 2, LEFT), min(x1 + THIN / 2, WIDTH - RIGHT)
        low, high = (each if math.isfinite(each) else float(value) for each in (value.low, value.high))
        inside = [min(max(plot.y(each), TOP), HEIGHT - BOTTOM) for each in (float(value), low, high)]
        spans.append(Span(x1, x2, *inside))
    return tuple(spans)


def evidence_figure(
    curve: Sequence[tuple[float, ...]], threshold: float, changes: Sequence[Change], *, dated: bool
) -> EvidenceFigure | None:
    """Lay out the evidence; None without any."""
    if not curve:
        return None
    most = math.log10(threshold) + 1.0
    least = max(min(0.0, *(math.log10(max(value, 1e-3)) for *_, value in curve)), -3.0)
    ticks = [(power, _power(power)) for power in range(math.ceil(least), math.floor(most) + 1)]
    while len(ticks) > 6:
        ticks = [each for each in ticks if each[0] % (2 * (ticks[1][0] - ticks[0][0])) == 0]
    times = (curve[0][1], curve[-1][1])
    plot = time_plot(times, (least, most), ticks, changes, dated=dated)
    heights = [min(max(math.log10(max(value, 1e-3)), least), most) for *_, value in curve]
    line = path((plot.x(point[1]), plot.y(each)) for point, each in zip(curve, heights, strict=True))
    return EvidenceFigure(plot, line, plot.y(math.log10(threshold)))


def _power(power: int) -> str:
    return "1" if power == 0 else f"10{str(power).translate(_RAISED)}"


@dataclass(frozen=True, slots=True)
class CellMark:
    """Rows of similar forecasts: their mean forecast, how often it came, and the interval."""

    x: float
    y: float
    low: float
    high: float
    radius: float


@dataclass(frozen=True, slots=True)
class CellsFigure:
    """Forecasts against what came."""

    plot: UnitPlot
    marks: tuple[CellMark, ...]


def cells_figure(found: Reliability) -> CellsFigure:
    """Lay out forecasts against what came; larger dots are more rows."""
    plot = unit_plot(300, below=46)
    most = max(cell.weight for cell in found.cells)
    marks = [
        CellMark(
            plot.x(cell.mean_forecast),
            plot.y(cell.frequency),
            plot.y(cell.frequency.low),
            plot.y(cell.frequency.high),
            1.5 + 4.0 * math.sqrt(cell.weight / most),
        )
        for cell in found.cells
    ]
    return CellsFigure(plot, tuple(marks))


@dataclass(frozen=True, slots=True)
class GroupMark:
    """A group on its line: how far it is off, with the interval."""

    name: str
    y: float
    x: float
    low: float
    high: float
    found: bool


@dataclass(frozen=True, slots=True)
class GroupsFigure:
    """Groups below each other, those with the greatest gaps first."""

    height: float
    zero: float
    ticks: tuple[Tick, ...]
    marks: tuple[GroupMark, ...]
    bottom: float
    width: float = GROUPS_WIDTH
    left: float = NAMES
    right: float = GROUPS_WIDTH - RIGHT


def groups_figure(groups: Sequence[Group]) -> GroupsFigure:
    """Lay out groups, sorted by how far they are off."""
    ordered = sorted(groups, key=lambda each: -float(each.gap))
    low = min(0.0, *(max(each.gap.low, -1.0) for each in ordered))
    high = max(0.0, *(min(each.gap.high, 1.0) for each in ordered))
    margin = 0.04 * (high - low) or 0.01
    x = Scale(low - margin, high + margin, NAMES, GROUPS_WIDTH - RIGHT)
    bottom = TOP + LINE * len(ordered)
    marks = [
        GroupMark(
            shorten(group.name, 25),
            TOP + LINE * (place + 0.5),
            x(group.gap),
            x(max(group.gap.low, -1.0)),
            x(min(group.gap.high, 1.0)),
            group.found,
        )
        for place, group in enumerate(ordered)
    ]
    ticks = [Tick(x(at), f"{100 * at:+.3g}%" if at else "0") for at in round_numbers(low, high, 5)]
    return GroupsFigure(bottom + 40, x(0.0), tuple(ticks), tuple(marks), bottom)
