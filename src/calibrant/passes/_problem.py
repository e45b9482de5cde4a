"""A two-class problem cut out of rows of many classes: one column of scores, and the sides of the classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, BoolArray, FloatArray, IntArray
from calibrant.passes._options import PassOptions
from calibrant.passes._questions import Cases, RowsInPasses
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._travel import travels

#: Memory for a block of columns.
BLOCK_BYTES = 1 << 24


@travels
@dataclass(frozen=True, eq=False)
class Problem:
    """Which rows take part in a two-class problem, and which of them are positive.

    Parameters
    ----------
    column : int
        Which column of the scores it is about.
    sides : ndarray of int8 of shape (k,)
        For every class +1, -1, or 0 if its rows take no part.
    left_out : Fold, optional
        The fold whose rows take no part.
    """

    column: int
    sides: Array
    left_out: Fold | None = None

    def cases(self, rows: Rows) -> Cases:
        """Cut the problem out of a batch."""
        rows = rows.outside(self.left_out)
        if not self.sides.all():
            rows = rows.once(("sides", self.sides.tobytes()), lambda: self._taking_part(rows))
        return Cases(rows.column(self.column), (self.sides > 0).take(rows.truth), rows.weight)

    def _taking_part(self, rows: Rows) -> Rows:
        return rows.take((self.sides != 0).take(rows.truth))


def cases_in_memory(rows: Rows, code: Array, known: BoolArray | None = None) -> Iterator[list[Cases]]:
    """The problems of all columns of a code, cut out of rows in memory, some neighbouring columns at a time.

    A column leaves out the rows of classes that take no part in it, and those whose score is not known.
    Entries of one column lie far apart in a matrix of many classes: columns that are read together share the
    cost of reaching them.
    """
    scores = rows.scores[:, None] if rows.scores.ndim == 1 else rows.scores
    width = max(1, min(16, BLOCK_BYTES // (8 * max(len(scores), 1))))
    for first in range(0, scores.shape[1], width):
        block = np.ascontiguousarray(scores[:, first : first + width].T)
        yield [
            _cases_of(score, code[:, column], rows, None if known is None else known[:, column])
            for column, score in enumerate(block, first)
        ]


def _cases_of(scores: FloatArray, sides: Array, rows: Rows, known: BoolArray | None) -> Cases:
    truth, weight = (sides > 0).take(rows.truth), rows.weight
    used = None if sides.all() else (sides != 0).take(rows.truth)
    if known is not None and not known.all():
        used = known if used is None else used & known
    if used is None:
        return Cases(scores, truth, weight)
    return Cases(scores[used], truth[used], None if weight is None else weight[used])


@travels
@dataclass(frozen=True, eq=False)
class AllScores:
    """The problem of a method that takes all scores of a row: all rows, but those of a fold."""

    left_out: Fold | None = None

    def cases(self, rows: Rows) -> Cases:
        """The rows that take part."""
        kept = rows.outside(self.left_out)
        return Cases(kept.scores, kept.truth, kept.weight)


@dataclass(frozen=True, eq=False)
class Reading:
    """Rows of all classes that are read in passes.

    Parameters
    ----------
    sample : Rows
        Some of them.
    options : PassOptions
        How much memory may be used.
    n_rows : int, optional
        About how many rows there are.
    left_out : Fold, optional
        The fold whose rows take no part.
    """

    sample: Rows
    options: PassOptions
    n_rows: int | None = None
    left_out: Fold | None = None

    def columns(self, code: Array, chosen: IntArray | None = None) -> list[RowsInPasses]:
        """The rows of every column of a code, or of those that are chosen, which share the memory."""
        problems = problems_of(code, self.left_out)
        wanted = problems if chosen is None else [problems[column] for column in chosen]
        filled = self.options.for_problems(len(wanted), self.n_rows)
        return [RowsInPasses(problem, self.sample, filled) for problem in wanted]

    def whole(self) -> RowsInPasses:
        """All scores of a row together."""
        return RowsInPasses(AllScores(self.left_out), self.sample, self.options.for_problems(1, self.n_rows))


def problems_of(code: Array, left_out: Fold | None = None) -> list[Problem]:
    """The problems of the columns of a code matrix."""
    sides = np.ascontiguousarray(np.asarray(code, dtype=np.int8).T)
    return [Problem(column, side, left_out) for column, side in enumerate(sides)]
