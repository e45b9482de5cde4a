"""Which way scores rank the classes, and which classes have rows: found beside a plan, in its own passes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.metrics import Direction, direction_of_points, sides_of
from calibrant.passes._bins_pass import CountBins
from calibrant.passes._class_pass import count_classes
from calibrant.passes._grid import grid_from_sample
from calibrant.passes._problem import Problem, problems_of
from calibrant.passes._rows import Rows
from calibrant.passes._sample_pass import Sample, TakeSample
from calibrant.passes._summary import Plan, Task, Totals
from calibrant.passes._together import together
from calibrant.passes._travel import travels

T = TypeVar("T")
#: Bins of one score, which share a rank each; and of all scores together, about.
N_BINS, BINS_IN_ALL = 1 << 12, 1 << 20


@travels
@dataclass(frozen=True, eq=False)
class SumSquares(Task):
    """Squared weights of either class, and how many weights are not whole.

    Parameters
    ----------
    problem : Problem
        The rows.
    """

    problem: Problem

    def empty(self) -> "Squares":
        """Give the sums over no rows."""
        return Squares(self, 3)


class Squares(Totals):
    """Sums over the rows."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        _, positive, weight = self.task.problem.cases(rows)
        if weight is None:
            n_positive = int(np.count_nonzero(positive))
            self.sums += 0, n_positive, len(positive) - n_positive
            return
        with np.errstate(over="ignore", under="ignore"):
            square = weight * weight
            broken = np.count_nonzero(weight != np.floor(weight))
            self.sums += broken, square[positive].sum(), square[~positive].sum()

    @property
    def sides(self) -> tuple[float, float] | None:
        """Those of the positives and of the negatives; None where weights are counts."""
        return None if self.sums[0] == 0 else (float(self.sums[1]), float(self.sums[2]))


def with_squares(plan: Plan[T], problem: Problem, sample: Rows) -> Plan[tuple[T, tuple[float, float] | None]]:
    """Run a plan, and beside it add up the squared weights, unless those of a sample are counts."""
    weight = problem.cases(sample).weight
    if weight is None or np.array_equal(weight, np.floor(weight)):
        return (yield from plan), None
    parts: list[Plan[Any]] = [plan, _ask(SumSquares(problem))]
    found, squares = yield from together(parts)
    return found, squares.sides


@dataclass(frozen=True, eq=False)
class ScoreSurvey:
    """What scores are like, before anything is learned from them.

    Attributes
    ----------
    mass : ndarray of shape (k,)
        Total weight of every class.
    directions : list of Direction
        Which way every column ranks its classes.
    """

    mass: Float64Array
    directions: list[Direction]


def surveyed(
    plan: Plan[T], n_classes: int, check: Callable[[ScoreSurvey], None], code: Array | None = None
) -> Plan[T]:
    """Run a plan, and beside it look at the scores, in the same passes."""

    def look() -> Plan[None]:
        taken: Sample = yield TakeSample()
        sample = taken.rows()
        n_columns = sample.scores.shape[1]
        sides = sides_of(n_classes, n_columns) if code is None else code
        if len(sample) == 0 or n_columns != sides.shape[1]:
            return  # the plan says so itself
        n_bins = max(64, min(N_BINS, BINS_IN_ALL // n_columns))
        columns: list[Plan[Any]] = [_direction(problem, sample, n_bins) for problem in problems_of(sides)]
        counts, *directions = yield from together([count_classes(n_classes), *columns])
        check(ScoreSurvey(counts.mass, directions))

    parts: list[Plan[Any]] = [plan, look()]
    found: list[T] = yield from together(parts)
    return found[0]


def _direction(problem: Problem, sample: Rows, n_bins: int) -> Plan[Direction]:
    grid = grid_from_sample(problem.cases(sample).scores, n_bins, "quantile")
    counts, squares = yield from with_squares(_ask(CountBins(problem, grid)), problem, sample)
    points = counts.points()
    return direction_of_points(points.positive, points.negative, squares)


def _ask(task: Task) -> Plan[Any]:
    found = yield task
    return found
