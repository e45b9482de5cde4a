"""What the maps of a pool see of a row: its scores by class, the start, and the features of these.

Classes stand in an order that does not depend on their labels, so that other labels give the same numbers
to the last bit. All logarithms are of numbers above zero.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._field_groups import Added, ListOf, Matrix, Numbers, Record, Wholes, check_length
from calibrant._core._fields import PROBABILITY, Choice, Flag, Maybe, Number
from calibrant._core._place import Place
from calibrant.maps._features import features_named
from calibrant.maps._graph import answers
from calibrant.maps._intervals import IntervalLookup
from calibrant.maps._operations import LOG_TINY, SYMBOLS, Operations
from calibrant.maps._row_maps import softmax
from calibrant.maps._score_maps import Lines

#: Standardised scores, and principal axes, are kept within these bounds.
FAR, AXIS_END = 1e9, 4.0
#: Curves of up to so many rows are looked up all at once: calls of NumPy cost more than short columns.
AT_ONCE = 16
#: What the two classes of a single score are given of it: of a margin, and of a probability after (1, 0).
HALVES, SIDES = np.array([[-0.5, 0.5]]), np.array([[-1.0, 1.0]])


def mixed(proba: Any, share: float, n_classes: int) -> Any:
    """Probabilities, a share of which is spread evenly."""
    return proba * (1 - share) + share / n_classes


def rest_of(proba: Any, n_classes: int, ops: Operations) -> Any:
    """For every class the sum of the others, without differences that cancel."""
    return ops.product(proba, _others(n_classes))


@lru_cache
def _others(n_classes: int) -> Float64Array:
    return np.asarray(1.0 - np.eye(n_classes))


@lru_cache
def _pairs(n_axes: int) -> tuple[IntArray, IntArray]:
    return np.triu_indices(n_axes)


@dataclass(frozen=True, eq=False)
class Entry:
    """How scores come in.

    Parameters
    ----------
    kind : {"margin", "probability"}
        What they are.
    order : ndarray of shape (k,)
        The classes in the order in which all else stands.
    single : bool
        Whether there is but one score, of the second of two classes.
    code : ndarray of shape (l, k) or None
        Which classes every column speaks for, where the columns are those of a code.
    """

    kind: str
    order: IntArray
    single: bool
    code: Float64Array | None

    fields = Record(
        kind=Choice("margin", "probability"), order=Wholes(0), single=Flag(), code=Maybe(Matrix())
    )

    @cached_property
    def n_classes(self) -> int:
        """How many there are."""
        return len(self.order)

    @cached_property
    def places(self) -> IntArray:
        """Where every class stands in this order."""
        return np.argsort(self.order)

    @cached_property
    def n_columns(self) -> int:
        """How many scores a row has."""
        return 1 if self.single else self.n_classes if self.code is None else len(self.code)

    @cached_property
    def of_probabilities(self) -> bool:
        """Whether every class has a probability, and not a margin."""
        return self.kind == "probability" and self.code is None

    def check(self, at: Place) -> None:
        """Every class is there once."""
        k = self.n_classes
        if sorted(self.order.tolist()) != list(range(k)) or k < 2 or (self.single and k != 2):
            (at / "order").fail("must hold the number of every class once; it does not")
        if self.code is not None and self.code.shape[1] != k:
            (at / "code").fail(f"must have {k} columns, one per class; got {self.code.shape[1]}")

    def of_classes(self, scores: Any, ops: Operations) -> Any:
        """A probability above zero, or a margin, for every class."""
        if self.code is not None:
            return ops.product(self.of_columns(scores, ops), self.code[:, self.order])
        if self.single:
            probable = self.kind == "probability"
            scores = ops.product(scores, SIDES if probable else HALVES)
            scores = scores + np.array([1.0, 0.0]) if probable else scores
        scores = ops.columns(scores, self.order)
        return ops.clip(scores, LOG_TINY, 1.0) if self.of_probabilities else scores

    def of_columns(self, scores: Any, ops: Operations) -> Any:
        """The margins of the columns of a code."""
        (margins,) = features_named("any_log_odds" if self.kind == "probability" else "score").formula(
            scores, ops
        )
        return margins


@dataclass(frozen=True, eq=False)
class Start:
    """Temperature scaling, ``q = (1 - e) softmax(a log(p + d)) + e/k``; of margins ``softmax(a s + c)``.

    Parameters
    ----------
    scale : float
        The number a.
    floor : float or None
        The number d; None for margins.
    share : float
        The number e.
    bias : ndarray of shape (k,) or None
        The numbers c; None for probabilities, and for margins that are even at 0.
    """

    scale: float
    floor: float | None
    share: float
    bias: Float64Array | None = None

    fields = Record(
        scale=Number(0.0), floor=Maybe(PROBABILITY), share=PROBABILITY, bias=Added(Maybe(Numbers()), None)
    )

    def formula(self, given: Any, n_classes: int, ops: Operations) -> Any:
        """The probabilities q of the classes."""
        z = given if self.floor is None else ops.log(given + self.floor)
        scale = np.full(n_classes, self.scale)  # onnxruntime rounds a number after a product to 32 bits
        z = z * scale if self.bias is None else z * scale + self.bias
        return mixed(softmax(z, ops), self.share, n_classes)


@dataclass(frozen=True, eq=False)
class Basis:
    """Standardised inputs, their principal axes, landmarks on these, and a scale of every class's own score.

    Parameters
    ----------
    centre, spread : ndarray of shape (l,)
        Means and standard deviations of the inputs.
    axes : ndarray of shape (l, r)
        The whitened principal axes.
    landmarks : ndarray of shape (m, r) or None
        Where the kernel looks from, if there is one.
    knots, heights : list of ndarray
        For every class, knots of its own score, and where they stand among normal scores; none where no map
        needs them.
    """

    centre: Float64Array
    spread: Float64Array
    axes: Float64Array
    landmarks: Float64Array | None
    knots: list[Float64Array]
    heights: list[Float64Array]

    fields = Record(
        centre=Numbers(),
        spread=Numbers(Number(above=0.0)),
        axes=Matrix(),
        landmarks=Maybe(Matrix()),
        knots=ListOf(Numbers(least_length=1)),
        heights=ListOf(Numbers(least_length=1)),
    )

    def inputs(self, rows: Any, ops: Operations) -> Any:
        """The standardised inputs."""
        return ops.clip((rows - self.centre) / self.spread, -FAR, FAR)

    def places(self, inputs: Any, ops: Operations) -> Any:
        """Where a row is on the principal axes."""
        return ops.clip(ops.product(inputs, self.axes), -AXIS_END, AXIS_END)

    @staticmethod
    def squares(places: Any, n_axes: int, ops: Operations) -> Any:
        """All products of two axes."""
        one, other = _pairs(n_axes)
        return ops.columns(places, one) * ops.columns(places, other)

    def kernel(self, places: Any, ops: Operations) -> Any:
        """How near a row is to every landmark: ``exp(-|z - a|^2 / r)``."""
        marks: Any = self.landmarks
        squares = ops.row_sums(places * places)
        rows = ops.beside([places, squares, ops.filled(squares, marks.dtype.type(1))])
        return ops.exp(ops.product(rows, self._distances))

    @cached_property
    def _distances(self) -> Any:
        """What makes ``(2 z a - |z|^2 - |a|^2) / r`` of z, |z|^2 and 1: one product, and no copies."""
        marks: Any = self.landmarks
        minus = np.full((1, len(marks)), -1.0, marks.dtype)
        parts = [2 * marks.T, minus, -(marks * marks).sum(axis=1)[None]]
        return np.ascontiguousarray(np.vstack(parts) / marks.dtype.type(marks.shape[1]))

    def heights_of(self, own: Any, ops: Operations) -> Any:
        """The normal scores of the classes' own scores."""
        return self._curves.formula(own, ops)

    @cached_property
    def _curves(self) -> "Curves":
        return Curves(self.knots, self.heights)

    def check(self, at: Place, entry: Entry) -> None:
        """Everything is there for every input and every class."""
        n_inputs = entry.n_classes if entry.code is None else entry.n_columns
        for name in ("centre", "spread", "axes"):
            check_length(getattr(self, name), n_inputs, at / name, "one per input")
        if self.landmarks is not None and self.landmarks.shape[1] != self.axes.shape[1]:
            (at / "landmarks").fail(f"must have {self.axes.shape[1]} columns, one per axis")
        if self.knots:
            check_length(self.knots, entry.n_classes, at / "knots", "one list per class")
        check_pairs(self.knots, self.heights, at)


def check_pairs(knots: list[Float64Array], values: list[Float64Array], at: Place) -> None:
    """Knots in ascending order, and a value for each."""
    check_length(values, len(knots), at / "values", "a list for every list of knots")
    for number, (x, y) in enumerate(zip(knots, values, strict=True)):
        check_length(y, len(x), at / "values", "one per knot")
        if (x[1:] < x[:-1]).any():
            (at / "knots")[number].fail("must be in ascending order; they are not")


@dataclass(frozen=True, eq=False)
class Curves:
    """For every column lines through knots of its own, level beyond the last.

    Parameters
    ----------
    knots, values : list of ndarray
        Those of every column.
    """

    knots: list[Float64Array]
    values: list[Float64Array]

    def formula(self, rows: Any, ops: Operations) -> Any:
        """The heights of the lines."""
        if ops is SYMBOLS:
            lines = [Lines.through(*pair) for pair in zip(self.knots, self.values, strict=True)]
            return answers(rows, lines) if len(lines) > 1 else answers(rows.as_vector(), lines).as_column()
        columns = rows.T
        if columns.shape[1] <= AT_ONCE:
            return self._at_once(columns).T
        found = np.empty(columns.shape)
        for number, (lookup, low, high, x, y, slope) in enumerate(self._lookups):
            column = np.minimum(np.maximum(columns[number], low), high)  # differences stay finite
            place = lookup(column)
            column -= x.take(place)
            column *= slope.take(place)
            np.add(column, y.take(place), out=found[number])
        return found.T

    def _at_once(self, columns: Float64Array) -> Float64Array:
        """The same numbers by one search for all columns: complex numbers are ordered by both parts."""
        numbers, low, high, keys, x, y, slope = self._segments
        columns = np.minimum(np.maximum(columns, low), high)
        wanted = np.empty(columns.shape, np.complex128)
        wanted.real, wanted.imag = numbers, columns
        place = keys.searchsorted(wanted.ravel(), "right").reshape(columns.shape) - 1
        return slope[place] * (columns - x[place]) + y[place]

    @cached_property
    def _segments(self) -> tuple[Array, ...]:
        """The columns' numbers and ends; where every segment begins; a point on it, and its slope."""
        keys = []
        for number, knots in enumerate(self.knots):
            keys.append(np.full(len(knots) + 1, number, np.complex128))
            keys[-1].imag = np.append(-np.inf, knots)
        numbers = np.arange(len(keys))[:, None]
        low, high = (np.array([knots[end] for knots in self.knots])[:, None] for end in (0, -1))
        return numbers, low, high, np.concatenate(keys), *map(np.concatenate, zip(*self._lines, strict=True))

    @cached_property
    def _lookups(self) -> list[tuple[Any, ...]]:
        """For every column how many knots are no greater than a score, its ends, and the lines."""
        return [
            (IntervalLookup(np.nextafter(knots, -np.inf)), knots[0], knots[-1], *lines)
            for knots, lines in zip(self.knots, self._lines, strict=True)
        ]

    @cached_property
    def _lines(self) -> list[tuple[Array, ...]]:
        """For every column a point on each segment, and its slope."""
        found: list[tuple[Array, ...]] = []
        for knots, values in zip(self.knots, self.values, strict=True):
            run = np.diff(knots)
            rise = np.divide(np.diff(values), run, out=np.zeros(len(run)), where=run > 0)
            x, y = np.append(knots[0], knots), np.append(values[0], values)
            found.append((x, y, np.concatenate([[0.0], rise, [0.0]])))
        return found


class Row:
    """What maps see of rows, each made when it is first asked for.

    Parameters
    ----------
    entry, start, basis : Entry, Start, Basis or None
        How it is made.
    scores : array or Tensor
        The scores of the rows.
    ops : Operations
        What it is made by.
    """

    def __init__(self, entry: Entry, start: Start, basis: Any, scores: Any, ops: Operations) -> None:
        self.entry, self.start, self.basis = entry, start, basis
        self.scores, self.ops, self.n_classes = scores, ops, entry.n_classes

    def on(self, basis: Any) -> "Row":
        """The same on a basis, where there was none; what needs none is not made again."""
        row = copy(self)
        row.basis = basis
        return row

    @cached_property
    def given(self) -> Any:
        """The probability, above zero, or the margin of every class."""
        return self.entry.of_classes(self.scores, self.ops)

    @cached_property
    def start_proba(self) -> Any:
        """The probabilities q of the start."""
        return self.start.formula(self.given, self.n_classes, self.ops)

    @cached_property
    def log_start(self) -> Any:
        """Their logarithms u."""
        return self.ops.log(self.start_proba)

    @cached_property
    def log_rest(self) -> Any:
        """The logarithms of 1 - q."""
        return self.ops.log(rest_of(self.start_proba, self.n_classes, self.ops))

    @cached_property
    def own(self) -> Any:
        """The score of every class for itself: its log-odds or margin, of two classes their difference."""
        given, ops = self.given, self.ops
        if self.entry.of_probabilities:
            return ops.log(given) - ops.log(rest_of(given, self.n_classes, ops))
        return given - ops.columns(given, np.array([1, 0])) if self.n_classes == 2 else given

    @cached_property
    def heights(self) -> Any:
        """The normal scores of these."""
        return self.basis.heights_of(self.own, self.ops)

    @cached_property
    def raw_inputs(self) -> Any:
        """What is standardised: logarithms of the start, or margins of the columns."""
        if self.entry.of_probabilities:
            return self.log_start
        return self.given if self.entry.code is None else self.entry.of_columns(self.scores, self.ops)

    @cached_property
    def inputs(self) -> Any:
        """The same, standardised."""
        return self.basis.inputs(self.raw_inputs, self.ops)

    @cached_property
    def places(self) -> Any:
        """Places on the principal axes."""
        return self.basis.places(self.inputs, self.ops)

    def blocks(self, name: str) -> list[Any]:
        """The features of a block, in one or two matrices."""
        if name == "inputs":
            return [self.inputs]
        if name == "squares":
            return [self.places, self.basis.squares(self.places, self.basis.axes.shape[1], self.ops)]
        return [self.places, self.basis.kernel(self.places, self.ops)] if name == "kernel" else []
