"""A pass that counts rows in bins of their score: 32 bytes a bin, 40 with weights."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array
from calibrant.engines._grid import ScoreGrid
from calibrant.engines._points import Points
from calibrant.engines._problem import Problem
from calibrant.engines._rows import Rows
from calibrant.engines._summary import Summary, Task
from calibrant.engines._travel import travels


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
    """Weights of either class, number of rows, least and greatest score of every bin.

    As long as no row has a weight, weights and numbers are the same, and the numbers are not kept.
    """

    def __init__(self, task: CountBins) -> None:
        super().__init__(task)
        n_bins = task.grid.n_bins
        self._mass = np.zeros(2 * n_bins)  # negatives and positives of every bin in turn
        self._lo, self._hi = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
        self._count: Array | None = None

    def update(self, rows: Rows) -> None:
        """Count rows. `ufunc.at` is as fast as a loop in C since NumPy 1.25, whatever the number of bins."""
        scores, positive, weight = self.task.problem.rows(rows)
        if len(scores) == 0:
            return
        if not self.task.grid.covers:
            inside = self.task.grid.contains(scores)
            scores, positive = scores[inside], positive[inside]
            weight = None if weight is None else weight[inside]
        bins = self.task.grid.bins(scores)
        np.minimum.at(self._lo, bins, scores)
        np.maximum.at(self._hi, bins, scores)
        if weight is not None:
            np.add.at(self._counts(), bins, 1.0)
        elif self._count is not None:
            np.add.at(self._count, bins, 1.0)
        bins *= 2
        bins += positive
        np.add.at(self._mass, bins, 1.0 if weight is None else weight)

    def _counts(self) -> Array:
        if self._count is None:
            self._count = self._mass[::2] + self._mass[1::2]
        return self._count

    def points(self) -> Points:
        """The bins that hold rows."""
        count = self._mass[::2] + self._mass[1::2] if self._count is None else self._count
        held = np.flatnonzero(count)
        return Points(
            self._lo[held],
            self._hi[held],
            self._mass[1::2][held],
            self._mass[::2][held],
            count[held],
            np.zeros(len(held), dtype=bool),
            self._count is None,
        )

    def columns(self) -> dict[str, Array]:
        """One row per bin that holds rows; the count is 0 where it is that of the weights."""
        count = self._mass[::2] + self._mass[1::2] if self._count is None else self._count
        held = np.flatnonzero(count)
        return {
            "bin": held.astype(np.int64),
            "negative": self._mass[::2][held],
            "positive": self._mass[1::2][held],
            "lo": self._lo[held],
            "hi": self._hi[held],
            "count": np.zeros(len(held)) if self._count is None else count[held],
        }

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add the bins of another summary."""
        bins, counted = columns["bin"], columns["count"]
        if self._count is not None or counted.any():
            weight = columns["negative"] + columns["positive"]
            np.add.at(self._counts(), bins, np.where(counted > 0, counted, weight))
        np.minimum.at(self._lo, bins, columns["lo"])
        np.maximum.at(self._hi, bins, columns["hi"])
        np.add.at(self._mass, 2 * bins, columns["negative"])
        np.add.at(self._mass, 2 * bins + 1, columns["positive"])
