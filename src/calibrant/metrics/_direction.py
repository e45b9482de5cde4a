"""Does a score rank the classes the wrong way round, beyond what chance does?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, BoolArray, Float64Array, FloatArray, IntArray, Target
from calibrant.metrics._bins import group_sums

#: How seldom a score that tells nothing is taken for one that points the wrong way.
LEVEL = 1e-3


@dataclass(frozen=True, slots=True)
class Direction:
    """How a score ranks two classes, beside a score that tells nothing.

    Attributes
    ----------
    area : float
        Area under the ROC curve: below one half, the score ranks the wrong way. `nan` if a class has no rows.
    chance : float
        How often labels dealt out at random would be ranked as badly, or worse.
    shift : float
        Sum, over the positives, of how far their ranks are above the mean; ranks run from 0 to 1.
    spread : float
        Standard deviation of that sum, if labels are dealt out at random.
    joint : float
        The same if all classes of a row are dealt out at once: a bound of what the column adds to the
        variance of the sum over several columns.
    """

    area: float
    chance: float
    shift: float = 0.0
    spread: float = 0.0
    joint: float = 0.0


#: What is known of a score without rows of both classes.
NO_DIRECTION = Direction(math.nan, 1.0)
#: What is said of a score that surely ranks the right way, how well it may.
RIGHT_WAY = Direction(1.0, 1.0)
#: Bins in which one looks whether a score surely does, if there are as many rows.
N_BINS = 1 << 12


def direction(scores: FloatArray, target: Target, weights: Float64Array | None) -> Direction:
    """Test which way a score ranks the classes."""
    mass = np.ones(len(scores)) if weights is None else weights
    whole = weights is None or bool(np.all(weights == np.floor(weights)))
    _, place = np.unique(scores, return_inverse=True)
    with np.errstate(over="ignore", under="ignore"):
        if not whole:
            mass = mass / mass.max()  # of which no square overflows
        sides = mass * target, mass * (1.0 - target)
        squares = None if whole else (float(sides[0] @ mass), float(sides[1] @ mass))
    return direction_of_points(group_sums(place, sides[0]), group_sums(place, sides[1]), squares)


def directions_of(
    scores: FloatArray, position: IntArray, weights: Float64Array | None, sides: Array | None = None
) -> list[Direction]:
    """Test which way every column of scores ranks its classes.

    Many rows need not be sorted to see that most columns are right. Where no more than half of them are in
    doubt, the others are said to be the `RIGHT_WAY`, and no more.
    """
    matrix = scores[:, None] if scores.ndim == 1 else scores
    if sides is None:
        sides = sides_of(max(2, matrix.shape[1]), matrix.shape[1])

    def column(number: int) -> tuple[Any, BoolArray, Float64Array | None]:
        side, column = sides[:, number], np.ascontiguousarray(matrix[:, number])
        if side.all():
            return column, (side > 0)[position], weights
        rows = side[position] != 0
        return column[rows], (side > 0)[position[rows]], None if weights is None else weights[rows]

    numbers = range(matrix.shape[1])
    doubtful = {number for number in numbers if not _surely_right(*column(number))}
    if 2 * len(doubtful) > len(numbers):
        doubtful = set(numbers)
    return [direction(*column(number)) if number in doubtful else RIGHT_WAY for number in numbers]


def _surely_right(scores: FloatArray, positive: BoolArray, weights: Float64Array | None) -> bool:
    """Whether bins show that most pairs are ranked the right way, if all of one bin are not."""
    if len(scores) < N_BINS:
        return False
    low, high = float(scores.min()), float(scores.max())
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        unit = N_BINS / np.float64(high - low)
        if not 0 < unit < math.inf:
            return False
        place = 2 * ((scores - low) * unit).astype(np.intp) + positive
        negatives, positives = np.bincount(place, weights, 2 * N_BINS + 2).reshape(-1, 2).T.astype(np.float64)
        right = float(positives @ (np.cumsum(negatives) - negatives))
        return right > (0.5 + 1e-9) * float(positives.sum()) * float(negatives.sum()) > 0


def sides_of(n_classes: int, n_columns: int) -> Array:
    """What scores speak for: a single one for the second of two classes, others for one class each."""
    sides = 2 * np.eye(n_classes, dtype=np.int8) - 1
    return sides[:, 1:] if n_columns == 1 and n_classes == 2 else sides


def direction_of_points(
    positive: Float64Array, negative: Float64Array, squares: tuple[float, float] | None = None
) -> Direction:
    r"""Test which way a score ranks the classes, from the weights at every score or in every bin.

    Notes
    -----
    This is the test of Mann and Whitney: if labels have nothing to do with scores, the :math:`n_+` positives
    are drawn from all :math:`n` rows without replacement, and so are their ranks, of which equal scores share
    the middle. Mean, variance and third moment of the mean of such a draw are those of all ranks times known
    factors, whatever the ties. The tail is that of the gamma distribution of these moments (Pearson's type
    III), as of few positives and a score that is almost always the same the normal one would find a single
    row significant.

    A whole weight stands for so many rows. Other weights tell how rows are to be counted against each other,
    not how many there are; a class of such rows counts as :math:`(\sum w)^2 / \sum w^2` of them.
    """
    with np.errstate(over="ignore", under="ignore"):
        totals = float(positive.sum()), float(negative.sum())
        n_positive, n_negative = totals if squares is None else _effective(totals, squares)
        n = n_positive + n_negative
        if not (min(n_positive, n_negative) > 0 and 2 < n < math.inf):
            return NO_DIRECTION
        share = positive / totals[0]
        mass = (n_positive * share + n_negative * (negative / totals[1])) / n
        rank = np.cumsum(mass) - mass / 2 - 0.5
        mean, variance, third = (
            float(each @ rank**power) for each, power in ((share, 1), (mass, 2), (mass, 3))
        )
    area = 0.5 + mean * n / n_negative
    if variance <= 0:
        return Direction(area, 1.0)
    spread = math.sqrt(variance * (n_negative / n_positive) / (n - 1))
    skew = third / variance / math.sqrt(variance) * (n_negative - n_positive) / (n - 2)
    skew *= math.sqrt((n - 1) / n_positive / n_negative)
    # Half the least step that a rank can make: the mean of a draw has one of few values, a tail any.
    step = float(np.diff(rank).min()) / (2 * n_positive)
    return Direction(
        area=area,
        chance=_tail((-mean - step) / spread, -skew),
        shift=n_positive * mean,
        spread=n_positive * spread,
        joint=math.sqrt(n_positive * variance * n / (n - 1)),
    )


def _tail(deviation: float, skew: float) -> float:
    """How often something of mean 0, variance 1 and this skewness is as great; of a lighter tail a bound."""
    if skew < 1e-6 or deviation <= 0:
        return normal_tail(deviation)
    shape = 4 / skew**2
    return float(late.special.gammaincc(shape, shape + deviation * math.sqrt(shape)))


def normal_tail(deviation: float) -> float:
    """How often a normal variable is so many standard deviations above its mean, or more."""
    return math.erfc(deviation / math.sqrt(2)) / 2


def _effective(totals: tuple[float, float], squares: tuple[float, float]) -> tuple[float, float]:
    """The number of rows of either class that weights are worth."""
    positive, negative = (
        total * (total / square) if square > 0 else 0.0 for total, square in zip(totals, squares, strict=True)
    )
    return positive, negative


def wrong_columns(directions: Sequence[Direction]) -> list[int]:
    """Which scores rank their classes the wrong way; chance finds any at all in one case of a thousand."""
    return [place for place, each in enumerate(directions) if each.chance < LEVEL / len(directions)]


def mostly_wrong(directions: Sequence[Direction], *, one_per_class: bool) -> bool:
    """Whether the scores as a whole rank the wrong way, as distances and negative log-likelihoods do.

    Notes
    -----
    The columns have the same rows. If these are dealt their classes at random, and every column is that of a
    class, the variance of the sum is at most the sum of `Direction.joint` squared; of other columns the
    standard deviation of the sum is at most the sum of theirs.
    """
    known = [each for each in directions if not math.isnan(each.area)]
    if 2 * sum(each.area < 0.5 for each in known) <= len(known):
        return False
    shift = sum(each.shift for each in known)
    if one_per_class:
        spread = math.hypot(*(each.joint for each in known))
    else:
        spread = sum(each.spread for each in known)
    return spread > 0 and normal_tail(-shift / spread) < LEVEL
