"""A pass that fetches the rows of a few stretches of scores, those of the same score together."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.passes._grid import ScoreGrid
from calibrant.passes._points import Points
from calibrant.passes._problem import Problem
from calibrant.passes._rows import Rows
from calibrant.passes._summary import Summary, Task
from calibrant.passes._travel import travels

#: Rows that wait at least until those of the same score are put together.
MANY_WAITING = 1 << 21


@travels
@dataclass(frozen=True, eq=False)
class FetchRows(Task):
    """The rows whose score is in one of some intervals.

    Parameters
    ----------
    problem : Problem
        The rows.
    grid : ScoreGrid
        The intervals.
    """

    problem: Problem
    grid: ScoreGrid

    def empty(self) -> "FetchedRows":
        """Give no rows."""
        return FetchedRows(self)


class FetchedRows(Summary):
    """Weights of either class, and number of rows, of every score."""

    _NAMES = ("score", "negative", "positive", "count")

    def __init__(self, task: FetchRows) -> None:
        super().__init__(task)
        self._parts: list[tuple[Float64Array, ...]] = []
        self._waiting = 0
        self._exact = True

    def update(self, rows: Rows) -> None:
        """Take the rows that are wanted."""
        scores, positive, weight = self.task.problem.cases(rows)
        wanted = np.flatnonzero(self.task.grid.contains(scores))
        if len(wanted) == 0:
            return
        self._exact = self._exact and weight is None
        count = np.ones(len(wanted))
        mass = count if weight is None else weight[wanted]
        is_positive = positive[wanted]
        self._add(
            scores[wanted] + 0.0, np.where(is_positive, 0.0, mass), np.where(is_positive, mass, 0.0), count
        )

    def _add(self, *part: Float64Array) -> None:
        self._parts.append(part)
        self._waiting += len(part[0])
        if self._waiting > max(
            MANY_WAITING, len(self._parts[0][0])
        ):  # so that none is sorted again and again
            self._gather()
            self._waiting = 0

    def _gather(self) -> tuple[Float64Array, ...]:
        """Put rows of the same score together, in ascending order."""
        if not self._parts:
            return (np.empty(0),) * 4
        score, *sums = map(np.concatenate, zip(*self._parts, strict=True))
        order = np.argsort(score, kind="stable")
        score = score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
        gathered = (score[starts], *(np.add.reduceat(each[order], starts) for each in sums))
        self._parts = [gathered]
        return gathered

    def points(self) -> Points:
        """One point per score."""
        score, negative, positive, count = self._gather()
        return Points(score, score, positive, negative, count, np.ones(len(score), dtype=bool), self._exact)

    def columns(self) -> dict[str, Array]:
        """One row per score; the count is 0 where it is that of the weights."""
        columns: dict[str, Array] = dict(zip(self._NAMES, self._gather(), strict=True))
        return columns | {"count": columns["count"] * (not self._exact)}

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add rows that another summary has fetched."""
        score, negative, positive, counted = (columns[name] for name in self._NAMES)
        if len(score):
            self._exact = self._exact and not counted.any()
            self._add(score, negative, positive, np.where(counted > 0, counted, negative + positive))
