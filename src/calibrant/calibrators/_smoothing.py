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
three scores only cells with rows are kept, never more than there are rows; a cell without rows is estimated
when it is asked for, from those that it touches.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._errors import ParameterError
from calibrant.calibrators._cells import Cells, Grid
from calibrant.calibrators._ranking import row_blocks

#: Over so many scores the cells without rows that touch one with rows are kept too.
MOST_SPREAD = 3
#: Over more scores they are written out where a table leaves for another language, up to so many.
MOST_WRITTEN = 1 << 24


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Estimates of the cells that have one, keys in ascending order.

    `leverage` is how much of a cell's own accuracy enters its estimate: the derivative of the one by the
    other, and 0 for a cell without rows. Its sum is the trace of the smoother, that is, the number of
    parameters that the table effectively has. `unkept` estimates the cells that are not kept.
    """

    key: IntArray
    value: Float64Array
    leverage: Float64Array
    unkept: "Unkept | None" = None

    def at(self, keys: IntArray, default: float) -> Float64Array:
        """Estimates of the cells with these keys, or the default."""
        slots = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        kept = self.key[slots] == keys
        values = np.where(kept, self.value[slots], default)
        if self.unkept is not None and not kept.all():
            others, place = np.unique(keys[~kept], return_inverse=True)
            values[~kept] = self.unkept.at(others, default)[place]
        return values

    def everywhere(self) -> "Smoothed":
        """The same with every cell that has an estimate."""
        return self if self.unkept is None else self.unkept.all()


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


@dataclass(frozen=True, slots=True)
class Averaging:
    """A smoothing by the cells in and around the target.

    `reduce` gives the estimates and leverages of targets; it gets the accuracies of each in ascending order
    if `in_order`.
    """

    reduce: "Callable[[Cells, _Around], tuple[Float64Array, Float64Array]]"
    in_order: bool = False

    def __call__(self, cells: Cells, grid: Grid) -> Smoothed:
        """Estimate the cells that are kept."""
        if len(grid.axes) <= MOST_SPREAD:
            return self.of(cells, *_spread(cells, grid))
        return self.of(cells, *_touching(cells, grid), Unkept(self, cells, grid))

    def of(
        self, cells: Cells, target: IntArray, source: IntArray, own: BoolArray, unkept: "Unkept | None" = None
    ) -> Smoothed:
        """Estimate targets, given all pairs of a target's key and a cell that it touches or is itself."""
        around = _Around.of(target, source, own, cells.accuracy if self.in_order else None)
        return Smoothed(around.target, *self.reduce(cells, around), unkept)


@dataclass(frozen=True, slots=True, eq=False)
class Unkept:
    """The cells without rows of a table over many scores, estimated when they are asked for."""

    averaging: Averaging
    cells: Cells
    grid: Grid

    def at(self, keys: IntArray, default: float) -> Float64Array:
        """Estimates of cells without rows, or the default where these touch none with rows."""
        values = np.full(len(keys), default)
        n_steps, n_cells = 3 ** len(self.grid.axes), len(self.cells.key)
        touching = self._by_steps if n_steps <= n_cells else self._by_places
        for part in row_blocks(len(keys), min(n_steps, n_cells)):
            target, source = touching(keys[part])
            if len(target):
                found = self.averaging.of(self.cells, target, source, np.zeros(len(target), dtype=bool))
                values[part][found.key] = found.value
        return values

    def _by_steps(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """The numbers of keys and of the cells with rows that they touch: all steps from a key are tried."""
        around = keys[:, None] + self.grid.neighbours()
        slots = np.minimum(np.searchsorted(self.cells.key, around), len(self.cells.key) - 1)
        # From what lies beyond, a step may lead to the far side, where no cell has rows either.
        held = self.cells.key[slots] == around
        return np.nonzero(held)[0], slots[held]

    def _by_places(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """The same where steps outnumber the cells with rows: these are compared, axis by axis."""
        near = np.ones((len(keys), len(self.cells.key)), dtype=bool)
        places = zip(_places(keys, self.grid).T, _places(self.cells.key, self.grid).T, strict=True)
        for asked, held in places:
            near &= np.abs(asked[:, None] - held) <= 1
        target, source = np.nonzero(near)
        return target, source

    def all(self) -> Smoothed:
        """All cells that have an estimate, those with rows too."""
        n_pairs = len(self.cells.key) * 3 ** len(self.grid.axes)
        if n_pairs > MOST_WRITTEN:
            raise ParameterError(
                f"a table over {len(self.grid.axes)} scores must have at most {MOST_WRITTEN:,} cells with "
                f"rows in or around them to be written out in full; got up to {n_pairs:,}; use wider cells "
                "or fewer scores"
            )
        return self.averaging.of(self.cells, *_spread(self.cells, self.grid))


def _mean(cells: Cells, around: "_Around") -> tuple[Float64Array, Float64Array]:
    size = around.sums(np.ones(len(cells.key)))
    return around.sums(cells.accuracy) / size, around.has_rows / size


def _median(cells: Cells, around: "_Around") -> tuple[Float64Array, Float64Array]:
    sizes = np.diff(np.append(around.starts, len(around.source)))
    low, high = around.starts + (sizes - 1) // 2, around.starts + sizes // 2
    accuracy, own = cells.accuracy[around.source], around.is_own
    return (accuracy[low] + accuracy[high]) / 2, own[low] / 2 + own[high] / 2


def _pooled(cells: Cells, around: "_Around") -> tuple[Float64Array, Float64Array]:
    count = around.sums(cells.count)
    own = np.add.reduceat(np.where(around.is_own, cells.count[around.source], 0.0), around.starts)
    return around.sums(cells.right) / count, own / count


#: Those without a parameter.
SMOOTHINGS: dict[str, Smoothing] = {
    "none": unsmoothed,
    "ma": Averaging(_mean),
    "median": Averaging(_median, in_order=True),
    "ma_cov": Averaging(_pooled),
}


def _spread(cells: Cells, grid: Grid) -> tuple[IntArray, IntArray, BoolArray]:
    """All cells that every cell touches, with rows or without; who touches them; and whether it is itself."""
    steps = grid.neighbours()
    reached = (cells.key[:, None] - steps).ravel()
    source = np.repeat(np.arange(len(cells.key)), len(steps))
    return reached, source, np.tile(steps == 0, len(cells.key))


def _touching(cells: Cells, grid: Grid) -> tuple[IntArray, IntArray, BoolArray]:
    """The same of cells with rows only, found by a tree of their places."""
    # One step along every axis is a distance of 1 in the maximum norm, and the next is 2.
    pairs = late.spatial.KDTree(_places(cells.key, grid)).query_pairs(1.5, p=np.inf, output_type="ndarray")
    itself = np.arange(len(cells.key))
    target = np.concatenate([itself, pairs[:, 0], pairs[:, 1]])
    source = np.concatenate([itself, pairs[:, 1], pairs[:, 0]])
    return cells.key[target], source, target == source


def _places(keys: IntArray, grid: Grid) -> IntArray:
    return np.asarray(np.stack(np.unravel_index(keys, grid.sizes), axis=1))


@dataclass(frozen=True, slots=True)
class _Around:
    """For every target with rows in or around it, the cells that these are in.

    `source` lists them target by target, from `starts` on; `target` is the key of each.
    """

    target: IntArray
    starts: IntArray
    source: IntArray
    is_own: BoolArray

    @classmethod
    def of(
        cls, reached: IntArray, source: IntArray, own: BoolArray, order_by: Float64Array | None
    ) -> "_Around":
        """Bring the cells to the targets that they reach; those of a target by ascending `order_by`."""
        keys = (reached,) if order_by is None else (order_by[source], reached)
        order = np.lexsort(keys)
        reached = reached[order]
        starts = np.append(0, np.flatnonzero(reached[1:] != reached[:-1]) + 1)
        return cls(reached[starts], starts, source[order], own[order])

    @property
    def has_rows(self) -> BoolArray:
        """Which targets hold rows themselves."""
        return np.logical_or.reduceat(self.is_own, self.starts)

    def sums(self, values: Float64Array) -> Float64Array:
        """Add up the values of the cells of every target."""
        return np.add.reduceat(values[self.source], self.starts)
