"""The rows that a rule learns from, and what decisions about them cost."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._errors import DataError

EPSILON = float(np.finfo(np.float64).eps)
#: Up to here every whole number is a float.
LARGEST_WHOLE = 1 / EPSILON


class WholeRows(NamedTuple):
    """The same rows, with costs and weights as whole numbers of Python, which never round."""

    rows: "TrainingRows"
    #: What is paid is counted in parts of one: so many of them are one.
    units: int


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows with their truth.

    Attributes
    ----------
    proba : ndarray of shape (n, k)
        Probabilities of the classes.
    truth : ndarray of shape (n,)
        The number of the true class of every row.
    cost : ndarray of shape (a, k)
        The user's costs, which score decisions: floats, or whole numbers of Python.
    weights : ndarray of shape (n,) or None
        Positive weights, of the same kind; None where every row counts once.
    """

    proba: Float64Array
    truth: IntArray
    cost: Array
    weights: Array | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.cost.shape[1])

    @cached_property
    def most(self) -> float:
        """No decisions cost more than this, nor bring more if costs are negative."""
        frequency = np.bincount(self.truth, self.weights, self.n_classes)
        with np.errstate(over="ignore"):
            return float(np.abs(self.cost).max(axis=0) @ frequency)

    def refuse_infinite(self) -> None:
        """Refuse costs whose sums are no numbers."""
        if not math.isfinite(4 * self.n_classes * self.most):
            raise DataError(
                f"the costs of all rows must add up to a finite number; got costs up to "
                f"{np.abs(self.cost).max():g} for {len(self.truth)} rows; use a larger unit of money"
            )

    @cached_property
    def inexact(self) -> int:
        """How many of the two, costs and weights, are not whole numbers, and so rounded already."""
        return sum(numbers is not None and not _are_whole(numbers) for numbers in (self.cost, self.weights))

    @property
    def never_round(self) -> bool:
        """Whether all sums of what is paid are exact as floats."""
        return not self.inexact and 2 * self.n_classes * self.most <= LARGEST_WHOLE

    @cached_property
    def whole(self) -> WholeRows:
        """The same rows in arithmetic that never rounds, and takes its time."""
        cost, units = _whole_numbers(self.cost)
        if self.weights is None:
            return WholeRows(TrainingRows(self.proba, self.truth, cost, None), units)
        weights, parts = _whole_numbers(self.weights)
        return WholeRows(TrainingRows(self.proba, self.truth, cost, weights), units * parts)

    def tie(self, cost: int) -> int:
        """How much more another sum may be, in units, and still be the same before costs were rounded.

        A number that is not whole stands for all that round to it. Sums of whole numbers tie only if
        they are equal.
        """
        if not self.inexact:
            return 0
        rows = self.whole.rows
        gains = rows.priced(np.minimum(rows.cost.min(axis=0), 0).take(rows.truth)).sum()
        return int((cost - 2 * gains) * self.inexact // int(LARGEST_WHOLE))

    def priced(self, paid: Array, rows: IntArray | None = None) -> Array:
        """Multiply what single rows pay by their weights, in place."""
        if self.weights is not None:
            paid *= self.weights if rows is None else self.weights[rows]
        return paid

    def paid(self, decisions: IntArray | int, rows: IntArray | None = None) -> Array:
        """What the decisions cost, row by row; for the given rows only, which may be repeated."""
        truth = self.truth if rows is None else self.truth[rows]
        if isinstance(decisions, np.ndarray):
            paid = self.cost.ravel().take(decisions * self.n_classes + truth)
        else:
            paid = self.cost[decisions].take(truth)
        return self.priced(paid, rows)

    def total(self, decisions: IntArray) -> float:
        """What the decisions cost in all, rounded once."""
        if self.weights is not None:
            return math.fsum(self.paid(decisions).tolist())
        counts = np.bincount(decisions * self.n_classes + self.truth)
        cells = np.flatnonzero(counts)
        rows, units = self.whole
        return float((rows.cost.ravel()[cells] * counts[cells]).sum() / units)

    def by_frequency(self, home: IntArray | None = None) -> IntArray:
        """The classes by decreasing frequency; of equally frequent ones the lowest number first.

        With the decision at home in every class, the decisions by the frequency of their classes.
        """
        places, n_places = (
            (self.truth, self.n_classes) if home is None else (home[self.truth], len(self.cost))
        )
        return np.argsort(-self._frequency(places, n_places), kind="stable")

    def _frequency(self, places: IntArray, n_places: int) -> Float64Array:
        """The weight at every place, rounded once, so that places of equal weights tie."""
        if self.weights is None or _are_whole(self.weights):
            return np.bincount(places, self.weights, n_places).astype(np.float64)
        weights = self.weights[np.argsort(places, kind="stable")]
        ends = np.cumsum(np.bincount(places, minlength=n_places))
        return np.array([math.fsum(part) for part in np.split(weights, ends[:-1])])


def _are_whole(numbers: Float64Array) -> bool:
    return bool((np.rint(numbers) == numbers).all())


def _whole_numbers(numbers: Float64Array) -> tuple[Array, int]:
    """Floats as whole numbers of a unit that is small enough for all, and how many units are one."""
    ratios = [number.as_integer_ratio() for number in numbers.ravel().tolist()]
    units = max(below for _, below in ratios)
    whole = np.array([above * (units // below) for above, below in ratios], dtype=object)
    return whole.reshape(numbers.shape), units
