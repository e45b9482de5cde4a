"""Pool adjacent violators: from scored labels to blocks of equal value."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, FloatArray, IntArray, Target

#: Neighbouring blocks whose values differ by no more than this are reported as one.
SAME_VALUE = 1e-12


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of an isotonic fit, by ascending score.

    Attributes
    ----------
    lo, hi : ndarray
        Least and greatest training score of each block.
    value : ndarray
        Weighted share of positives in the block.
    weight : ndarray
        Total weight of the block.
    """

    lo: Float64Array
    hi: Float64Array
    value: Float64Array
    weight: Float64Array


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


def sorted_runs(scores: FloatArray, target: Target, weights: Float64Array | None) -> Runs:
    """Sort rows, and gather those that isotonic regression pools in any case."""
    if target.dtype == bool:
        return _runs_of_labels(scores, target, weights)
    return _runs_of_shares(scores, target, weights)


def isotonic_blocks(runs: Runs) -> Blocks:
    """Solve the weighted isotonic regression of the target on the scores.

    Notes
    -----
    The solution minimises ``sum_i w_i (y_i - g(s_i))^2`` over non-decreasing ``g``. Two corrections to
    the text of Zadrozny & Elkan (2002): neighbours violate the order when the *earlier* value is the
    larger one, and pooled values are averaged with the weights of their blocks, so that the labels
    1, 0, 0 give 1/3 and not 1/4.

    A run of positives followed by a run of negatives is always pooled, whatever comes before and
    after. So the rows need not be brought into one order with their labels: both classes are sorted
    apart, which is several times faster than sorting an index, and merged. Positives go before
    negatives of the same score; ties then pool themselves.
    """
    first, value, weight = _pool(runs.positive, runs.negative)
    places = runs.starts[first]
    ends = np.append(places[1:], runs.n_places) - 1
    return Blocks(
        lo=runs.score_at(places).astype(np.float64),
        hi=runs.score_at(ends).astype(np.float64),
        value=value,
        weight=weight,
    )


def _runs_of_labels(scores: FloatArray, positive: BoolArray, weights: Float64Array | None) -> Runs:
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


def _runs_of_shares(scores: FloatArray, share: Float64Array, weights: Float64Array | None) -> Runs:
    order = np.argsort(scores, kind="stable")
    scores, share = scores[order], share[order]
    mass = np.ones_like(share) if weights is None else weights[order]
    starts = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    return Runs(
        starts,
        len(scores),
        lambda places: scores[places],
        np.add.reduceat(mass * share, starts),
        np.add.reduceat(mass * (1.0 - share), starts),
    )


def pool_points(lo: Float64Array, hi: Float64Array, positive: Float64Array, negative: Float64Array) -> Blocks:
    """Solve the isotonic regression of points, each of which stands for rows that need not be told apart."""
    starts, value, weight = _pool(positive, negative)
    ends = np.append(starts[1:], len(lo)) - 1
    return Blocks(lo[starts], hi[ends], value, weight)


def isotonic_starts(positive: Float64Array, weight: Float64Array) -> IntArray:
    """Where the blocks begin; neighbours may have the same value."""
    starts: IntArray = late.optimize.isotonic_regression(positive / weight, weights=weight).blocks[:-1]
    return starts


def _pool(positive: Float64Array, negative: Float64Array) -> tuple[IntArray, Float64Array, Float64Array]:
    """Where the blocks begin, their values and their weights."""
    weight = positive + negative
    starts = isotonic_starts(positive, weight)
    # Values from the sums of the masses, not from running means: exact counts give exact shares.
    positive, weight = np.add.reduceat(positive, starts), np.add.reduceat(weight, starts)
    first = _first_of_equals(positive / weight)
    if len(first) < len(starts):
        starts = starts[first]
        positive, weight = np.add.reduceat(positive, first), np.add.reduceat(weight, first)
    return starts, positive / weight, weight


def _first_of_equals(value: Float64Array) -> IntArray:
    """Where a new value begins; values within rounding of the one that began are the same."""
    begins = np.ones(len(value), dtype=bool)
    anchor = 0
    for place in np.flatnonzero(np.diff(value) <= SAME_VALUE) + 1:
        if begins[place - 1]:
            anchor = int(place) - 1
        begins[place] = value[place] - value[anchor] > SAME_VALUE
    return np.flatnonzero(begins)
