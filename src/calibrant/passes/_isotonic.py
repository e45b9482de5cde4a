"""The question of isotonic regression: the blocks of the best monotone map."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray
from calibrant.metrics import NO_DIRECTION, Direction, direction, direction_of_points
from calibrant.passes._direction_pass import with_squares
from calibrant.passes._gather import gather_points
from calibrant.passes._points import Points
from calibrant.passes._pooling import Blocks, isotonic_blocks, pool_points
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._screen import open_points
from calibrant.passes._screened import gathered_runs
from calibrant.passes._summary import Plan


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """The blocks by ascending score, and which way the scores rank the classes, where that was looked at."""

    blocks: Blocks
    direction: Direction = NO_DIRECTION


@dataclass(frozen=True)
class Isotonic(Question[IsotonicFit]):
    """The rising, or falling, step function of least squared error.

    Few rows in memory are sorted. Very many, and all that are read in passes, are counted in bins, and only
    the rows of bins in which a block may begin or end are looked at one by one: the blocks are the same.

    Parameters
    ----------
    increasing : bool, default=True
        Whether the probability rises with the score.
    """

    increasing: bool = True

    def of_cases(self, cases: Cases) -> IsotonicFit:
        """Sort, and pool adjacent violators."""
        scores, target, weight = cases
        if not self.increasing:
            target = ~target if target.dtype == bool else 1.0 - target
        runs = gathered_runs(scores, target, weight)
        blocks = isotonic_blocks(runs)
        if not self.increasing:
            return IsotonicFit(_turned(blocks))
        return IsotonicFit(
            blocks, direction(scores, target, weight) if runs.may_rank_wrongly else NO_DIRECTION
        )

    def in_passes(self, rows: RowsInPasses) -> Plan[IsotonicFit]:
        """Gather points that the solution cannot tell apart, and pool these."""

        def wanted(points: Points) -> BoolArray:
            return open_points(points if self.increasing else points.turned())

        plan = gather_points(rows, wanted)
        points, squares = yield from with_squares(plan, rows.problem, rows.sample)
        if not self.increasing:
            turned = points.turned()
            return IsotonicFit(_turned(pool_points(turned.lo, turned.hi, turned.positive, turned.negative)))
        blocks = pool_points(points.lo, points.hi, points.positive, points.negative)
        return IsotonicFit(blocks, direction_of_points(points.positive, points.negative, squares))


def _turned(blocks: Blocks) -> Blocks:
    """The blocks of the other class."""
    return Blocks(blocks.lo, blocks.hi, np.subtract(1.0, blocks.value), blocks.weight)
