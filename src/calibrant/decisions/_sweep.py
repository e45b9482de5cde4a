"""Training cost as a function of one number of a rule, by a single sort.

While one number changes, the decision about a row changes at a few changepoints, and the cost is constant
between them (equations 13 and 14 of O'Brien, Gupta and Gray 2008, who sort the changepoints in the wrong
direction: their inequality needs ascending order).
"""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.decisions._decide import TIE, tie_bound
from calibrant.decisions._estimates import row_blocks
from calibrant.decisions._training import TrainingRows

#: Changepoints that are closer than this are one. It is a few ties of decisions, so that a number
#: halfway between two changepoints does not tie.
MERGE = 4 * TIE


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
    """

    start: IntArray | int
    at: Float64Array
    before: IntArray | int
    after: IntArray | int
    rows: IntArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Where the cost is constant, from left to right.

    Attributes
    ----------
    left, right : ndarray of shape (g,)
        The ends.
    cost : ndarray of shape (g,)
        The training cost between them.
    """

    left: Float64Array
    right: Float64Array
    cost: Float64Array


def changepoints(risks: Float64Array, i: int) -> tuple[Float64Array, IntArray]:
    """For every row the most that may be added to risk i before i is given up, and what is decided then.

    Risks have shape (k, n). A tie that no number can break belongs to the lower class.
    """
    n_rows = risks.shape[1]
    at, other = np.empty(n_rows), np.empty(n_rows, dtype=np.intp)
    for rows in row_blocks(n_rows, 1):
        at[rows], other[rows] = _block_changepoints(risks[:, rows], i)
    return at, other


def _block_changepoints(risks: Float64Array, i: int) -> tuple[Float64Array, IntArray]:
    others = [row for row in range(len(risks)) if row != i]
    best = risks[others[0]].copy()
    for row in others[1:]:
        np.minimum(best, risks[row], out=best)
    other = np.full(len(best), others[-1])
    bound = tie_bound(best)
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
) -> Intervals:
    """Add up the cost of every interval between changepoints; those beyond the limits are left out."""
    low, high = limits
    start = rows.paid(events.start).sum()
    change = rows.paid(events.after, events.rows)
    change -= rows.paid(events.before, events.rows)
    at = events.at
    inside = (at > low) & (at < high)
    if not inside.all():
        start += change[at <= low].sum()
        at, change = at[inside], change[inside]
    order = np.argsort(at)
    at, reached = at[order], change[order]
    np.cumsum(reached, out=reached)
    reached += start
    is_apart = np.diff(at) > tolerance
    first: slice | IntArray = slice(None)
    last: slice | IntArray = slice(None)
    if not is_apart.all():
        apart = np.flatnonzero(is_apart)
        first, last = np.append(0, apart + 1), np.append(apart, len(at) - 1)
    return Intervals(
        left=np.append(-np.inf, at[last]),
        right=np.append(at[first], np.inf),
        cost=np.append(start, reached[last]),
    )
