"""The numbers of a partition matrix that are learned one at a time.

A family starts at the regrets: what every decision costs more than the cheapest one for the same truth, its
home. For costs of classes each is at home in itself, and regrets are the costs with a zero diagonal; there
may be other decisions too, which are at home nowhere. A family offers the same to the learner:
`coordinates` in the order of the decisions, the `events` while one of them grows, a `pick` among the
intervals, and a `move`.

=========  ======================================  ==================================================
name       a step changes                          the number
=========  ======================================  ==================================================
row_add    a decision's row, by addition           offset delta of every decision (the paper's choice)
row_mul    a decision's row, by multiplication     factor of every decision
col_mul    a truth's column, by multiplication     factor of every truth
free       one entry, by multiplication            every entry but those at home
=========  ======================================  ==================================================

Offsets have bounds, within which the decisions at home stay the cheapest, and so the costs reasonable
(property 5). Positive factors always keep them so; their steps are those of their logarithm, and they end at
a million times the ratio of the costs, because much larger ones would drown the rest in rounding.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, IntArray
from calibrant._core._ties import tie_unit
from calibrant.decisions._choice import feasible_offset, log_factor, paper_offset
from calibrant.decisions._decide import least_risk
from calibrant.decisions._envelope import envelope
from calibrant.decisions._properties import shift_bounds
from calibrant.decisions._sweep import MERGE, Events, Intervals, changepoints

#: Costs in such a ratio need tolerances for every row, as no common one suits both the large and the small.
WIDE = 1e3
#: A decision, a truth, or a pair of both.
Coordinate = tuple[int, ...]


def homes(cost: Float64Array) -> IntArray:
    """The cheapest decision for every truth; of equally cheap ones the first."""
    return np.asarray(cost.argmin(axis=0))


def regrets_of(cost: Float64Array) -> Float64Array:
    """What every decision costs more than the cheapest one for the same truth."""
    return np.asarray(cost - cost[homes(cost), np.arange(cost.shape[1])])


class Family(ABC):
    """Numbers of a rule, and how they are learned one at a time."""

    #: Changepoints that are closer than this are one.
    tolerance = MERGE
    #: Whether a step may raise the training cost.
    may_raise = False

    def coordinates(self, order: IntArray) -> Iterator[Coordinate]:
        """The numbers to be learned, in the order of their decisions."""
        return ((int(i),) for i in order)

    def admit(self, coordinate: Coordinate) -> bool:  # noqa: ARG002
        """Let the number take part in decisions from now on; whether it did not before."""
        return False

    @abstractmethod
    def limits(self, coordinate: Coordinate) -> tuple[float, float]:
        """The steps between which the choice is."""

    @abstractmethod
    def events(self, coordinate: Coordinate) -> Events:
        """How the decisions change while the number grows."""

    @abstractmethod
    def pick(self, coordinate: Coordinate, intervals: Intervals) -> tuple[float, float]:
        """The step to take, and the cost it leads to."""

    @abstractmethod
    def move(self, coordinate: Coordinate, step: float) -> None:
        """Take a step."""

    @abstractmethod
    def matrix(self) -> Float64Array:
        """The partition matrix as it stands."""

    @abstractmethod
    def parameters(self) -> Float64Array:
        """The numbers learned so far."""

    def decide(self, proba: FloatArray) -> IntArray:
        """Decide by the numbers learned so far."""
        return least_risk(proba, self.matrix())


class RowOffsets(Family):
    """``a_ij = regret_ij + delta_i - delta_h``, where h is at home in j."""

    def __init__(self, proba: Float64Array, regrets: Float64Array) -> None:
        self.proba = proba
        self.regrets = regrets
        self.home, self.cheapest = homes(regrets), regrets == 0
        self.delta = np.zeros(len(regrets))
        self.risks = regrets @ proba.T
        self.unit = float(tie_unit(regrets))
        self.tolerance = MERGE * max(self.unit, regrets.max())
        self.is_wide = _log_spread(regrets) > math.log(WIDE)

    def limits(self, coordinate: Coordinate) -> tuple[float, float]:
        matrix = self.matrix()
        low, high = shift_bounds(matrix, self.cheapest, coordinate[0])
        reach = float(np.ptp(matrix))  # beyond it a decision is always taken, or never
        return max(low, -reach), min(high, reach)

    def events(self, coordinate: Coordinate) -> Events:
        (i,) = coordinate
        at, other = changepoints(self.risks, i, self.unit)
        return Events(start=i, at=at, before=i, after=other, slack=self._slack(at + self.risks[i]))

    def _slack(self, level: Float64Array) -> Float64Array | None:
        """How near the changepoints rows tie, given what both decisions cost there."""
        if not self.is_wide:
            return None
        return MERGE * np.maximum(self.unit, np.abs(level - self.proba @ self.delta[self.home]))

    def pick(self, coordinate: Coordinate, intervals: Intervals) -> tuple[float, float]:
        tolerance = self.tolerance if intervals.slack is None else intervals.slack
        return feasible_offset(intervals, *self.limits(coordinate), tolerance)

    def move(self, coordinate: Coordinate, step: float) -> None:
        self.delta[coordinate] += step
        self.risks[coordinate] += step

    def matrix(self) -> Float64Array:
        return self.regrets + self.delta[:, None] - self.delta[self.home]

    def parameters(self) -> Float64Array:
        return self.delta


class PaperOffsets(RowOffsets):
    """The same, with every step chosen as it is printed."""

    may_raise = True

    def limits(self, coordinate: Coordinate) -> tuple[float, float]:  # noqa: ARG002
        return -math.inf, math.inf

    def pick(self, coordinate: Coordinate, intervals: Intervals) -> tuple[float, float]:
        bounds = super().limits(coordinate)
        tolerance = self.tolerance if intervals.slack is None else intervals.slack
        step, _ = paper_offset(intervals, *bounds, tolerance)
        place = np.searchsorted(intervals.left, step, side="right") - 1
        return step, intervals.cost_at(place)


class Factors(Family):
    """Numbers that multiply, kept as their logarithms, none of which is larger than the reach."""

    def __init__(self, shape: tuple[int, ...], reach: float) -> None:
        self.logs = np.zeros(shape)
        self.reach = reach

    def limits(self, coordinate: Coordinate) -> tuple[float, float]:
        return -self.reach - self.logs[coordinate], self.reach - self.logs[coordinate]

    def pick(self, coordinate: Coordinate, intervals: Intervals) -> tuple[float, float]:
        return log_factor(intervals, *self.limits(coordinate), self.tolerance)

    def move(self, coordinate: Coordinate, step: float) -> None:
        self.logs[coordinate] += step

    def parameters(self) -> Float64Array:
        return np.exp(self.logs)


class RowFactors(Factors):
    """``a_ij = factor_i regret_ij``: offsets of the logarithms of the risks."""

    def __init__(self, proba: Float64Array, regrets: Float64Array) -> None:
        super().__init__((len(regrets),), _reach(regrets))
        self.regrets = regrets
        self.risks = regrets @ proba.T
        with np.errstate(divide="ignore"):
            np.log(self.risks, out=self.risks)

    def events(self, coordinate: Coordinate) -> Events:
        (i,) = coordinate
        at, other = changepoints(self.risks, i)
        return Events(start=i, at=at, before=i, after=other)

    def move(self, coordinate: Coordinate, step: float) -> None:
        super().move(coordinate, step)
        self.risks[coordinate] += step

    def parameters(self) -> Float64Array:
        """The factors, all multiplied until none is below one: decisions tie by differences, not ratios."""
        return np.asarray(np.exp(self.logs - min(0.0, self.logs.min())))

    def matrix(self) -> Float64Array:
        return self.parameters()[:, None] * self.regrets


class ColumnFactors(Factors):
    """``a_ij = factor_j regret_ij``: the decision about a row can change several times on the way."""

    def __init__(self, proba: Float64Array, regrets: Float64Array) -> None:
        super().__init__((regrets.shape[1],), _reach(regrets))
        self.proba = proba
        self.regrets = regrets

    def coordinates(self, order: IntArray) -> Iterator[Coordinate]:
        return ((j,) for j in _truths(self.regrets, order))

    def events(self, coordinate: Coordinate) -> Events:
        return envelope(self.proba, self.matrix(), coordinate[0])

    def matrix(self) -> Float64Array:
        return self.parameters() * self.regrets


class FreeEntries(Factors):
    """Every entry but those at home, each by a factor of its own."""

    def __init__(self, proba: Float64Array, regrets: Float64Array) -> None:
        super().__init__(regrets.shape, _reach(regrets))
        self.proba = proba
        self.regrets = regrets
        self.risks = regrets @ proba.T
        self.unit = float(tie_unit(regrets))

    def coordinates(self, order: IntArray) -> Iterator[Coordinate]:
        home, truths = homes(self.regrets), _truths(self.regrets, order)
        return ((int(i), j) for i in order for j in truths if i != home[j])

    def events(self, coordinate: Coordinate) -> Events:
        i, j = coordinate
        at, other = changepoints(self.risks, i, self.unit)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            at /= self.matrix()[i, j] * self.proba[:, j]
            at = np.log1p(np.maximum(at, -1.0))  # below -1 not even a free mistake would bring i back
        unmoved = np.isnan(at)
        at[unmoved] = np.where(i < other[unmoved], np.inf, -np.inf)
        return Events(start=i, at=at, before=i, after=other)

    def move(self, coordinate: Coordinate, step: float) -> None:
        before = self.matrix()[coordinate]
        super().move(coordinate, step)
        i, j = coordinate
        self.risks[i] += (self.matrix()[coordinate] - before) * self.proba[:, j]

    def matrix(self) -> Float64Array:
        return self.parameters() * self.regrets


def _truths(regrets: Float64Array, order: IntArray) -> list[int]:
    """The truths in the order of the decisions that are at home there."""
    place = np.argsort(order)
    return list(map(int, np.argsort(place[homes(regrets)], kind="stable")))


def _log_spread(regrets: Float64Array) -> float:
    """The logarithm of the ratio of the greatest regret to the least."""
    apart = regrets[regrets > 0]
    return math.log(apart.max()) - math.log(apart.min()) if apart.size else 0.0


def _reach(regrets: Float64Array) -> float:
    """The largest logarithm of a factor: it can make up for any ratio of costs, as long as it is a float."""
    return min(math.log(1e6) + _log_spread(regrets), 300.0)
