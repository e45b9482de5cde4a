"""Which interval does a score fall into? The same question for bins and for isotonic blocks."""

from dataclasses import dataclass, field

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray

#: Fewer scores are searched for at once, which takes less time than to look them up in a grid.
FEW = 128


@dataclass(eq=False)
class IntervalLookup:
    """Number of edges strictly below a score, found through an even grid.

    A binary search over random scores mispredicts at every level. The grid answers in a few
    sequential passes instead: a cell is a monotone function of the score, so edges in lower cells lie
    below, edges in higher cells above, and only an edge in the score's own cell needs a comparison.
    Scores in a cell with several edges are searched for in the ordinary way, so the answer is exact
    whatever the spacing. Edges that are equal are one for the grid, and counted afterwards. The grid is made
    when the first score is asked for.
    """

    edges: Float64Array
    _even: bool | None = field(default=None, init=False, repr=False)

    def _make_grid(self) -> None:
        new = np.append(True, self.edges[1:] != self.edges[:-1])
        edges = self.edges if new.all() else self.edges[new]
        n_cells = min(1 << 16, max(256, 8 * len(edges)))
        with np.errstate(over="ignore", divide="ignore"):
            scale = n_cells / (edges[-1] - edges[0]) if len(edges) > 1 else 0.0
        even = len(edges) > 1 and 0 < scale < np.inf
        if not even:
            self._even = False
            return
        self._low, self._scale, self._last = edges[0], scale, n_cells - 1.0
        cells = self._cells(edges)
        edges_before = np.searchsorted(cells, np.arange(n_cells + 1), side="left")
        self._before = edges_before[:-1]
        crowded = np.diff(edges_before) > 1
        self._crowded = crowded if crowded.any() else None
        self._next = np.append(edges, np.inf)
        self._counted = None if new.all() else np.append(np.flatnonzero(new), len(new))
        self._even = True  # last, for those who ask at the same time

    def __call__(self, scores: Float64Array) -> IntArray:
        if len(scores) < FEW:
            return self.edges.searchsorted(scores)
        if self._even is None:
            self._make_grid()
        if not self._even:
            return np.asarray(np.searchsorted(self.edges, scores, side="left"))
        cells = self._cells(scores)
        index: IntArray = self._before.take(cells)
        index += self._next.take(index) < scores
        if self._crowded is not None:
            rows = np.flatnonzero(self._crowded.take(cells))
            index[rows] = np.searchsorted(self._next[:-1], scores.take(rows), side="left")
        return index if self._counted is None else self._counted.take(index)

    def _cells(self, scores: Float64Array) -> IntArray:
        with np.errstate(over="ignore"):
            place: Float64Array = (scores - self._low) * self._scale
        np.clip(place, 0.0, self._last, out=place)
        return place.astype(np.intp)
