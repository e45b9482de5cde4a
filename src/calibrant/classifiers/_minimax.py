"""The safest forecast when a probability is only known to lie in an interval (Langford and Zadrozny 2005)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._checks import check_option
from calibrant._core._errors import ParameterError
from calibrant.metrics import brier_score, cross_entropy

#: A number this much smaller than another is as good as 0 beside it; dividing by it might overflow.
NOTHING = 1e-290


class ProbingLoss(Protocol):
    """What Probing must know of a loss; all methods take and give arrays, one entry per interval."""

    def points(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Forecast whose regret is least if the probability may be anything from low to high."""

    def regrets(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Greatest regret of that forecast."""

    def printed_scores(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """What the paper multiplies by the number of rows to choose the interval to be split."""

    def mean(self, is_positive: BoolArray, estimates: Float64Array, weights: Float64Array | None) -> float:
        """Mean loss of estimates."""


@dataclass(frozen=True)
class CrossEntropy:
    r"""Cross entropy as the loss of Probing.

    Notes
    -----
    The regret of forecasting q where p is true is KL(p || q). It is convex in p, so the worst p is an end
    of the interval [a, b], and the safest q makes both ends equally bad:

    .. math:: q = \frac{1}{1 + \exp \frac{H(b) - H(a)}{b - a}} .

    Examples
    --------
    The safest forecast for [0, 1/2] is 1/5, and both ends regret it by log(5/4):

    >>> import numpy as np
    >>> from calibrant.classifiers import CrossEntropy
    >>> low, high = np.array([0.0]), np.array([0.5])
    >>> CrossEntropy().points(low, high)
    array([0.2])
    >>> bool(np.isclose(CrossEntropy().regrets(low, high)[0], np.log(5 / 4)))
    True
    >>> bool(np.isclose(0.5 * np.log(0.5 / 0.2) + 0.5 * np.log(0.5 / 0.8), np.log(5 / 4)))
    True
    """

    def points(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the safest forecast of every interval.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals, 0 <= low < high <= 1.

        Returns
        -------
        ndarray of shape (m,)
            The forecasts.
        """
        # The difference quotient of H, rearranged so that nothing cancels in narrow intervals.
        width = high - low
        for_it = np.log(high) + _mean_log1p(width, low)
        against = np.log1p(-low) + _mean_log1p(width, 1 - high)
        return np.asarray(expit(for_it - against))

    def regrets(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the greatest regret of the safest forecasts.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals.

        Returns
        -------
        ndarray of shape (m,)
            KL(low || q), which is KL(high || q) too.
        """
        step = self.points(low, high) - low
        # KL(a || a + d) = a g(d / a) + (1 - a) g(-d / (1 - a)) with g(x) = x - log(1 + x) >= 0, and a g(d /
        # a) is d at a = 0: no cancellation of terms of first order, which narrow intervals would not
        # survive.
        above_zero = low > NOTHING * step
        ratio = step / np.where(above_zero, low, 1.0)
        below = np.where(above_zero, low * (ratio - np.log1p(ratio)), step)
        ratio = -step / (1 - low)
        with np.errstate(divide="ignore"):  # q rounds to 1 where no number is left between low and 1
            return np.asarray(below + (1 - low) * (ratio - np.log1p(ratio)))

    def printed_scores(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the paper's urgency per row, which is the regret.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals.

        Returns
        -------
        ndarray of shape (m,)
            The same as `regrets`.
        """
        return self.regrets(low, high)

    def mean(self, is_positive: BoolArray, estimates: Float64Array, weights: Float64Array | None) -> float:
        """Give the mean loss of estimates.

        Parameters
        ----------
        is_positive : ndarray of shape (n,)
            The truth.
        estimates : ndarray of shape (n,)
            Probabilities of the positive class.
        weights : ndarray of shape (n,) or None
            Weights of the rows.

        Returns
        -------
        float
            The cross entropy in nats.
        """
        return cross_entropy(is_positive, estimates, sample_weight=weights)


@dataclass(frozen=True)
class SquaredError:
    r"""Squared error as the loss of Probing.

    Notes
    -----
    The regret of forecasting q where p is true is :math:`(p - q)^2`, so the safest forecast for [a, b] is
    the middle, and its greatest regret :math:`((b - a) / 2)^2`. The paper prints the urgency of an interval
    as the number of its rows times :math:`b - a`, while defining it as the largest possible change of the
    loss, which is the square.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.classifiers import SquaredError
    >>> low, high = np.array([0.0, 0.5]), np.array([0.5, 1.0])
    >>> SquaredError().points(low, high)
    array([0.25, 0.75])
    >>> SquaredError().regrets(low, high)
    array([0.0625, 0.0625])
    """

    def points(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the safest forecast of every interval.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals.

        Returns
        -------
        ndarray of shape (m,)
            Their middles.
        """
        return np.asarray((low + high) / 2)

    def regrets(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the greatest regret of the safest forecasts.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals.

        Returns
        -------
        ndarray of shape (m,)
            The squares of half the widths.
        """
        return np.asarray(((high - low) / 2) ** 2)

    def printed_scores(self, low: Float64Array, high: Float64Array) -> Float64Array:
        """Give the paper's urgency per row.

        Parameters
        ----------
        low, high : ndarray of shape (m,)
            The ends of the intervals.

        Returns
        -------
        ndarray of shape (m,)
            The widths, as printed; the squares of them would be consistent.
        """
        return np.asarray(high - low)

    def mean(self, is_positive: BoolArray, estimates: Float64Array, weights: Float64Array | None) -> float:
        """Give the mean loss of estimates.

        Parameters
        ----------
        is_positive : ndarray of shape (n,)
            The truth.
        estimates : ndarray of shape (n,)
            Probabilities of the positive class.
        weights : ndarray of shape (n,) or None
            Weights of the rows.

        Returns
        -------
        float
            The mean squared error.
        """
        return brier_score(is_positive, estimates, convention="positive", sample_weight=weights)


def _mean_log1p(width: Float64Array, base: Float64Array) -> Float64Array:
    """Give (base / width) log(1 + width / base): 0 at base 0, tending to 1 as the width vanishes."""
    above_zero = base > NOTHING * width
    ratio = width / np.where(above_zero, base, 1.0)
    return np.where(above_zero, np.log1p(ratio) / ratio, 0.0)


LOSSES: dict[str, ProbingLoss] = {"cross_entropy": CrossEntropy(), "squared_error": SquaredError()}
RULES = ("regret", "paper")

#: Urgencies this close, relatively, are equal: [0, 1/2] and [1/2, 1] differ in the last bit only.
TIE = 1e-9


def check_loss(loss: object) -> ProbingLoss:
    """A loss by its name, or the object given."""
    if isinstance(loss, str):
        check_option("loss", loss, tuple(LOSSES))
        return LOSSES[loss]
    missing = [name for name in ("points", "regrets", "printed_scores", "mean") if not hasattr(loss, name)]
    if isinstance(loss, type) or missing:
        names = ", ".join(map(repr, LOSSES))
        raise ParameterError(
            f"loss must be one of {names}, or an object with points, regrets, printed_scores and mean; "
            f"got {loss!r}"
        )
    return loss  # type: ignore[return-value]


def edges_of(thresholds: Float64Array | Sequence[float]) -> Float64Array:
    """Sorted ends of the intervals that thresholds cut [0, 1] into."""
    return np.concatenate([[0.0], np.sort(thresholds), [1.0]])


def estimates_of(loss: ProbingLoss, thresholds: Float64Array | Sequence[float]) -> Float64Array:
    """Safest forecast of every interval that thresholds cut [0, 1] into; entry v is for v votes."""
    edges = edges_of(thresholds)
    return loss.points(edges[:-1], edges[1:])


def urgencies(
    loss: ProbingLoss, rule: str, low: Float64Array, high: Float64Array, counts: Float64Array
) -> Float64Array:
    """How much every interval deserves to be split: rows in it times the loss that may be saved on each."""
    per_row = loss.regrets if rule == "regret" else loss.printed_scores
    scores = np.zeros(len(counts))
    occupied = counts > 0
    scores[occupied] = counts[occupied] * per_row(low[occupied], high[occupied])
    return scores


def most_urgent(scores: Float64Array) -> int:
    """Number of the interval with the greatest score, of equal ones that with the smallest left end."""
    return int(np.argmax(scores >= (1 - TIE) * scores.max()))
