"""Everything about one column of forecasts that needs it in order, from a single sort.

At a million rows sorting is most of the work, and every metric does it for itself. Here a column that was put
in order for `calibrant.metrics.evaluate` is added up, and what else there is to say is read off the sums.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.metrics import (
    BAND_LEVEL,
    BIN_WIDTH,
    EDGE_SLACK,
    IsotonicReliability,
    Ordered,
    ReliabilityBins,
    fit_in_order,
)

#: How far apart the places are that are looked at first.
STRIDE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The forecasts of one event, rising, with what has been reached before each distinct one.

    Attributes
    ----------
    rows : Ordered
        The rows by rising forecast.
    weight, hits, misses : ndarray of shape (m + 1,)
        Weight of all rows before each bound, of those for which the event came, and of the others; whole
        numbers where every row counts once.
    """

    rows: Ordered
    weight: Array
    hits: Array
    misses: Array

    @property
    def forecast(self) -> Float64Array:
        """The distinct forecasts."""
        return self.rows.forecast[self.rows.starts]

    @property
    def bounds(self) -> IntArray:
        """Where the distinct forecasts begin among the rows; and the number of rows."""
        return self.rows.bounds

    def between(self, at: IntArray) -> tuple[Float64Array, Float64Array]:
        """Weight, and weight of the hits, of all rows from each of some bounds up to the next.

        Counts are differences of what has been reached. Weights are not: a heavy row before would round
        lighter ones away.
        """
        if self.rows.weights is None:
            return np.diff(self.weight[at]).astype(np.float64), np.diff(self.hits[at]).astype(np.float64)
        places = self.bounds[at]
        held = np.flatnonzero(np.diff(places))
        sums = np.zeros((2, len(at) - 1))
        for each, values in zip(
            sums, (self.rows.weights, self.rows.weights * self.rows.is_positive), strict=True
        ):
            each[held] = np.add.reduceat(values[: places[-1]], places[held])
        return sums[0], sums[1]

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight[-1])


def added_up(rows: Ordered) -> Column:
    """Add up one column of forecasts."""
    bounds = rows.bounds
    if rows.weights is None:
        hits = _sums_before(rows.is_positive, np.intp)
        hits = hits if len(hits) == len(bounds) else hits[bounds]
        return Column(rows, bounds, hits, bounds - hits)
    sides = (
        rows.weights,
        np.where(rows.is_positive, rows.weights, 0),
        np.where(rows.is_positive, 0, rows.weights),
    )
    return Column(rows, *(_sums_before(each)[bounds] for each in sides))


def _sums_before(values: Array, kind: type = np.float64) -> Array:
    """What has been added up before each value, and all of it."""
    sums: Array = np.zeros(len(values) + 1, dtype=kind)
    np.cumsum(values, out=sums[1:])
    return sums


def fit_column(column: Column) -> IsotonicReliability:
    """The isotonic fit without a band."""
    fit, nothing = fit_in_order(column.rows), np.empty(0)
    return IsotonicReliability(
        score=np.column_stack([fit.least, fit.greatest]).ravel(),
        frequency=np.repeat(fit.frequency, 2),
        weight=np.repeat(fit.weight, 2),
        band_score=nothing,
        lower=nothing,
        upper=nothing,
        level=BAND_LEVEL,
        n_band_rows=0,
    )


def roc_curve(column: Column, max_points: int) -> tuple[Float64Array, Float64Array]:
    """False and true positive rates at a bounded number of thresholds; empty if there is no curve."""
    low, high = _shares(column.misses, column.hits, max_points)
    return 1.0 - low[::-1], 1.0 - high[::-1]


def detection_points(column: Column, max_points: int) -> tuple[Float64Array, Float64Array]:
    """Share of all misses among the least confident share of rows; empty if there is no miss."""
    return _shares(column.weight, column.misses, max_points)


def _shares(x: Array, y: Array, max_points: int) -> tuple[Float64Array, Float64Array]:
    """Rising sums as shares of the last, thinned."""
    if x[-1] <= 0 or y[-1] <= 0:
        return np.empty(0), np.empty(0)

    def length(places: IntArray) -> Float64Array:
        return np.asarray(x[places] / x[-1] + y[places] / y[-1])

    kept = np.arange(len(x))
    if len(x) > max_points:
        # Few places are wanted: of many the lengths are first looked at here and there.
        some = np.append(np.arange(0, len(x) - 1, STRIDE), len(x) - 1)
        lengths = length(some)
        wanted = np.linspace(lengths[0], lengths[-1], max_points)
        near = some[np.minimum(np.searchsorted(lengths, wanted), len(some) - 1)]
        before = np.maximum(near[:, np.newaxis] - np.arange(STRIDE)[::-1], 0)
        first = np.argmax(length(before) >= wanted[:, np.newaxis], axis=1)
        kept = _with_ends(before[np.arange(max_points), first], len(x))
    return x[kept] / x[-1], y[kept] / y[-1]


def evenly(length: Float64Array, max_points: int) -> IntArray:
    """Places of at most so many points of a curve, evenly spaced by the length reached; the ends stay."""
    if len(length) <= max_points:
        return np.arange(len(length))
    wanted = np.linspace(length[0], length[-1], max_points)
    return _with_ends(np.minimum(np.searchsorted(length, wanted), len(length) - 1), len(length))


def _with_ends(places: IntArray, n: int) -> IntArray:
    places[0], places[-1] = 0, n - 1
    return np.unique(places)


def fill_bins(column: Column) -> ReliabilityBins:
    """Bins of equal width, as `calibrant.metrics.reliability_bins` makes them."""
    n_bins = round(1 / BIN_WIDTH)
    inner = (np.arange(1, n_bins) - EDGE_SLACK) * BIN_WIDTH
    forecast = column.rows.forecast
    starts = np.concatenate([[0], np.searchsorted(forecast, inner), [len(forecast)]])
    filled = np.flatnonzero(np.diff(starts))
    begin = starts[filled]
    at = np.searchsorted(column.bounds, np.append(begin, len(forecast)))
    weight, hits = column.between(at)
    weighted = forecast if column.rows.weights is None else forecast * column.rows.weights
    return ReliabilityBins(
        left=np.asarray(filled * BIN_WIDTH, dtype=np.float64),
        right=np.where(filled == n_bins - 1, 1.0, (filled + 1) * BIN_WIDTH),
        count=np.diff(starts)[filled],
        mean_score=np.add.reduceat(weighted, begin) / weight,
        frac_pos=hits / weight,
        weight=weight,
    )
