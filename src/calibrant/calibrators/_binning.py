"""Equal-frequency binning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from calibrant import passes
from calibrant._core import _late as late
from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._field_groups import DictOf, ListOf, Numbers, Record, Wholes, check_length
from calibrant._core._fields import PROBABILITY, Choice, Either, Maybe, Number, Seed, Whole
from calibrant._core._place import Place
from calibrant.calibrators._intervals import WEIGHT, check_intervals, midpoints
from calibrant.calibrators._method import ScoreCalibrator
from calibrant.calibrators._registry import ScoreKind
from calibrant.maps import IntervalLookup, Map, Steps

if TYPE_CHECKING:
    from calibrant.passes import BinTotals, Cases, Learning

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


class BinningCalibrator(ScoreCalibrator, name="binning"):
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

    parameters = Record(
        n_bins=Either(Whole(1), Choice("cv")),
        smoothing=Maybe(Choice("laplace", "m")),
        m=Number(0.0),
        base=Maybe(PROBABILITY),
        candidates=Maybe(ListOf(Whole(1), least=1)),
        cv=Whole(2),
        random_state=Seed(),
    )
    fitted = Record(
        n_bins=Whole(1),
        edges=Numbers(),
        bins=Record(
            Bins,
            lo=Numbers(least_length=1),
            hi=Numbers(least_length=1),
            count=Wholes(1),
            weight=Numbers(WEIGHT, least_length=1),
            value=Numbers(PROBABILITY, least_length=1),
        ),
        cv_scores=Maybe(DictOf(n_bins=Whole(1), score=Number())),
    )
    complexity = 4

    @classmethod
    def for_new_rows(cls, kind: ScoreKind = "margin") -> Self:  # noqa: ARG003
        """Estimate bins by ``(Y + 1)/(W + 2)``."""
        return cls(smoothing="laplace")

    def _learn(self) -> "Learning[Map]":
        tried: dict[int, float] | None = None
        n_bins: Any = self.n_bins
        if n_bins == "cv":
            rows: Cases = yield passes.EveryRow(
                "n_bins must be a number where rows come in passes; got 'cv'; compare a few numbers, or "
                "choose one on a sample in memory"
            )
            tried = self._cross_validate(rows)
            n_bins = min(tried, key=tried.__getitem__, default=10)
        found: BinTotals = yield passes.EqualBins(int(n_bins))
        self.n_bins_ = int(n_bins)
        if tried is not None:
            self.cv_scores_ = tried
        elif hasattr(self, "cv_scores_"):
            del self.cv_scores_
        self.edges_ = midpoints(found.hi[:-1], found.lo[1:])
        value = np.clip(self._values(found.positive, found.weight), 0.0, 1.0)  # sums carry rounding
        self.bins_ = Bins(found.lo, found.hi, found.count, found.weight, value)
        return self._map_of()

    def _restored(self, at: Place, n_classes: int) -> Map:  # noqa: ARG002
        bins, edges = self.bins_, self.edges_
        check_intervals(bins, ("hi", "count", "weight", "value"), at, "bins")
        check_length(edges, len(bins.lo) - 1, at / "edges", "one between every two bins")
        outside = np.flatnonzero((edges < bins.hi[:-1]) | (edges >= bins.lo[1:]))
        if len(outside):
            place = (at / "edges")[int(outside[0])]
            place.fail("must lie between its two bins, or on the end of the lower one")
        if self.cv_scores_ is None:
            del self.cv_scores_
        return self._map_of()

    def _map_of(self) -> Map:
        return Steps(IntervalLookup(self.edges_), self.bins_.value)

    def _values(self, positive: Float64Array, weight: Float64Array) -> Float64Array:
        if self.smoothing == "laplace":
            return (positive + 1) / (weight + 2)
        if self.smoothing == "m":
            base = positive.sum() / weight.sum() if self.base is None else self.base
            return np.asarray((positive + self.m * base) / (weight + self.m))
        return positive / weight

    def _cross_validate(self, rows: "Cases") -> dict[int, float]:
        """Squared error per unit of weight of every candidate on rows that it was not fitted to."""
        scores, target, weights = rows
        label = target > 0.5
        n_folds = min(self.cv, int(label.sum()), int((~label).sum()))
        candidates = sorted(set(CANDIDATES if self.candidates is None else self.candidates))
        if n_folds < 2:
            return {}
        folds = late.model_selection.StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        loss = dict.fromkeys(candidates, 0.0)
        total = float(len(scores)) if weights is None else float(weights.sum())
        for train, test in folds.split(scores, label):
            fitted_to, tried_on = (
                passes.SortedRows.of(
                    passes.Cases(scores[part], target[part], None if weights is None else weights[part])
                )
                for part in (train, test)
            )
            for n_bins in candidates:
                cuts = fitted_to.cuts(n_bins)
                edges = midpoints(fitted_to.scores[cuts - 1], fitted_to.scores[cuts])
                positive, negative = fitted_to.totals(np.append(0, cuts))
                value = self._values(positive, positive + negative)
                loss[n_bins] += tried_on.squared_error(edges, value) / total
        return loss
