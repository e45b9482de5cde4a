"""The question whether scores are probabilities, and the pass that finds their range."""

from dataclasses import dataclass
from typing import Any

from calibrant._core._checks import OF_MARGINS, ROUNDING, check_probabilities
from calibrant._core._errors import DataError
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._summary import NoRowsError, Plan, Task, Totals
from calibrant.passes._travel import travels


@dataclass(frozen=True)
class InUnitInterval(Question[None]):
    """Nothing but that all scores lie in [0, 1]: an error says so where they do not.

    Parameters
    ----------
    what : str
        What the error calls the scores.
    """

    what: str = "scores"

    def of_cases(self, cases: Cases) -> None:
        """Look at all of them."""
        check_probabilities(cases.scores, self.what)

    def in_passes(self, rows: RowsInPasses) -> Plan[None]:
        """Find the least and the greatest."""
        found: Range = yield FindRange(rows.problem)
        if found.sums[0] == 0:
            raise NoRowsError
        check_range(float(found.least[0]), float(found.most[0]), self.what)


@travels
@dataclass(frozen=True, eq=False)
class FindRange(Task):
    """The range of the scores of a problem."""

    problem: Any

    def empty(self) -> "Range":
        """Give the range of no rows."""
        return Range(self, n_sums=1, n_least=1, n_most=1)


@travels
@dataclass(frozen=True, eq=False)
class Probabilities:
    """A problem whose scores must lie in [0, 1], and are refused where they do not.

    Parameters
    ----------
    problem : object
        What gives the cases.
    what : str
        What the error calls the scores.
    """

    problem: Any
    what: str

    @property
    def left_out(self) -> Fold | None:
        """The fold whose rows take no part."""
        fold: Fold | None = self.problem.left_out
        return fold

    def cases(self, rows: Rows) -> Cases:
        """Those of the problem."""
        cases: Cases = self.problem.cases(rows)
        if len(cases.truth):
            check_range(float(cases.scores.min()), float(cases.scores.max()), self.what)
        return cases


def check_range(low: float, high: float, what: str) -> None:
    """Refuse scores, of which these are the least and the greatest, that cannot be probabilities."""
    for value in (low, high):
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise DataError(f"{what} must lie in [0, 1]; got {value}; {OF_MARGINS}")


class Range(Totals):
    """Number of rows, least and greatest score."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        scores = self.task.problem.cases(rows).scores
        if len(scores):
            self.sums[0] += len(scores)
            self.least[0] = min(self.least[0], scores.min())
            self.most[0] = max(self.most[0], scores.max())
