"""Isotonic calibration: the non-decreasing map that fits best (pool adjacent violators)."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Float64Array
from calibrant._core._field_groups import Numbers, Record
from calibrant._core._fields import PROBABILITY, Choice, Either, Flag, Maybe, Number
from calibrant._core._place import Place
from calibrant.calibrators._intervals import WEIGHT, check_intervals, midpoints
from calibrant.calibrators._method import ScoreCalibrator, half_a_row
from calibrant.maps import IntervalLookup, Lines, Map, Steps

if TYPE_CHECKING:
    from calibrant.passes import Blocks, IsotonicFit, Learning

Between = Literal["nearest", "linear", "average", "lower", "upper"]


class PAVCalibrator(ScoreCalibrator, name="pav"):
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
    clip : float, "auto" or None, default="auto"
        Keep the answers within ``[clip, 1 - clip]``. "auto" stays half a row away from 0 and 1, that is 1
        over twice the weight of the rows: so many rows cannot tell less from nothing, and a certain answer
        that is wrong costs an infinite log loss. With 0, or None, blocks of one class say 0 or 1, as in the
        paper.
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

    Rows of one class give the constant 0 or 1, but for `clip`; scores that rank everything the wrong way
    round give the base rate. Where they rank the classes the wrong way round beyond chance (by the test of
    Mann and Whitney, at one in a thousand), a rising map is of no use: there is a `ScoreDirectionWarning`.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    The violators 1, 0, 0 in the middle are pooled into one block of value 1/3:

    >>> from calibrant import PAVCalibrator
    >>> scores, y = [1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1]
    >>> pav = PAVCalibrator().fit(scores, y)
    >>> pav.blocks_.value
    array([0.        , 0.33333333, 1.        ])

    Six rows, of which half a one is a twelfth:

    >>> pav.predict_proba([1, 4.4, 4.6])[:, 1]
    array([0.08333333, 0.33333333, 0.91666667])
    >>> PAVCalibrator(clip=0).fit(scores, y).predict_proba([1, 4.4, 4.6])[:, 1]
    array([0.        , 0.33333333, 1.        ])
    """

    def __init__(
        self,
        between: Between = "nearest",
        increasing: bool = True,
        clip: float | Literal["auto"] | None = "auto",
        laplace: bool = False,
    ) -> None:
        self.between = between
        self.increasing = increasing
        self.clip = clip
        self.laplace = laplace

    parameters = Record(
        between=Choice("nearest", "linear", "average", "lower", "upper"),
        increasing=Flag(),
        clip=Maybe(Either(Number(0.0, below=0.5), Choice("auto"))),
        laplace=Flag(),
    )
    fitted = Record(
        blocks=Record(
            passes.Blocks,
            lo=Numbers(least_length=1),
            hi=Numbers(least_length=1),
            value=Numbers(PROBABILITY, least_length=1),
            weight=Numbers(WEIGHT, least_length=1),
        )
    )
    complexity = 3

    @property
    def can_only_rise(self) -> bool:
        """Whether nothing is made of a score that points the wrong way."""
        return self.increasing is True

    def _learn(self) -> "Learning[Map]":
        found: IsotonicFit = yield passes.Isotonic(bool(self.increasing))
        self.blocks_ = _soften_certain_blocks(found.blocks) if self.laplace else found.blocks
        self._direction = found.direction
        return self._map_of(self.blocks_)

    def _restored(self, at: Place, n_classes: int) -> Map:  # noqa: ARG002
        blocks = self.blocks_
        check_intervals(blocks, ("hi", "value", "weight"), at, "blocks")
        if not self.laplace:
            steps = np.diff(blocks.value if self.increasing else -blocks.value)
            if (steps < 0).any():
                way = "rise" if self.increasing else "fall"
                place = int(np.argmax(steps < 0)) + 1
                (at / "blocks" / "value")[place].fail(f"must not break the order; values must {way}")
        return self._map_of(blocks)

    def _map_of(self, blocks: "Blocks") -> Map:
        clip = None if self.clip is None else self._clip_of(float(blocks.weight.sum()))
        if self.between == "linear":
            return Lines.through(_interleave(blocks.lo, blocks.hi), np.repeat(blocks.value, 2), clip)
        edges, values = _steps(blocks, self.between)
        if clip is not None:
            values = np.clip(values, clip, 1 - clip)
        return Steps(IntervalLookup(edges), values)

    def _clip_of(self, weight: float) -> float:
        return half_a_row(weight) if self.clip == "auto" else float(self.clip)  # type: ignore[arg-type]


def _soften_certain_blocks(blocks: "Blocks") -> "Blocks":
    certain = (blocks.value == 0) | (blocks.value == 1)
    softened = (blocks.value * blocks.weight + 1) / (blocks.weight + 2)
    return passes.Blocks(blocks.lo, blocks.hi, np.where(certain, softened, blocks.value), blocks.weight)


def _steps(blocks: "Blocks", between: str) -> tuple[Float64Array, Float64Array]:
    """Edges of the intervals on which the map is constant, and their values."""
    below, above = blocks.hi[:-1], blocks.lo[1:]
    just_below_above = np.nextafter(above, -np.inf)
    if between == "nearest":
        return midpoints(below, above), blocks.value
    if between == "lower":
        return just_below_above, blocks.value
    if between == "upper":
        return below, blocks.value
    # Every gap is an interval of its own, between the blocks that it separates.
    means = (blocks.value[:-1] + blocks.value[1:]) / 2
    return _interleave(below, just_below_above), _interleave(blocks.value, means)


def _interleave(first: Float64Array, second: Float64Array) -> Float64Array:
    """Entries in turn: first[0], second[0], first[1], ...; `first` may be longer by one."""
    both = np.empty(len(first) + len(second))
    both[::2], both[1::2] = first, second
    return both
