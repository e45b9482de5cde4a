"""Where things stand in a drawing: scales, paths and the figures made of them.

Figures hold coordinates and text, no markup; the templates draw them, and the style sheet colours them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant.metrics import Estimate, share_estimate
from calibrant.report._drawn import Curve, Reliability, Roc
from calibrant.report._words import percent

if TYPE_CHECKING:
    from calibrant.models import MethodResult

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from numbers to places in a drawing.

    Attributes
    ----------
    low, high : float
        The numbers at the ends.
    start, end : float
        Their places.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the grid and its label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def coordinate(value: float) -> str:
    """A place to a tenth of a unit, as short as can be written."""
    text = f"{value:.1f}"
    text = text.removesuffix(".0")
    return "0" if text == "-0" else text


def path(points: Iterable[Point], *, closed: bool = False) -> str:
    """A line through points; points that round to the same place are drawn once."""
    places: list[str] = []
    for x, y in points:
        place = f"{coordinate(x)},{coordinate(y)}"
        if not places or places[-1] != place:
            places.append(place)
    if not places:
        return ""
    return "M" + "L".join(places) + ("Z" if closed else "")


def shorten(name: str, most: int = 18) -> str:
    """A name that fits into a drawing."""
    return name if len(name) <= most else name[: most - 1] + "…"


@dataclass(frozen=True, slots=True)
class UnitPlot:
    """A square plot of shares against shares.

    Attributes
    ----------
    width, height : int
        Size of the drawing.
    x, y : Scale
        The axes.
    x_ticks, y_ticks : tuple of Tick
        Their grids.
    """

    width: int
    height: int
    x: Scale
    y: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    def line(self, curve: Curve) -> str:
        """The path of a curve."""
        return path((self.x(x), self.y(y)) for x, y in zip(curve.x, curve.y, strict=True))

    @property
    def diagonal(self) -> str:
        """The path from corner to corner."""
        return path([(self.x(0), self.y(0)), (self.x(1), self.y(1))])


def unit_plot(side: int, *, below: int, small: bool = False) -> UnitPlot:
    """A plot of so many units a side, with room below it."""
    left, top = (35, 8) if small else (46, 10)
    shares = (0.0, 0.5, 1.0) if small else (0.0, 0.25, 0.5, 0.75, 1.0)
    x = Scale(0, 1, left, left + side)
    y = Scale(0, 1, top + side, top)
    return UnitPlot(
        width=left + side + 22,
        height=top + side + below,
        x=x,
        y=y,
        x_ticks=tuple(Tick(x(share), percent(share)) for share in shares),
        y_ticks=tuple(Tick(y(share), percent(share)) for share in shares),
    )


@dataclass(frozen=True, slots=True)
class ReliabilityFigure:
    """A reliability diagram: band, fit, bins with their intervals, and how many rows each bin has."""

    plot: UnitPlot
    band: str
    fit: str
    dots: tuple[Point, ...]
    intervals: tuple[tuple[float, float, float], ...]
    bars: tuple[Bar, ...]
    small: bool


def reliability_figure(drawn: Reliability, *, small: bool = False) -> ReliabilityFigure:
    """Lay out a reliability diagram."""
    strip = 22 if small else 34
    plot = unit_plot(150 if small else 300, below=strip + (24 if small else 46), small=small)
    floor = plot.y(0) + (18 if small else 22) + strip
    most = max((found.count for found in drawn.bins), default=1)
    bars = tuple(
        Bar(
            plot.x(found.left) + 1,
            floor - max(strip * found.count / most, 0.8),
            plot.x(found.right) - plot.x(found.left) - 2,
            max(strip * found.count / most, 0.8),
        )
        for found in drawn.bins
    )
    return ReliabilityFigure(
        plot=plot,
        band=_band(plot, drawn),
        fit=plot.line(drawn.fit),
        dots=tuple((plot.x(found.mean_score), plot.y(found.frac_pos)) for found in drawn.bins),
        intervals=tuple(
            (plot.x(found.mean_score), plot.y(found.frac_pos.low), plot.y(found.frac_pos.high))
            for found in drawn.bins
            if not math.isnan(found.frac_pos.low)
        ),
        bars=bars,
        small=small,
    )


def _band(plot: UnitPlot, drawn: Reliability) -> str:
    band = drawn.band
    return _between(plot, band.x, band.lower, band.upper)


def _between(plot: UnitPlot, x: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> str:
    """The area between two lines."""
    above = [(plot.x(x), plot.y(y)) for x, y in zip(x, upper, strict=True)]
    below = [(plot.x(x), plot.y(y)) for x, y in zip(x, lower, strict=True)]
    return path([*above, *reversed(below)], closed=True)


def _interval(plot: UnitPlot, curve: Curve, n: float) -> str:
    """Wilson's intervals of the shares along a curve, each a share of so many rows; nothing of none."""
    if not n:
        return ""
    found = [share_estimate(share, n) for share in curve.y]
    return _between(plot, curve.x, [each.low for each in found], [each.high for each in found])


@dataclass(frozen=True, slots=True)
class RocFigure:
    """ROC curves of several classes in one plot, and the intervals of a few."""

    plot: UnitPlot
    lines: tuple[tuple[str, str], ...]
    bands: tuple[str, ...]


#: The intervals of more ROC curves than these would hide each other.
MOST_BANDS = 3


def roc_figure(curves: Sequence[Roc], n_rows: Mapping[str, float] | None = None) -> RocFigure:
    """Lay out ROC curves, by name; with intervals where it is known how many rows every class has."""
    plot = unit_plot(300, below=46)
    drawn = [roc for roc in curves if roc.curve.x]
    few = drawn if n_rows and len(drawn) <= MOST_BANDS else []
    return RocFigure(
        plot,
        tuple((roc.name, plot.line(roc.curve)) for roc in drawn),
        tuple(_interval(plot, roc.curve, n_rows[roc.name]) for roc in few if n_rows),
    )


@dataclass(frozen=True, slots=True)
class DetectionFigure:
    """Mistakes found against rows checked."""

    plot: UnitPlot
    line: str
    band: str
    at: Point
    share: float


#: The example that the detection curve is explained by.
CHECKED = 0.1


def found_by_checking(curve: Curve, share: float = CHECKED) -> float:
    """Share of the mistakes among the least certain rows, on the straight line between points."""
    for (x0, y0), (x1, y1) in zip(
        zip(curve.x, curve.y, strict=True), zip(curve.x[1:], curve.y[1:], strict=True), strict=False
    ):
        if x0 <= share <= x1:
            return y0 if x1 == x0 else y0 + (y1 - y0) * (share - x0) / (x1 - x0)
    return math.nan


def detection_figure(curve: Curve, n_errors: float = 0.0) -> DetectionFigure:
    """Lay out the detection curve, with intervals where it is known of how many errors."""
    plot = unit_plot(300, below=46)
    share = found_by_checking(curve)
    band = _interval(plot, curve, n_errors)
    return DetectionFigure(plot, plot.line(curve), band, (plot.x(CHECKED), plot.y(share)), share)


@dataclass(frozen=True, slots=True)
class Whisker:
    """How much worse a method is than the best, with its interval."""

    low: float
    middle: float
    high: float


#: Width of the drawing of a whisker.
WHISKER_WIDTH = 160


def whiskers(results: Sequence["MethodResult"]) -> tuple[tuple[Whisker | None, ...], float]:
    """One whisker per method on a common scale, and the place of zero; None for infinite differences."""
    known = [each.difference for each in results if _is_known(each.difference)]
    low = min([0.0, *(each.low for each in known)])
    high = max([0.0, *(each.high for each in known)])
    scale = Scale(low, high if high > low else low + 1.0, 6, WHISKER_WIDTH - 6)
    drawn = tuple(
        Whisker(scale(each.low), scale(each), scale(each.high)) if _is_known(each) else None
        for each in (result.difference for result in results)
    )
    return drawn, scale(0.0)


def _is_known(difference: Estimate) -> bool:
    return all(map(math.isfinite, (difference, difference.low, difference.high)))
