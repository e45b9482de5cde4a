"""Pool adjacent violators: from scored labels to blocks of equal value."""

from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Float64Array, IntArray
from calibrant.passes._runs import Runs

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


def isotonic_blocks(runs: Runs) -> Blocks:
    """Solve the weighted isotonic regression of the target on the scores.

    Notes
    -----
    The solution minimises ``sum_i w_i (y_i - g(s_i))^2`` over non-decreasing ``g``. Two corrections to
    the text of Zadrozny & Elkan (2002): neighbours violate the order when the *earlier* value is the
    larger one, and pooled values are averaged with the weights of their blocks, so that the labels
    1, 0, 0 give 1/3 and not 1/4.
    """
    first, value, weight = _pool(runs.positive, runs.negative)
    places = runs.starts[first]
    ends = np.append(places[1:], runs.n_places) - 1
    lo, hi = runs.score_at(np.append(places, ends)).astype(np.float64).reshape(2, -1)
    return Blocks(lo, hi, value, weight)


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
