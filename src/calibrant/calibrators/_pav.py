"""Isotonic calibration: the non-decreasing map that fits best (pool adjacent violators)."""

from typing import Literal, Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, Target
from calibrant._core._checks import check_flag, check_number, check_option
from calibrant._core._extremes import HUGE
from calibrant.calibrators._binary import BinaryCalibrator
from calibrant.calibrators._pooling import Blocks, isotonic_blocks, pool_points, sorted_runs
from calibrant.calibrators._steps import IntervalLookup, midpoints
from calibrant.metrics._direction import NOTHING, direction, direction_of_points

Between = Literal["nearest", "linear", "average", "lower", "upper"]


class PAVCalibrator(BinaryCalibrator):
    """Calibrate one score by isotonic regression.

    The map is the non-decreasing step function with the least squared error on the training rows,
    found by pooling adjacent violators. It assumes only that a greater score does not mean a smaller
    probability.

    Parameters
    ----------
    between : {"nearest", "linear", "average", "lower", "upper"}, default="nearest"
        The answer for a score in the gap between two blocks: the value of the closer block (of the
        lower one at the midpoint), the straight line between both, their mean, or the value of the
        block below or above the gap.
    increasing : bool, default=True
        Whether the probability rises with the score; False fits a falling map.
    clip : float, optional
        Keep the answers within ``[clip, 1 - clip]``, for those who need a finite log loss.
    laplace : bool, default=False
        Give blocks of value 0 or 1 the estimate ``(positives + 1) / (weight + 2)`` instead. A small
        block at an end may then pass its neighbour, so the map need not be monotone any more.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    blocks_ : Blocks
        Least and greatest score, value and weight of every block, by ascending score.

    See Also
    --------
    SigmoidCalibrator : A smooth map of two parameters, for few rows.
    BinningCalibrator : Bins of equal size, without the assumption of monotonicity.

    Notes
    -----
    Minimises ``sum_i w_i (y_i - g(s_i))^2`` over non-decreasing ``g``. The order of the scores is kept
    exactly: scores that differ in the last bit are different. (Scikit-learn's isotonic regression
    treats scores closer than 1e-15, in single precision 1e-6, as equal.) With ``between="linear"`` the
    answers are those of scikit-learn's ``IsotonicRegression(out_of_bounds="clip")``.

    Rows of one class give the constant 0 or 1, scores that rank everything the wrong way round the
    base rate. Where they rank the classes the wrong way round beyond chance (by the test of Mann and
    Whitney, at one in a thousand), a rising map is of no use, and there is a `ScoreDirectionWarning`.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    The violators 1, 0, 0 in the middle are pooled into one block of value 1/3:

    >>> from calibrant import PAVCalibrator
    >>> pav = PAVCalibrator().fit([1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1])
    >>> pav.blocks_.value
    array([0.        , 0.33333333, 1.        ])
    >>> pav.predict_proba([4.4, 4.6])[:, 1]
    array([0.33333333, 1.        ])
    """

    def __init__(
        self,
        between: Between = "nearest",
        increasing: bool = True,
        clip: float | None = None,
        laplace: bool = False,
    ) -> None:
        self.between = between
        self.increasing = increasing
        self.clip = clip
        self.laplace = laplace

    def _check_parameters(self) -> None:
        check_option("between", self.between, ("nearest", "linear", "average", "lower", "upper"))
        check_flag("increasing", self.increasing)
        check_flag("laplace", self.laplace)
        if self.clip is not None:
            check_number("clip", self.clip, "None or a number in [0, 0.5)", lambda clip: 0 <= clip < 0.5)

    def _fit(self, scores: FloatArray, target: Target, weights: Float64Array | None) -> None:
        if not self.increasing:
            target = ~target if target.dtype == bool else 1.0 - target
        runs = sorted_runs(scores, target, weights)
        self._keep(isotonic_blocks(runs))
        doubtful = self.increasing and runs.may_rank_wrongly
        self._direction = direction(scores, target, weights) if doubtful else NOTHING

    def fit_points(
        self,
        lo: Float64Array,
        hi: Float64Array,
        positive: Float64Array,
        negative: Float64Array,
        classes: Array,
        squares: tuple[float, float] | None = None,
    ) -> Self:
        """Learn from rows that somebody else has gathered into points, in ascending order of the scores.

        Parameters
        ----------
        lo, hi : ndarray of shape (m,)
            Least and greatest score of the rows of every point; the points lie apart.
        positive, negative : ndarray of shape (m,)
            Total weight of their rows of either class; not both zero.
        classes : ndarray of shape (2,)
            The labels, the positive one second.
        squares : tuple of float, optional
            Sum of the squared weights of the positives and of the negatives, where weights are not whole.

        Returns
        -------
        Self
            The fitted calibrator. It is that of the rows themselves if no block of the solution for these
            begins or ends inside a point.
        """
        self._check_parameters()
        self._keep(pool_points(lo, hi, *((positive, negative) if self.increasing else (negative, positive))))
        self._direction = direction_of_points(positive, negative, squares) if self.increasing else NOTHING
        self.classes_ = classes
        return self

    def _keep(self, blocks: Blocks) -> None:
        """Take the solution for the rising class, and make the map of it."""
        if not self.increasing:
            blocks = Blocks(blocks.lo, blocks.hi, 1.0 - blocks.value, blocks.weight)
        if self.laplace:
            blocks = _soften_certain_blocks(blocks)
        self.blocks_ = blocks
        self._map = _LinearMap(blocks) if self.between == "linear" else _StepMap(blocks, self.between)

    def _positive(self, scores: Float64Array) -> Float64Array:
        positive = self._map(scores)
        return positive if self.clip is None else np.clip(positive, self.clip, 1 - self.clip)


def _soften_certain_blocks(blocks: Blocks) -> Blocks:
    certain = (blocks.value == 0) | (blocks.value == 1)
    softened = (blocks.value * blocks.weight + 1) / (blocks.weight + 2)
    return Blocks(blocks.lo, blocks.hi, np.where(certain, softened, blocks.value), blocks.weight)


class _StepMap:
    """Constant on every block, and in every gap by one of the step rules."""

    def __init__(self, blocks: Blocks, between: str) -> None:
        below, above = blocks.hi[:-1], blocks.lo[1:]
        just_below_above = np.nextafter(above, -np.inf)
        self._values = blocks.value
        if between == "nearest":
            edges = midpoints(below, above)
        elif between == "lower":
            edges = just_below_above
        elif between == "upper":
            edges = below
        else:
            # Every gap is an interval of its own, between the blocks that it separates.
            edges = _interleave(below, just_below_above)
            self._values = _interleave(blocks.value, (blocks.value[:-1] + blocks.value[1:]) / 2)
        self._interval = IntervalLookup(edges)

    def __call__(self, scores: Float64Array) -> Float64Array:
        return self._values.take(self._interval(scores))


class _LinearMap:
    """Constant on every block, a straight line across every gap."""

    def __init__(self, blocks: Blocks) -> None:
        knots = _interleave(blocks.lo, blocks.hi)
        # Interval i reaches from knot i - 1 to knot i; outside the knots and on a block nothing rises.
        self._low, self._high = knots[0], knots[-1]
        begin, end = np.append(knots[0], knots), np.append(knots, knots[-1])
        # Numbers are halved where the distance between two of them need not be finite.
        self._half = np.where(np.maximum(np.abs(begin), np.abs(end)) > HUGE, 0.5, 1.0)
        self._from = begin * self._half
        self._value = np.append(blocks.value[0], np.repeat(blocks.value, 2))
        self._rise = np.append(np.diff(self._value), 0.0)
        self._width = np.where(self._rise == 0, np.inf, end * self._half - self._from)
        self._interval = IntervalLookup(knots)

    def __call__(self, scores: Float64Array) -> Float64Array:
        interval = self._interval(scores)
        positive = np.clip(scores, self._low, self._high)
        positive *= self._half.take(interval)
        positive -= self._from.take(interval)
        positive /= self._width.take(interval)
        positive *= self._rise.take(interval)
        positive += self._value.take(interval)
        return positive


def _interleave(first: Float64Array, second: Float64Array) -> Float64Array:
    """Entries in turn: first[0], second[0], first[1], ...; `first` may be longer by one."""
    both = np.empty(len(first) + len(second))
    both[::2], both[1::2] = first, second
    return both
