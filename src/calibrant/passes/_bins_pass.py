"""A pass that counts rows in bins of their score: 32 bytes a bin, 40 with weights."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant.passes._grid import ScoreGrid, pieces
from calibrant.passes._points import Points
from calibrant.passes._problem import Problem
from calibrant.passes._rows import Rows
from calibrant.passes._summary import Summary, Task
from calibrant.passes._travel import travels


@travels
@dataclass(frozen=True, eq=False)
class CountBins(Task):
    """How many rows of either class are in every bin, and what their least and greatest scores are.

    Parameters
    ----------
    problem : Problem
        The rows.
    grid : ScoreGrid
        The bins.
    """

    problem: Problem
    grid: ScoreGrid

    def empty(self) -> "BinCounts":
        """Give empty bins."""
        return BinCounts(self)


class BinCounts(Summary):
    """Least and greatest score, and weights of either class, of every bin; number of rows, if they differ.

    As long as no row has a weight, weights and numbers are the same, and the numbers are not kept.
    """

    def __init__(self, task: CountBins) -> None:
        super().__init__(task)
        # What belongs to a bin is side by side, so that a row costs one miss of the cache and not three.
        self._bins = np.empty((task.grid.n_bins, 4))
        self._bins[:] = np.inf, -np.inf, 0.0, 0.0
        self._count: Array | None = None

    def update(self, rows: Rows) -> None:
        """Count rows, a few at a time, so that a bin stays in the cache for all that is done to it.

        `ufunc.at` is as fast as a loop in C since NumPy 1.25, whatever the number of bins.
        """
        scores, positive, weight = self.task.problem.cases(rows)
        if len(scores) and not self.task.grid.covers:
            inside = self.task.grid.contains(scores)
            scores, positive = scores[inside], positive[inside]
            weight = None if weight is None else weight[inside]
        for piece in pieces(len(scores)):
            self._add(scores[piece], positive[piece], None if weight is None else weight[piece])

    def _add(self, scores: Float64Array, positive: BoolArray, weight: Float64Array | None) -> None:
        place, flat = self.task.grid.bins(scores), self._bins.reshape(-1)
        if weight is not None or self._count is not None:
            np.add.at(self._counts(), place, 1.0)
        place *= 4
        np.minimum.at(flat, place, scores)
        place += 1
        np.maximum.at(flat, place, scores)
        place += 1
        place += positive
        np.add.at(flat, place, 1.0 if weight is None else weight)

    def _counts(self) -> Array:
        """The numbers of rows, kept from now on."""
        if self._count is None:
            self._count = self._weights()
        return self._count

    def _weights(self) -> Array:
        return np.asarray(self._bins[:, 2] + self._bins[:, 3])

    def _held(self) -> tuple[IntArray, Float64Array, Float64Array]:
        """The bins that hold rows: their numbers, what is known of them, and how many rows they hold."""
        count = self._weights() if self._count is None else self._count
        held = np.flatnonzero(count)
        return held, self._bins[held], count[held]

    def points(self) -> Points:
        """The bins that hold rows."""
        held, bins, count = self._held()
        lo, hi, negative, positive = np.ascontiguousarray(bins.T)
        return Points(lo, hi, positive, negative, count, np.zeros(len(held), dtype=bool), self._count is None)

    def columns(self) -> dict[str, Array]:
        """One row per bin that holds rows; the count is 0 where it is that of the weights."""
        held, bins, count = self._held()
        lo, hi, negative, positive = np.ascontiguousarray(bins.T)
        return {
            "bin": held.astype(np.int64),
            "negative": negative,
            "positive": positive,
            "lo": lo,
            "hi": hi,
            "count": np.zeros(len(held)) if self._count is None else count,
        }

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add the bins of another summary, or of several whose columns follow each other."""
        bins, counted = columns["bin"], columns["count"]
        if self._count is not None or counted.any():
            weight = columns["negative"] + columns["positive"]
            np.add.at(self._counts(), bins, np.where(counted > 0, counted, weight))
        place, flat = 4 * bins, self._bins.reshape(-1)
        np.minimum.at(flat, place, columns["lo"])
        np.maximum.at(flat, place + 1, columns["hi"])
        np.add.at(flat, place + 2, columns["negative"])
        np.add.at(flat, place + 3, columns["positive"])
