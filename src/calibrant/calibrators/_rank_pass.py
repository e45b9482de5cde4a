"""Passes of the accuracy tables: ranges of the ranked scores, then counts in cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.calibrators._cells import Axis, Cells, Grid
from calibrant.calibrators._rank_problem import Ranks
from calibrant.passes import Rows, Summary, Task, Totals, travels

#: Tables of up to this many cells, empty ones included, are counted in a dense array.
DENSE = 1 << 16
#: Cells that wait in other tables until those of the same key are put together.
MOST_WAITING = 1 << 20


@travels
@dataclass(frozen=True, eq=False)
class FindRanks(Task):
    """How often the true class is at every rank, and the ranges of the scores of every model.

    Parameters
    ----------
    ranks : Ranks
        The models.
    """

    ranks: Ranks

    def empty(self) -> "RankRanges":
        """Give the ranges of no rows."""
        n_axes = sum(len(self.ranks.axes(model)) for model in range(self.ranks.n_models))
        return RankRanges(self, self.ranks.n_classes + 1, n_axes, n_axes)


class RankRanges(Totals):
    """Weight of the rows by the rank of their class; ranges of all axes, model by model."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        if not self.task.ranks.some(rows):
            return
        weight = rows.outside(self.task.ranks.left_out).weight
        rank, models = self.task.ranks.rows(rows)
        self.sums += np.bincount(rank, weight, minlength=len(self.sums))
        low, high = np.array([ends for model in models for ends in model.ranges()]).T
        np.minimum(self.least, low, out=self.least)
        np.maximum(self.most, high, out=self.most)

    @property
    def share(self) -> Float64Array:
        """Weight of the rows whose class is at every rank."""
        return self.sums

    def ranges(self, model: int) -> list[tuple[float, float]]:
        """Least and greatest value of every score of a model."""
        before = sum(len(self.task.ranks.axes(each)) for each in range(model))
        places = range(before, before + len(self.task.ranks.axes(model)))
        return [(float(self.least[place]), float(self.most[place])) for place in places]


@travels
@dataclass(frozen=True, eq=False)
class CellTable:
    """The cells of a table.

    Parameters
    ----------
    model : int
        The model that it is for.
    axes : ndarray of shape (r, 2)
        Origin and width of the cells along every axis.
    ranges : ndarray of shape (r, 2)
        Least and greatest score along every axis.
    """

    model: int
    axes: Float64Array
    ranges: Float64Array

    @cached_property
    def grid(self) -> Grid:
        """The cells."""
        axes = [Axis(float(origin), float(width)) for origin, width in self.axes]
        return Grid.over(axes, [(float(low), float(high)) for low, high in self.ranges])


@travels
@dataclass(frozen=True, eq=False)
class CountCells(Task):
    """How many cases are in every cell of some tables, and how many of them are right.

    Parameters
    ----------
    ranks : Ranks
        The models.
    tables : tuple of CellTable
        The tables, several for a model whose cells are still to be chosen.
    """

    ranks: Ranks
    tables: tuple[CellTable, ...]

    def empty(self) -> "CellCounts":
        """Give empty cells."""
        return CellCounts(self)


class CellCounts(Summary):
    """For every table the cells that hold cases."""

    def __init__(self, task: CountCells) -> None:
        super().__init__(task)
        self._counters = [_Counter(table.grid.n_keys) for table in task.tables]

    def update(self, rows: Rows) -> None:
        """Count cases."""
        if not self.task.ranks.some(rows):
            return
        _, models = self.task.ranks.rows(rows)
        for counter, table in zip(self._counters, self.task.tables, strict=True):
            counter.add(models[table.model].count(table.grid))

    def cells(self, table: int) -> Cells:
        """The cells of a table that hold cases."""
        return self._counters[table].cells()

    def columns(self) -> dict[str, Array]:
        """One row per table and cell."""
        all_cells = [counter.cells() for counter in self._counters]
        return {
            "table": np.repeat(
                np.arange(len(all_cells), dtype=np.int64), [len(each.key) for each in all_cells]
            ),
            "key": np.concatenate([each.key for each in all_cells]).astype(np.int64),
            "count": np.concatenate([each.count for each in all_cells]),
            "right": np.concatenate([each.right for each in all_cells]),
        }

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add the cells of another summary."""
        for number, counter in enumerate(self._counters):
            of_table = columns["table"] == number
            counter.add(Cells(*(columns[name][of_table] for name in ("key", "count", "right"))))


class _Counter:
    """Adds up cells of the same key: in place if there are few keys, now and then if there are many."""

    def __init__(self, n_keys: int) -> None:
        self._dense = np.zeros((2, n_keys)) if n_keys <= DENSE else None
        self._parts: list[Cells] = []
        self._waiting = 0

    def add(self, cells: Cells) -> None:
        if self._dense is not None:
            np.add.at(self._dense[0], cells.key, cells.count)
            np.add.at(self._dense[1], cells.key, cells.right)
            return
        self._parts.append(cells)
        self._waiting += len(cells.key)
        if self._waiting > MOST_WAITING:
            self._parts, self._waiting = [self.cells()], 0

    def cells(self) -> Cells:
        if self._dense is not None:
            held = np.flatnonzero(self._dense[0])
            return Cells(held, *self._dense[:, held])
        if not self._parts:
            return Cells(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0))
        key, slot = np.unique(np.concatenate([part.key for part in self._parts]), return_inverse=True)
        count, right = (
            np.bincount(slot, np.concatenate([getattr(part, name) for part in self._parts])).astype(
                np.float64
            )
            for name in ("count", "right")
        )
        return Cells(key, count, right)
