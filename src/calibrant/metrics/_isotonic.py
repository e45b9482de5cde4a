"""Reliability without bins: the rising function that fits best, and how far chance alone would carry it.

The rows are brought into the order of their forecasts once. Everything else works on groups of them: those
of equal forecasts for the fit, and for the band, where these are many, groups of neighbours.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, IntArray, as_array
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import (
    check_binary_labels,
    check_number,
    distinct_labels,
    is_whole,
    label_column,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant.metrics._rows import read_class_forecasts, read_two_class

#: The share of the refits of calibrated forecasts that a band holds at every forecast.
BAND_LEVEL = 0.9
#: How many such refits there are.
N_RESAMPLES = 100
#: Neighbouring blocks whose frequencies differ by no more than this are one.
SAME_FREQUENCY = 1e-12
#: For the band, rows nearer than this to either end of the order stay apart.
APART = 100
#: Further inside, groups may hold one row for every so many between them and the end ...
FINENESS = 100
#: ... and one for every so many of all rows.
INNER_FINENESS = 2000
#: The most rows that one group is drawn for; with more the share would be the forecast itself.
MOST_DRAWS = 1 << 62
#: The band is given at about twice so many forecasts.
N_POINTS = 101


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicReliability:
    """The best rising fit of the truth to the forecasts, and the band in which chance would leave it.

    Attributes
    ----------
    score : ndarray of shape (2 b,)
        The corners of the fit, from left to right: the least and the greatest forecast of every one of
        its b blocks, which may be equal.
    frequency : ndarray of shape (2 b,)
        The share of positives in the block of the corner, which rises from block to block.
    weight : ndarray of shape (2 b,)
        The sum of the weights of the rows in the block of the corner.
    band_score : ndarray of shape (m,)
        The forecasts at which the band is given, rising, from the least to the greatest.
    lower, upper : ndarray of shape (m,)
        The ends of the band there.
    level : float
        The share of calibrated forecasters whose fit lies in the band, at any one forecast.
    n_band_rows : int
        The number of rows that the band is for: all of them.
    """

    score: Float64Array
    frequency: Float64Array
    weight: Float64Array
    band_score: Float64Array
    lower: Float64Array
    upper: Float64Array
    level: float
    n_band_rows: int


def isotonic_reliability(
    y: object,
    proba: object,
    *,
    sample_weight: object = None,
    level: float = BAND_LEVEL,
    n_resamples: int = N_RESAMPLES,
    random_state: Seed = 0,
) -> IsotonicReliability:
    r"""Fit the truth by a rising function of the forecasts, with a band of what chance would do.

    A reliability diagram that needs no bins. Where the fit leaves the band, the forecasts are not to be
    believed: that is not chance.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of the positive class, or of both.
    sample_weight : array-like of shape (n,), optional
        How often every row counts. For the band, a weight of 2.5 is two rows and one that counts half.
    level : float, default 0.9
        The share of calibrated forecasters whose fit the band holds, at any one forecast.
    n_resamples : int, default 100
        How many calibrated forecasters are drawn for the band; 0 for no band.
    random_state : int, Generator, RandomState or None, default 0
        The draws.

    Returns
    -------
    IsotonicReliability
        The corners of the fit, and the band.

    See Also
    --------
    isotonic_reliability_by_class : One for every class.
    reliability_bins : The diagram with bins.
    brier_decomposition : With ``isotonic=True``, the distance of the fit from the diagonal as a number.
    calibrant.plots.reliability_diagram : Draws it.

    Notes
    -----
    The fit is isotonic regression (pool adjacent violators), as in the diagrams of Dimitriadis, Gneiting
    and Jordan (2021). The band shows what it would look like if the forecasts were right: labels are drawn
    from the forecasts themselves, fitted in the same way, and of many such fits the middle share `level`
    is kept, forecast by forecast. It is therefore a band around the diagonal and not around the fit, and
    with many forecasts the fit of a perfect forecaster leaves it somewhere.

    The band is for all rows, however many there are, and takes no sample of them. Only the number of
    positives among rows of equal forecasts matters, which is a binomial draw. If there are thousands of
    different forecasts, neighbours in their order are drawn together with their mean forecast, never more
    than 1% of the rows between them and the nearer end, nor 1/2000 of all: far fewer than the fit
    pools anyway.

    Examples
    --------
    Nothing is wrong with the first forecaster; the second is too sure of herself:

    >>> import numpy as np
    >>> from calibrant.metrics import isotonic_reliability
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random(5000)
    >>> y = rng.random(5000) < right
    >>> bold = right**3 / (right**3 + (1 - right) ** 3)
    >>> for proba in (right, bold):
    ...     fit = isotonic_reliability(y, proba)
    ...     frequency = np.interp(fit.band_score, fit.score, fit.frequency)
    ...     inside = (fit.lower <= frequency) & (frequency <= fit.upper)
    ...     print(f"{inside.mean():.0%}")
    92%
    17%
    """
    level, n_resamples = _check_band(level, n_resamples)
    is_positive, forecast, weights = read_two_class(y, proba, sample_weight)
    rows = put_in_order(is_positive, forecast, weights)
    return _with_band(rows, level, n_resamples, generator(random_state))


def isotonic_reliability_by_class(
    y: object,
    proba: object,
    *,
    classes: object = None,
    sample_weight: object = None,
    level: float = BAND_LEVEL,
    n_resamples: int = N_RESAMPLES,
    random_state: Seed = 0,
) -> dict[object, IsotonicReliability]:
    """Fit the truth to the forecasts of every class, with bands.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n, k)
        Probabilities of every class.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    level : float, default 0.9
        The share of calibrated forecasters whose fit the band holds, at any one forecast.
    n_resamples : int, default 100
        How many calibrated forecasters are drawn for every band; 0 for no bands.
    random_state : int, Generator, RandomState or None, default 0
        The draws.

    Returns
    -------
    dict of label to IsotonicReliability
        One per class, in the order of the columns.

    See Also
    --------
    isotonic_reliability : What is fitted, and what the band means.

    Examples
    --------
    >>> from calibrant.metrics import isotonic_reliability_by_class
    >>> proba = [[0.5, 0.25, 0.25]] * 4
    >>> fits = isotonic_reliability_by_class(["a", "a", "b", "c"], proba)
    >>> {label: float(fit.frequency[0]) for label, fit in fits.items()}
    {'a': 0.5, 'b': 0.25, 'c': 0.25}
    """
    level, n_resamples = _check_band(level, n_resamples)
    forecasts = read_class_forecasts(y, proba, sample_weight, classes)
    rng = generator(random_state)
    return {
        label: _with_band(put_in_order(*column, forecasts.weights), level, n_resamples, rng)
        for label, column in zip(_labels(y, classes, forecasts.n_classes), forecasts.columns(), strict=True)
    }


def _check_band(level: object, n_resamples: object) -> tuple[float, int]:
    share = check_number("level", level, "a number between 0 and 1", lambda number: 0 < number < 1)
    if not is_whole(n_resamples, 0):
        raise ParameterError(f"n_resamples must be a whole number, 0 or more; got {shown(n_resamples)}")
    return share, int(n_resamples)  # type: ignore[call-overload]


def _labels(y: object, classes: object, n_classes: int) -> list[object]:
    """The labels of the columns, by the rules by which labels become column numbers."""
    if classes is not None:
        return list(as_array(classes, "classes").tolist())
    labels = label_column(y)
    if n_classes == 2:
        return list(check_binary_labels(labels)[0].tolist())
    return list(range(n_classes)) if labels.dtype.kind in "biuf" else list(distinct_labels(labels).tolist())


@dataclass(frozen=True, slots=True)
class Ordered:
    """Rows by rising forecast.

    Attributes
    ----------
    forecast : ndarray of shape (n,)
        The forecasts.
    is_positive : ndarray of shape (n,)
        The truth.
    weights : ndarray of shape (n,) or None
        The weights; None where every row counts once.
    bounds : ndarray of shape (d + 1,)
        Where the d distinct forecasts begin; and the number of rows.
    """

    forecast: Float64Array
    is_positive: BoolArray
    weights: Float64Array | None
    bounds: IntArray

    @property
    def starts(self) -> IntArray:
        """Where the distinct forecasts begin."""
        return self.bounds[:-1]


@dataclass(frozen=True, slots=True)
class IsotonicFit:
    """The blocks of an isotonic regression, from left to right.

    Attributes
    ----------
    least, greatest : ndarray of shape (b,)
        The least and the greatest forecast of a block.
    frequency : ndarray of shape (b,)
        Its share of positives.
    weight : ndarray of shape (b,)
        Its weight.
    """

    least: Float64Array
    greatest: Float64Array
    frequency: Float64Array
    weight: Float64Array


def isotonic_fit(is_positive: BoolArray, forecast: Float64Array, weights: Float64Array) -> IsotonicFit:
    """Regress the truth on the probabilities; weights are positive."""
    return fit_in_order(put_in_order(is_positive, forecast, weights))


def put_in_order(is_positive: BoolArray, forecast: Float64Array, weight: Float64Array | None) -> Ordered:
    """Sort rows; without weights every row counts once."""
    weights = None if weight is None or (weight == 1).all() else weight
    if weights is None:
        # The bits of a number that is not negative are ordered as it is, and the first one is free. So a
        # row is one whole number, truth in its last bit, and no index needs to be sorted.
        bits = (forecast + 0.0).view(np.uint64)  # adding 0 makes -0 a 0
        bits <<= np.uint64(1)
        bits |= is_positive
        bits.sort()
        is_positive = (bits.astype(np.uint8) & 1).view(np.bool_)
        bits >>= np.uint64(1)
        forecast = bits.view(np.float64)
    else:
        order = np.argsort(forecast)
        is_positive, forecast, weights = is_positive[order], forecast[order], weights[order]
    new = forecast[1:] != forecast[:-1]
    n = len(forecast)
    bounds = np.arange(n + 1) if new.all() else np.concatenate([[0], np.flatnonzero(new) + 1, [n]])
    return Ordered(forecast, is_positive, weights, bounds)


def fit_in_order(rows: Ordered) -> IsotonicFit:
    weight, positive = _sums(rows)
    starts, frequency, weight = pooled_blocks(positive, weight)
    places = rows.starts[starts]
    return IsotonicFit(
        least=rows.forecast[places],
        greatest=rows.forecast[np.append(places[1:], len(rows.forecast)) - 1],
        frequency=frequency,
        weight=weight,
    )


def pooled_blocks(
    positive: Float64Array, weight: Float64Array | None
) -> tuple[IntArray, Float64Array, Float64Array]:
    """Where the blocks of the regression begin, their frequencies and weights; None for weights of one."""
    # Neighbours that do not rise share a block, whatever comes after: that leaves few for the regression.
    starts = _rises(positive if weight is None else positive / weight)
    if weight is None:
        weight = np.diff(starts, append=len(positive)).astype(np.float64)
    else:
        weight = np.add.reduceat(weight, starts)
    positive = np.add.reduceat(positive, starts)
    # Frequencies from sums, not from running means: exact counts give exact shares.
    blocks = late.optimize.isotonic_regression(positive / weight, weights=weight).blocks[:-1]
    positive, weight = np.add.reduceat(positive, blocks), np.add.reduceat(weight, blocks)
    risen = _rises(positive / weight, SAME_FREQUENCY)
    positive, weight = np.add.reduceat(positive, risen), np.add.reduceat(weight, risen)
    return starts[blocks[risen]], np.minimum(positive / weight, 1.0), weight


def refit(shares: Float64Array, weight: Float64Array) -> Float64Array:
    """Fit every row of shares, whose groups have the same weights.

    All rows are fitted as one: each is lifted above the one before, so that no block reaches across.
    """
    lifted = shares + 2.0 * np.arange(len(shares))[:, np.newaxis]
    weights = np.tile(weight, len(shares))
    starts = pooled_blocks((lifted * weight).ravel(), weights)[0]
    # Both sums add in the same order, so that shares of one are fitted by exactly one.
    fitted = np.add.reduceat((shares * weight).ravel(), starts) / np.add.reduceat(weights, starts)
    return np.repeat(fitted, np.diff(starts, append=len(weights))).reshape(shares.shape)


def _rises(frequency: Float64Array, by: float = 0.0) -> IntArray:
    """The first place, and those where the frequency rises."""
    risen = frequency[1:] > (frequency[:-1] + by if by else frequency[:-1])
    return np.append(0, np.flatnonzero(risen) + 1)


def _sums(rows: Ordered) -> tuple[Float64Array | None, Float64Array]:
    """Weight of all, and of the positive, rows of every distinct forecast; None for weights of one."""
    if rows.weights is None and len(rows.starts) == len(rows.forecast):
        return None, rows.is_positive.astype(np.float64)
    if rows.weights is None:
        reached = np.append(0, np.cumsum(rows.is_positive))
        return np.diff(rows.bounds).astype(np.float64), np.diff(reached[rows.bounds]).astype(np.float64)
    return (
        np.add.reduceat(rows.weights, rows.starts),
        np.add.reduceat(np.where(rows.is_positive, rows.weights, 0.0), rows.starts),
    )


def _with_band(
    rows: Ordered, level: float, n_resamples: int, rng: np.random.Generator
) -> IsotonicReliability:
    fit = fit_in_order(rows)
    draws = Draws.of(rows)
    score, lower, upper = _band(draws, level, n_resamples, rng)
    return IsotonicReliability(
        score=np.column_stack([fit.least, fit.greatest]).ravel(),
        frequency=np.repeat(fit.frequency, 2),
        weight=np.repeat(fit.weight, 2),
        band_score=score,
        lower=lower,
        upper=upper,
        level=level,
        n_band_rows=draws.n_rows,
    )


@dataclass(frozen=True, slots=True)
class Draws:
    """Groups of neighbouring rows that are drawn together, from left to right.

    Attributes
    ----------
    starts : ndarray of int of shape (g,)
        Where they begin among the rows.
    forecast : ndarray of shape (g,)
        Their mean forecast.
    weight : ndarray of shape (g,)
        Their weight.
    whole : ndarray of int of shape (g,)
        The rows that count once.
    part, part_weight : ndarray of shape (g,), or None
        The rows that count less, as a number of rows of equal weight, and that weight.
    n_rows : int
        The number of rows in all groups.
    """

    starts: IntArray
    forecast: Float64Array
    weight: Float64Array
    whole: IntArray
    part: IntArray | None
    part_weight: Float64Array | None
    n_rows: int

    @classmethod
    def of(cls, rows: Ordered) -> "Draws":
        """Group the rows."""
        if rows.weights is None:
            n_rows = len(rows.forecast)
            starts = rows.starts[_coarse(rows.starts, n_rows)]
            count = np.diff(np.append(starts, n_rows))
            weight = count.astype(np.float64)
            return cls(starts, _means(rows, starts, weight), weight, count, None, None, n_rows)
        whole = np.minimum(np.floor(rows.weights), MOST_DRAWS)
        rest = np.where(whole < MOST_DRAWS, rows.weights - whole, 0.0)
        reached = np.append(0.0, np.cumsum(whole + (rest > 0)))
        starts = rows.starts[_coarse(reached[rows.starts], reached[-1])]
        weight = np.add.reduceat(rows.weights, starts)
        part = np.add.reduceat(rest, starts)
        squares = np.add.reduceat(rest**2, starts)
        # Rows of different small weights tell as much as so many of equal ones.
        n_parts = np.rint(np.divide(part**2, squares, out=np.zeros_like(part), where=squares > 0))
        n_parts = np.maximum(n_parts, part > 0)
        return cls(
            starts=starts,
            forecast=_means(rows, starts, weight),
            weight=weight,
            whole=np.minimum(np.add.reduceat(whole, starts), MOST_DRAWS).astype(np.int64),
            part=n_parts.astype(np.int64),
            part_weight=part / np.maximum(n_parts, 1),
            n_rows=int(reached[-1]),
        )

    def shares(self, n_resamples: int, rng: np.random.Generator) -> Float64Array:
        """Draw the truth from the forecasts: the share of positives, one column per resample."""
        chance = self.forecast[:, np.newaxis]
        size = (len(chance), n_resamples)
        drawn = rng.binomial(self.whole[:, np.newaxis], chance, size).astype(np.float64)
        weight = self.whole.astype(np.float64)
        if self.part is not None and self.part_weight is not None and self.part.any():
            drawn += self.part_weight[:, np.newaxis] * rng.binomial(self.part[:, np.newaxis], chance, size)
            weight += self.part_weight * self.part
        drawn /= weight[:, np.newaxis]
        return drawn


def _means(rows: Ordered, starts: IntArray, weight: Float64Array) -> Float64Array:
    """The mean forecasts of groups, and exactly the forecast of those that have only one."""
    weighted = rows.forecast if rows.weights is None else rows.weights * rows.forecast
    ends = np.append(starts[1:], len(rows.forecast)) - 1
    return np.clip(np.add.reduceat(weighted, starts) / weight, rows.forecast[starts], rows.forecast[ends])


def _coarse(starts: IntArray | Float64Array, n_rows: float) -> IntArray:
    """Which distinct forecasts begin a group of neighbours, given the rows before each of them."""
    if len(starts) <= INNER_FINENESS:
        return np.arange(len(starts))
    inner = n_rows * FINENESS / INNER_FINENESS  # where both limits agree
    steps = [np.arange(APART, dtype=np.float64)]
    if inner > APART:
        n_steps = int(np.ceil(np.log(inner / APART) * FINENESS)) + 1
        steps.append(np.geomspace(APART, inner, n_steps))
    steps.append(np.arange(max(inner, APART), n_rows / 2, n_rows / INNER_FINENESS))
    half = np.concatenate(steps)
    edges = np.concatenate([half, n_rows - half])
    return np.unique(np.searchsorted(starts, edges, side="right") - 1)


def _band(
    draws: Draws, level: float, n_resamples: int, rng: np.random.Generator
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Forecasts, and the ends of the band there."""
    if n_resamples == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    places = evenly_spread(draws.forecast)
    fitted = refit(draws.shares(n_resamples, rng).T.copy(), draws.weight)
    lower, upper = np.quantile(fitted[:, places], [(1 - level) / 2, (1 + level) / 2], axis=0)
    return draws.forecast[places], lower, upper


def evenly_spread(forecast: Float64Array) -> IntArray:
    """Places that are spread evenly both over the groups and over the forecasts, ends included."""
    last = len(forecast) - 1
    by_rows = np.linspace(0, last, min(N_POINTS, last + 1)).round().astype(np.intp)
    by_forecast = np.searchsorted(forecast, np.linspace(forecast[0], forecast[-1], N_POINTS))
    return np.unique(np.concatenate([by_rows, np.minimum(by_forecast, last)]))
