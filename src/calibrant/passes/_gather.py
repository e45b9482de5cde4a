"""Rows gathered into points, as fine as it takes: bins first, then the rows of those bins that matter.

Whoever gathers says which points must be told apart. These are divided into finer bins as long as they hold
too many rows, and in the end their rows are fetched. If there are so many rows that even finer bins would
hold too many each, the points are divided a portion at a time: memory has its bounds, passes have none.
"""

from collections.abc import Callable

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._errors import DataError
from calibrant.passes._bins_pass import BinCounts, CountBins
from calibrant.passes._fetch_pass import FetchedRows, FetchRows
from calibrant.passes._grid import ScoreGrid, grid_from_sample
from calibrant.passes._options import ROWS_PER_BIN, PassOptions
from calibrant.passes._points import Points
from calibrant.passes._problem import Problem
from calibrant.passes._questions import RowsInPasses
from calibrant.passes._summary import NoRowsError, Plan

#: Isotonic blocks of n rows wander by about the cube root of n from their lines, so that bins which hold less
#: are mostly closed: finer bins hold this part of it, and at most this part of what the fullest one held.
OF_CUBE_ROOT, OF_FULLEST = 0.15, 0.25
#: Times that bins are made finer before their rows are fetched, however many these are.
MOST_REFINEMENTS = 100


def gather_points(rows: RowsInPasses, wanted: Callable[[Points], BoolArray]) -> Plan[Points]:
    """Gather the rows of a fit into points, one or more of them, beginning with bins that suit a sample."""
    known, options = rows.problem.cases(rows.sample).scores, rows.options
    grid = grid_from_sample(known, options.n_bins or 1, options.edges)
    points = yield from gather(rows.problem, grid, wanted, options)
    if len(points) == 0:
        raise NoRowsError
    return points


def gather(
    problem: Problem,
    grid: ScoreGrid,
    wanted: Callable[[Points], BoolArray],
    options: PassOptions,
) -> Plan[Points]:
    """Gather rows into points."""
    counts: BinCounts = yield CountBins(problem, grid)
    return (yield from refine(problem, counts.points(), wanted, options))


def refine(
    problem: Problem,
    points: Points,
    wanted: Callable[[Points], BoolArray],
    options: PassOptions,
    apart: Callable[[Points], BoolArray] | None = None,
) -> Plan[Points]:
    """Tell rows of points apart; `apart` marks points before which finer ones must end."""
    refinements = 0
    while True:
        open_ = wanted(points) & (points.lo < points.hi) & ~points.settled
        n_rows = points.count[open_].sum()
        if n_rows == 0:
            return points
        if n_rows <= (options.max_rows or 0) or refinements == MOST_REFINEMENTS:
            fetched: FetchedRows = yield FetchRows(problem, points.fetch_grid(open_))
            return _with_details(points, open_, fetched.points())
        n_bins = options.n_bins or 1
        few = max(ROWS_PER_BIN, OF_CUBE_ROOT * float(np.cbrt(points.count.sum())))
        portion = points.fullest(open_, n_bins * min(few, OF_FULLEST * float(points.count[open_].max())))
        begins = None if apart is None else apart(points)
        counts: BinCounts = yield CountBins(problem, points.finer_grid(portion, n_bins, begins))
        points = _with_details(points, open_, counts.points(), portion)
        refinements += 1


def _with_details(
    points: Points, open_: BoolArray, finer: Points, portion: BoolArray | None = None
) -> Points:
    """Put finer points in the place of open ones, or of a portion of them, if they hold the same rows."""
    replaced = open_ if portion is None else portion
    before, after = _totals(points.take(replaced)), _totals(finer)
    if not np.allclose(before, after, rtol=0 if points.exact else 1e-9, atol=0):
        raise DataError(
            f"the rows must be the same in every pass; {before[0]:.0f} rows of certain scores became "
            f"{after[0]:.0f}; fit on rows that do not change"
        )
    return points.with_details(open_, finer, replaced)


def _totals(points: Points) -> Float64Array:
    return np.array([points.count.sum(), points.positive.sum(), points.negative.sum()])
