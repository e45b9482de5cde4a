"""Where decisions change: the regions of a triangle of three classes, the pieces of a line of two."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from calibrant._core._ties import TIE
from calibrant.decisions import equal_risk_point
from calibrant.report._sections import Sample
from calibrant.report._svg import Bar, Point, Scale, coordinate, path, shorten

Costs = Sequence[Sequence[float]]
Barycentric = tuple[float, float, float]

#: Size of the drawing of the triangle, and of that of the line.
WIDTH, HEIGHT = 480, 450
CORNERS: tuple[Point, Point, Point] = ((50.0, 402.0), (430.0, 402.0), (240.0, 402.0 - 190 * math.sqrt(3)))
LINE_WIDTH, LINE_HEIGHT = 560, 210
#: Rows drawn as points.
MAX_DRAWN = 300
#: Half the width of a letter and half the height of a line of a label.
HALF_LETTER, HALF_LINE = 3.9, 8.0
#: Places of the triangle that a label may stand at, along an edge.
GRID = 40


@dataclass(frozen=True, slots=True)
class Label:
    """Text at a place."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """Where one decision is the best."""

    action: int
    path: str
    label: Label | None


@dataclass(frozen=True, slots=True)
class EdgeTick:
    """A tick on an edge of the triangle."""

    x1: float
    y1: float
    x2: float
    y2: float
    label: Label


@dataclass(frozen=True, slots=True)
class TriangleFigure:
    """The triangle of three classes."""

    width: int
    height: int
    outline: str
    corners: tuple[Label, ...]
    ticks: tuple[EdgeTick, ...]
    regions: tuple[Region, ...]
    marks: tuple[str, ...]
    equal_risk: Point | None
    n_drawn: int


def place(p: Barycentric) -> Point:
    """A point of the triangle in the drawing."""
    return (
        sum(share * corner[0] for share, corner in zip(p, CORNERS, strict=True)),
        sum(share * corner[1] for share, corner in zip(p, CORNERS, strict=True)),
    )


def region(cost: Costs, action: int) -> list[Barycentric]:
    """The corners of the part of the triangle in which a decision costs least; none if there is none."""
    corners: list[Barycentric] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    for other in range(len(cost)):
        if other == action:
            continue
        dearer = [cost[other][j] - cost[action][j] for j in range(3)]
        if max(map(abs, dearer)) <= TIE * _tie_unit(cost):
            if other < action:  # of equals the first is decided
                return []
            continue
        corners = _cut(corners, dearer)
    return corners


def _cut(corners: list[Barycentric], slope: list[float]) -> list[Barycentric]:
    """What is left of a convex polygon where a linear function is not negative."""
    kept: list[Barycentric] = []
    for here, there in zip(corners, corners[1:] + corners[:1], strict=True):
        value, following = _dot(slope, here), _dot(slope, there)
        if value >= 0:
            kept.append(here)
        if (value > 0 > following) or (value < 0 < following):
            share = value / (value - following)
            kept.append(tuple(a + share * (b - a) for a, b in zip(here, there, strict=True)))  # type: ignore[arg-type]
    return kept


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def label_place(corners: Sequence[Point], text: str) -> Point | None:
    """The place where a label lies inside a convex polygon with most room around; None if it does not fit."""
    half_width = HALF_LETTER * len(text) + 3
    best, most_room = None, 0.0
    for i in range(1, GRID):
        for j in range(1, GRID - i):
            x, y = place((i / GRID, j / GRID, (GRID - i - j) / GRID))
            box = [(x + dx, y + dy) for dx in (-half_width, half_width) for dy in (-HALF_LINE, HALF_LINE)]
            room = min(_room(corners, corner) for corner in box)
            if room > most_room + 1e-9:
                best, most_room = (x, y), room
    return best


def _room(corners: Sequence[Point], point: Point) -> float:
    """Distance from the nearest edge of a convex polygon; negative outside."""
    room = math.inf
    turn = 0.0
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        turn += x0 * y1 - x1 * y0
    sign = 1.0 if turn > 0 else -1.0
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        length = math.hypot(x1 - x0, y1 - y0)
        if length < 1e-9:
            continue
        room = min(room, sign * ((x1 - x0) * (point[1] - y0) - (y1 - y0) * (point[0] - x0)) / length)
    return room


def triangle_figure(
    cost: Costs, actions: Sequence[str], classes: Sequence[str], sample: Sample
) -> TriangleFigure:
    """Lay out the triangle."""
    kept = _drawn_rows(sample)
    return TriangleFigure(
        width=WIDTH,
        height=HEIGHT,
        outline=path(CORNERS, closed=True),
        corners=_corner_labels(classes),
        ticks=_ticks(),
        regions=tuple(_regions(cost, actions)),
        marks=tuple(_marks(sample, kept, number) for number in range(3)),
        equal_risk=_equal_risk(cost),
        n_drawn=len(kept),
    )


def _corner_labels(classes: Sequence[str]) -> tuple[Label, ...]:
    texts = [f"100% {shorten(name)}" for name in classes]
    (x0, y0), (x1, y1), (x2, y2) = CORNERS
    return (Label(x0, y0 + 38, texts[0]), Label(x1, y1 + 38, texts[1]), Label(x2, y2 - 12, texts[2]))


def _ticks() -> tuple[EdgeTick, ...]:
    """Along every edge the share of the class at its end, at one, two and three quarters."""
    ticks = []
    centre = place((1 / 3, 1 / 3, 1 / 3))
    for start, end in ((0, 1), (1, 2), (2, 0)):
        (x0, y0), (x1, y1) = CORNERS[start], CORNERS[end]
        outward = ((x0 + x1) / 2 - centre[0], (y0 + y1) / 2 - centre[1])
        length = math.hypot(*outward)
        dx, dy = outward[0] / length, outward[1] / length
        for share in (0.25, 0.5, 0.75):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            label = Label(x + 17 * dx, y + 17 * dy + 4, f"{100 * share:.0f}")
            ticks.append(EdgeTick(x, y, x + 5 * dx, y + 5 * dy, label))
    return tuple(ticks)


def _regions(cost: Costs, actions: Sequence[str]) -> list[Region]:
    found = []
    for action, name in enumerate(actions):
        corners = [place(p) for p in region(cost, action)]
        if len(corners) < 3:
            continue
        text = shorten(name)
        at = label_place(corners, text)
        label = None if at is None else Label(at[0], at[1] + 4, text)
        found.append(Region(action, path(corners, closed=True), label))
    return found


def _equal_risk(cost: Costs) -> Point | None:
    if len(cost) != 3:
        return None
    found = equal_risk_point([list(row) for row in cost])
    if found.kind != "unique" or found.point is None or found.point.min() < 0:
        return None
    return place(tuple(found.point.tolist()))


def _drawn_rows(sample: Sample) -> list[int]:
    if len(sample.rows) <= MAX_DRAWN:
        return list(range(len(sample.rows)))
    chosen = np.random.default_rng(0).choice(len(sample.rows), MAX_DRAWN, replace=False)
    return [int(row) for row in np.sort(chosen)]


def _marks(sample: Sample, kept: list[int], number: int) -> str:
    """All points of one class as one path: a circle, a square or a triangle for each."""
    shapes = ("m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0", "m-2.7,-2.7h5.4v5.4h-5.4z", "m0,-3.5l3.3,5.8h-6.6z")
    parts = []
    for row in kept:
        if sample.truth[row] == number:
            x, y = place(sample.proba[row])  # type: ignore[arg-type]
            parts.append(f"M{coordinate(x)},{coordinate(y)}{shapes[number]}")
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the line on which one decision is the best."""

    action: int
    low: float
    high: float
    bar: Bar
    label: Label | None


@dataclass(frozen=True, slots=True)
class LineFigure:
    """The line of two classes: decisions by the probability of the positive class, and the rows."""

    width: int
    height: int
    x: Scale
    middle: float
    top: float
    bottom: float
    pieces: tuple[Piece, ...]
    positive: tuple[Bar, ...]
    negative: tuple[Bar, ...]
    ticks: tuple[Label, ...]


def line_pieces(cost: Costs) -> list[tuple[int, float, float]]:
    """Decisions from left to right, each with the probabilities of the positive class at its ends."""
    crossings = {0.0, 1.0}
    for first in range(len(cost)):
        for second in range(first):
            at_zero = cost[first][0] - cost[second][0]
            at_one = cost[first][1] - cost[second][1]
            if at_zero * at_one < 0:
                crossings.add(at_zero / (at_zero - at_one))
    ends = sorted(crossings)
    pieces: list[tuple[int, float, float]] = []
    for low, high in pairwise(ends):
        action = _decide((low + high) / 2, cost)
        if pieces and pieces[-1][0] == action:
            pieces[-1] = (action, pieces[-1][1], high)
        else:
            pieces.append((action, low, high))
    return pieces


def _decide(p: float, cost: Costs) -> int:
    risks = [row[0] * (1 - p) + row[1] * p for row in cost]
    least = min(risks)
    bound = least + TIE * max(_tie_unit(cost), abs(least))
    return next(place for place, risk in enumerate(risks) if risk <= bound)


def _tie_unit(cost: Costs) -> float:
    """What a tie is measured by, as in `calibrant.decisions.decide`."""
    return min(1.0, max(abs(value) for row in cost for value in row))


def line_figure(cost: Costs, actions: Sequence[str], sample: Sample) -> LineFigure:
    """Lay out the line."""
    x = Scale(0, 1, 20, LINE_WIDTH - 20)
    top, middle, bottom = 34.0, 100.0, 166.0
    pieces = []
    for action, low, high in line_pieces(cost):
        text = shorten(actions[action])
        fits = x(high) - x(low) > 2 * HALF_LETTER * len(text) + 8
        label = Label((x(low) + x(high)) / 2, top - 12, text) if fits else None
        pieces.append(Piece(action, low, high, Bar(x(low), top, x(high) - x(low), bottom - top), label))
    counts = np.zeros((2, 25))
    for truth, proba, weight in zip(sample.truth, sample.proba, sample.weight, strict=True):
        counts[truth, min(int(proba[1] * 25), 24)] += weight
    heights = 60 * np.sqrt(counts / max(counts.max(), 1e-300))
    width = (x(1) - x(0)) / 25
    return LineFigure(
        width=LINE_WIDTH,
        height=LINE_HEIGHT,
        x=x,
        middle=middle,
        top=top,
        bottom=bottom,
        pieces=tuple(pieces),
        positive=tuple(
            Bar(x(place / 25) + 1, middle - height, width - 2, height)
            for place, height in enumerate(heights[1])
            if height > 0
        ),
        negative=tuple(
            Bar(x(place / 25) + 1, middle, width - 2, height)
            for place, height in enumerate(heights[0])
            if height > 0
        ),
        ticks=tuple(Label(x(share), bottom + 18, f"{100 * share:.0f}%") for share in (0, 0.25, 0.5, 0.75, 1)),
    )
