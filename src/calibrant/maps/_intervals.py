"""Which interval does a score fall into? The same question for bins and for isotonic blocks."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray

#: Fewer scores are searched for at once, which takes less time than to look them up in a grid.
FEW = 128
#: Cells of a grid for every edge, and at least and at most.
CELLS_OF_EDGE, LEAST_CELLS, MOST_CELLS = 8, 256, 1 << 16
#: Another grid is tried where more than this share of about so many scores are in crowded cells.
FEW_CROWDED, SOME = 0.1, 500


@dataclass(eq=False)
class IntervalLookup:
    """Number of edges strictly below a score, found through a grid.

    A binary search over random scores mispredicts at every level. The grid answers in a few
    sequential passes instead: a cell is a monotone function of the score, so edges in lower cells lie
    below, edges in higher cells above, and only an edge in the score's own cell needs a comparison.
    Scores in a cell with several edges are searched for in the ordinary way, so the answer is exact
    whatever the spacing. Edges that are equal are one for the grid, and counted afterwards. The grid is made
    when the first score is asked for.

    The grid is even; or, where the edges are positive and crowd near zero, as probabilities of many classes
    do, it is even in the bits of a number, which is nearly in its logarithm.
    """

    edges: Float64Array
    _grid: "_Grid | Literal[False] | None" = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """What is kept of it: not the grid, which is made again."""
        return {"edges": self.edges, "_grid": None}

    def __call__(self, scores: Float64Array) -> IntArray:
        if len(scores) < FEW:
            return self.edges.searchsorted(scores)
        if self._grid is None:
            self._grid = _Grid.of(self.edges, scores) or False
        if not self._grid:
            return self.edges.searchsorted(scores)
        return self._grid.places(scores)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Cells, and which edges are in them.

    Attributes
    ----------
    cells : _Even or _OfBits
        The cell of a score.
    before : ndarray of int
        How many edges are below the first of every cell.
    next_ : ndarray
        The edges, and infinity.
    crowded : ndarray of bool, or None
        Which cells have more than one edge, if any has.
    counted : ndarray of int, or None
        How many edges there are below each, where some are equal.
    """

    cells: "_Even | _OfBits"
    before: IntArray
    next_: Float64Array
    crowded: BoolArray | None
    counted: IntArray | None

    @classmethod
    def of(cls, given: Float64Array, scores: Float64Array) -> "_Grid | None":
        """Make one, if there is any for these edges: that with fewest of the scores in crowded cells."""
        new = np.ones(len(given), dtype=bool)
        np.not_equal(given[1:], given[:-1], out=new[1:])
        edges = given if new.all() else given[new]
        if len(edges) < 2:
            return None
        n_cells = min(MOST_CELLS, max(LEAST_CELLS, CELLS_OF_EDGE * len(edges)))
        some = scores[:: max(1, len(scores) // SOME)]
        found: list[tuple[int, _Even | _OfBits, IntArray, BoolArray]] = []
        for kind in (_Even, _OfBits):
            cells = kind.of(edges, n_cells)
            if cells is not None:
                before = cells(edges).searchsorted(np.arange(n_cells + 1))
                crowded = before[1:] - before[:-1] > 1
                n_crowded = int(np.count_nonzero(crowded.take(cells(some))))
                found.append((n_crowded, cells, before[:-1], crowded))
            if found and found[0][0] <= FEW_CROWDED * len(some):
                break
        if not found:
            return None
        _, cells, before, crowded = min(found, key=lambda each: each[0])
        return cls(
            cells,
            before,
            np.append(edges, np.inf),
            crowded if crowded.any() else None,
            None if new.all() else np.append(np.flatnonzero(new), len(new)),
        )

    def places(self, scores: Float64Array) -> IntArray:
        """Number of edges strictly below every score."""
        cells = self.cells(scores)
        index: IntArray = self.before.take(cells)
        index += self.next_.take(index) < scores
        if self.crowded is not None:
            rows = self.crowded.take(cells).nonzero()[0]
            index[rows] = self.next_[:-1].searchsorted(scores.take(rows))
        return index if self.counted is None else self.counted.take(index)


@dataclass(frozen=True, slots=True)
class _Even:
    """Cells of equal width."""

    low: float
    scale: float
    last: float

    @classmethod
    def of(cls, edges: Float64Array, n_cells: int) -> "_Even | None":
        """Cells from the first edge to the last, if they have a width."""
        with np.errstate(over="ignore", divide="ignore"):
            scale = n_cells / (edges[-1] - edges[0])
        return cls(edges[0], scale, n_cells - 1.0) if 0 < scale < np.inf else None

    def __call__(self, scores: Float64Array) -> IntArray:
        with np.errstate(over="ignore"):
            place: Float64Array = (scores - self.low) * self.scale
        return place.clip(0.0, self.last, out=place).astype(np.intp)


@dataclass(frozen=True, slots=True)
class _OfBits:
    """Cells of as many numbers each: the bits of positive numbers, as whole ones, are in the same order."""

    low: float
    bits: int
    shift: int
    last: int

    @classmethod
    def of(cls, edges: Float64Array, n_cells: int) -> "_OfBits | None":
        """Cells from the first edge to the last, if these are positive."""
        if not edges[0] > 0:
            return None
        first, last = (int(each) for each in edges[[0, -1]].view(np.int64))
        return cls(
            edges[0], first, max((last - first).bit_length() - n_cells.bit_length() + 1, 0), n_cells - 1
        )

    def __call__(self, scores: Float64Array) -> IntArray:
        place: IntArray = np.maximum(scores, self.low, dtype=np.float64).view(np.int64)
        place -= self.bits
        place >>= self.shift
        return np.minimum(place, self.last, out=place)
