"""Rows in ascending order of their scores, in runs that isotonic regression cannot separate."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Runs:
    """Stretches of the sorted scores that isotonic regression cannot separate, with their masses.

    A run begins at a place in ascending order of the scores; `score_at` gives the score at a place.
    """

    starts: IntArray
    n_places: int
    score_at: Callable[[IntArray], FloatArray]
    positive: Float64Array
    negative: Float64Array

    @property
    def may_rank_wrongly(self) -> bool:
        """Whether more than half of all pairs might be ranked wrongly: in a run all that is, or is a tie."""
        below = np.cumsum(self.negative) - self.negative
        right = float(np.einsum("i,i->", self.positive, below))  # BLAS would wake threads
        return bool(right < 0.5 * self.positive.sum() * self.negative.sum())


def runs_of_labels(scores: FloatArray, positive: BoolArray, weights: Float64Array | None) -> Runs:
    """Sort rows of two classes, and gather positives with the negatives that follow them.

    A run of positives followed by a run of negatives is always pooled, whatever comes before and after. So
    the rows need not be brought into one order with their labels: both classes are sorted apart, which is
    several times faster than sorting an index, and merged. Positives go before negatives of the same score;
    ties then pool themselves.
    """
    apart, mass, n_positive = _sort_classes_apart(scores, positive, weights)
    # A stable sort of two sorted parts is one merge, and keeps positives first among equals.
    order = np.argsort(apart, kind="stable")
    is_positive = order < n_positive
    n = len(scores)
    # Every run is positives up to its turn, then negatives up to the next run.
    starts = np.append(0, np.flatnonzero(is_positive[1:] > is_positive[:-1]) + 1)
    turns = np.flatnonzero(is_positive[1:] < is_positive[:-1]) + 1
    turns = turns if is_positive[0] else np.append(0, turns)
    turns = np.append(turns, n) if is_positive[-1] else turns
    if mass is None:
        positives = (turns - starts).astype(np.float64)
        negatives = (np.append(starts[1:], n) - turns).astype(np.float64)
    else:
        mass = mass[order]
        positives = np.add.reduceat(np.where(is_positive, mass, 0.0), starts)
        negatives = np.add.reduceat(np.where(is_positive, 0.0, mass), starts)
    return Runs(starts, n, lambda places: apart[order[places]], positives, negatives)


def _sort_classes_apart(
    scores: FloatArray, positive: BoolArray, weights: Float64Array | None
) -> tuple[FloatArray, Float64Array | None, int]:
    """Scores (and weights) of the positives in ascending order, then those of the negatives."""
    n_positive = int(np.count_nonzero(positive))
    parts = (positive, slice(0, n_positive)), (~positive, slice(n_positive, None))
    apart = np.empty_like(scores)
    mass = None if weights is None else np.empty_like(weights)
    for rows, part in parts:
        np.compress(rows, scores, out=apart[part])
        if mass is None or weights is None:
            apart[part].sort()
        else:
            order = np.argsort(apart[part])
            apart[part] = apart[part][order]
            mass[part] = np.compress(rows, weights)[order]
    return apart, mass, n_positive


def runs_of_shares(scores: FloatArray, share: Float64Array, weights: Float64Array | None) -> Runs:
    """Sort rows, of which any share may be positive; those of one score are a run."""
    order = np.argsort(scores, kind="stable")
    scores, share = scores[order], share[order]
    mass = np.ones_like(share) if weights is None else weights[order]
    new = np.ones(len(scores), dtype=bool)
    new[1:] = scores[1:] != scores[:-1]
    starts = np.flatnonzero(new)
    positive, negative = mass * share, mass * (1.0 - share)
    if len(starts) < len(scores):
        positive, negative = np.add.reduceat(positive, starts), np.add.reduceat(negative, starts)
    return Runs(starts, len(scores), lambda places: scores[places], positive, negative)
