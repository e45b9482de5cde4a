"""Training cost as a function of one number of a rule, by a single sort.

While one number changes, the decision about a row changes at a few changepoints, and the cost is constant
between them (equations 13 and 14 of O'Brien, Gupta and Gray 2008, who sort the changepoints in the wrong
direction: their inequality needs ascending order).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._ties import TIE, tie_bound
from calibrant.decisions._estimates import row_blocks
from calibrant.decisions._training import EPSILON, TrainingRows

#: Changepoints that are closer than this are one. It is a few ties of decisions, so that a number
#: halfway between two changepoints does not tie.
MERGE = 4 * TIE
#: Costs that may be off by a greater share than this are added up exactly.
NEAR = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """How the decisions change while a number grows.

    Attributes
    ----------
    start : ndarray of shape (n,) or int
        The decisions about all rows before any change; an int if they are all the same.
    at : ndarray of shape (m,)
        The changepoints, in any order, infinite ones included: those at minus infinity lie behind, those
        at infinity are never reached.
    before, after : ndarray of shape (m,) or int
        The decisions on either side.
    rows : ndarray of shape (m,) or None
        The row that changes; None for one changepoint per row, in order.
    slack : ndarray of shape (m,) or None
        How near its changepoint a row still ties; None where a common tolerance will do.
    """

    start: IntArray | int
    at: Float64Array
    before: IntArray | int
    after: IntArray | int
    rows: IntArray | None = None
    slack: Float64Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Where the cost is constant, from left to right.

    Attributes
    ----------
    left, right : ndarray of shape (g,)
        The ends.
    cost : ndarray of shape (g,)
        The training cost between them, in units.
    units : int
        So many are one. Costs in other units than one are whole numbers of Python.
    tie : int
        Costs tie with the least if they exceed it by no more than this, in units.
    doubt : float
        Costs that were added up elsewhere may differ from these by so much through rounding alone.
    slack : ndarray of shape (g,) or None
        How near the ends some row still ties; None where a common tolerance will do.
    """

    left: Float64Array
    right: Float64Array
    cost: Array
    units: int = 1
    tie: int = 0
    doubt: float = 0.0
    slack: Float64Array | None = None

    def cost_at(self, place: int | np.intp) -> float:
        """The cost of one interval."""
        return float(self.cost[place] / self.units)

    def where(self, wanted: BoolArray) -> "Intervals":
        """Only those that are wanted."""
        slack = None if self.slack is None else self.slack[wanted]
        return replace(
            self, left=self.left[wanted], right=self.right[wanted], cost=self.cost[wanted], slack=slack
        )

    def are_least(self) -> BoolArray:
        """Which intervals cost least."""
        return np.asarray(self.cost <= self.cost.min() + self.tie)


def changepoints(risks: Float64Array, i: int, unit: float = 1.0) -> tuple[Float64Array, IntArray]:
    """For every row the most that may be added to risk i before i is given up, and what is decided then.

    Risks have shape (k, n). A tie that no number can break belongs to the lower class.
    """
    n_rows = risks.shape[1]
    at, other = np.empty(n_rows), np.empty(n_rows, dtype=np.intp)
    for rows in row_blocks(n_rows, 1):
        at[rows], other[rows] = _block_changepoints(risks[:, rows], i, unit)
    return at, other


def _block_changepoints(risks: Float64Array, i: int, unit: float) -> tuple[Float64Array, IntArray]:
    others = [row for row in range(len(risks)) if row != i]
    best = risks[others[0]].copy()
    for row in others[1:]:
        np.minimum(best, risks[row], out=best)
    other = np.full(len(best), others[-1])
    bound = tie_bound(best, unit)
    for row in reversed(others[:-1]):
        np.copyto(other, row, where=risks[row] <= bound)
    with np.errstate(invalid="ignore"):
        best -= risks[i]
    forever = np.isnan(best)
    if forever.any():
        best[forever] = np.where(i < other[forever], np.inf, -np.inf)
    return best, other


def intervals_of(
    events: Events,
    rows: TrainingRows,
    tolerance: float,
    limits: tuple[float, float] = (-math.inf, math.inf),
    present: float = math.inf,
) -> Intervals:
    """Add up the cost of every interval between changepoints; those beyond the limits are left out.

    The present cost is what the least one will be compared with.
    """
    low, high = limits
    inside = (events.at > low) & (events.at < high)
    chosen = slice(None) if inside.all() else inside
    at = events.at[chosen]
    order = np.argsort(at)
    at = at[order]
    slack = None if events.slack is None else events.slack[chosen][order]
    is_apart, near = _apart(at, tolerance, slack)
    first: slice | IntArray = slice(None)
    last: slice | IntArray = slice(None)
    if not is_apart.all():
        apart = np.flatnonzero(is_apart)
        first, last = np.append(0, apart + 1), np.append(apart, len(at) - 1)
        near = near if near is None else near[np.append(0, last + 1)]
    left, right = np.append(-np.inf, at[last]), np.append(at[first], np.inf)

    def add_up(rows: TrainingRows) -> Array:
        start = rows.paid(events.start).sum()
        change = rows.paid(events.after, events.rows)
        change -= rows.paid(events.before, events.rows)
        if chosen is inside:
            start += change[events.at <= low].sum()
        reached = change[chosen][order]
        np.cumsum(reached, out=reached)
        reached += start
        return np.append(start, reached[last])

    # Of the first and the last interval the limits may leave too little.
    margins = (tolerance, tolerance) if near is None else (near[0], near[-1])
    kept = slice(int(right[0] - low <= margins[0]), len(left) - int(high - left[-1] <= margins[1]))
    kept = kept if kept.start < kept.stop else slice(None)
    intervals = weighed(
        left[kept], right[kept], lambda rows: add_up(rows)[kept], rows, len(events.at), present
    )
    return intervals if near is None else replace(intervals, slack=near[kept])


def _apart(
    at: Float64Array, tolerance: float, slack: Float64Array | None
) -> tuple[BoolArray, Float64Array | None]:
    """Which neighbouring changepoints are apart, and how near all gaps between them some row still ties."""
    if slack is None:
        return np.diff(at) > tolerance, None
    behind = np.append(-np.inf, np.maximum.accumulate(at + slack))
    ahead = np.append(np.minimum.accumulate((at - slack)[::-1])[::-1], np.inf)
    with np.errstate(invalid="ignore"):
        near = np.fmax(behind - np.append(-np.inf, at), np.append(at, np.inf) - ahead)
    return (behind < ahead)[1:-1], np.nan_to_num(near)


def weighed(
    left: Float64Array,
    right: Float64Array,
    add_up: Callable[[TrainingRows], Array],
    rows: TrainingRows,
    n_events: int,
    present: float = math.inf,
) -> Intervals:
    """Intervals with their costs, exact wherever rounding could matter for the choice among them.

    Floats will do if they never round; or if they are near enough, and by rounding alone no other interval
    could be the least, nor the present cost be as low. Otherwise all is added up once more in whole numbers.

    A sum of m floats is off by at most m - 1 roundings of its largest partial sum (Higham, Accuracy and
    Stability of Numerical Algorithms, 4.2). Here one decision is paid for every row, at first and after
    every event, so that no partial sum exceeds twice the most that decisions cost; and what is added for
    an event is itself three times rounded, a few units for every class in all.
    """
    cost = add_up(rows)
    if rows.never_round:
        return Intervals(left, right, cost)
    n_roundings = len(rows.truth) + n_events + 8 * rows.n_classes
    doubt = 4 * EPSILON * n_roundings * rows.most
    place = cost.argmin()
    is_near = doubt <= NEAR * abs(cost[place])
    is_alone = np.count_nonzero(cost <= cost[place] + doubt) == 1
    if is_near and is_alone and (left[place] < 0 < right[place] or cost[place] + doubt < present):
        return Intervals(left, right, cost, doubt=doubt)
    whole, units = rows.whole
    cost = add_up(whole)
    return Intervals(left, right, cost, units, rows.tie(cost.min()), doubt)
