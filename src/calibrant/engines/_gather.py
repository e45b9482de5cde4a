"""Rows gathered into points, as fine as it takes: bins first, then the rows of those bins that matter.

Whoever gathers says which points must be told apart. These are divided into finer bins as long as they hold
too many rows, and in the end their rows are fetched.
"""

from collections.abc import Callable

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._errors import DataError
from calibrant.engines._bins_pass import BinCounts, CountBins
from calibrant.engines._fetch_pass import FetchedRows, FetchRows
from calibrant.engines._grid import ScoreGrid
from calibrant.engines._options import PassOptions
from calibrant.engines._points import Points
from calibrant.engines._problem import Problem
from calibrant.engines._summary import Plan

#: Times that bins are made finer before their rows are fetched, however many these are.
MOST_REFINEMENTS = 3


def gather(
    problem: Problem,
    grid: ScoreGrid,
    wanted: Callable[[Points], BoolArray],
    options: PassOptions,
) -> Plan[Points]:
    """Gather rows into points.

    Parameters
    ----------
    problem : Problem
        The rows.
    grid : ScoreGrid
        The bins to begin with.
    wanted : callable
        Tells which points must be told apart; only asked of those that hold different scores.
    options : PassOptions
        With all its settings filled in.

    Returns
    -------
    Points
        Points of single scores where they were wanted, and bins elsewhere.
    """
    counts: BinCounts = yield CountBins(problem, grid)
    points = counts.points()
    refinements = 0
    while True:
        open_ = wanted(points) & (points.lo < points.hi) & ~points.settled
        n_rows = points.count[open_].sum()
        if n_rows == 0:
            return points
        if n_rows <= (options.max_rows or 0) or refinements == MOST_REFINEMENTS:
            fetched: FetchedRows = yield FetchRows(problem, points.fetch_grid(open_))
            return _with_details(points, open_, fetched.points())
        counts = yield CountBins(problem, points.finer_grid(open_, options.n_bins or 1))
        points = _with_details(points, open_, counts.points())
        refinements += 1


def _with_details(points: Points, open_: BoolArray, finer: Points) -> Points:
    """Put finer points in the place of open ones, if they hold the same rows."""
    before, after = _totals(points.take(open_)), _totals(finer)
    if not np.allclose(before, after, rtol=0 if points.exact else 1e-9, atol=0):
        raise DataError(
            f"the rows must be the same in every pass; {before[0]:.0f} rows of certain scores became "
            f"{after[0]:.0f}; fit on rows that do not change"
        )
    return points.with_details(open_, finer)


def _totals(points: Points) -> Float64Array:
    return np.array([points.count.sum(), points.positive.sum(), points.negative.sum()])
