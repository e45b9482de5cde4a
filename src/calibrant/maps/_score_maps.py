"""The maps of one score: steps, bounds, lines, a logistic curve, a constant, and the score itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._extremes import HUGE
from calibrant._core._field_groups import Numbers, Record, check_length
from calibrant._core._fields import PROBABILITY, Choice, Field, Maybe, Number, Schema
from calibrant._core._place import Place
from calibrant.maps._features import FEATURES, features_named
from calibrant.maps._intervals import IntervalLookup
from calibrant.maps._map import Map
from calibrant.maps._operations import NUMPY, Operations


class _Edges(Field):
    """Edges in ascending order."""

    json_type = (list,)
    what = "a list of numbers in ascending order"
    _numbers = Numbers()

    def write(self, value: IntervalLookup) -> Any:
        """A list of floats."""
        return self._numbers.write(value.edges)

    def _read(self, plain: Any, at: Place) -> IntervalLookup:
        edges = self._numbers.read(plain, at)
        falling = np.flatnonzero(np.diff(edges) < 0)
        if len(falling):
            at[int(falling[0]) + 1].fail("must not be below the one before it")
        return IntervalLookup(edges)

    def schema(self) -> Schema:
        """An array of numbers."""
        return self._numbers.schema()


@dataclass(frozen=True, eq=False)
class Steps(Map, name="steps"):
    """A value for every interval of scores.

    Parameters
    ----------
    edges : IntervalLookup
        The edges in ascending order; each belongs to the interval below it.
    values : ndarray
        The values, one more than edges.
    """

    edges: IntervalLookup
    values: Float64Array

    fields = Record(edges=_Edges(), values=Numbers(PROBABILITY, least_length=1))

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The value of the interval that a score is in."""
        return ops.take(self.values, ops.interval(self.edges, scores))

    def check(self, at: Place) -> None:
        """One value more than edges."""
        check_length(self.values, len(self.edges.edges) + 1, at / "values", "one more than edges")


@dataclass(frozen=True, eq=False)
class Bounds(Map, name="bounds"):
    """A lower and an upper probability for every score, of which the answer is made.

    With lower and upper probabilities p0 and p1 the answer is ``p1 / (1 - p0 + p1)``: of all single answers
    it has the least regret, by log loss, for not having known which of the two would have been right.

    Parameters
    ----------
    lower_edges : IntervalLookup
        The edges of the steps of the lower probability; each belongs to the interval below it.
    lower : ndarray
        The lower probabilities, one more than edges.
    upper_edges : IntervalLookup
        The edges of the steps of the upper probability.
    upper : ndarray
        The upper probabilities, one more than edges.
    """

    lower_edges: IntervalLookup
    lower: Float64Array
    upper_edges: IntervalLookup
    upper: Float64Array

    fields = Record(
        lower_edges=_Edges(),
        lower=Numbers(PROBABILITY, least_length=1),
        upper_edges=_Edges(),
        upper=Numbers(PROBABILITY, least_length=1),
    )

    def bounds(self, scores: Any, ops: Operations = NUMPY) -> tuple[Any, Any]:
        """The lower and the upper probability at a score."""
        lower = ops.take(self.lower, ops.interval(self.lower_edges, scores))
        return lower, ops.take(self.upper, ops.interval(self.upper_edges, scores))

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The upper probability, relative to that and to what the lower one leaves."""
        lower, upper = self.bounds(scores, ops)
        return upper / (1.0 - lower + upper)

    def check(self, at: Place) -> None:
        """Values that rise, one more of them than edges; and the upper ones not below the lower ones."""
        for name in ("lower", "upper"):
            values, edges = getattr(self, name), getattr(self, f"{name}_edges").edges
            check_length(values, len(edges) + 1, at / name, f"one more than {name}_edges")
            falling = np.flatnonzero(np.diff(values) < 0)
            if len(falling):
                (at / name)[int(falling[0]) + 1].fail("must not be below the one before it")
        edges = np.append(self.lower_edges.edges, self.upper_edges.edges)
        for asked in (edges, np.nextafter(edges, np.inf)):
            lower, upper = self.bounds(asked)
            if (lower > upper).any():
                at.fail("must not have a lower probability above the upper one")


@dataclass(frozen=True, eq=False)
class Lines(Map, name="lines"):
    """Straight lines between knots, and constants outside of them; see `Lines.through`.

    Parameters
    ----------
    edges : IntervalLookup
        The knots; interval i reaches from knot i - 1 to knot i.
    low, high : float
        The first and the last knot.
    half : ndarray
        1/2 for intervals whose ends may be an infinite distance apart, and else 1.
    begin, width : ndarray
        Where every interval begins, and how wide it is, in these units.
    rise, value : ndarray
        What is gained over the interval, and the value where it begins.
    clip : float, optional
        How far answers stay from 0 and 1.
    """

    edges: IntervalLookup
    low: float
    high: float
    half: Float64Array
    begin: Float64Array
    width: Float64Array
    rise: Float64Array
    value: Float64Array
    clip: float | None = None

    fields = Record(
        edges=_Edges(),
        low=Number(),
        high=Number(),
        half=Numbers(),
        begin=Numbers(),
        width=Numbers(Number(0.0)),
        rise=Numbers(),
        value=Numbers(PROBABILITY),
        clip=Maybe(Number(0.0, below=0.5)),
    )

    @classmethod
    def through(cls, knots: Float64Array, values: Float64Array, clip: float | None = None) -> "Lines":
        """The lines through some points, by ascending knots; equal neighbours make no step."""
        begin, end = np.append(knots[0], knots), np.append(knots, knots[-1])
        half = np.where(np.maximum(np.abs(begin), np.abs(end)) > HUGE, 0.5, 1.0)
        value = np.append(values[0], values)
        rise = np.append(np.diff(value), 0.0)
        width = np.where(rise == 0, 1.0, end * half - begin * half)
        lookup = IntervalLookup(knots)
        return cls(lookup, float(knots[0]), float(knots[-1]), half, begin * half, width, rise, value, clip)

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The share of the way to the next knot, times what is gained there."""
        place = ops.interval(self.edges, scores)

        def here(table: Any) -> Any:
            return ops.take(table, place)

        inside = ops.clip(scores, self.low, self.high)
        if self._halves:
            inside = inside * here(self.half)
        way = (inside - here(self.begin)) / here(self.width)
        positive = way * here(self.rise) + here(self.value)
        return positive if self.clip is None else ops.clip(positive, self.clip, 1 - self.clip)

    @cached_property
    def _halves(self) -> bool:
        """Whether some interval counts in halves; of several columns each has a table."""
        tables = self.half if isinstance(self.half, list) else [self.half]
        return any(bool((each != 1).any()) for each in tables)

    def check(self, at: Place) -> None:
        """One interval more than edges."""
        for name in ("half", "begin", "width", "rise", "value"):
            check_length(getattr(self, name), len(self.edges.edges) + 1, at / name, "one more than edges")


@dataclass(frozen=True, eq=False)
class Logistic(Map, name="logistic"):
    """The curve ``1/(1 + exp(z))`` of a linear function z of features; a useful score has falling slopes.

    Parameters
    ----------
    slope : tuple of float
        One for each feature.
    intercept : float
        What is added.
    features : str, default="score"
        What of the score is used: itself, or some of its logarithms; see `FEATURES`.
    """

    slope: tuple[float, ...]
    intercept: float
    features: str = "score"

    fields = Record(slope=Numbers(least_length=1), intercept=Number(), features=Choice(*FEATURES))

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", tuple(map(float, self.slope)))

    @property
    def takes_probabilities(self) -> bool:
        """Logarithms are those of probabilities."""
        return features_named(self.features).of_probabilities

    def check(self, at: Place) -> None:
        """One slope for every feature."""
        n_features = len(features_named(self.features).formula(np.full(1, 0.5), NUMPY))
        check_length(self.slope, n_features, at / "slope", "one for every feature")

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The curve at the features of a score."""
        features = features_named(self.features).formula(scores, ops)
        z = features[0] * self.slope[0]
        for slope, feature in zip(self.slope[1:], features[1:], strict=True):
            z = z + feature * slope
        return ops.falling_sigmoid(z + self.intercept)


@dataclass(frozen=True, eq=False)
class Constant(Map, name="constant"):
    """The same answer whatever the score.

    Parameters
    ----------
    value : float
        The answer.
    """

    value: float

    fields = Record(value=PROBABILITY)

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The value."""
        return ops.filled(scores, self.value)


@dataclass(frozen=True, eq=False)
class Identity(Map, name="identity"):
    """The score itself, which must be a probability."""

    fields = Record()

    @property
    def takes_probabilities(self) -> bool:
        """They are the answers."""
        return True

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The score, which rounding may have carried over an end."""
        return ops.clip(scores, 0.0, 1.0)
