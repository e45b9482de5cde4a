"""A pass that finds the least and the greatest score."""

from dataclasses import dataclass

from calibrant.engines._problem import Problem
from calibrant.engines._rows import Rows
from calibrant.engines._summary import Task, Totals
from calibrant.engines._travel import travels


@travels
@dataclass(frozen=True, eq=False)
class FindRange(Task):
    """The range of the scores of a problem.

    Parameters
    ----------
    problem : Problem
        The rows.
    """

    problem: Problem

    def empty(self) -> "Range":
        """Give the range of no rows."""
        return Range(self, n_sums=1, n_least=1, n_most=1)


class Range(Totals):
    """Number of rows, least and greatest score."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        scores = self.task.problem.rows(rows)[0]
        if len(scores):
            self.sums[0] += len(scores)
            self.least[0] = min(self.least[0], scores.min())
            self.most[0] = max(self.most[0], scores.max())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sums[0])

    @property
    def low(self) -> float:
        """Least score; infinite if there are no rows."""
        return float(self.least[0])

    @property
    def high(self) -> float:
        """Greatest score; minus infinity if there are no rows."""
        return float(self.most[0])
