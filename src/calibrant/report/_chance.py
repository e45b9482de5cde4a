"""What chance alone would make of forecasts that are right: the measure for what was observed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics import (
    BAND_LEVEL,
    N_RESAMPLES,
    Draws,
    IsotonicReliability,
    dot,
    evenly_spread,
    refit,
)
from calibrant.report._column import Column, fit_column
from calibrant.report._directed import MeanTest, power_sums

#: Squared distances of at most this size are rounding.
ROUNDING = 1e-14
#: The bound of the gap holds with a chance of 95%: so many standard deviations to one side.
ONE_SIDED = 1.645
#: The largest draws tell how the tail goes on beyond them, at least so slowly (in standard deviations).
TAIL, LEAST_EXCESS = 10, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class ChanceTest:
    """How far forecasts are off, beside forecasters who are right.

    Attributes
    ----------
    calibration : float
        The calibration part of the Brier score as observed, of neighbouring forecasts put together.
    drawn_calibration : ndarray of shape (r,)
        The calibration part for truths drawn from the forecasts themselves.
    mean : MeanTest
        By how much all forecasts are off together.
    mean_variance : float
        What chance does to that: the variance by the forecasts or by the fit, whichever is greater.
    gap_variance : float
        The same with regard to where the gaps are: rows count by their squared distance from the fit.
    """

    calibration: float
    drawn_calibration: Float64Array
    mean: MeanTest
    mean_variance: float
    gap_variance: float

    @property
    def expected(self) -> float:
        """What right forecasts show on average."""
        return float(self.drawn_calibration.mean())

    @property
    def gap(self) -> float:
        """By how much forecasts are off, root mean square, beyond what chance explains.

        It is at least the part by which all of them are off together, which is known much better than the
        whole.
        """
        together = self.mean.bias**2 - self.mean_variance
        return math.sqrt(max(self.calibration - self.expected, together, 0.0))

    @property
    def chance_gap(self) -> float:
        """By how much right forecasts would seem to be off."""
        return math.sqrt(self.expected)

    @property
    def bound(self) -> float:
        """How far forecasts could be off, root mean square: an upper confidence bound of 95%.

        The calibration part beyond chance scatters around the squared gap as that of right forecasts does,
        and by twice the gap times the scatter of a mean over the gaps; the bound is the greatest gap that
        would leave what was observed. It is at least the bound of the mean.
        """
        z, beyond = ONE_SIDED, max(self.calibration - self.expected, 0.0)
        cross = 2 * z**2 * self.gap_variance
        scatter = cross**2 + 2 * cross * beyond + z**2 * float(self.drawn_calibration.var())
        return min(max(math.sqrt(beyond + cross + math.sqrt(scatter)), self.mean_bound), 1.0)

    @property
    def mean_bound(self) -> float:
        """How far all forecasts could be off together, with the same confidence.

        The scatter grows with the gap itself, as in Wilson's interval: forecasts that were certain, and
        right n times, may be wrong 2.7 / n of the time.
        """
        z, bias = ONE_SIDED, abs(self.mean.bias)
        growth = z**2 * self.mean.growth / 2
        scatter = growth**2 + 2 * growth * bias + z**2 * self.mean_variance
        return min(bias + growth + math.sqrt(scatter), 1.0)

    def distances(self) -> Float64Array:
        """How far off, point by point, what was observed is, then what was drawn, in standard deviations."""
        return _standardized(np.append(self.calibration, self.drawn_calibration))


def _standardized(values: Float64Array) -> Float64Array:
    values = np.where(values <= ROUNDING, 0.0, values)
    spread = values.std()
    return np.asarray((values - values.mean()) / spread) if spread > 0 else np.zeros(len(values))


def p_values(tests: Sequence[ChanceTest], n_columns: int, seed: int) -> list[float]:
    """For every column the chance that the worst of so many believable ones is as far off.

    Every column is measured in its own standard deviations; what was observed is compared with the largest
    of all columns in every draw, which corrects for their number. Columns that were not drawn are stood in
    for by draws of those that were. What is beyond all draws is less likely the further it is, as if the
    tail were exponential with the mean excess of the largest draws.
    """
    distances = np.array([test.distances() for test in tests])
    observed, drawn = distances[:, 0], distances[:, 1:]
    absent = n_columns - len(tests)
    largest = drawn.max(axis=0)
    if absent > 0:
        others = np.random.default_rng(seed).choice(drawn.ravel(), (absent, drawn.shape[1]))
        largest = np.maximum(largest, others.max(axis=0))
    as_far = (largest[np.newaxis] >= observed[:, np.newaxis]).sum(axis=1)
    tail = np.sort(largest)[-TAIL - 1 :]
    scale = max(float(np.mean(tail[1:] - tail[0])), LEAST_EXCESS)
    # The chance of a further draw from a tail whose mean is known from so many draws only.
    beyond = (1 + np.maximum(observed - tail[-1], 0.0) / (TAIL * scale)) ** -TAIL
    return [float(p) for p in (1 + as_far) / (1 + drawn.shape[1]) * beyond]


def fit_and_test(column: Column, rng: np.random.Generator) -> tuple[IsotonicReliability, ChanceTest]:
    """The isotonic fit with its band, and the test of its calibration part, from the same draws.

    The fit and the band are those of `calibrant.metrics.isotonic_reliability`.
    """
    draws = Draws.of(column.rows)
    shares = draws.shares(N_RESAMPLES, rng).T.copy()
    fits = refit(shares, draws.weight)
    places = evenly_spread(draws.forecast)
    lower, upper = np.quantile(fits[:, places], [(1 - BAND_LEVEL) / 2, (1 + BAND_LEVEL) / 2], axis=0)
    with_band = replace(
        fit_column(column),
        band_score=draws.forecast[places],
        lower=lower,
        upper=upper,
        n_band_rows=draws.n_rows,
    )
    observed = _observed_shares(column, draws)[np.newaxis]
    fit = refit(observed, draws.weight)
    mean = MeanTest.of(column, draws)
    variances = power_sums(draws)[0] * fit[0] * (1 - fit[0]) / draws.weight.sum() ** 2
    mean_variance = max(mean.variance, float(variances.sum()))
    squared_gap = (draws.forecast - fit[0]) ** 2
    typical = max(dot(draws.weight, squared_gap) / draws.weight.sum(), ROUNDING)
    return with_band, ChanceTest(
        calibration=float(_calibration(observed, fit, draws)[0]),
        drawn_calibration=_calibration(shares, fits, draws),
        mean=mean,
        mean_variance=mean_variance,
        gap_variance=max(mean_variance, dot(variances, squared_gap) / typical),
    )


def _observed_shares(column: Column, draws: Draws) -> Float64Array:
    """The share of hits in every group that is drawn together."""
    weight, hits = column.between(np.searchsorted(column.bounds, np.append(draws.starts, column.bounds[-1])))
    return hits / weight


def _calibration(shares: Float64Array, fits: Float64Array, draws: Draws) -> Float64Array:
    """The calibration part for every row of shares."""
    weight = draws.weight / draws.weight.sum()
    gained = (shares - draws.forecast) ** 2 - (shares - fits) ** 2
    calibration = np.einsum("ij,j->i", gained, weight)
    return np.asarray(np.maximum(calibration, 0.0))
