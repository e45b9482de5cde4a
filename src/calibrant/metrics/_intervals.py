"""Intervals of means, shares and areas, from sums over the rows.

Weights: if all of them are whole, a row of weight m is m rows. Else they say how rows count against each
other, and not how many there are; the variance of a weighted mean m of x is then the sum of (w (x - m))² by
the square of the sum of w.
"""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics._estimate import Estimate

#: The normal deviate that 2.5% exceed.
DEVIATE = 1.959963984540054
#: What is less than this share of the squared mean is rounding, and no variance.
ROUNDING = 1e-14
#: Weights from its inverse on are taken as they are; others first divided by a power of two.
MOST_WEIGHT = 2.0**200
#: Sums that `Moments` are made of.
N_MOMENTS = 11


@dataclass(frozen=True, slots=True)
class Moments:
    """What a mean and its interval need to know of weighted numbers.

    Attributes
    ----------
    mean : float
        The weighted mean.
    variance : float
        The variance of that mean.
    skewness : float
        The skewness of that mean.
    n : float
        The number of rows that the weights are worth.
    """

    mean: float
    variance: float
    skewness: float
    n: float


def in_units(weights: Float64Array) -> tuple[Float64Array, float]:
    """Weights whose cubes neither overflow nor vanish, and the power of two that they are multiples of."""
    if weights.max() < MOST_WEIGHT and weights.min() > 1 / MOST_WEIGHT:
        return weights, 1.0
    exponent = int(np.frexp(weights.max())[1]) - 1
    return np.maximum(np.ldexp(weights, -exponent), 1 / MOST_WEIGHT), float(np.ldexp(1.0, exponent))


def power_sums(values: Float64Array, weights: Float64Array | None) -> Float64Array:
    """Sums of w, w², w³ times powers of the values, in the order in which `moments_of` takes them."""
    square = values * values
    if weights is None:
        n, first, second = float(len(values)), values.sum(), square.sum()
        square *= values
        third = square.sum()
        return np.array([n, first, second, third, n, first, second, n, first, second, third])
    sums = []
    mass = weights
    for highest in (3, 2, 3):
        sums += [mass.sum(), mass @ values, mass @ square]
        sums += [mass * values @ square] if highest == 3 else []
        mass = mass * weights
    return np.array(sums)


def masses(n_rows: int, weights: Float64Array | None) -> Float64Array:
    """The same sums of rows whose values are all 0: the weight of the rows, its squares and cubes."""
    sums = np.zeros(N_MOMENTS)
    if weights is None:
        sums[[0, 4, 7]] = n_rows
    else:
        square = weights * weights
        sums[[0, 4, 7]] = weights.sum(), square.sum(), (square * weights).sum()
    return sums


def is_whole(weights: Float64Array | None) -> bool:
    """Whether rows are so many copies of one."""
    return weights is None or bool(np.all(weights == np.floor(weights)))


def moments_of(sums: Float64Array, *, whole: bool) -> Moments:
    """The moments of the mean from sums of powers."""
    weight, first = float(sums[0]), float(sums[1])
    mean = first / weight
    if whole:
        n, (s0, s1, s2), (t0, t1, t2, t3) = weight, sums[:3], sums[:4]
    else:
        n, (s0, s1, s2), (t0, t1, t2, t3) = weight * (weight / float(sums[4])), sums[4:7], sums[7:]
    second = float(s2 - 2 * mean * s1 + mean**2 * s0)
    third = float(t3 - 3 * mean * t2 + 3 * mean**2 * t1 - mean**3 * t0)
    if second <= ROUNDING * (float(s2) + mean**2 * float(s0)):
        return Moments(mean, 0.0, 0.0, n)
    variance = second / weight**2 * (n / (n - 1) if n > 1 else math.inf)
    return Moments(mean, variance, third / second**1.5, n)


def deviate(n: float) -> float:
    """The deviate that 2.5% of Student's distribution exceed, for so many rows."""
    freedom = max(n - 1, 1.0)
    return DEVIATE + (DEVIATE**3 + DEVIATE) / (4 * freedom)


def mean_estimate(moments: Moments, *, least: float = -math.inf, most: float = math.inf) -> Estimate:
    """A mean with an interval that allows for skewness, by Hall's transformation of Student's statistic."""
    if not math.isfinite(moments.variance):
        return Estimate(moments.mean, least, most)
    error = math.sqrt(moments.variance)
    below, above = (_unskewed(sign * deviate(moments.n), moments.skewness) for sign in (1.0, -1.0))
    low, high = moments.mean - error * below, moments.mean - error * above
    return Estimate(moments.mean, max(low, least), min(high, most), error)


def mean_of(losses: Float64Array, weights: Float64Array, *, copies: bool = True) -> Estimate:
    """The mean of what rows lost; whole weights count copies, unless they are those of groups of rows."""
    whole = copies and is_whole(weights)
    return mean_estimate(moments_of(power_sums(losses, weights), whole=whole))


def _unskewed(x: float, skewness: float) -> float:
    """The value of Student's statistic that Hall's transformation takes to x."""
    if abs(skewness) < 1e-6:
        return x
    return 3 / skewness * float(np.cbrt(1 + skewness * (x - skewness / 6)) - 1)


def share_estimate(share: float, n: float, error: float = math.nan) -> Estimate:
    """A share of so many rows, with Wilson's interval."""
    square = DEVIATE**2 / n
    middle = (share + square / 2) / (1 + square)
    half = DEVIATE / (1 + square) * math.sqrt(share * (1 - share) / n + square / (4 * n))
    if math.isnan(error):
        error = math.sqrt(share * (1 - share) / n)
    return Estimate(share, min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share), error)


def share_of(moments: Moments) -> Estimate:
    """The share of rows that have something, of which the moments are those of ones and zeros."""
    share = min(max(moments.mean, 0.0), 1.0)
    if not 0 < moments.variance < math.inf:
        return share_estimate(share, moments.n)
    # So many rows of equal weights would have this variance.
    return share_estimate(share, share * (1 - share) / moments.variance, math.sqrt(moments.variance))


def area_estimate(area: float, variance: float, n_least: float, slack: float = 0.0) -> Estimate:
    """An area under a ROC curve, with an interval that is symmetric in its log-odds.

    `slack` is by how much the area may be off because rows were pooled.
    """
    if math.isnan(area):
        return Estimate(area)
    error = math.sqrt(variance)
    if 0 < area < 1 and error > 0:
        odds, slope = math.log(area / (1 - area)), max(area * (1 - area), 1e-300)
        half = min(deviate(n_least) * error / slope, 1e3)
        low, high = _share_of_odds(odds - half), _share_of_odds(odds + half)
    else:  # all pairs are ranked alike: as if so many rows were all right, or all wrong
        of_share = share_estimate(area, n_least)
        low, high = of_share.low, of_share.high
    return Estimate(area, max(low - slack, 0.0), min(high + slack, 1.0), error)


def _share_of_odds(odds: float) -> float:
    """The share of log-odds, however great these are."""
    return math.exp(min(odds, 0.0)) / (1 + math.exp(-abs(odds)))


def normal_estimate(value: float, error: float, *, bias: float = 0.0, least: float = -math.inf) -> Estimate:
    """An estimate and its standard error; the interval is about the estimate without its bias."""
    low, high = (value - bias + sign * DEVIATE * error for sign in (-1, 1))
    return Estimate(value, min(max(low, least), value), max(high, value), error)
