"""What a model of the class at a rank learns from: ranked scores, and whether that class was right."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, FloatArray, IntArray
from calibrant.calibrators._cells import CellCounter, Cells, Grid
from calibrant.calibrators._combinations import RankPlan, SharedScore
from calibrant.calibrators._ranking import lead, places_of, rank_truth, row_blocks


class RankRows(ABC):
    """Training rows with one case each, or with several, of which at most one is right.

    `axes` are the names of the scores that the model uses: "f1" for the highest of a row.
    """

    axes: tuple[str, ...]
    weights: Float64Array | None

    @abstractmethod
    def ranges(self) -> list[tuple[float, float]]:
        """Least and greatest value of every score."""

    @abstractmethod
    def any_right(self) -> BoolArray:
        """Whether a case of the row is right."""

    @abstractmethod
    def cases(self) -> tuple[Float64Array, BoolArray, Float64Array | None]:
        """Scores of all cases, of shape (r, n_cases); which cases are right; and their weights."""

    @abstractmethod
    def _keys(self, grid: Grid) -> Iterator[tuple[slice, IntArray, IntArray]]:
        """Blocks of rows: keys of their cases, and of the right one, or 0 for none."""

    def count(self, grid: Grid, folds: IntArray | None = None, n_folds: int = 1) -> Cells:
        """Count the cases of every cell; with folds, those of every cell and fold apart.

        The key of a cell in a fold is ``key * n_folds + fold``.
        """
        counter = CellCounter(grid.n_keys * n_folds)
        for rows, keys, right in self._keys(grid):
            weights = None if self.weights is None else self.weights[rows]
            if folds is None:
                counter.add(keys, right, weights)
            else:
                fold = folds[rows]
                in_fold = np.where(right > 0, right * n_folds + fold, 0)
                counter.add(keys * n_folds + fold[:, None], in_fold, weights)
        return counter.cells()


class OwnRows(RankRows):
    """Rows of a model for one rank: in each, the class at that rank is the case."""

    def __init__(
        self,
        used: tuple[int, ...],
        leading: Float64Array,
        right: BoolArray,
        weights: Float64Array | None,
    ) -> None:
        self.axes = tuple(f"f{rank + 1}" for rank in used)
        self.weights = weights
        self._scores = [leading[rank] for rank in used]
        self._right = right

    def ranges(self) -> list[tuple[float, float]]:
        """Least and greatest value of every score."""
        return [(float(each.min()), float(each.max())) for each in self._scores]

    def any_right(self) -> BoolArray:
        """Whether the case of the row is right."""
        return self._right

    def cases(self) -> tuple[Float64Array, BoolArray, Float64Array | None]:
        """One case per row."""
        return np.stack(self._scores), self._right, self.weights

    def _keys(self, grid: Grid) -> Iterator[tuple[slice, IntArray, IntArray]]:
        for rows in row_blocks(len(self._right), 1):
            keys = grid.keys([each[rows] for each in self._scores], inside=True)
            yield rows, keys[:, None], np.where(self._right[rows], keys, 0)


class SharedRows(RankRows):
    """Rows of the model of the later ranks: in each, all classes but the leading few are cases."""

    def __init__(
        self,
        plan: RankPlan,
        scores: FloatArray,
        position: IntArray,
        leaders: IntArray,
        leading: Float64Array,
        weights: Float64Array | None,
    ) -> None:
        self._used = plan.shared or ()
        self._n_own = len(plan.own)
        self.axes = tuple(each.name for each in self._used)
        self.weights = weights
        self._scores, self._position = scores, position
        self._leaders, self._leading = leaders, leading

    def ranges(self) -> list[tuple[float, float]]:
        """Least and greatest value of every score."""
        return [self._range(each) for each in self._used]

    def any_right(self) -> BoolArray:
        """Whether the true class of the row is one of the later ones."""
        return np.asarray((self._leaders[: self._n_own] != self._position).all(axis=0))

    def cases(self) -> tuple[Float64Array, BoolArray, Float64Array | None]:
        """As many cases per row as there are later ranks."""
        shape = self._scores.shape
        n_cases = shape[1] - self._n_own
        scores = np.empty((len(self._used), shape[0] * n_cases))
        right = np.empty(shape[0] * n_cases, dtype=bool)
        for rows, used in self._blocks():
            is_case = np.ones(self._scores[rows].shape, dtype=bool)
            for classes in self._leaders[: self._n_own, rows]:
                is_case.put(places_of(classes, shape[1]), False)
            part = slice(rows.start * n_cases, rows.stop * n_cases)
            for row, each in zip(scores, used, strict=True):
                row[part] = np.broadcast_to(each, is_case.shape)[is_case]
            right[part] = (np.arange(shape[1]) == self._position[rows, None])[is_case]
        return scores, right, None if self.weights is None else np.repeat(self.weights, n_cases)

    def _keys(self, grid: Grid) -> Iterator[tuple[slice, IntArray, IntArray]]:
        n_classes = self._scores.shape[1]
        for rows, used in self._blocks():
            keys = grid.keys(used, inside=True)
            if keys.shape[1] == 1:
                keys = np.repeat(keys, n_classes, axis=1)
            for classes in self._leaders[: self._n_own, rows]:
                keys.put(places_of(classes, n_classes), 0)
            yield rows, keys, keys.take(places_of(self._position[rows], n_classes))

    def _blocks(self) -> Iterator[tuple[slice, list[Float64Array]]]:
        for rows in row_blocks(*self._scores.shape):
            block = np.ascontiguousarray(self._scores[rows], dtype=np.float64)
            leaders, leading = self._leaders[:, rows], self._leading[:, rows]
            yield rows, [each.of(block, leaders, leading) for each in self._used]

    def _range(self, score: SharedScore) -> tuple[float, float]:
        """Ranks fall, so that the first case has the greatest score and the last the least."""
        if score.fixed:
            values = self._leading[score.rank]
            return float(values.min()), float(values.max())
        last = self._scores.shape[1] - 1
        first = self._leading[min(self._n_own + score.rank, last)]
        least = self._leading[last + score.rank] if score.rank < 0 else self._scores
        return float(least.min()), float(first.max())


def rows_by_rank(
    plan: RankPlan, scores: FloatArray, position: IntArray, weights: Float64Array | None
) -> tuple[IntArray, list[OwnRows], SharedRows | None]:
    """The rank of every row's true class, the rows of the models of the first ranks, and those of the shared.

    Where ranks share a model, the rank of a class at any of these is given as the first of them.
    """
    shared = None
    if plan.shared is None:
        leading, rank = rank_truth(scores, position)
    else:
        leaders, leading = lead(scores, plan.n_leading)
        is_leader = leaders[: len(plan.own)] == position
        rank = np.where(is_leader.any(axis=0), is_leader.argmax(axis=0), len(plan.own))
        shared = SharedRows(plan, scores, position, leaders, leading, weights)
    own = [OwnRows(used, leading, rank == judged, weights) for judged, used in enumerate(plan.own)]
    return rank, own, shared
