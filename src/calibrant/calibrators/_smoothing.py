"""Estimates of the cells of an accuracy table, each from its own rows or from those around it too.

With N rows in a cell of which N_p are right (all formulas are reconstructed, the paper's text lost them):

=========  =====================================================================================
none       ``N_p / N``
laplace    ``(N_p + 1) / (N + 2)``
lidstone   ``(N_p + lam) / (N + 2 lam)``
ma         mean of ``N_p / N`` over the cell and its neighbours
median     median of the same
ma_cov     mean of the same, weighted by coverage ``N / N_total``
=========  =====================================================================================

Neighbours are all cells that touch the target, corners included, and hold rows; a cell without rows is
estimated from its neighbours alone. The weighted mean is nothing but the accuracy of all rows of the
neighbourhood, ``sum N_p / sum N``, and is computed so.

A cell over r scores touches ``3**r - 1`` others, nearly all of them empty where r is large. So over more than
three scores only cells with rows have an estimate, from themselves and those that they touch: a table never
holds more cells than rows.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.calibrators._cells import Cells, Grid

#: Over so many scores the cells without rows have an estimate too, if they touch one with rows.
MOST_SPREAD = 3


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Estimates of the cells that have one, keys in ascending order.

    `leverage` is how much of a cell's own accuracy enters its estimate: the derivative of the one by the
    other, and 0 for a cell without rows. Its sum is the trace of the smoother, that is, the number of
    parameters that the table effectively has.
    """

    key: IntArray
    value: Float64Array
    leverage: Float64Array

    def at(self, keys: IntArray, default: float) -> Float64Array:
        """Estimates of the cells with these keys, or the default."""
        slots = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[slots] == keys, self.value[slots], default)


#: From the cells that hold rows, and the grid that they are cells of, to estimates.
Smoothing = Callable[[Cells, Grid], Smoothed]


def unsmoothed(cells: Cells, grid: Grid) -> Smoothed:  # noqa: ARG001
    """The accuracy of the cell itself."""
    return Smoothed(cells.key, cells.accuracy, np.ones(len(cells.key)))


def lidstone(lam: float) -> Smoothing:
    """As if `lam` more rows of the cell had been right, and as many wrong."""

    def smooth(cells: Cells, grid: Grid) -> Smoothed:  # noqa: ARG001
        total = cells.count + 2 * lam
        return Smoothed(cells.key, (cells.right + lam) / total, cells.count / total)

    return smooth


def moving_average(cells: Cells, grid: Grid) -> Smoothed:
    """The mean accuracy of the cells around and in the target."""
    around = _Around.of(cells, grid)
    size = around.sums(np.ones(len(cells.key)))
    return around.smoothed(around.sums(cells.accuracy) / size, around.has_rows / size)


def moving_median(cells: Cells, grid: Grid) -> Smoothed:
    """The median accuracy of the cells around and in the target."""
    around = _Around.of(cells, grid, order_by=cells.accuracy)
    sizes = np.diff(np.append(around.starts, len(around.source)))
    low, high = around.starts + (sizes - 1) // 2, around.starts + sizes // 2
    accuracy = cells.accuracy[around.source]
    own = around.is_own
    return around.smoothed((accuracy[low] + accuracy[high]) / 2, own[low] / 2 + own[high] / 2)


def pooled(cells: Cells, grid: Grid) -> Smoothed:
    """The accuracy of all rows around and in the target."""
    around = _Around.of(cells, grid)
    count = around.sums(cells.count)
    own = np.zeros(len(count))
    own[around.has_rows] = cells.count
    return around.smoothed(around.sums(cells.right) / count, own / count)


#: Those without a parameter.
SMOOTHINGS: dict[str, Smoothing] = {
    "none": unsmoothed,
    "ma": moving_average,
    "median": moving_median,
    "ma_cov": pooled,
}


def _spread(cells: Cells, grid: Grid) -> tuple[IntArray, IntArray, BoolArray]:
    """All cells that every cell touches, with rows or without; who touches them; and whether it is itself."""
    steps = grid.neighbours()
    reached = (cells.key[:, None] - steps).ravel()
    source = np.repeat(np.arange(len(cells.key)), len(steps))
    return reached, source, np.tile(steps == 0, len(cells.key))


def _touching(cells: Cells, grid: Grid) -> tuple[IntArray, IntArray, BoolArray]:
    """The same of cells with rows only, found by a tree of their places."""
    places = np.stack(np.unravel_index(cells.key, grid.sizes), axis=1)
    # One step along every axis is a distance of 1 in the maximum norm.
    pairs = late.spatial.KDTree(places).query_pairs(1.5, p=np.inf, output_type="ndarray")
    itself = np.arange(len(cells.key))
    target = np.concatenate([itself, pairs[:, 0], pairs[:, 1]])
    source = np.concatenate([itself, pairs[:, 1], pairs[:, 0]])
    return cells.key[target], source, target == source


@dataclass(frozen=True, slots=True)
class _Around:
    """For every cell with rows in or around it, the cells that these are in.

    `source` lists them target by target, from `starts` on; `target` is the key of each.
    """

    target: IntArray
    starts: IntArray
    source: IntArray
    is_own: BoolArray

    @classmethod
    def of(cls, cells: Cells, grid: Grid, order_by: Float64Array | None = None) -> "_Around":
        """Bring every cell to all its neighbours; those of a target by ascending `order_by`."""
        reached, source, own = (_spread if len(grid.axes) <= MOST_SPREAD else _touching)(cells, grid)
        keys = (reached,) if order_by is None else (order_by[source], reached)
        order = np.lexsort(keys)
        reached = reached[order]
        starts = np.append(0, np.flatnonzero(reached[1:] != reached[:-1]) + 1)
        return cls(reached[starts], starts, source[order], own[order])

    @property
    def has_rows(self) -> BoolArray:
        """Which targets hold rows themselves, in the order of the cells."""
        return np.logical_or.reduceat(self.is_own, self.starts)

    def sums(self, values: Float64Array) -> Float64Array:
        """Add up the values of the cells of every target."""
        return np.add.reduceat(values[self.source], self.starts)

    def smoothed(self, value: Float64Array, leverage: Float64Array) -> Smoothed:
        """Give the estimates of the targets."""
        return Smoothed(self.target, value, leverage)
