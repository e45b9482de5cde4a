"""Cells: boxes of equal width over one score or several, and how many rows fall into each.

A cell is known by one whole number, its key, so that counting and looking up are operations on arrays.
Only cells that hold rows are kept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._errors import DataError, ParameterError
from calibrant.calibrators._ranking import BLOCK_SIZE

#: How far below an edge, in widths, a score still counts as on it: 0.3 / 0.1 is 2.9999999999999996.
EDGE_SLACK = 1e-9
#: The key of a cell must be a whole number that is exact as a float too.
MOST_CELLS = 1 << 50
#: Cells have finite edges up to the one number, and a width of at least the other.
GREATEST, SMALLEST = 1e307, float(np.nextafter(0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Axis:
    """Half-open cells ``[origin + i width, origin + (i + 1) width)`` along one score, for all whole i."""

    origin: float
    width: float

    @classmethod
    def dividing(cls, low: float, high: float, n_cells: int) -> "Axis":
        """Divide a range into cells, the last of which contains its end; no extent is one cell.

        The slack that puts scores on an edge into the upper cell would put the end behind the last edge.
        A width that is greater by a little more than that slack, spread over all cells, keeps it inside,
        and no other edge from its scores.
        """
        width = high / n_cells - low / n_cells
        stretch = 1.0 + EDGE_SLACK / n_cells * (1.0 + 0.5 / n_cells)
        return cls(low, max(width * stretch, SMALLEST)) if low < high else cls(low, 1.0)

    def place(self, score: float) -> float:
        """Number of the cell of one score; a float, because it may be beyond all integers."""
        return float(np.floor(np.float64(score - self.origin) / self.width + EDGE_SLACK))


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells that rows can fall into, with one more on every side, and one for all that lies beyond.

    The first gives every cell all its neighbours; the second takes the queries from far outside.
    """

    axes: tuple[Axis, ...]
    lowest: tuple[float, ...]
    sizes: tuple[int, ...]

    @classmethod
    def over(cls, axes: Sequence[Axis], ranges: Sequence[tuple[float, float]]) -> "Grid":
        """Cover the ranges of the scores, one for every axis."""
        outside = [end for ends in ranges for end in ends if abs(end) > GREATEST]
        if outside:
            raise DataError(
                f"the scores of an accuracy table must lie within {GREATEST:g} of 0 for its cells to "
                f"have finite edges; got {outside[0]:g}; divide the scores first"
            )
        ends = [(axis.place(low), axis.place(high)) for axis, (low, high) in zip(axes, ranges, strict=True)]
        sizes = [high - low + 5 for low, high in ends]
        if not math.prod(sizes) < MOST_CELLS:
            widths = ", ".join(f"{axis.width:g}" for axis in axes)
            raise ParameterError(
                f"width must leave fewer than 2**50 cells over the range of the scores; got {widths}, which "
                f"makes {math.prod(sizes):.3g}; use wider cells, n_cells, or fewer scores"
            )
        return cls(tuple(axes), tuple(low - 2 for low, _ in ends), tuple(map(int, sizes)))

    @property
    def n_keys(self) -> int:
        """Number of keys: those of the cells, and those that stand for what lies beyond."""
        return math.prod(self.sizes)

    def keys(self, scores: Sequence[Float64Array], *, inside: bool = False) -> IntArray:
        """Key of every row's cell. The scores of an axis may be broadcast to the shape of the next.

        With `inside`, keys of rows outside the ranges have no meaning. No cell with rows, and no neighbour
        of one, has key 0.
        """
        key: IntArray | int = 0
        with np.errstate(over="ignore", invalid="ignore"):  # far outside, a place may be beyond all integers
            for axis, lowest, size, each in zip(self.axes, self.lowest, self.sizes, scores, strict=True):
                place = each - axis.origin
                place /= axis.width
                place += EDGE_SLACK - lowest
                if not inside:
                    np.maximum(place, 0, out=place)
                    np.minimum(place, size - 1, out=place)
                digit = place.astype(np.intp)  # not negative, so that this is the floor
                digit += key * size
                key = digit
        return np.asarray(key)

    def neighbours(self) -> IntArray:
        """What to add to a key to reach the cell itself and all that touch it, corners included."""
        strides = [math.prod(self.sizes[axis + 1 :]) for axis in range(len(self.sizes))]
        steps = np.array(list(product((-1, 0, 1), repeat=len(strides))), dtype=np.intp)
        return np.asarray(steps @ np.array(strides, dtype=np.intp))

    def places(self, keys: IntArray) -> Float64Array:
        """Numbers of the cells along every axis, one row per key."""
        return np.asarray(np.stack(np.unravel_index(keys, self.sizes), axis=1) + np.array(self.lowest))


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells that hold rows: keys in ascending order, number of rows, number of right ones."""

    key: IntArray
    count: Float64Array
    right: Float64Array

    @property
    def accuracy(self) -> Float64Array:
        """Share of right rows in every cell."""
        return self.right / self.count

    @property
    def overall_accuracy(self) -> float:
        """Share of right rows in all cells."""
        return float(self.right.sum() / self.count.sum())


class CellCounter:
    """Counts rows block by block, with one counter for every possible cell if these are few."""

    def __init__(self, n_keys: int) -> None:
        self._few = np.zeros((2, n_keys)) if n_keys <= BLOCK_SIZE else None
        self._parts: list[Cells] = []

    def add(self, keys: IntArray, right: IntArray, weights: Float64Array | None) -> None:
        """Count rows, or add their positive weights."""
        weight = None if weights is None else np.broadcast_to(weights[:, None], keys.shape).ravel()
        keys = keys.ravel()
        if self._few is not None:
            n_keys = self._few.shape[1]
            self._few[0] += np.bincount(keys, weight, minlength=n_keys)
            self._few[1] += np.bincount(right, weights, minlength=n_keys)
        else:
            present, keys = np.unique(np.append(keys, 0), return_inverse=True)
            count = np.bincount(keys[:-1], weight, minlength=len(present))
            rights = np.bincount(np.searchsorted(present, right), weights, minlength=len(present))
            self._parts.append(Cells(present, count.astype(np.float64), rights.astype(np.float64)))

    def cells(self) -> Cells:
        """The cells with rows."""
        if self._few is not None:
            key, counts = np.arange(self._few.shape[1]), self._few
        else:
            key, slot = np.unique(np.concatenate([part.key for part in self._parts]), return_inverse=True)
            both = np.concatenate([[part.count, part.right] for part in self._parts], axis=1)
            counts = np.stack([np.bincount(slot, each) for each in both]).astype(np.float64)
        held = np.flatnonzero(counts[0, 1:]) + 1  # the first is key 0
        return Cells(key[held], *counts[:, held])
