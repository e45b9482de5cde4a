"""Bins over the axis of scores: a monotone map from scores to whole numbers.

Nothing that is learned depends on where the edges are: the screen (`_screen.py`) is sound for any monotone
map, and floating point subtraction, multiplication and comparison are monotone. Edges decide only how many
rows must be looked at again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.maps import IntervalLookup
from calibrant.passes._travel import travels

#: Intervals of a grid that follows the quantiles of a sample.
QUANTILES = 4096
#: Even cells that tell most scores outside of all intervals from the others at once.
CELLS = 1 << 17
#: Scores that are looked up together.
PIECE = 1 << 15


@travels
@dataclass(frozen=True, eq=False)
class ScoreGrid:
    """Intervals of scores in ascending order, each divided evenly into bins.

    Parameters
    ----------
    low, high : ndarray of shape (m,)
        Where every interval begins and ends, both belonging to it; intervals may touch, not overlap.
    size : ndarray of int64 of shape (m,)
        Number of bins of every interval.
    covers : bool
        Whether every score has a bin: below the first interval the first, between two and above the last one
        that of the nearest bin below. Otherwise a score outside of all intervals has none.
    """

    low: Float64Array
    high: Float64Array
    size: IntArray
    covers: bool

    @cached_property
    def n_bins(self) -> int:
        """Number of bins."""
        return int(self.size.sum())

    def bins(self, scores: Float64Array) -> IntArray:
        """Number of the bin of every score, each of which must have one."""
        bins = np.empty(len(scores), dtype=np.intp)
        for piece in pieces(len(scores)):
            bins[piece] = self._bins(scores[piece])
        return bins

    def _bins(self, scores: Float64Array) -> IntArray:
        if len(self.low) == 1 and self.covers:
            return self._places(scores, 0).astype(np.intp)
        interval = self._begun(scores)
        interval -= 1
        np.maximum(interval, 0, out=interval)
        bins = self._places(scores, interval).astype(np.intp)
        bins += self._first.take(interval)
        return bins

    def contains(self, scores: Float64Array) -> BoolArray:
        """Whether every score is in one of the intervals; most are expected to be in none."""
        inside = np.zeros(len(scores), dtype=bool)
        if len(self.low):
            for piece in pieces(len(scores)):
                some = scores[piece]
                near = np.flatnonzero(self._reached.take(self._cells(some)))
                close = some.take(near)
                inside[piece][near] = close <= self._end_of_begun.take(self._begun(close))
        return inside

    def _cells(self, scores: Float64Array) -> IntArray:
        """Even cells from the first interval to the last: a monotone map, like that to the bins."""
        place = scores * 0.5
        place -= self.low[0] * 0.5
        with np.errstate(over="ignore"):
            place *= self._cells_per_half
        np.clip(place, 0.0, CELLS - 1.0, out=place)
        return place.astype(np.intp)

    @cached_property
    def _cells_per_half(self) -> float:
        width = self.high[-1] * 0.5 - self.low[0] * 0.5
        with np.errstate(over="ignore"):
            return min(float(CELLS / width), float(np.finfo(np.float64).max)) if width > 0 else 0.0

    @cached_property
    def _reached(self) -> BoolArray:
        """Which cells have scores of an interval: those from the cell where it begins to where it ends."""
        begun, ended = (
            np.bincount(self._cells(each), minlength=CELLS).cumsum() for each in (self.low, self.high)
        )
        return np.asarray(begun > np.append(0, ended[:-1]))

    @cached_property
    def _end_of_begun(self) -> Float64Array:
        """Where the last of the intervals ends that have begun, after their number; nowhere, if none has."""
        return np.append(-np.inf, self.high)

    def _places(self, scores: Float64Array, interval: IntArray | int) -> Float64Array:
        """Which bin of its interval, from 0.

        Halves cannot overflow when subtracted; the product can, and then stands for the last bin.
        """
        place = scores * 0.5
        place -= self._half_low.take(interval)
        with np.errstate(over="ignore"):
            place *= self._scale.take(interval)
        np.maximum(place, 0.0, out=place)
        return np.minimum(place, self._last.take(interval), out=place)

    @cached_property
    def _begun(self) -> IntervalLookup:
        """Number of intervals that begin at a score or before it, so of beginnings less one bit below it."""
        with np.errstate(over="ignore"):
            return IntervalLookup(np.nextafter(self.low, -np.inf))

    @cached_property
    def _half_low(self) -> Float64Array:
        return self.low * 0.5

    @cached_property
    def _scale(self) -> Float64Array:
        width = self.high * 0.5 - self._half_low
        with np.errstate(over="ignore", divide="ignore"):
            scale = np.where(width > 0, self.size / width, 0.0)
        return np.minimum(scale, np.finfo(np.float64).max)

    @cached_property
    def _last(self) -> Float64Array:
        return (self.size - 1).astype(np.float64)

    @cached_property
    def _first(self) -> IntArray:
        return np.append(0, np.cumsum(self.size)[:-1]).astype(np.intp)


def pieces(n_scores: int) -> Iterator[slice]:
    """Pieces of so many scores that what is made of one on the way stays in the cache: twice as fast."""
    for start in range(0, n_scores, PIECE):
        yield slice(start, start + PIECE)


def even_grid(low: float, high: float, n_bins: int) -> ScoreGrid:
    """Bins of equal width over a range."""
    return ScoreGrid(np.array([low]), np.array([high]), np.array([n_bins], dtype=np.int64), True)


def grid_from_sample(scores: Float64Array, n_bins: int, edges: str) -> ScoreGrid:
    """Bins for scores of which a sample is known."""
    if len(scores) == 0:
        return even_grid(-1.0, 1.0, n_bins)
    if edges == "uniform":
        return even_grid(float(scores.min()), float(scores.max()), n_bins)
    n_intervals = min(QUANTILES, max(1, n_bins // 8), max(1, len(scores) // 8))
    knots = np.quantile(scores, np.linspace(0, 1, n_intervals + 1), method="inverted_cdf")
    knots = knots + 0.0  # -0.0 and 0.0 are the same score
    # A score that fills a whole interval gets a bin of its own: the next bin begins right after it.
    heavy = np.unique(knots[1:][knots[1:] == knots[:-1]])
    with np.errstate(over="ignore"):
        low = np.unique(np.concatenate([knots, np.nextafter(heavy, np.inf)]))
    low = low[np.isfinite(low)]
    high = np.append(low[1:], max(low[-1], scores.max()))
    alone = np.isin(low, heavy)
    size = np.where(alone, 1, max(1, n_bins // max(1, n_intervals)))
    return ScoreGrid(low, high, size.astype(np.int64), True)
