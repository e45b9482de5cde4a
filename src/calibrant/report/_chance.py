"""What chance alone would make of forecasts that are right: the measure for what was observed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics import IsotonicReliability
from calibrant.metrics._isotonic import LEVEL, N_RESAMPLES, Draws, spread
from calibrant.report._column import Column, fit_column

#: Squared distances of at most this size are rounding.
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class ChanceTest:
    """How far forecasts are off, beside forecasters who are right.

    Attributes
    ----------
    calibration : float
        The calibration part of the Brier score as observed, of neighbouring forecasts put together.
    bias : float
        Share of the hits minus the mean forecast.
    drawn_calibration, drawn_bias : ndarray of shape (r,)
        The same for truths drawn from the forecasts themselves.
    """

    calibration: float
    bias: float
    drawn_calibration: Float64Array
    drawn_bias: Float64Array

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
        together = self.bias**2 - float(np.mean(self.drawn_bias**2))
        return math.sqrt(max(self.calibration - self.expected, together, 0.0))

    @property
    def chance_gap(self) -> float:
        """By how much right forecasts would seem to be off."""
        return math.sqrt(self.expected)

    def distances(self) -> Float64Array:
        """How far off what was observed is, then what was drawn, in standard deviations.

        There are two ways to be off, point by point and all together; the worse one counts.
        """
        calibration = np.append(self.calibration, self.drawn_calibration)
        bias = np.abs(np.append(self.bias, self.drawn_bias))
        return np.maximum(_standardized(calibration, ROUNDING), _standardized(bias, math.sqrt(ROUNDING)))


def _standardized(values: Float64Array, rounding: float) -> Float64Array:
    values = np.where(values <= rounding, 0.0, values)
    spread = values.std()
    return np.asarray((values - values.mean()) / spread) if spread > 0 else np.zeros(len(values))


def p_values(tests: Sequence[ChanceTest], n_columns: int, seed: int) -> list[float]:
    """For every column the chance that the worst of so many believable ones is as far off.

    Every column is measured in its own standard deviations; what was observed is compared with the largest
    of all columns in every draw, which corrects for their number. Columns that were not drawn are stood in
    for by draws of those that were.
    """
    distances = np.array([test.distances() for test in tests])
    observed, drawn = distances[:, 0], distances[:, 1:]
    absent = n_columns - len(tests)
    largest = drawn.max(axis=0)
    if absent > 0:
        others = np.random.default_rng(seed).choice(drawn.ravel(), (absent, drawn.shape[1]))
        largest = np.maximum(largest, others.max(axis=0))
    as_far = (largest[np.newaxis] >= observed[:, np.newaxis]).sum(axis=1)
    return [float(p) for p in (1 + as_far) / (1 + drawn.shape[1])]


def fit_and_test(column: Column, rng: np.random.Generator) -> tuple[IsotonicReliability, ChanceTest]:
    """The isotonic fit with its band, and the test of its calibration part, from the same draws.

    The fit and the band are those of `calibrant.metrics.isotonic_reliability`.
    """
    draws = Draws.of(column.rows)
    shares = draws.shares(N_RESAMPLES, rng).T.copy()
    fits = _refit(shares, draws)
    places = spread(draws.forecast)
    lower, upper = np.quantile(fits[:, places], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    with_band = replace(
        fit_column(column),
        band_score=draws.forecast[places],
        lower=lower,
        upper=upper,
        n_band_rows=draws.n_rows,
    )
    observed = _observed_shares(column, draws)[np.newaxis]
    weight = draws.weight / draws.weight.sum()
    return with_band, ChanceTest(
        calibration=float(_calibration(observed, _refit(observed, draws), draws)[0]),
        bias=float((observed[0] - draws.forecast) @ weight),
        drawn_calibration=_calibration(shares, fits, draws),
        drawn_bias=(shares - draws.forecast) @ weight,
    )


def _observed_shares(column: Column, draws: Draws) -> Float64Array:
    """The share of hits in every group that is drawn together."""
    weight, hits = column.between(np.searchsorted(column.bounds, np.append(draws.starts, column.bounds[-1])))
    return hits / weight


def _refit(shares: Float64Array, draws: Draws) -> Float64Array:
    """Isotonic regression of every row of shares."""
    from scipy.optimize import isotonic_regression  # noqa: PLC0415

    return np.array([isotonic_regression(share, weights=draws.weight).x for share in shares])


def _calibration(shares: Float64Array, fits: Float64Array, draws: Draws) -> Float64Array:
    """The calibration part for every row of shares."""
    weight = draws.weight / draws.weight.sum()
    calibration = (shares - draws.forecast) ** 2 @ weight - (shares - fits) ** 2 @ weight
    return np.asarray(np.maximum(calibration, 0.0))
