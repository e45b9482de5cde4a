"""A fitted accuracy table: to be asked, and to be read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators._cell_choice import FoldedCells
from calibrant.calibrators._cells import Axis, Cells, Grid
from calibrant.calibrators._rank_rows import RankRows
from calibrant.calibrators._smoothing import Smoothed, Smoothing

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

    def __init__(
        self,
        counted: Counted,
        smoothing: Smoothing,
        default: float,
        axes: tuple[str, ...],
        lam: float | None,
        criterion: dict[float, float],
    ) -> None:
        self._grid, self._default = counted.grid, default
        self._smoothed = smoothing(counted.cells, self._grid.neighbours())
        self._dense = None
        if self._grid.n_keys <= DENSE:
            self._dense = np.full(self._grid.n_keys, default)
            self._dense[self._smoothed.key] = self._smoothed.value
        self.table = _readable(counted, self._smoothed, axes, lam, criterion)

    def estimate(self, scores: Sequence[Float64Array]) -> Float64Array:
        """Probability of being right. The scores of an axis may be broadcast to the shape of the next."""
        keys = self._grid.keys(scores)
        if self._dense is not None:
            return np.asarray(self._dense.take(keys))
        return self._smoothed.at(keys, self._default)


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
