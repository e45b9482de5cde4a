"""How far chance alone carries the parts of a Brier score, and binned errors.

Both follow the rows that they were found in: a fit, or a frequency, is further from the forecasts than what
it estimates. How much an isotonic fit gains on its own rows is found by drawing what comes anew, from the
probabilities that Cox's regression makes of the forecasts: a smooth curve near the fit. The fit itself will
not do, which is a staircase, and easier to find again than a curve.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._odds import expit
from calibrant.metrics._cox import CoxFit, log_odds
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._intervals import DEVIATE
from calibrant.metrics._isotonic import pooled_blocks
from calibrant.metrics._points import Points, dot

#: Draws of a column, and of each of many columns.
N_DRAWS, FEWER_DRAWS = 200, 100
#: Distinct probabilities that are drawn: in a column, at least, and in all columns.
MOST_DRAWN, LEAST_DRAWN, ALL_DRAWN = 4000, 250, 40_000
#: What a fit gains falls with these powers of the rows: its mean, and how much it varies.
BIAS_POWER, SPREAD_POWER = 2 / 3, 5 / 6
#: How right the first is, from few rows to very many.
POWER_ERROR = 0.03
#: Draws of binned errors, at least, and steps to the end of their intervals.
N_BINNED, LEAST_BINNED, N_HALVINGS = 1000, 200, 12
#: Draws of so few bins are kept.
FEW_BINS = 32
#: The shares of the draws below the ends of an interval.
ENDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a column's Brier score.

    Attributes
    ----------
    calibration, refinement : float
        As they were found.
    starts : ndarray of shape (b,)
        The point at which each block of the fit begins.
    frequency : ndarray of shape (b,)
        The frequencies of the blocks.
    """

    calibration: float
    refinement: float
    starts: IntArray
    frequency: Float64Array

    def fitted(self, n_points: int) -> Float64Array:
        """The fit at every point."""
        return np.repeat(self.frequency, np.diff(np.append(self.starts, n_points)))


@dataclass(frozen=True, slots=True)
class Overfit:
    """How much less a fit loses on its own rows than the curve that they come from.

    Attributes
    ----------
    bias, spread : float
        On average, and the standard deviation of that.
    below, above : float
        How far from the average 95% of all rows are.
    """

    bias: float
    spread: float
    below: float
    above: float


def split_points(points: Points, brier: float) -> Parts:
    """Split the Brier score of a column."""
    starts, frequency, weight = pooled_blocks(points.pos, None if points.single else points.weight)
    refinement = dot(weight, frequency * (1 - frequency)) / float(weight.sum())
    return Parts(max(brier - refinement, 0.0), refinement, starts, frequency)


def overfit_of(points: Points, fit: CoxFit, rng: np.random.Generator, n_columns: int) -> Overfit:
    """Find how much an isotonic fit gains on its own rows.

    Notes
    -----
    Of more than 4,000 distinct probabilities as many, evenly spread over the rows, are drawn once each. A fit
    to n rows of a smooth curve gains about n to the power of -2/3, and varies by n to the power of -5/6.
    """
    most = min(MOST_DRAWN, max(LEAST_DRAWN, ALL_DRAWN // n_columns))
    p, smaller = points.p, 1.0
    if len(points) > most:
        reached = points.reached()
        total = float(reached[-1])
        middle = (np.arange(most) + 0.5) / most * total
        p = p[np.minimum(np.searchsorted(reached, middle), len(p) - 1)]
        weight = rows = np.ones(most)
        smaller = most / (total * (total / float(points.pos2.sum() + points.neg2.sum())))
    else:
        weight = points.weight
        rows = weight**2 / (points.pos2 + points.neg2)
    if fit.bread is not None:
        p = expit(fit.slope * log_odds(p) + fit.intercepts[0])
        p = p if fit.slope >= 0 else np.sort(p)
    drawn = _gains(p, weight, rows, N_DRAWS if n_columns == 1 else FEWER_DRAWS, rng)
    low, high = np.quantile(drawn, ENDS)
    bias = float(drawn.mean())
    unsure = 0.0 if smaller == 1 else POWER_ERROR * bias * smaller**BIAS_POWER
    return Overfit(
        bias * smaller**BIAS_POWER,
        *(
            math.hypot(float(each) * smaller**SPREAD_POWER, by * unsure)
            for each, by in ((drawn.std(ddof=1), 1.0), (bias - low, DEVIATE), (high - bias, DEVIATE))
        ),
    )


def _gains(
    p: Float64Array, weight: Float64Array, rows: Float64Array, n_draws: int, rng: np.random.Generator
) -> Float64Array:
    """Draw what comes from the probabilities, and fit it: by how much less the fit loses than these."""
    pos, total = weight * _frequencies(p, rows, n_draws, rng), float(weight.sum())
    brier = (np.einsum("ij,j->i", pos, 1 - 2 * p) + dot(weight, p**2)) / total
    # All draws are fitted as one: each is lifted above the one before, so that no block reaches across.
    number = np.arange(n_draws, dtype=np.float64)[:, np.newaxis]
    weights = None if (weight == 1).all() else np.tile(weight, n_draws)
    starts, _, blocks = pooled_blocks((pos + 2 * number * weight).ravel(), weights)
    fitted = np.add.reduceat(pos.ravel(), starts) / blocks
    refinement = np.bincount(starts // len(p), blocks * fitted * (1 - fitted), n_draws) / total
    return np.asarray(np.maximum(brier - refinement, 0.0))


def _frequencies(
    chance: Float64Array, rows: Float64Array, n_draws: int, rng: np.random.Generator
) -> Float64Array:
    """How often it came at every point, in every draw."""
    count = np.maximum(np.rint(rows), 1.0)
    drawn = (rng.random((n_draws, len(chance))) < chance).astype(np.float64)
    several = np.flatnonzero(count > 1)
    if len(several):
        size = np.minimum(count[several], 2.0**62).astype(np.int64)
        drawn[:, several] = rng.binomial(size, chance[several], (n_draws, len(several))) / size
    return drawn


def distance_of(parts: Parts, points: Points) -> float:
    """The mean squared distance of the fit from the forecasts."""
    weight = points.weight
    return dot(weight, (parts.fitted(len(points)) - points.p) ** 2) / float(weight.sum())


def part_variances(parts: Parts, points: Points) -> tuple[float, float]:
    """Variances of calibration and refinement if the fit were no fit, but the truth."""
    fit, p = parts.fitted(len(points)), points.p
    lost = (1 - fit) ** 2, fit**2
    gained = (1 - p) ** 2 - lost[0], p**2 - lost[1]
    return _variance(points, *gained), _variance(points, *lost)


def _variance(points: Points, if_came: Float64Array, if_not: Float64Array) -> float:
    """The variance of a mean over the rows, of what depends on the point and on whether it came."""
    total = float(points.weight.sum())
    mean = (dot(points.pos, if_came) + dot(points.neg, if_not)) / total
    squares = dot(points.pos2, if_came**2) + dot(points.neg2, if_not**2)
    rows = float((points.pos2 + points.neg2).sum())
    return max(squares - mean**2 * rows, 0.0) / total**2


def calibration_estimate(value: float, variance: float, distance: float, overfit: Overfit) -> Estimate:
    """A calibration part, rid of what a fit gains on its own rows.

    `variance` is that of a fit which is right, at its squared distance from the forecasts.

    Notes
    -----
    The variance of a mean squared distance is in proportion to it. So the ends are those distances from which
    the one that was found is just as far as they vary: both are roots of one quadratic equation.
    """
    middle = value - overfit.bias
    per_distance = variance / distance if distance > 0 else 0.0
    slope = 2 * middle + DEVIATE**2 * per_distance
    low, high = (
        (slope + sign * math.sqrt(max(slope**2 - 4 * (middle**2 - arm**2), 0.0))) / 2
        for sign, arm in ((-1, overfit.above), (1, overfit.below))
    )
    if middle <= overfit.above:  # that may be chance alone
        low = 0.0
    error = math.hypot(math.sqrt(per_distance * max(middle, 0.0)), overfit.spread)
    return Estimate(value, max(min(low, value), 0.0), max(high, value), error)


def refinement_estimate(value: float, variance: float, overfit: Overfit) -> Estimate:
    """The same of a refinement, whose standard error is in proportion to it."""
    middle = value + overfit.bias
    if middle <= 0:
        return Estimate(value, 0.0, 0.0, 0.0)
    # The fit makes smaller also what varies about it.
    error = math.hypot(math.sqrt(variance * middle / value if value > 0 else variance), overfit.spread)
    factor = math.exp(min(DEVIATE * error / middle, 50.0))
    return Estimate(value, min(middle / factor, value), max(middle * factor, value), error)


def distance_estimate(
    value: float, gap: Float64Array, variance: Float64Array, seed: tuple[int, ...], factor: float = 1.0
) -> Estimate:
    """A sum of distances with an interval, from the variances of the gaps.

    `value` is the sum as it was found elsewhere, and `factor` by how much more it varies, because gaps vary
    together, than gaps that do not.

    Notes
    -----
    Chance adds to a sum of distances, and most where there are none. The lower end is the least of the worlds
    in which all gaps are smaller by the same factor, such that 2.5% of their sums are beyond the one that was
    found; it is 0 if that may be chance alone. For the upper end nothing is taken off, as gaps that all point
    one way are not made greater by chance.
    """
    noise = _noise(variance, seed)

    def most(share: float) -> float:
        """The sum that 2.5% exceed in such a world."""
        drawn = np.abs(noise + share * gap).sum(axis=1)
        mean = float(drawn.mean())
        return mean + factor * (_exceeded_rarely(drawn) - mean)

    found = float(np.abs(gap).sum())
    low, high = 0.0, 1.0
    if most(low) < found:
        for _ in range(N_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if most(middle) >= found else (middle, high)
    error = factor * _error(noise, gap)
    return Estimate(value, min(low * found, value), value + DEVIATE * error, error)


def distance_error(gap: Float64Array, variance: Float64Array, seed: tuple[int, ...]) -> float:
    """The standard error of a sum of distances alone."""
    return _error(_noise(variance, seed), gap)


def _noise(variance: Float64Array, seed: tuple[int, ...]) -> Float64Array:
    normal = _normal_again if len(variance) <= FEW_BINS else _normal
    return np.asarray(np.sqrt(variance) * normal(seed, len(variance)))


def _normal(seed: tuple[int, ...], n_bins: int) -> Float64Array:
    n_draws = max(LEAST_BINNED, N_BINNED // (1 + n_bins // 100))
    return np.random.default_rng(seed).standard_normal((n_draws, n_bins))


#: Groups of rows that are evaluated one after the other have the same draws.
_normal_again = lru_cache(maxsize=64)(_normal)


def _error(noise: Float64Array, gap: Float64Array) -> float:
    return float(np.abs(noise + gap).sum(axis=1).std(ddof=1))


def _exceeded_rarely(drawn: Float64Array) -> float:
    """The number that 2.5% exceed, as `numpy.quantile` finds it, which takes longer than all else here."""
    place = ENDS[1] * (len(drawn) - 1)
    first = int(place)
    lower, upper = np.partition(drawn, (first, first + 1))[first : first + 2].tolist()
    return float(lower + (place - first) * (upper - lower))
