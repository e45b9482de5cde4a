"""Reliability diagrams: whether what is given probability p happens in p of the cases."""

import operator
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._checks import check_number
from calibrant._core._errors import ParameterError
from calibrant.metrics._bins import fixed_width_bins, group_sums
from calibrant.metrics._intervals import share_estimate
from calibrant.metrics._rows import read_class_forecasts, read_scores

#: Width of the bins unless another is asked for: figure 1 of Zadrozny and Elkan (2002).
BIN_WIDTH = 0.1
#: Up to so many bins are all added up, whether they have rows or not; and rows that are looked at together.
MANY_BINS, BLOCK = 1 << 14, 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityBins:
    """The bins of a reliability diagram that have rows in them, from left to right.

    Attributes
    ----------
    left : ndarray of shape (m,)
        Left edge of every bin, which belongs to it.
    right : ndarray of shape (m,)
        Right edge of every bin, which belongs to the next one if there is a next one.
    count : ndarray of int of shape (m,)
        Number of rows in the bin, each counted once whatever its weight.
    mean_score : ndarray of shape (m,)
        Weighted mean of their scores: where the bin stands on the horizontal axis.
    frac_pos : ndarray of shape (m,)
        Weighted share of positives: where it stands on the vertical axis.
    weight : ndarray of shape (m,)
        Sum of their weights.
    """

    left: Float64Array
    right: Float64Array
    count: IntArray
    mean_score: Float64Array
    frac_pos: Float64Array
    weight: Float64Array

    def intervals(self) -> tuple[Float64Array, Float64Array]:
        """Give the ends of the intervals of the shares of positives.

        Returns
        -------
        low, high : ndarray of shape (m,)
            Wilson's interval, which covers the share of very many such rows in 95% of cases. A row of whole
            weight m is m rows; if the weights of bins are not whole, the rows are counted as they are.
        """
        whole = bool(np.all(self.weight == np.floor(self.weight)))
        rows = self.weight if whole else self.count
        found = [share_estimate(float(share), float(n)) for share, n in zip(self.frac_pos, rows, strict=True)]
        return np.array([each.low for each in found]), np.array([each.high for each in found])


def reliability_bins(
    y: object,
    proba: object,
    *,
    width: float = BIN_WIDTH,
    lo: float = 0.0,
    hi: float = 1.0,
    sample_weight: object = None,
) -> ReliabilityBins:
    """Mean score and share of positives in bins of equal width.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes, two in all.
    proba : array-like of shape (n,) or (n, 2)
        Probabilities of the positive class, or of both; or other scores, with `lo` and `hi` to suit.
    width : float, default 0.1
        Width of the bins. The last one is narrower where the width does not divide the range.
    lo, hi : float, default 0 and 1
        The range of the bins. What lies outside belongs to the first and to the last bin.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.

    Returns
    -------
    ReliabilityBins
        The bins that are not empty.

    See Also
    --------
    reliability_by_class : One diagram per class.
    reliability_at_rank : The diagram of the first, second, ... choice.
    brier_decomposition : The distance from the diagonal as a number.

    Notes
    -----
    Bin j is [lo + j width, lo + (j + 1) width), the last one closed. A score s belongs to bin
    floor((s - lo) / width + 1e-9): without the small term 0.3 / 0.1 would be in bin 2.

    Zadrozny and Elkan (2002) write that scores are plotted against P(c | x) = s; what they plot, and
    what is given here, is the observed P(c | s(x) = s). The horizontal axis is the mean score of a bin
    and not its centre, so that calibrated scores stand on the diagonal for any width.

    Examples
    --------
    >>> from calibrant.metrics import reliability_bins
    >>> bins = reliability_bins([0, 0, 1, 1, 1], [0.3, 0.35, 0.3, 0.92, 1.0], width=0.15)
    >>> bins.left
    array([0.3, 0.9])
    >>> bins.right
    array([0.45, 1.  ])
    >>> bins.count
    array([3, 2])
    >>> bins.frac_pos.round(2)
    array([0.33, 1.  ])
    """
    lo = check_number("lo", lo, "a finite number", lambda _: True)
    hi = check_number("hi", hi, f"a number above lo, which is {lo}", lambda number: number > lo)
    width = _check_width(width)
    is_positive, scores, weights = read_scores(y, proba, sample_weight, "proba")
    mass = None if sample_weight is None else weights
    return _fill_bins(is_positive, scores, mass, width=width, lo=lo, hi=hi)


def reliability_by_class(
    y: object,
    proba: object,
    *,
    width: float = BIN_WIDTH,
    sample_weight: object = None,
    classes: object = None,
) -> tuple[ReliabilityBins, ...]:
    """One reliability diagram per class: its probabilities, and whether rows are of it.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n, k)
        Probabilities of every class.
    width : float, default 0.1
        Width of the bins. The last one is narrower where the width does not divide one.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    tuple of ReliabilityBins
        For every column the bins that are not empty.

    See Also
    --------
    reliability_bins : How the bins are made.

    Examples
    --------
    >>> from calibrant.metrics import reliability_by_class
    >>> proba = [[0.5, 0.25, 0.25]] * 4
    >>> [diagram.frac_pos.tolist() for diagram in reliability_by_class([0, 0, 1, 2], proba)]
    [[0.5], [0.25], [0.25]]
    """
    width = _check_width(width)
    forecasts = read_class_forecasts(y, proba, sample_weight, classes)
    return tuple(
        _fill_bins(is_of_class, probability, forecasts.weights, width=width)
        for is_of_class, probability in forecasts.columns()
    )


def reliability_at_rank(
    y: object,
    proba: object,
    rank: int = 1,
    *,
    width: float = BIN_WIDTH,
    sample_weight: object = None,
    classes: object = None,
) -> ReliabilityBins:
    """Reliability diagram of the class that every row puts at a given rank.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    proba : array-like of shape (n, k)
        Probabilities of every class.
    rank : int, default 1
        Which choice: 1 is the most probable class of a row, k the least probable one. Classes of equal
        probability are ranked in the order of the columns.
    width : float, default 0.1
        Width of the bins. The last one is narrower where the width does not divide one.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels of the columns of `proba` in order.

    Returns
    -------
    ReliabilityBins
        The bins that are not empty; `frac_pos` is the share of rows whose choice of that rank is right.

    See Also
    --------
    reliability_bins : How the bins are made.

    Notes
    -----
    The diagram of Takahashi, Takamura and Okumura. At rank 1 it compares confidence with accuracy.

    Examples
    --------
    >>> from calibrant.metrics import reliability_at_rank
    >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2]]
    >>> reliability_at_rank([0, 2], proba).frac_pos
    array([0.5])
    >>> reliability_at_rank([0, 2], proba, rank=2).mean_score
    array([0.2])
    """
    width = _check_width(width)
    forecasts = read_class_forecasts(y, proba, sample_weight, classes)
    place = _check_rank(rank, forecasts.n_classes) - 1
    ranked = np.argsort(-forecasts.proba, axis=1, kind="stable")
    chosen = ranked[:, place]
    probability = forecasts.proba[np.arange(len(chosen)), chosen]
    return _fill_bins(chosen == forecasts.truth, probability, forecasts.weights, width=width)


def _check_width(width: float) -> float:
    return check_number("width", width, "a number above 0", lambda number: number > 0)


def _check_rank(rank: int, n_classes: int) -> int:
    try:
        number = operator.index(rank)
    except TypeError:
        number = 0
    if not 1 <= number <= n_classes:
        raise ParameterError(f"rank must be a whole number from 1 to {n_classes}; got {rank!r}")
    return number


def _fill_bins(
    is_positive: BoolArray,
    scores: Float64Array,
    weights: Float64Array | None,
    *,
    width: float,
    lo: float = 0.0,
    hi: float = 1.0,
) -> ReliabilityBins:
    """The bins that have rows; without weights every row counts once."""
    n_bins = fixed_width_bins(scores[:0], width, lo, hi)[1]
    # Bins without rows are never made, so narrow ones cost nothing.
    add_up = _add_up if n_bins <= MANY_BINS else _add_up_sparsely
    filled, count, weight, score, positive = add_up(is_positive, scores, weights, width, lo, hi)
    return ReliabilityBins(
        left=lo + filled.astype(np.float64) * width,
        right=np.where(filled == n_bins - 1, hi, lo + (filled + 1) * width),
        count=count,
        mean_score=score / weight,
        frac_pos=positive / weight,
        weight=weight,
    )


def _add_up(
    is_positive: BoolArray, scores: Float64Array, weights: Float64Array | None, *grid: float
) -> tuple[Array, ...]:
    """The bins with rows: number, rows, weight, and sums of scores and of positives; block by block."""
    n_bins = fixed_width_bins(scores[:0], *grid)[1]
    count, sums = np.zeros(n_bins, dtype=np.intp), np.zeros((3, n_bins))
    for start in range(0, len(scores), BLOCK):
        rows = slice(start, start + BLOCK)
        some, happened = scores[rows], is_positive[rows]
        bins = fixed_width_bins(some, *grid)[0]
        count += np.bincount(bins, minlength=n_bins)
        if weights is None:
            sums[1] += np.bincount(bins, some, n_bins)
            sums[2] += np.bincount(bins, happened, n_bins)
        else:
            mass = weights[rows]
            for place, each in enumerate((mass, mass * some, mass * happened)):
                sums[place] += np.bincount(bins, each, n_bins)
    if weights is None:
        sums[0] = count
    filled = np.flatnonzero(count)
    return filled, count[filled], *sums[:, filled]


def _add_up_sparsely(
    is_positive: BoolArray, scores: Float64Array, weights: Float64Array | None, *grid: float
) -> tuple[Array, ...]:
    """The same for so many bins that most have no rows."""
    bins = fixed_width_bins(scores, *grid)[0]
    filled, places, count = np.unique(bins, return_inverse=True, return_counts=True)
    mass = np.ones(len(scores)) if weights is None else weights
    return filled, count, *(group_sums(places, each) for each in (mass, mass * scores, mass * is_positive))
