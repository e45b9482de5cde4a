"""Two thresholds for three classes (Mossman 1999)."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray
from calibrant._core._checks import check_number, is_whole, shown
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._field_groups import ListOf, Record
from calibrant._core._fields import Number, Whole
from calibrant._core._place import Place
from calibrant.decisions._decide import least_risk
from calibrant.decisions._prefix_sums import least_prefix_sums
from calibrant.decisions._rule import COSTS, DecisionRule
from calibrant.decisions._sweep import MERGE, Events, Intervals, intervals_of, weighed
from calibrant.decisions._training import TrainingRows
from calibrant.maps import Tensor


def mossman_matrix(first: float, second: float, scale: float = 1e6) -> Float64Array:
    """Write Mossman's two thresholds as a partition matrix.

    Parameters
    ----------
    first : float
        Class 0 is decided if its probability is above this; between 0 and 1.
    second : float
        Otherwise class 1 is decided if its probability exceeds that of class 2 by more than this, else
        class 2; between -1 and 1.
    scale : float, default=1e6
        How much the first threshold outweighs the second; the rule is the limit of large scales.

    Returns
    -------
    ndarray of shape (3, 3)
        The partition matrix; its diagonal is zero.

    Examples
    --------
    >>> from calibrant.decisions import mossman_matrix
    >>> mossman_matrix(0.6, 0.2, scale=100)
    array([[ 0. , 60.8, 60. ],
           [40.2,  0. ,  1.2],
           [40. ,  0.8,  0. ]])
    """
    g1 = check_number("first", first, "between 0 and 1", lambda value: 0 < value < 1)
    g2 = check_number("second", second, "between -1 and 1", lambda value: -1 < value < 1)
    size = check_number("scale", scale, "a positive number", lambda value: value > 0)
    return np.array(
        [
            [0.0, size * g1 + 1 - g2, size * g1],
            [size * (1 - g1) + g2, 0.0, 1 + g2],
            [size * (1 - g1), 1 - g2, 0.0],
        ]
    )


class MossmanRule(DecisionRule):
    r"""Decide among three classes by two learned thresholds.

    One class is decided if its probability is above the first threshold; otherwise the difference of the
    other two decides. The costs serve to learn the thresholds, and are ignored when deciding.

    Parameters
    ----------
    order : sequence of three int, default=(0, 1, 2)
        Which class is asked for first, and which two are then compared.

    Attributes
    ----------
    thresholds_ : ndarray of shape (2,)
        The two thresholds.
    matrix_ : ndarray of shape (3, 3)
        The same as a partition matrix, but for rows very near the thresholds.
    cost_before_, cost_after_ : float
        Training cost of the plain rule of least expected cost, and of this one.

    See Also
    --------
    ParallelPartitionRule : For any number of classes.

    Notes
    -----
    Class 0 if :math:`p_0 > g_1`, otherwise class 1 if :math:`p_1 - p_2 > g_2`, otherwise class 2. The
    thresholds are the best of all pairs, found by keeping the best second threshold while the first one
    sweeps over the rows. Each is the midpoint of its interval; among equals that of the widest.

    The roles of the classes are a convention: how Mossman assigns them is not known here, as O'Brien,
    Gupta and Gray (2008) only give the form of the rule.

    References
    ----------
    D. Mossman, "Three-way ROCs", Medical Decision Making 19 (1999), pp. 78-89.

    Examples
    --------
    >>> from calibrant.decisions import MossmanRule
    >>> proba = [[0.4, 0.4, 0.2], [0.2, 0.6, 0.2], [0.1, 0.6, 0.3], [0.1, 0.5, 0.4]]
    >>> rule = MossmanRule().fit(proba, [0, 1, 1, 2], [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> rule.thresholds_
    array([0.3, 0.2])
    >>> rule.decide(proba)
    array([0, 1, 1, 2])
    """

    def __init__(self, order: Sequence[int] = (0, 1, 2)) -> None:
        self.order = order

    name = "mossman"
    parameters = Record(order=ListOf(Whole(0, 2), least=3))
    fitted = Record(first=Number(above=0.0, below=1.0), second=Number(above=-1.0, below=1.0), **COSTS)

    @classmethod
    def from_parameters(cls, given: dict[str, Any], at: Place) -> Self:
        """Make a rule of the parameters of a file: the classes in any order, each once."""
        if sorted(given["order"]) != [0, 1, 2]:
            (at / "order").fail(f"must hold 0, 1 and 2 once each; got {given['order']}")
        return cls(tuple(given["order"]))

    def fitted_numbers(self) -> dict[str, Any]:
        """Give what is saved of the fit."""
        first, second = self.thresholds_
        costs = {"cost_before": self.cost_before_, "cost_after": self.cost_after_}
        return {"first": first, "second": second, **costs}

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        del at, classes
        self._keep(numbers["first"], numbers["second"])
        self.cost_before_, self.cost_after_ = numbers["cost_before"], numbers["cost_after"]

    def decide_in_symbols(self, proba: Tensor) -> Tensor:
        """Decide in symbols, by the thresholds."""
        kept = proba.at_least(0.0)
        asked, second, third = (int(each) for each in self.order)
        lead = kept.column(second) - kept.column(third)
        rest = lead.is_above(float(self.thresholds_[1])).choose(np.array(second), np.array(third))
        return kept.column(asked).is_above(float(self.thresholds_[0])).choose(np.array(asked), rest)

    def _keep(self, first: float, second: float) -> None:
        self.thresholds_ = np.array([first, second])
        place = np.argsort(self.order)
        self.matrix_ = mossman_matrix(first, second)[np.ix_(place, place)]

    def _check_parameters(self) -> None:
        order = list(self.order) if np.iterable(self.order) else []
        if not all(is_whole(each, 0, 2) for each in order) or sorted(order) != [0, 1, 2]:
            raise ParameterError(f"order must hold 0, 1 and 2 once each; got {shown(self.order)}")

    def _check_cost(self, matrix: Float64Array) -> None:
        if len(matrix) != 3:
            raise DataError(
                f"Mossman's rule must have three classes; got {len(matrix)}; use ParallelPartitionRule"
            )
        super()._check_cost(matrix)

    def _fit(self, rows: TrainingRows) -> tuple[float, float]:
        asked, second, third = self.order
        chance = rows.proba[:, asked]
        lead = rows.proba[:, second] - rows.proba[:, third]
        first_cut = _widest_of_least(_first_intervals(rows, chance, lead, self.order), 0.0, 1.0)
        left = np.flatnonzero(chance <= first_cut)
        start = np.where(chance <= first_cut, second, asked)
        events = Events(start, at=lead[left], before=second, after=third, rows=left)
        second_cut = _widest_of_least(intervals_of(events, rows, MERGE, (-1.0, 1.0)), -1.0, 1.0)
        self._keep(first_cut, second_cut)
        before = rows.total(least_risk(rows.proba, rows.cost))
        return before, rows.total(self._decide(rows.proba))

    def _decide(self, estimates: FloatArray) -> IntArray:
        asked, second, third = self.order
        lead = estimates[:, second] - estimates[:, third]
        rest = np.where(lead > self.thresholds_[1], second, third)
        return np.where(estimates[:, asked] > self.thresholds_[0], asked, rest)


def _first_intervals(
    rows: TrainingRows, chance: Float64Array, lead: Float64Array, order: Sequence[int]
) -> Intervals:
    """The least cost that any second threshold leaves, for every first one."""
    arrival = np.argsort(chance, kind="stable")
    places = _places(lead[arrival])
    at = chance[arrival]
    last = np.append(np.flatnonzero(np.diff(at) > MERGE), len(at) - 1)
    left, right = np.append(-np.inf, at[last]), np.append(at[np.append(0, last[:-1] + 1)], np.inf)
    wide = np.minimum(right, 1.0) - np.maximum(left, 0.0) > MERGE

    def add_up(rows: TrainingRows) -> Array:
        as_first, as_second, as_third = (rows.paid(int(i)) for i in order)
        # A threshold strictly between -1 and 1 leaves certain rows where they are.
        certain = np.abs(lead) >= 1
        below = np.where(lead <= -1, as_third, as_second)
        gain = np.where(certain, 0, as_third - as_second)
        start = as_first.sum()
        cost = start + (below - as_first)[arrival].cumsum() + least_prefix_sums(places, gain[arrival])
        return np.asarray(np.append(start, cost[last])[wide])

    # Sums over places are differences of running totals, and then added level by level.
    return weighed(left[wide], right[wide], add_up, rows, 4 * len(at))


def _places(values: Float64Array) -> IntArray:
    """The rank of every value, equal for values that no threshold can tell apart."""
    order = np.argsort(values)
    places = np.empty(len(values), dtype=np.intp)
    places[order] = np.append(0, np.cumsum(np.diff(values[order]) > MERGE))
    return places


def _widest_of_least(intervals: Intervals, low: float, high: float) -> float:
    """The middle of the widest interval of least cost between the bounds."""
    left, right = np.maximum(intervals.left, low), np.minimum(intervals.right, high)
    width = right - left
    place = np.argmax(np.where(intervals.are_least(), width, 0.0))
    return float((left[place] + right[place]) / 2)
