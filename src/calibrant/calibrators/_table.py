"""A fitted accuracy table: to be asked, and to be read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators._cell_choice import FoldedCells
from calibrant.calibrators._cells import EDGE_SLACK, Axis, Cells, Grid
from calibrant.calibrators._rank_rows import RankRows
from calibrant.calibrators._smoothing import (
    MOST_SPREAD,
    SMOOTHINGS,
    Averaging,
    Smoothed,
    Smoothing,
    Unkept,
)
from calibrant.maps import Tensor

#: Tables of up to this many cells, empty ones included, are looked up in a dense array, which is faster.
DENSE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyTable:
    """The cells of a table that hold rows, in ascending order of their bounds.

    Attributes
    ----------
    axes : tuple of str
        The ranked scores of the r axes: "f1" is the highest score of a row. In a table that several ranks
        share, "fr" is the score of the class itself, "fr-1" and "fr+1" those before and after it.
    origin, width : ndarray of shape (r,)
        Where the cells of every axis are counted from, and how wide they are.
    lower, upper : ndarray of shape (c, r)
        Bounds of the cells; a cell includes its lower bounds and not its upper ones.
    count : ndarray of shape (c,)
        Number of rows in the cell; with weights, their weight.
    right : ndarray of shape (c,)
        Those whose class at the rank was the true one.
    accuracy : ndarray of shape (c,)
        Share of the right ones.
    value : ndarray of shape (c,)
        The smoothed accuracy, which is the estimate.
    overall_accuracy : float
        Share of the right ones among all rows.
    lam : float or None
        Lidstone's parameter, given or chosen; 1 with "laplace", None with the other smoothings.
    criterion : dict of float to float
        For every width or number of cells that was tried, the cross entropy of the rows left out, or the
        AIC or BIC; empty if the size of the cells was given.
    """

    axes: tuple[str, ...]
    origin: Float64Array
    width: Float64Array
    lower: Float64Array
    upper: Float64Array
    count: Float64Array
    right: Float64Array
    accuracy: Float64Array
    value: Float64Array
    overall_accuracy: float
    lam: float | None
    criterion: dict[float, float]

    def to_dict(self) -> dict[str, Array]:
        """Give the table as columns of equal length, one row per cell.

        Returns
        -------
        dict of str to ndarray
            The bounds of every axis, such as "f1_from" and "f1_to", then "count", "right", "accuracy" and
            "value". ``pandas.DataFrame(table.to_dict())`` makes a frame of it.
        """
        columns: dict[str, Array] = {}
        for place, name in enumerate(self.axes):
            columns[f"{name}_from"] = self.lower[:, place]
            columns[f"{name}_to"] = self.upper[:, place]
        return columns | {name: getattr(self, name) for name in ("count", "right", "accuracy", "value")}


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows counted in the cells of a grid: all together, and fold by fold where there are folds."""

    grid: Grid
    cells: Cells
    folded: FoldedCells | None

    @classmethod
    def of(cls, rows: RankRows, axes: Sequence[Axis], folds: IntArray | None) -> "Counted":
        """Count the rows of a rank."""
        grid = Grid.over(axes, rows.ranges())
        if folds is None:
            return cls(grid, rows.count(grid), None)
        n_folds = int(folds.max()) + 1
        folded = FoldedCells.of(rows.count(grid, folds, n_folds), n_folds)
        return cls(grid, folded.whole(), folded)


class TableModel:
    """What a table answers: the estimate of the cell that the scores fall into, or a default.

    `table` is the same for people.
    """

    takes_probabilities = False

    def __init__(
        self,
        counted: Counted,
        smoothing: Smoothing,
        default: float,
        axes: tuple[str, ...],
        lam: float | None,
        criterion: dict[float, float],
    ) -> None:
        self.grid, self.default, self._cells = counted.grid, default, counted.cells
        self._take(smoothing(counted.cells, self.grid))
        self.table = _readable(counted, self.smoothed, axes, lam, criterion)

    def _take(self, smoothed: Smoothed) -> None:
        self.smoothed = smoothed
        self._dense = self._in_full() if self.grid.n_keys <= DENSE else None

    def complete(self, smoothing: str) -> None:
        """Estimate what a file does not hold: the cells without rows of a table over many scores."""
        averaging = SMOOTHINGS.get(smoothing)
        if isinstance(averaging, Averaging) and len(self.grid.axes) > MOST_SPREAD:
            self._take(replace(self.smoothed, unkept=Unkept(averaging, self._cells, self.grid)))

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the scores that it uses."""
        return self.table.axes

    def estimate(self, scores: Sequence[Float64Array]) -> Float64Array:
        """Probability of being right. The scores of an axis may be broadcast to the shape of the next."""
        keys = self.grid.keys(scores)
        if self._dense is not None:
            return np.asarray(self._dense.take(keys))
        return self.smoothed.at(keys, self.default)

    @staticmethod
    def in_symbols(models: "Sequence[TableModel]", scores: Sequence[Tensor]) -> Tensor:
        """The same of several tables side by side, each given its column of every score."""
        grids = [model.grid for model in models]
        keys = _keys(scores, grids)
        before = np.cumsum([0, *(grid.n_keys for grid in grids)])
        if before[-1] <= keys.target.most_dense:
            # A score that is no number may have any key, which must be one nevertheless.
            place = (keys.as_whole() + before[:-1]).at_least(np.array(0)).at_most(before[-1] - 1)
            return place.in_table(np.concatenate([model._in_full() for model in models]))
        return _sparse(keys, models)

    def _in_full(self) -> Float64Array:
        values, smoothed = np.full(self.grid.n_keys, self.default), self.smoothed.everywhere()
        values[smoothed.key] = smoothed.value
        return values


def _readable(
    counted: Counted,
    smoothed: Smoothed,
    axes: tuple[str, ...],
    lam: float | None,
    criterion: dict[float, float],
) -> AccuracyTable:
    grid, cells = counted.grid, counted.cells
    places = grid.places(cells.key)
    origin = np.array([axis.origin for axis in grid.axes])
    width = np.array([axis.width for axis in grid.axes])
    return AccuracyTable(
        axes=axes,
        origin=origin,
        width=width,
        lower=origin + places * width,
        upper=origin + (places + 1) * width,
        count=cells.count,
        right=cells.right,
        accuracy=cells.accuracy,
        value=smoothed.at(cells.key, math.nan),
        overall_accuracy=cells.overall_accuracy,
        lam=lam,
        criterion=criterion,
    )


def _keys(scores: Sequence[Tensor], grids: Sequence[Grid]) -> Tensor:
    """Numbers of the cells, whole but as float64, in which they are exact; as `Grid.keys` finds them."""
    axes = [_Axes.of(grids, number) for number in range(len(scores))]
    key = axes[0].places(scores[0])
    for score, axis in zip(scores[1:], axes[1:], strict=True):
        key = key * axis.size + axis.places(score)
    return key


class _Axes(NamedTuple):
    """One axis of several grids: where its cells begin, how wide they are, and how many there are."""

    origin: Float64Array
    width: Float64Array
    shift: Float64Array
    size: Float64Array

    @classmethod
    def of(cls, grids: Sequence[Grid], number: int) -> "_Axes":
        """The axis of this number; a single cell in the grids that have no such axis."""
        columns = np.array([_axis(grid, number) for grid in grids]).T
        return cls(*np.ascontiguousarray(columns))

    def places(self, score: Tensor) -> Tensor:
        """The numbers of the cells of scores along this axis."""
        place = (score - self.origin) / self.width + self.shift
        return place.at_least(0.0).at_most(self.size - 1).floor()


def _axis(grid: Grid, number: int) -> tuple[float, float, float, float]:
    if number >= len(grid.axes):
        return 0.0, 1.0, 0.0, 1.0
    axis = grid.axes[number]
    return axis.origin, axis.width, EDGE_SLACK - grid.lowest[number], grid.sizes[number]


def _sparse(keys: Tensor, models: Sequence[TableModel]) -> Tensor:
    """Look up the cells that have an estimate, each found by its key; the others get the default."""
    alone = len(models) == 1
    smoothed = [model.smoothed.everywhere() for model in models]
    known: list[IntArray] = [each.key for each in smoothed]
    place = keys.intervals_of_all(known[0]) if alone else keys.intervals(known)
    ends = [np.append(each, -1.0) for each in known]  # behind the last key there is none
    default = np.array(models[0].default if alone else [model.default for model in models])
    values = [np.append(each.value, 0.0) for each in smoothed]
    found = place.in_table(np.concatenate(ends)).is_equal(keys)
    return found.choose(place.in_table(np.concatenate(values)), default)
