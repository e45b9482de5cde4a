"""A pass that adds up losses, wrong decisions and reliability diagrams."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics import ReliabilityBins, fixed_width_bins
from calibrant.passes import Rows, Task, Totals, travels

#: Entries before those of classes, columns, bins and groups.
N_ROWS, WEIGHT, LOSS, IMPOSSIBLE, WRONG, FIXED = range(6)


@travels
@dataclass(frozen=True, eq=False)
class SumMetrics(Task):
    """What is lost by probabilities of k classes.

    Parameters
    ----------
    forecast : GivenForecast or CrossFitForecast
        What gives the probabilities.
    n_classes : int
        Number of classes.
    n_columns : int
        Number of columns of probabilities: one for the positive of two classes, or one per class.
    width : float
        Width of the bins of the reliability diagrams.
    limit : float
        What the probability of the true class counts at least, in the log loss.
    n_groups : int
        Groups of rows, by their keys, whose losses are kept apart; 0 for none.
    """

    forecast: Any
    n_classes: int
    n_columns: int
    width: float
    limit: float = 0.0
    n_groups: int = 0

    @property
    def n_bins(self) -> int:
        """Number of bins of a reliability diagram."""
        return fixed_width_bins(np.zeros(0), self.width, 0.0, 1.0)[1]

    def empty(self) -> "MetricSums":
        """Give the sums over no rows."""
        per_column = 1 + 4 * self.n_bins
        return MetricSums(self, FIXED + self.n_classes**2 + self.n_columns * per_column + 2 * self.n_groups)


class MetricSums(Totals):
    """Sums over the rows."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        rows = self.task.forecast.rows(rows)
        if len(rows) == 0:
            return
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        proba = rows.scores.reshape(len(rows), -1)
        loss, chance = self._losses(proba, rows.truth)
        one_column = self.task.n_columns == 1
        called = (proba[:, 0] > 0.5).astype(np.intp) if one_column else np.argmax(proba, axis=1)
        wrong = called != rows.truth
        self.sums[N_ROWS] += len(rows)
        self.sums[WEIGHT] += weight.sum()
        self.sums[LOSS] += weight @ loss
        self.sums[IMPOSSIBLE] += np.count_nonzero(chance == 0)
        self.sums[WRONG] += weight[wrong].sum()
        k = self.task.n_classes
        self._confusion += np.bincount(called * k + rows.truth, weight, k * k)
        for number, column in enumerate(proba.T):
            happened = rows.truth == (number if self.task.n_columns > 1 else 1)
            self._add_column(number, column, happened, weight)
        if self.task.n_groups:
            group = (rows.keys() % np.uint64(self.task.n_groups)).astype(np.intp)
            self._groups[0] += np.bincount(group, weight, self.task.n_groups)
            self._groups[1] += np.bincount(group, weight * loss, self.task.n_groups)

    def _losses(self, proba: Float64Array, position: IntArray) -> tuple[Float64Array, Float64Array]:
        """Log loss of every row, and the probability that it gave to what happened."""
        with np.errstate(divide="ignore"):
            if self.task.n_columns == 1:
                positive = position == 1
                chance = np.where(positive, proba[:, 0], 1.0 - proba[:, 0])
                log = np.where(positive, np.log(proba[:, 0]), np.log1p(-proba[:, 0]))
                return -np.maximum(log, np.log(self.task.limit)) + 0.0, chance
            chance = np.take_along_axis(proba, position[:, None], axis=1)[:, 0]
            return 0.0 - np.log(np.maximum(chance, self.task.limit)), chance

    def _add_column(self, number: int, column: Float64Array, happened: Any, weight: Float64Array) -> None:
        self._brier[number] += weight @ (column - happened) ** 2
        bins, n_bins = fixed_width_bins(column, self.task.width, 0.0, 1.0)
        for place, mass in enumerate((None, weight, weight * column, weight * happened)):
            self._diagrams[number, place] += np.bincount(bins, mass, n_bins)

    @property
    def _confusion(self) -> Float64Array:
        return self.sums[FIXED : FIXED + self.task.n_classes**2]

    @_confusion.setter
    def _confusion(self, value: Float64Array) -> None:
        self.sums[FIXED : FIXED + self.task.n_classes**2] = value

    @property
    def _brier(self) -> Float64Array:
        start = FIXED + self.task.n_classes**2
        return self.sums[start : start + self.task.n_columns]

    @property
    def _diagrams(self) -> Float64Array:
        start = FIXED + self.task.n_classes**2 + self.task.n_columns
        shape = (self.task.n_columns, 4, self.task.n_bins)
        return self.sums[start : start + int(np.prod(shape))].reshape(shape)

    @property
    def _groups(self) -> Float64Array:
        return self.sums[len(self.sums) - 2 * self.task.n_groups :].reshape(2, -1)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.sums[N_ROWS])

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return float(self.sums[WEIGHT])

    @property
    def log_loss(self) -> float:
        """Mean log loss."""
        return float(self.sums[LOSS] / self.weight)

    @property
    def impossible(self) -> int:
        """Number of rows whose true class had probability 0."""
        return int(self.sums[IMPOSSIBLE])

    @property
    def error_rate(self) -> float:
        """Share of rows whose most probable class is not the true one."""
        return float(self.sums[WRONG] / self.weight)

    @property
    def brier(self) -> Float64Array:
        """Mean squared error of every column."""
        return self._brier / self.weight

    @property
    def confusion(self) -> Float64Array:
        """Weight of the rows by the class they were called, and their true one."""
        return self._confusion.reshape(self.task.n_classes, -1).copy()

    @property
    def groups(self) -> tuple[Float64Array, Float64Array]:
        """Weights, and mean log losses, of the groups that have rows."""
        weight, loss = self._groups
        held = weight > 0
        return weight[held], loss[held] / weight[held]

    def diagram(self, column: int) -> ReliabilityBins:
        """The reliability diagram of a column."""
        count, weight, score, positive = self._diagrams[column]
        filled = np.flatnonzero(count)
        width, last = self.task.width, self.task.n_bins - 1
        return ReliabilityBins(
            left=0.0 + filled.astype(np.float64) * width,
            right=np.where(filled == last, 1.0, 0.0 + (filled + 1) * width),
            count=count[filled].astype(np.intp),
            mean_score=score[filled] / weight[filled],
            frac_pos=positive[filled] / weight[filled],
            weight=weight[filled],
        )
