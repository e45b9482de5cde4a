"""Very many rows in memory: counted in bins, of which only those are sorted in which a block may end."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, FloatArray, IntArray, Target
from calibrant.passes._grid import ScoreGrid, grid_from_sample
from calibrant.passes._points import Points
from calibrant.passes._runs import Runs, runs_of_labels, runs_of_shares
from calibrant.passes._screen import open_points

#: With so many weighted rows bins are faster than sorting, unless scores that are equal fill them.
MANY = 1 << 18
#: Rows whose quantiles the bins follow, and rows to a bin.
SAMPLED, PER_BIN = 1 << 16, 50


def gathered_runs(scores: FloatArray, target: Target, weights: Float64Array | None) -> Runs:
    """Gather rows that isotonic regression does not tell apart."""
    if target.dtype != bool:
        return runs_of_shares(scores, target, weights)
    if weights is not None and len(scores) >= MANY:
        sample = scores[:: len(scores) // SAMPLED].astype(np.float64)
        if 2 * len(np.unique(sample)) > len(sample):
            return _screened_runs(scores, target, weights, sample)
    return runs_of_labels(scores, target, weights)


def _screened_runs(
    scores: FloatArray, positive: BoolArray, weights: Float64Array, sample: Float64Array
) -> Runs:
    """The same by the screen of `open_points`: only rows of open bins are sorted, all others are runs."""
    grid = grid_from_sample(sample, len(scores) // PER_BIN, "quantile")
    binned = _Binned.of(np.asarray(scores, dtype=np.float64), grid)
    places = 2 * binned.cells
    places += positive
    mass = np.bincount(places, weights, 2 * binned.n_cells).reshape(-1, 2)
    open_ = binned.open_cells(*mass.T)
    rows = binned.rows_of(open_)
    apart = runs_of_shares(scores[rows], positive[rows].astype(np.float64), weights[rows])
    closed = np.flatnonzero((binned.count > 0) & ~open_)
    starts = np.append(binned.places_of(open_, apart.starts), binned.first[closed])
    order = np.argsort(starts, kind="stable")
    return Runs(
        starts[order],
        len(scores),
        binned.score_at,
        np.append(apart.positive, mass[closed, 1])[order],
        np.append(apart.negative, mass[closed, 0])[order],
    )


@dataclass(frozen=True, eq=False)
class _Binned:
    """Scores, the number of the cell that each is in, and of every cell its rows, and those before it."""

    scores: Float64Array
    cells: IntArray
    count: IntArray
    first: IntArray

    @classmethod
    def of(cls, scores: Float64Array, grid: ScoreGrid) -> "_Binned":
        cells = grid.bins(scores)
        count = np.bincount(cells, minlength=grid.n_bins)
        return cls(scores, cells, count, np.cumsum(count) - count)

    @property
    def n_cells(self) -> int:
        return len(self.count)

    def open_cells(self, negative: Float64Array, positive: Float64Array) -> BoolArray:
        """The cells whose rows must be told apart, of which each holds several scores."""
        held = np.flatnonzero(self.count)
        low, high = np.zeros(self.n_cells), np.ones(self.n_cells)  # not known yet
        sums = positive[held], negative[held], self.count[held].astype(np.float64)
        points = Points(low[held], high[held], *sums, np.zeros(len(held), dtype=bool), exact=False)
        open_ = np.zeros(self.n_cells, dtype=bool)
        open_[held] = open_points(points)
        rows = self.rows_of(open_)
        low[open_], high[open_] = np.inf, -np.inf
        np.minimum.at(low, self.cells[rows], self.scores[rows])
        np.maximum.at(high, self.cells[rows], self.scores[rows])
        return open_ & (low < high)

    def rows_of(self, chosen: BoolArray) -> IntArray:
        """The rows in some cells."""
        return np.flatnonzero(chosen.take(self.cells))

    def places_of(self, chosen: BoolArray, places: IntArray) -> IntArray:
        """Places among all rows in ascending order, of places among those of some cells."""
        count = self.count[chosen]
        cell = np.searchsorted(np.cumsum(count), places, side="right")
        return places + (self.first[chosen] - (np.cumsum(count) - count))[cell]

    def score_at(self, places: IntArray) -> Float64Array:
        """The scores at places among all rows in ascending order."""
        chosen = np.zeros(self.n_cells, dtype=bool)
        chosen[np.searchsorted(self.first, places, side="right") - 1] = True
        scores = np.sort(self.scores[self.rows_of(chosen)])
        return scores[np.searchsorted(self.places_of(chosen, np.arange(len(scores))), places)]
