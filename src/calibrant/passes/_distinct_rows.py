"""The rows themselves, for methods that must see rows and not only sums of them: all, or a fixed part.

Rows of the same scores are kept or left out together, by a number that depends on nothing but these scores:
not on the order of the rows or of the columns, not on labels, not on who answers. Scores that weigh more than
one that is kept stands for, as they are many copies or have great weights, are always kept.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._mix import Hashes, mix
from calibrant.passes._heavy import HeavyContents
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._rows import Rows
from calibrant.passes._summary import NoRowsError, Plan, Summary, Task
from calibrant.passes._travel import travels

#: As many times more rows than are wanted, or than this, may wait until equal ones are put together.
WAITING, SHORTEST = 4, 1000
#: As many times more scores as are wanted are looked at for heavy ones.
SUSPECTS = 2
#: The halves of a hash, which are floating point numbers without rounding.
HALF, LOW_BITS = np.uint64(32), np.uint64(0xFFFFFFFF)


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
    part : ndarray of shape (n,)
        What the weight of each is multiplied by: 1, but for heavy scores the part of the others' weight that
        is kept.
    total : float or None
        The weight of all rows, where some are left out.
    """

    scores: Float64Array
    truth: IntArray
    weight: Float64Array
    count: Float64Array
    part: Float64Array
    total: float | None

    @classmethod
    def of_all(
        cls, scores: Float64Array, truth: IntArray, weight: Float64Array, count: Float64Array
    ) -> "KeptRows":
        """Nothing is left out."""
        return cls(scores, truth, weight, count, np.ones(len(truth)), None)

    def thinned(self, hashes: Hashes, most: int, total: float) -> "KeptRows":
        """Of rows of too many different scores the heavy ones, and others of the least numbers."""
        distinct, place = np.unique(hashes, return_inverse=True)
        mass = _mass(place, self.weight, self.count)
        heavy = mass > total / most
        light = np.flatnonzero(~heavy)[: most - int(heavy.sum())]
        kept = heavy.copy()
        kept[light] = True
        rows = np.flatnonzero(kept[place])
        part = np.ones(len(distinct))
        if heavy.any():
            kept_mass = math.fsum(mass[light])
            part[heavy] = kept_mass / max(total - math.fsum(mass[heavy]), kept_mass)
        return KeptRows(
            self.scores[rows], self.truth[rows], self.weight[rows], self.count[rows], part[place[rows]], total
        )


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
        rows = KeptRows.of_all(scores, truth, weight, np.ones(len(truth)))
        if len(truth) <= self.most:
            return rows
        hashes = content_hashes(scores)
        if _least(hashes, self.most) is None:
            return rows
        total = float(len(truth)) if cases.weight is None else math.fsum(weight)
        return rows.thinned(hashes, self.most, total)

    def in_passes(self, rows: RowsInPasses) -> Plan[KeptRows]:
        """Keep those of the least numbers in one pass; if others may be heavy, fetch these in a second."""
        found: _Kept = yield KeepDistinct(rows.problem, self.most)
        if found.total == 0:
            raise NoRowsError
        kept = found.rows()
        if not found.left_out:
            return _as_kept(kept)
        heavy = found.heavy.above(found.total / self.most)
        others = np.setdiff1d(heavy, content_hashes(kept[:, 3:]))
        if len(others):
            fetched: _Kept = yield KeepDistinct(rows.problem, self.most, others.view(np.int64))
            kept = np.concatenate([kept, fetched.rows()])
        return _as_kept(kept).thinned(content_hashes(kept[:, 3:]), self.most, found.total)


def _as_kept(rows: Float64Array) -> KeptRows:
    truth, weight, count, *scores = rows.T
    return KeptRows.of_all(np.stack(scores, axis=1), truth.astype(np.intp), weight, count)


def _mass(place: IntArray, weight: Float64Array, count: Float64Array) -> Float64Array:
    """The weight of every content, the same for copies in any order."""
    order = np.lexsort((weight, place))
    place, weight = place[order], weight[order]
    starts = np.flatnonzero(np.append(True, (place[1:] != place[:-1]) | (weight[1:] != weight[:-1])))
    mass = weight[starts] * np.add.reduceat(count[order], starts)
    firsts = np.flatnonzero(np.append(True, place[starts][1:] != place[starts][:-1]))
    return np.asarray(np.add.reduceat(mass, firsts))


def content_hashes(scores: Float64Array) -> Hashes:
    """A number for the scores of every row, in whatever order they stand."""
    bits = np.ascontiguousarray(scores, dtype=np.float64).view(np.uint64)
    return mix(mix(bits).sum(axis=1, dtype=np.uint64))


def _least(hashes: Hashes, most: int) -> BoolArray | None:
    """Which rows have one of so many least numbers; None for all."""
    distinct = np.unique(hashes)
    return None if len(distinct) <= most else hashes <= distinct[most - 1]


@travels
@dataclass(frozen=True, eq=False)
class KeepDistinct(Task):
    """The pass that keeps rows of the least numbers, or all rows of some."""

    problem: Any
    most: int
    numbers: IntArray | None = None

    def empty(self) -> "_Kept":
        """No rows."""
        return _Kept(self)


class _Kept(Summary):
    """Rows of different content, weight and class, how many of each, and which contents are heavy."""

    def __init__(self, task: KeepDistinct) -> None:
        super().__init__(task)
        self.total, self.left_out = 0.0, False
        self.heavy = HeavyContents(SUSPECTS * task.most)
        # Rows of class, weight, count and scores; new ones have not been looked at yet.
        self._known: list[Float64Array] = []
        self._new: list[Float64Array] = []

    def update(self, rows: Rows) -> None:
        """Take rows."""
        scores, truth, weight = self.task.problem.cases(rows)
        if not len(truth):
            return
        matrix = scores.reshape(len(truth), -1) + 0.0
        mass = np.ones(len(truth)) if weight is None else weight
        self.total += math.fsum(mass)
        self._new.append(np.column_stack([truth, mass, np.ones(len(truth)), matrix]))
        self._make_room()

    def _make_room(self) -> None:
        if sum(map(len, (*self._known, *self._new))) > WAITING * max(self.task.most, SHORTEST):
            self.rows()

    def rows(self) -> Float64Array:
        """Equal rows as one, and none of a number that is too great."""
        if not (self._known or self._new):
            return np.empty((0, 4))
        rows = np.concatenate([*self._known, *self._new])
        hashes = content_hashes(rows[:, 3:])
        if self.task.numbers is None:
            new = slice(sum(map(len, self._known)), None)
            self.heavy.add(hashes[new], rows[new, 1] * rows[new, 2])
            kept = _least(hashes, self.task.most)
            self.left_out = self.left_out or kept is not None
        else:
            kept = np.isin(hashes, self.task.numbers.view(np.uint64))
        rows = equal_as_one(rows if kept is None else rows[kept], count=2)
        if len(rows) > WAITING * max(self.task.most, SHORTEST) // 2:  # many weights of the same scores
            rows[:, 1] *= rows[:, 2]
            rows[:, 2] = 1.0
            rows = equal_as_one(rows, count=1)
        self._known, self._new = [rows], []
        return rows

    def columns(self) -> dict[str, Array]:
        """One row per row; one of no copies, which has the totals; and of -1 copies the heavy contents."""
        rows = self.rows()
        totals = np.zeros((1, rows.shape[1]))
        totals[0, [0, 1, 3]] = self.left_out, self.total, self.heavy.taken_off
        heavy = np.zeros((len(self.heavy.hashes), rows.shape[1]))
        heavy[:, 0], heavy[:, 3] = self.heavy.hashes & LOW_BITS, self.heavy.hashes >> HALF
        heavy[:, 1], heavy[:, 2] = self.heavy.sums, -1.0
        return {f"{number:05d}": column for number, column in enumerate(np.vstack([rows, totals, heavy]).T)}

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Take rows of other summaries."""
        rows = np.column_stack([columns[name] for name in sorted(columns)])
        totals, heavy, rows = (rows[rows[:, 2] == 0], rows[rows[:, 2] < 0], rows[rows[:, 2] > 0])
        self.left_out = self.left_out or bool(totals[:, 0].any())
        self.total += math.fsum(totals[:, 1])
        hashes = (heavy[:, 3].astype(np.uint64) << HALF) | heavy[:, 0].astype(np.uint64)
        self.heavy.add(hashes, heavy[:, 1], math.fsum(totals[:, 3]))
        if len(rows):
            self._known.append(rows)
            self._make_room()


def equal_as_one(rows: Float64Array, count: int) -> Float64Array:
    """Rows that are equal but for the number in one column as one, with the sum of these numbers."""
    content = np.delete(rows, count, axis=1)
    order = np.lexsort(content.T)
    content, number = content[order], rows[order, count]
    starts = np.flatnonzero(np.append(True, (content[1:] != content[:-1]).any(axis=1)))
    return np.insert(content[starts], count, np.add.reduceat(number, starts), axis=1)
