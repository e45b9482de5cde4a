"""How far a printed number and ours would differ by chance, and which printed numbers are further off."""

import math
from collections.abc import Mapping, Sequence
from statistics import stdev

import numpy as np
from scipy.stats import rankdata

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.experiments._experiment import Check, Row

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


def error_of_another(of_splits: Sequence[float]) -> float | None:
    """The standard error between the mean of our splits and the one other split that a paper shows."""
    if len(of_splits) < 2 or not all(map(math.isfinite, of_splits)):
        return None
    return stdev(of_splits) * math.sqrt(1 + 1 / len(of_splits))


def is_off(ours: float | None, paper: float | None, error: float | None) -> bool | None:
    """Whether two numbers differ by more than chance; None where that cannot be said."""
    if ours is None or paper is None:
        return None
    if math.isinf(ours) or math.isinf(paper):
        return ours != paper
    return None if error is None or math.isnan(error) else abs(ours - paper) > CHANCE * error


def all_near(rows: Sequence[Row], measures: Sequence[str], reasons: Mapping[str, str]) -> Check:
    """Check that every printed number is within two standard errors of ours; say why where it is not.

    `reasons` has the likely reason by the measure or by a label of the row.
    """
    statement = "Every printed number is within two standard errors of ours"
    verdicts = {
        (", ".join(filter(None, row.labels)), row.labels, measure): off
        for row in rows
        for measure, *numbers in zip(measures, row.ours, row.paper, row.error, strict=False)
        if (off := is_off(*numbers)) is not None
    }
    if not verdicts:
        return Check(statement, None, "no standard error is known")
    far = [key for key, off in verdicts.items() if off]
    finding = f"{len(verdicts) - len(far)} of {len(verdicts)} are"
    explained = {name: sum(name in (measure, *labels) for _, labels, measure in far) for name in reasons}
    parts = [f"{name} ({count}): {reasons[name]}" for name, count in explained.items() if count]
    return Check(statement, not far, ". Off: ".join([finding, "; ".join(parts)]) if parts else finding)
