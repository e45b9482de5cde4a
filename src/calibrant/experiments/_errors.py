"""How sure a measure on test rows is: standard errors, of rows or of blocks of rows."""

import math

import numpy as np
from scipy.stats import rankdata

from calibrant._core._arrays import Array, Float64Array, IntArray

#: So many standard errors are not taken for a difference.
CHANCE = 2.0


def mean_error(losses: Float64Array, block: Array | None = None) -> float:
    """The standard error of a mean over rows, or over rows of which those of a block go together."""
    return _clustered(losses - losses.mean(), block) if np.isfinite(losses).all() else math.nan


def rms_error_of(y: IntArray, positive: Float64Array, block: Array | None = None) -> float:
    """The standard error of a root mean squared error."""
    squares = (y - positive) ** 2
    root = math.sqrt(squares.mean())
    return mean_error(squares, block) / (2 * root) if root > 0 else 0.0


def auc_error(y: IntArray, positive: Float64Array, block: Array | None = None) -> float:
    """The standard error of an area under the ROC curve (DeLong, DeLong and Clarke-Pearson 1988)."""
    is_positive = y == 1
    n_positive = int(is_positive.sum())
    n_negative = len(y) - n_positive
    if not (n_positive and n_negative):
        return math.nan
    rank, share = rankdata(positive), np.where(is_positive, n_positive, n_negative) / len(y)
    won = np.empty(len(y))
    # Of the rows of the other class, those that a positive row is above, and that a negative row is below.
    won[is_positive] = (rank[is_positive] - rankdata(positive[is_positive])) / n_negative
    won[~is_positive] = 1 - (rank[~is_positive] - rankdata(positive[~is_positive])) / n_positive
    return _clustered((won - won[is_positive].mean()) / share, block)


def _clustered(influence: Float64Array, block: Array | None) -> float:
    """The standard error of a sum of what every row adds, of independent rows or blocks of rows."""
    n = len(influence)
    together = (
        influence if block is None else np.bincount(np.unique(block, return_inverse=True)[1], influence)
    )
    return float(np.sqrt(np.sum(together**2)) / n)
