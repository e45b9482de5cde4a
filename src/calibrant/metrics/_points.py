"""The rows of one column by their probabilities: all that its ranking and its calibration depend on.

Distinct probabilities are kept apart as long as they are few enough; beyond that all of them are pooled into
the cells of a grid that is always the same. Which of the two it is depends on the rows alone, and so does
what is kept, however the rows were cut into batches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.metrics._bins import EDGE_SLACK, fixed_width_bins
from calibrant.metrics._isotonic import Ordered

#: Probabilities nearer than this to 0 or 1 count as that near where log-odds are taken, and share a cell.
LEAST_ODDS_EXPONENT = 40
LEAST_ODDS = 2.0**-LEAST_ODDS_EXPONENT
#: Cells for all columns together unless others are asked for, and at least for each.
ALL_CELLS, LEAST_CELLS = 1 << 20, 1 << 10
#: Batches are merged when so many points wait, or as many as are merged already.
WAITING = 1 << 17
#: Points that are looked at together: so few that what is computed of them stays in the cache.
BLOCK = 1 << 15
MANTISSA = 52


def dot(first: Array, second: Array) -> float:
    """The sum of products; BLAS would wake threads of its own, in the way of those that do other columns."""
    return float(np.einsum("i,i->", first, second))


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Weights of rows by probability, rising.

    Attributes
    ----------
    p : ndarray of shape (m,)
        The probabilities; the mean of those in a cell.
    low, high : ndarray of shape (m,)
        The least and the greatest in a cell; where no cells are pooled, the probabilities themselves.
    pos, neg : ndarray of shape (m,)
        Weight of the rows for which what was forecast came, and of the others.
    pos2, neg2 : ndarray of shape (m,)
        Sums of the squares of these weights.
    single : bool
        Whether every point is known to be a single row that counts once.
    """

    p: Float64Array
    low: Float64Array
    high: Float64Array
    pos: Float64Array
    neg: Float64Array
    pos2: Float64Array
    neg2: Float64Array
    single: bool = field(default=False, kw_only=True)

    def __len__(self) -> int:
        return len(self.p)

    @property
    def weight(self) -> Float64Array:
        """Weight of all rows of a point."""
        return np.ones(len(self)) if self.single else self.pos + self.neg

    def reached(self) -> Float64Array:
        """Weight of all rows up to a point, and at it."""
        return np.arange(1.0, len(self) + 1) if self.single else np.cumsum(self.weight)

    @property
    def exact(self) -> bool:
        """Whether every point is a single probability."""
        return self.high is self.low or bool(np.array_equal(self.low, self.high))

    def arrays(self) -> tuple[Float64Array, ...]:
        """All arrays, in the order of the attributes."""
        return self.p, self.low, self.high, self.pos, self.neg, self.pos2, self.neg2

    def copies(self) -> "Points":
        """The same for whole weights: a row of weight m is m rows, whose squares add up to m."""
        return Points(self.p, self.low, self.high, self.pos, self.neg, self.pos, self.neg, single=self.single)

    def mirrored(self) -> "Points":
        """The same of the opposite: what was forecast by 1 - p, and came where the other did not."""
        p = 1.0 - self.p[::-1]
        low, high = (p, p) if self.exact else (1.0 - self.high[::-1], 1.0 - self.low[::-1])
        neg, pos = self.neg[::-1], self.pos[::-1]
        plain = self.pos2 is self.pos
        squares = (neg, pos) if plain else (self.neg2[::-1], self.pos2[::-1])
        found = Points(p, low, high, neg, pos, *squares)
        return joined([found]) if (low[1:] == low[:-1]).any() else found

    def folded(self) -> "Points":
        """The same of the more probable of two classes: above one half this one, at one half the other."""
        split = int(np.searchsorted(self.p, 0.5, side="right"))
        return joined([self.part(slice(split)).mirrored(), self.part(slice(split, None))])

    def part(self, rows: slice) -> "Points":
        """Some of them; arrays that are one and the same stay so."""
        known = {id(each): each[rows] for each in self.arrays()}
        return Points(*(known[id(each)] for each in self.arrays()), single=self.single)


def points_of(rows: Ordered) -> Points:
    """Add up rows of equal probabilities."""
    starts, n = rows.starts, len(rows.forecast)
    distinct = rows.forecast if len(starts) == n else rows.forecast[starts]
    if rows.weights is None:
        if len(starts) == n:
            pos = rows.is_positive.astype(np.float64)
            neg = 1.0 - pos
        else:
            reached = np.append(0, np.cumsum(rows.is_positive))
            pos = np.diff(reached[rows.bounds]).astype(np.float64)
            neg = np.diff(rows.bounds) - pos
        return Points(distinct, distinct, distinct, pos, neg, pos, neg, single=len(starts) == n)
    mass = np.where(rows.is_positive, rows.weights, 0.0), np.where(rows.is_positive, 0.0, rows.weights)
    sums = [np.add.reduceat(each, starts) for each in (*mass, mass[0] ** 2, mass[1] ** 2)]
    return Points(distinct, distinct, distinct, *sums)


def joined(parts: Sequence[Points]) -> Points:
    """Points of several batches together: those of equal probabilities become one."""
    parts = [part for part in parts if len(part)] or [parts[0]]
    low = _both(parts, "low")
    if len(low) == 0:
        return parts[0]
    order = np.argsort(low, kind="stable")  # the parts are sorted, so this merges them
    low = low[order]
    new = np.append(True, low[1:] != low[:-1])
    starts = np.flatnonzero(new)
    sums = _sums(parts, order, starts)
    if all(part.high is part.low for part in parts):
        distinct = low[starts]
        return Points(distinct, distinct, distinct, *sums)
    high = np.maximum.reduceat(_both(parts, "high")[order], starts)
    return Points(_means(parts, order, starts, sums, low[starts], high), low[starts], high, *sums)


def _both(parts: Sequence[Points], name: str) -> Float64Array:
    values = [getattr(part, name) for part in parts]
    return values[0] if len(values) == 1 else np.concatenate(values)


def _sums(parts: Sequence[Points], order: IntArray | None, starts: IntArray) -> list[Float64Array]:
    """Weights of groups; those of squares are the same arrays where all weights are one."""
    names = ["pos", "neg"]
    plain = all(part.pos2 is part.pos for part in parts)
    names += [] if plain else ["pos2", "neg2"]
    found = [np.add.reduceat(_ordered(_both(parts, name), order), starts) for name in names]
    return found * 2 if plain else found


def _means(
    parts: Sequence[Points],
    order: IntArray | None,
    starts: IntArray,
    sums: list[Float64Array],
    low: Float64Array,
    high: Float64Array,
) -> Float64Array:
    """Mean probabilities of groups, exactly those of groups that have only one."""
    products = [part.p if part.single else part.weight * part.p for part in parts]
    total = _ordered(products[0] if len(products) == 1 else np.concatenate(products), order)
    return np.clip(np.add.reduceat(total, starts) / (sums[0] + sums[1]), low, high)


def _ordered(values: Float64Array, order: IntArray | None) -> Float64Array:
    return values if order is None else values[order]


@dataclass(frozen=True)
class Grid:
    """Cells that are narrow in the log-odds: of equal width between any power of one half and the next.

    Attributes
    ----------
    bits : int
        Between two powers there are 2 to this power cells.
    """

    bits: int

    @classmethod
    def within(cls, n_cells: int) -> "Grid":
        """The finest grid of at most so many cells."""
        return cls(max(0, (max(n_cells - 4, 1) // (2 * LEAST_ODDS_EXPONENT)).bit_length() - 1))

    @cached_property
    def least(self) -> Float64Array:
        """The least probability of every cell but that of 0; 1 has its own, too."""
        shift = MANTISSA - self.bits
        first, middle = (int(np.float64(each).view(np.int64)) >> shift for each in (LEAST_ODDS, 0.5))
        below = (np.arange(first + 1, middle + 1) << shift).view(np.float64)
        above = np.nextafter(1.0 - below[::-1], 2.0)  # exact: above one half the difference from 1 is
        return np.concatenate([[np.nextafter(0.0, 1.0)], below, above, [1.0]])

    def starts(self, p: Float64Array) -> IntArray:
        """Where the cells begin that have some of the rising probabilities."""
        if len(p) > len(self.least):
            starts = np.unique(np.append(0, np.searchsorted(p, self.least)))
            return starts[starts < len(p)]
        cells = np.searchsorted(self.least, p, side="right")
        return np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))

    def pooled(self, points: Points) -> Points:
        """Put sorted points into cells."""
        starts = self.starts(points.p)
        sums = _sums([points], None, starts)
        low = points.low[starts]
        ends = np.append(starts[1:], len(points)) - 1
        high = points.high[ends] if points.high is points.low else np.maximum.reduceat(points.high, starts)
        return Points(_means([points], None, starts, sums, low, high), low, high, *sums)


class Column:
    """The points of a column, of which batches are added and columns merged.

    Parameters
    ----------
    limit : int or None
        The most distinct probabilities that are kept apart; None for any number.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.grid = None if limit is None else Grid.within(limit)
        self.pooled = False
        self._merged: Points | None = None
        self._waiting: list[Points] = []

    def add(self, points: Points, *, pooled: bool = False) -> None:
        """Add points, of single probabilities or of cells."""
        if len(points):
            self.pooled |= pooled
            self._waiting.append(points)
            held = 0 if self._merged is None else len(self._merged)
            if sum(map(len, self._waiting)) > max(min(WAITING, self.limit or WAITING), held):
                self.points()

    def points(self) -> Points:
        """All points together."""
        parts = self._waiting if self._merged is None else [self._merged, *self._waiting]
        if not parts:
            nothing = np.empty(0)
            return Points(*[nothing] * 7)
        if self._waiting:
            self._merged = self._bounded(parts)
            self._waiting = []
        assert self._merged is not None
        return self._merged

    def _bounded(self, parts: list[Points]) -> Points:
        if not self.pooled:
            merged = parts[0] if len(parts) == 1 else joined(parts)
            if self.limit is None or len(merged) <= self.limit:
                return merged
            self.pooled = True
            parts = [merged]
        assert self.grid is not None
        # The points of a cell may come from several parts, in which its least probabilities differ.
        return self.grid.pooled(joined([self.grid.pooled(part) for part in parts]))


def limit_of(n_columns: int, n_cells: int) -> int:
    """The most distinct probabilities to be kept apart in each of so many columns."""
    return max(LEAST_CELLS, n_cells // n_columns)


@cache
def least_of_bins(width: float) -> Float64Array:
    """The least number of every bin of `fixed_width_bins` but the first."""
    n_bins = fixed_width_bins(np.zeros(0), width, 0.0, 1.0)[1]
    least: Float64Array = np.asarray((np.arange(1, n_bins) - EDGE_SLACK) * width, dtype=np.float64)
    number = np.arange(1, n_bins)
    while (low := fixed_width_bins(least, width, 0.0, 1.0)[0] < number).any():
        least = np.where(low, np.nextafter(least, 2.0), least)
    while True:
        before = np.nextafter(least, -np.inf)
        high = fixed_width_bins(before, width, 0.0, 1.0)[0] >= number
        if not high.any():
            return least
        least = np.where(high, before, least)


def bin_starts(p: Float64Array, width: float) -> IntArray:
    """Where the bins of equal width begin among rising probabilities; at last the number of these."""
    return np.concatenate([[0], np.searchsorted(p, least_of_bins(width)), [len(p)]])


#: Sums that `sums_in` gives.
N_SUMS_IN = 9


def sums_in(points: Points, starts: IntArray) -> Float64Array:
    """Sums over the points of every bin.

    Of weight, p and what came; of the squared error, p (1 - p) and the fourth power of the error; of these
    three by squared weights.
    """
    plain = points.pos2 is points.pos
    found = np.zeros((6 if plain else 9, len(starts) - 1))
    for first in range(0, len(points), BLOCK):
        some = points.part(slice(first, first + BLOCK))
        p, other = some.p, 1.0 - some.p
        chance = p * other
        if points.single:
            squares = (p - some.pos) ** 2
            values = [p, some.pos, squares, chance, squares * squares]
        else:
            weight, if_came, if_not = some.weight, other * other, p * p
            values = [weight, weight * p, some.pos]
            for pos, neg in [(some.pos, some.neg), *([] if plain else [(some.pos2, some.neg2)])]:
                values += [pos * if_came + neg * if_not, (pos + neg) * chance]
                values += [pos * if_came**2 + neg * if_not**2]
        found[-len(values) :] += sums_between(np.clip(starts - first, 0, len(some)), *values)
    if points.single:
        found[0] = np.diff(starts)
    return np.concatenate([found, found[3:]]) if plain else found


def sums_between(starts: IntArray, *values: Array) -> Float64Array:
    """Sums of sorted values from one start to the next: one row per kind of values."""
    filled = np.flatnonzero(np.diff(starts))
    sums = np.zeros((len(values), len(starts) - 1))
    if len(filled):
        for row, each in zip(sums, values, strict=True):
            row[filled] = np.add.reduceat(each[: starts[-1]], starts[filled])
    return sums
