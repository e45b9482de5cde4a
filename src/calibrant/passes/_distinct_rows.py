"""The rows themselves, for methods that must see rows and not only sums of them: all, or a fixed part.

Rows of the same scores are kept or left out together, by a number that depends on nothing but these scores:
not on the order of the rows or of the columns, not on labels, not on who answers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._mix import Hashes, mix
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._rows import Rows
from calibrant.passes._summary import NoRowsError, Plan, Summary, Task
from calibrant.passes._travel import travels

#: As many times more rows than are wanted may wait until those of the same content are put together.
WAITING = 4


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows, in any order.

    Attributes
    ----------
    scores : ndarray of shape (n, k)
        Their scores.
    truth : ndarray of shape (n,)
        The numbers of their classes.
    weight : ndarray of shape (n,)
        The weight of one copy of each.
    count : ndarray of shape (n,)
        How many copies there are.
    total : float or None
        The weight of all rows, where some are left out.
    """

    scores: Float64Array
    truth: IntArray
    weight: Float64Array
    count: Float64Array
    total: float | None


@dataclass(frozen=True, eq=False)
class DistinctRows(Question[KeptRows]):
    """The rows, but of too many different ones only some.

    Parameters
    ----------
    most : int
        How many rows of different scores are kept at most.
    """

    most: int

    def of_cases(self, cases: Cases) -> KeptRows:
        """Look for those of the least numbers, if there are too many."""
        scores = np.asarray(cases.scores, dtype=np.float64)
        scores = (scores[:, None] if scores.ndim == 1 else scores) + 0.0  # -0.0 is 0.0
        truth = np.asarray(cases.truth, dtype=np.intp)
        weight = np.ones(len(truth)) if cases.weight is None else cases.weight
        total = None
        if len(truth) > self.most:
            kept = _least(content_hashes(scores), self.most)
            if kept is not None:
                total = float(len(truth)) if cases.weight is None else math.fsum(weight)
                scores, truth, weight = scores[kept], truth[kept], weight[kept]
        return KeptRows(scores, truth, weight, np.ones(len(truth)), total)

    def in_passes(self, rows: RowsInPasses) -> Plan[KeptRows]:
        """Keep those of the least numbers in one pass."""
        found: _Kept = yield KeepDistinct(rows.problem, self.most)
        if found.total == 0:
            raise NoRowsError
        return found.rows()


def content_hashes(scores: Float64Array) -> Hashes:
    """A number for the scores of every row, in whatever order they stand."""
    bits = np.ascontiguousarray(scores, dtype=np.float64).view(np.uint64)
    return mix(mix(bits).sum(axis=1, dtype=np.uint64))


def _least(hashes: Hashes, most: int) -> Array | None:
    """Which rows have one of so many least numbers; None for all."""
    distinct = np.unique(hashes)
    return None if len(distinct) <= most else np.flatnonzero(hashes <= distinct[most - 1])


@travels
@dataclass(frozen=True, eq=False)
class KeepDistinct(Task):
    """The pass that keeps rows of the least numbers."""

    problem: Any
    most: int

    def empty(self) -> "_Kept":
        """No rows."""
        return _Kept(self)


class _Kept(Summary):
    """Rows of different content, weight and class, and how many there are of each."""

    def __init__(self, task: KeepDistinct) -> None:
        super().__init__(task)
        self.total, self._left_out = 0.0, False
        self._parts: list[Float64Array] = []  # rows of class, weight, count, scores

    def update(self, rows: Rows) -> None:
        """Take rows."""
        scores, truth, weight = self.task.problem.cases(rows)
        if not len(truth):
            return
        matrix = scores.reshape(len(truth), -1) + 0.0
        mass = np.ones(len(truth)) if weight is None else weight
        self.total += math.fsum(mass)
        self._add(np.column_stack([truth, mass, np.ones(len(truth)), matrix]))

    def _add(self, part: Float64Array) -> None:
        self._parts.append(part)
        if sum(map(len, self._parts)) > WAITING * max(self.task.most, 1000):
            self._put_together()

    def _put_together(self) -> Float64Array:
        """Equal rows as one, and none of a number that is too great."""
        if not self._parts:
            return np.empty((0, 4))
        rows = np.concatenate(self._parts)
        kept = _least(content_hashes(rows[:, 3:]), self.task.most)
        if kept is not None:
            rows, self._left_out = rows[kept], True
        rows = equal_as_one(rows, count=2)
        if len(rows) > WAITING * max(self.task.most, 1000) // 2:  # many weights of the same scores
            rows[:, 1] *= rows[:, 2]
            rows[:, 2] = 1.0
            rows = equal_as_one(rows, count=1)
        self._parts = [rows]
        return rows

    def rows(self) -> KeptRows:
        """What was kept."""
        truth, weight, count, *scores = self._put_together().T
        total = self.total if self._left_out else None
        return KeptRows(np.stack(scores, axis=1), truth.astype(np.intp), weight, count, total)

    def columns(self) -> dict[str, Array]:
        """One row per row, and one of no copies, which has the totals."""
        rows = self._put_together()
        totals = np.zeros((1, rows.shape[1]))
        totals[0, :2] = self._left_out, self.total
        return {f"{number:05d}": column for number, column in enumerate(np.vstack([rows, totals]).T)}

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Take rows of other summaries."""
        rows = np.column_stack([columns[name] for name in sorted(columns)])
        is_total = rows[:, 2] == 0
        self._left_out = self._left_out or bool(rows[is_total, 0].any())
        self.total += math.fsum(rows[is_total, 1])
        if not is_total.all():
            self._add(rows[~is_total])


def equal_as_one(rows: Float64Array, count: int) -> Float64Array:
    """Rows that are equal but for the number in one column as one, with the sum of these numbers."""
    content = np.delete(rows, count, axis=1)
    order = np.lexsort(content.T)
    content, number = content[order], rows[order, count]
    starts = np.flatnonzero(np.append(True, (content[1:] != content[:-1]).any(axis=1)))
    return np.insert(content[starts], count, np.add.reduceat(number, starts), axis=1)
