"""Choosing Lidstone's parameter and the size of the cells of an accuracy table.

Two ways. *Cross-validation* takes the cells that best foretell rows they were not counted on. An
*information criterion* needs no folds: it charges a table for its number of parameters,

    AIC = -2 log L + 2 d,        BIC = -2 log L + d log n.

Takahashi, Takamura and Okumura leave open how to choose the cells by such a criterion. The difficulty is
that a smoothed table has fewer parameters than cells. What is counted here is the trace of the smoother,
the number of parameters of a linear smoother after Hastie and Tibshirani (1990): the estimates are
weighted means of the statuses of the rows, and d is the sum, over all rows, of the weight that a row has
in its own estimate. A cell of N rows adds 1 without smoothing, N/(N + 2 lam) under Lidstone's rule, one
over the number of cells averaged under "ma", and under "ma_cov" its share of the rows of its
neighbourhood. L is the likelihood of the statuses under the smoothed estimates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.calibrators._cells import Cells, Grid
from calibrant.calibrators._smoothing import Smoothing

#: Values of Lidstone's parameter that cross-validation tries.
LAMBDAS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
#: How close to 0 and 1 an estimate counts in cross-validation, where one certain mistake would else be all.
CLIP = 0.001


@dataclass(frozen=True, slots=True)
class FoldedCells:
    """Rows and right rows of every cell, fold by fold: keys of shape (c,), the rest (c, n_folds)."""

    key: IntArray
    count: Float64Array
    right: Float64Array

    @classmethod
    def of(cls, cells: Cells, n_folds: int) -> "FoldedCells":
        """Take apart the keys ``key * n_folds + fold`` of cells that were counted by folds."""
        cell, fold = np.divmod(cells.key, n_folds)
        key, slot = np.unique(cell, return_inverse=True)
        count, right = np.zeros((2, len(key), n_folds))
        count[slot, fold], right[slot, fold] = cells.count, cells.right
        kept = key > 0
        return cls(key[kept], count[kept], right[kept])

    def elsewhere(self) -> tuple[Float64Array, Float64Array]:
        """Rows and right rows of every cell in all folds but one; added up, so that none is exactly 0."""
        others = 1.0 - np.eye(self.count.shape[1])
        return self.count @ others, self.right @ others

    def whole(self) -> Cells:
        """The cells of all folds together."""
        return Cells(self.key, self.count.sum(axis=1), self.right.sum(axis=1))


def choose_lambda(cells: FoldedCells, lambdas: Iterable[float] = LAMBDAS) -> tuple[float, dict[float, float]]:
    """The parameter of least cross entropy on the folds left out, the smallest of equals; and all losses."""
    count, right = cells.elsewhere()
    losses = {}
    for lam in sorted(lambdas):
        value = (right + lam) / (count + 2 * lam)
        losses[lam] = _cross_entropy(cells.count, cells.right, value) / float(cells.count.sum())
    return min(losses, key=losses.__getitem__), losses


def held_out_loss(
    cells: FoldedCells, smoothing: Smoothing, grid: Grid, default: Callable[[Cells], float]
) -> float:
    """Mean cross entropy of the folds, each estimated from the others; no estimate counts as 1/2."""
    counts, rights = cells.elsewhere()
    loss = 0.0
    for fold in range(counts.shape[1]):
        seen = counts[:, fold] > 0
        others = Cells(cells.key[seen], counts[seen, fold], rights[seen, fold])
        value = np.nan_to_num(smoothing(others, grid).at(cells.key, default(others)), nan=0.5)
        loss += _cross_entropy(cells.count[:, fold], cells.right[:, fold], np.clip(value, CLIP, 1 - CLIP))
    return loss / float(cells.count.sum())


def information(cells: Cells, smoothing: Smoothing, grid: Grid, criterion: str) -> float:
    """AIC or BIC of a table; less is better."""
    smoothed = smoothing(cells, grid)
    price = 2.0 if criterion == "aic" else float(np.log(cells.count.sum()))
    value = smoothed.at(cells.key, np.nan)
    return 2 * _cross_entropy(cells.count, cells.right, value) + price * float(smoothed.leverage.sum())


def assign_folds(right: BoolArray, n_folds: int, random_state: object) -> IntArray | None:
    """A fold for every row, both outcomes spread evenly; None where an outcome has less than two rows."""
    n_folds = min(n_folds, int(right.sum()), int((~right).sum()))
    if n_folds < 2:
        return None
    folds = np.empty(len(right), dtype=np.intp)
    splitter = late.model_selection.StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    for fold, (_, rows) in enumerate(splitter.split(right, right)):
        folds[rows] = fold
    return folds


def _cross_entropy(count: Float64Array, right: Float64Array, value: Float64Array) -> float:
    """Sum over rows; infinite if a row came that was called impossible."""
    return float(-(late.special.xlogy(right, value) + late.special.xlogy(count - right, 1.0 - value)).sum())
