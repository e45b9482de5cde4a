"""Whether one forecast is better than another on the same rows."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, as_floats
from calibrant._core._checks import check_same_length
from calibrant._core._errors import DataError
from calibrant.metrics._delong import rank_points
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._intervals import (
    DEVIATE,
    N_MOMENTS,
    Moments,
    in_units,
    is_whole,
    masses,
    mean_estimate,
    moments_of,
    normal_estimate,
    power_sums,
)
from calibrant.metrics._isotonic import put_in_order
from calibrant.metrics._points import points_of
from calibrant.metrics._row_losses import row_losses
from calibrant.metrics._rows import Forecasts, counting_rows, read_forecasts


@dataclass(frozen=True, slots=True)
class EvaluationDifference:
    """By how much the measures of one forecast exceed those of another, on the same rows.

    Attributes
    ----------
    log_loss, brier_score, error_rate : Estimate
        Differences of losses; below 0 the first forecast is better.
    auc : Estimate
        Difference of areas, the mean over more than two classes; above 0 the first is better.
    """

    log_loss: Estimate
    brier_score: Estimate
    error_rate: Estimate
    auc: Estimate


def evaluate_difference(
    y: object, first: object, second: object, *, sample_weight: object = None, classes: object = None
) -> EvaluationDifference:
    """Compare two forecasts of the same rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    first, second : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or of every class.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns in order.

    Returns
    -------
    EvaluationDifference
        Differences of the measures of the first and of the second, with intervals.

    See Also
    --------
    paired_difference : The same for losses of one's own.
    evaluate : All measures of one forecast.

    Notes
    -----
    Rows are paired: what makes a row easy for both does not count. The areas are compared as DeLong, DeLong
    and Clarke-Pearson (1988) do.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.metrics import evaluate_difference
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random(1000)
    >>> y = rng.random(1000) < right
    >>> bold = right**2 / (right**2 + (1 - right) ** 2)
    >>> found = evaluate_difference(y, bold, right)
    >>> found.log_loss.low > 0, found.auc
    (True, Estimate(0.0, low=0.0, high=0.0))
    """
    one, other = (read_forecasts(y, each, sample_weight, classes) for each in (first, second))
    if one.n_classes != other.n_classes:
        raise DataError(
            f"first and second must be of the same classes; got {one.n_classes} and {other.n_classes}"
        )
    losses = [row_losses(each.truth, each.proba) for each in (one, other)]
    log_loss, brier_score, error_rate = (
        _difference(mine, theirs, one.weights) for mine, theirs in zip(*losses, strict=True)
    )
    return EvaluationDifference(log_loss, brier_score, error_rate, _area_difference(one, other))


def paired_difference(first: object, second: object, *, sample_weight: object = None) -> Estimate:
    """Give the mean difference of two losses of the same rows: that of the first minus that of the second.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        What every row lost by either forecast.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    Estimate
        The mean difference. Below 0 the first is better; if the whole interval is, that is not chance.

    See Also
    --------
    evaluate_difference : All of two forecasts.

    Notes
    -----
    Both forecasts find the same rows easy, so that their losses rise and fall together. The interval is that
    of the mean of the differences, which is far shorter than those of the losses suggest. Where both lose
    infinitely much, neither is worse.

    Examples
    --------
    >>> from calibrant.metrics import paired_difference
    >>> print(paired_difference([0.3, 0.1, 0.9, 0.4], [0.4, 0.2, 0.8, 0.6]))
    -0.08 [-0.21, 0.25]
    """
    losses = [_losses(each, name) for each, name in ((first, "first"), (second, "second"))]
    check_same_length(first=losses[0], second=losses[1])
    weights, kept = counting_rows(sample_weight, len(losses[0]))
    return _difference(losses[0][kept], losses[1][kept], weights)


def _difference(one: Float64Array, other: Float64Array, weights: Float64Array) -> Estimate:
    sums = DifferenceSums()
    sums.add(one, other, in_units(weights)[0])
    return sums.result()


class DifferenceSums:
    """Sums of the differences of two losses, from which `paired_difference` follows; they can be added to."""

    def __init__(self) -> None:
        self.sums: Float64Array = np.zeros(N_MOMENTS)
        #: Weight of the rows in which they differ, and whether they do so by whole ones alone.
        self.unlike, self.of_shares, self.whole = 0.0, True, True
        self.endless: set[float] = set()

    def add(self, one: Float64Array, other: Float64Array, weights: Float64Array | None) -> None:
        """Add rows."""
        if np.array_equal(one, other):  # as where two rules decide alike: only the rows count
            self.sums = self.sums + masses(len(one), weights)
            self.whole = self.whole and is_whole(weights)
            return
        difference = np.subtract(one, other, out=np.zeros(len(one)), where=one != other)
        finite = np.isfinite(difference)
        if not finite.all():
            self.endless |= set(np.unique(difference[~finite]).tolist())
            difference = np.where(finite, difference, 0.0)
        size = np.abs(difference)
        self.sums = self.sums + power_sums(difference, weights)
        self.unlike += float(size.sum() if weights is None else weights @ size)
        self.of_shares = self.of_shares and bool(np.isin(size, (0.0, 1.0)).all())
        self.whole = self.whole and is_whole(weights)

    def result(self) -> Estimate:
        """The mean difference."""
        if len(self.endless) == 1:
            (each,) = self.endless
            return Estimate(each, each, each)
        if self.endless:
            return Estimate(math.nan)
        moments = moments_of(self.sums, whole=self.whole)
        if self.of_shares:
            return _difference_of_shares(moments, self.unlike / float(self.sums[0]))
        return mean_estimate(moments)


def _difference_of_shares(moments: Moments, unlike: float) -> Estimate:
    """A difference of paired shares, by Agresti and Min (2005): as of half a row more of each kind."""
    n, n_more = moments.n, moments.n + 2
    middle = moments.mean * n / n_more
    half = DEVIATE * math.sqrt(max((unlike * n + 1) / n_more - middle**2, 0.0) / n_more)
    low, high = min(middle - half, moments.mean), max(middle + half, moments.mean)
    return Estimate(moments.mean, max(low, -1.0), min(high, 1.0), math.sqrt(moments.variance))


def _losses(losses: object, name: str) -> Float64Array:
    array = np.asarray(as_floats(losses, name), dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise DataError(f"{name} must be one loss per row; got shape {array.shape}")
    if np.isnan(array).any():
        raise DataError(f"{name} must not be nan; got it in row {int(np.argmax(np.isnan(array)))}")
    return array


def _area_difference(one: Forecasts, other: Forecasts) -> Estimate:
    """The difference of mean areas, from how much every row moves them."""
    weights = in_units(one.weights)[0]
    whole = is_whole(weights)
    influence, areas = np.zeros(len(one.truth)), []
    for sign, forecasts in ((1.0, one), (-1.0, other)):
        for happened, p in forecasts.columns()[-1:] if one.n_classes == 2 else forecasts.columns():
            points = points_of(put_in_order(happened, p, weights))
            ranking = rank_points(points)
            if math.isnan(ranking.area):
                continue
            areas.append(sign * ranking.area)
            place = np.searchsorted(points.p, p)
            share = float(np.average(happened, weights=weights))
            influence += sign * np.where(
                happened,
                (ranking.below[place] - ranking.area) / share,
                (ranking.above[place] - ranking.area) / (1 - share),
            )
    if not areas:
        return Estimate(math.nan)
    count = len(areas) / 2
    moments = moments_of(power_sums(influence / count, weights), whole=whole)
    return normal_estimate(sum(areas) / count, math.sqrt(moments.variance))
