"""The area under a ROC curve and its variance, from points."""

import math
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._intervals import area_estimate
from calibrant.metrics._points import BLOCK, Points, dot


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """How a column ranks.

    Attributes
    ----------
    area : float
        Area under the ROC curve; `nan` if a class has no rows.
    variance : float
        Its variance, by DeLong, DeLong and Clarke-Pearson (1988).
    slack : float
        By how much the area may be off because rows were pooled.
    below, above : ndarray of shape (m,)
        For every point the share of the negatives below it, and of the positives above it; of those at it
        one half.
    n_least : float
        Number of rows of the smaller class.
    """

    area: float
    variance: float
    slack: float
    below: Float64Array
    above: Float64Array
    n_least: float

    def estimate(self) -> Estimate:
        """The area with its interval."""
        return area_estimate(self.area, self.variance, self.n_least, self.slack)


def rank_points(points: Points, rough: Points | None = None) -> Ranking:
    """Rank the rows of a column; with fewer points, if they are given, only the area is that of all."""
    if rough is not None and rough is not points:
        return replace(rank_points(rough), area=_area(points), slack=_slack(points))
    positive, negative = float(points.pos.sum()), float(points.neg.sum())
    if not (positive > 0 and negative > 0):
        return Ranking(math.nan, math.nan, 0.0, np.empty(0), np.empty(0), 0.0)
    below = (np.cumsum(points.neg) - points.neg / 2) / negative
    above = 1 - (np.cumsum(points.pos) - points.pos / 2) / positive
    area = _area(points)
    parts = ((points.pos2, below, positive), (points.neg2, above, negative))
    variance, sizes = 0.0, []
    for squares, chance, total in parts:
        size = total * (total / float(squares.sum()))
        sizes.append(size)
        fairly = size / (size - 1) if size > 1 else 1.0
        variance += dot(squares, (chance - area) ** 2) / total**2 * fairly
    return Ranking(area, variance, _slack(points), below, above, min(sizes))


def _area(points: Points) -> float:
    """The area under the ROC curve."""
    positive, negative = float(points.pos.sum()), float(points.neg.sum())
    if not (positive > 0 and negative > 0):
        return math.nan
    return min(_pairs_in_order(points) / positive / negative, 1.0)


def _pairs_in_order(points: Points) -> float:
    """The weight of the pairs of a negative and a greater positive; of equal ones half."""
    if points.single:  # below a positive are all rows before it but the other positives
        places = np.flatnonzero(points.pos)
        return float(places.sum() - len(places) * (len(places) - 1) // 2)
    pairs, below = 0.0, 0.0
    for first in range(0, len(points), BLOCK):
        pos, neg = points.pos[first : first + BLOCK], points.neg[first : first + BLOCK]
        reached = below + np.cumsum(neg)
        pairs, below = pairs + dot(pos, reached - neg / 2), float(reached[-1])
    return pairs


def _slack(points: Points) -> float:
    """By how much pooling may hide: all pairs of a cell may be ranked either way."""
    if points.exact:
        return 0.0
    wide = points.high > points.low
    pairs = float(points.pos.sum()) * float(points.neg.sum())
    return dot(points.pos[wide], points.neg[wide]) / 2 / pairs if pairs > 0 else 0.0
