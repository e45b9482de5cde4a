"""Equal-frequency binning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray, Target
from calibrant._core._checks import (
    check_number,
    check_option,
    is_whole,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant.calibrators._binary import BinaryCalibrator
from calibrant.calibrators._steps import IntervalLookup, midpoints

#: Numbers of bins tried by cross-validation: those of Zadrozny & Elkan (2002).
CANDIDATES = range(5, 51)


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a fit, by ascending score.

    Attributes
    ----------
    lo, hi : ndarray
        Least and greatest training score of each bin.
    count : ndarray
        Number of training rows.
    weight : ndarray
        Total weight of the rows.
    value : ndarray
        Estimated probability of the positive class.
    """

    lo: Float64Array
    hi: Float64Array
    count: IntArray
    weight: Float64Array
    value: Float64Array


class BinningCalibrator(BinaryCalibrator):
    """Calibrate one score by the share of positives in bins of equal size.

    Parameters
    ----------
    n_bins : int or "cv", default=10
        Number of bins, or "cv" to choose it by cross-validation.
    smoothing : {None, "laplace", "m"}, default=None
        The estimate of a bin with Y positives among W rows: ``Y/W``, ``(Y + 1)/(W + 2)``, or
        ``(Y + m base)/(W + m)``.
    m : float, default=10.0
        Weight of the base rate when ``smoothing="m"``.
    base : float, optional
        The base rate when ``smoothing="m"``; by default that of the training rows.
    candidates : sequence of int, optional
        Numbers of bins that "cv" tries; by default 5 to 50.
    cv : int, default=5
        Number of folds for "cv": stratified, shuffled. Where a class has fewer rows, as many folds as
        it has rows; with one row or none there is nothing to choose by, and 10 bins are used.
    random_state : int, RandomState instance or None, default=0
        How the folds are shuffled.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_bins_ : int
        Number of bins asked for or chosen. Ties among the scores can leave fewer.
    edges_ : ndarray
        Where one bin ends and the next begins; an edge belongs to the bin below it.
    bins_ : Bins
        Range, count, weight and value of every bin.
    cv_scores_ : dict of int to float
        Brier score of every candidate; only after ``n_bins="cv"``.

    See Also
    --------
    PAVCalibrator : Chooses the bins from the data, under the assumption of monotonicity.

    Notes
    -----
    The sizes of the bins differ by at most one row, the first bins being the larger. Equal scores are
    never separated: an edge that would fall among them moves up to the end of the run, and disappears
    where another edge or no row is left. Weights change the values of the bins, not their edges. The
    cross-validation minimises the Brier score of the positive class; the smaller number wins a tie.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    >>> from calibrant import BinningCalibrator
    >>> binning = BinningCalibrator(n_bins=3).fit([1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 0, 1, 1, 1])
    >>> binning.bins_.count
    array([3, 2, 2])
    >>> binning.predict_proba([0, 4, 9])[:, 1]
    array([0.33333333, 0.5       , 1.        ])
    """

    def __init__(
        self,
        n_bins: int | Literal["cv"] = 10,
        smoothing: Literal["laplace", "m"] | None = None,
        m: float = 10.0,
        base: float | None = None,
        candidates: Sequence[int] | None = None,
        cv: int = 5,
        random_state: object = 0,
    ) -> None:
        self.n_bins = n_bins
        self.smoothing = smoothing
        self.m = m
        self.base = base
        self.candidates = candidates
        self.cv = cv
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_option("smoothing", self.smoothing, (None, "laplace", "m"))
        if not (isinstance(self.n_bins, str) and self.n_bins == "cv") and not is_whole(self.n_bins, 1):
            raise ParameterError(f"n_bins must be a whole number from 1, or 'cv'; got {shown(self.n_bins)}")
        check_number("m", self.m, "a number from 0", lambda m: m >= 0)
        if self.base is not None:
            check_number("base", self.base, "None or a probability", lambda base: 0 <= base <= 1)
        if self.candidates is not None:
            tried = list(self.candidates) if np.iterable(self.candidates) else []
            if not tried or not all(is_whole(number, 1) for number in tried):
                raise ParameterError(f"candidates must be whole numbers from 1; got {shown(self.candidates)}")
        if not is_whole(self.cv, 2):
            raise ParameterError(f"cv must be at least 2; got {shown(self.cv)}")

    def _fit(self, scores: FloatArray, target: Target, weights: Float64Array | None) -> None:
        rows = _SortedRows.of(scores.astype(np.float64, copy=False), target, weights)
        if self.n_bins == "cv":
            self.cv_scores_ = self._cross_validate(scores, target, weights)
            self.n_bins_ = min(self.cv_scores_, key=self.cv_scores_.__getitem__, default=10)
        else:
            self.n_bins_ = int(self.n_bins)
        cuts = _cuts(rows.scores, self.n_bins_)
        starts, ends = np.append(0, cuts), np.append(cuts, len(rows.scores))
        positive, negative = rows.totals(starts)
        self._keep(rows.scores[starts], rows.scores[ends - 1], ends - starts, positive + negative, positive)

    def fit_bins(
        self,
        lo: Float64Array,
        hi: Float64Array,
        count: IntArray,
        weight: Float64Array,
        positive: Float64Array,
        classes: Array,
    ) -> Self:
        """Learn from rows that somebody else has put into the bins of equal size.

        Parameters
        ----------
        lo, hi : ndarray of shape (b,)
            Least and greatest score of every bin, in ascending order.
        count : ndarray of shape (b,)
            Number of rows.
        weight, positive : ndarray of shape (b,)
            Total weight of the rows, and of the positive ones.
        classes : ndarray of shape (2,)
            The labels, the positive one second.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self._check_parameters()
        if self.n_bins == "cv":
            raise ParameterError("n_bins must be a number where rows come in bins; got 'cv'")
        self.n_bins_ = int(self.n_bins)
        self._keep(lo, hi, count, weight, positive)
        self.classes_ = classes
        return self

    def _keep(
        self,
        lo: Float64Array,
        hi: Float64Array,
        count: IntArray,
        weight: Float64Array,
        positive: Float64Array,
    ) -> None:
        self.edges_ = midpoints(hi[:-1], lo[1:])
        value = np.clip(self._values(positive, weight), 0.0, 1.0)  # sums of weights carry rounding
        self.bins_ = Bins(lo, hi, count, weight, value)
        self._bin = IntervalLookup(self.edges_)

    def _positive(self, scores: Float64Array) -> Float64Array:
        return self.bins_.value.take(self._bin(scores))

    def _values(self, positive: Float64Array, weight: Float64Array) -> Float64Array:
        if self.smoothing == "laplace":
            return (positive + 1) / (weight + 2)
        if self.smoothing == "m":
            base = positive.sum() / weight.sum() if self.base is None else self.base
            return np.asarray((positive + self.m * base) / (weight + self.m))
        return positive / weight

    def _cross_validate(
        self, scores: FloatArray, target: Target, weights: Float64Array | None
    ) -> dict[int, float]:
        """Squared error per unit of weight of every candidate on rows that it was not fitted to."""
        from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415

        label = target > 0.5
        n_folds = min(self.cv, int(label.sum()), int((~label).sum()))
        candidates = sorted(set(CANDIDATES if self.candidates is None else self.candidates))
        if n_folds < 2:
            return {}
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        loss = dict.fromkeys(candidates, 0.0)
        total = float(len(scores)) if weights is None else float(weights.sum())
        for train, test in folds.split(scores, label):
            fitted_to, tried_on = (
                _SortedRows.of(scores[part], target[part], None if weights is None else weights[part])
                for part in (train, test)
            )
            for n_bins in candidates:
                cuts = _cuts(fitted_to.scores, n_bins)
                edges = midpoints(fitted_to.scores[cuts - 1], fitted_to.scores[cuts])
                positive, negative = fitted_to.totals(np.append(0, cuts))
                value = self._values(positive, positive + negative)
                loss[n_bins] += tried_on.squared_error(edges, value) / total
        return loss


def even_places(n_rows: int, n_bins: int) -> IntArray:
    """Places in the sorted rows where new bins would begin if there were no ties; at least 1."""
    n_bins = min(n_bins, n_rows)
    size, extra = divmod(n_rows, n_bins)
    number = np.arange(1, n_bins)
    return number * size + np.minimum(number, extra)


def _cuts(scores: Float64Array, n_bins: int) -> IntArray:
    """Places in the sorted scores where a new bin begins."""
    places = even_places(len(scores), n_bins)
    places = np.searchsorted(scores, scores[places - 1], side="right")
    return np.unique(places[places < len(scores)])


@dataclass(frozen=True, slots=True)
class _SortedRows:
    """Rows by ascending score, with their weight as positives and as negatives.

    Every bin is summed by itself: in differences of running totals a heavy row rounds away all that follow.
    """

    scores: Float64Array
    positive: Float64Array
    negative: Float64Array
    mixed: float

    @classmethod
    def of(cls, scores: FloatArray, target: Target, weights: Float64Array | None) -> "_SortedRows":
        order = np.argsort(scores, kind="stable")
        label = target[order].astype(np.float64)
        positive = label if weights is None else weights[order] * label
        negative = (1.0 - label) if weights is None else weights[order] * (1.0 - label)
        mixed = 0.0 if target.dtype == bool else float(positive @ (1.0 - label))
        return cls(scores[order].astype(np.float64, copy=False), positive, negative, mixed)

    def totals(self, starts: IntArray) -> tuple[Float64Array, Float64Array]:
        """Weight of the positives and of the negatives in the bins that begin at these places."""
        return np.add.reduceat(self.positive, starts), np.add.reduceat(self.negative, starts)

    def squared_error(self, edges: Float64Array, value: Float64Array) -> float:
        """Total squared difference between the labels and the values of the bins that they fall into."""
        starts = np.append(0, np.searchsorted(self.scores, edges, side="right"))
        held = np.flatnonzero(np.diff(np.append(starts, len(self.scores))))
        positive, negative = self.totals(starts[held])
        value = value[held]
        # A share of positives counts as two rows, which differ from it whatever the value is.
        return float(positive @ (1 - value) ** 2 + negative @ value**2) - self.mixed
