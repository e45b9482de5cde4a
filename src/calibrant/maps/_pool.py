"""Several maps of all scores of a row, pooled: each is a softmax of features of the row, or made of steps.

Classes stand in an order that does not depend on their labels, so that other labels give the same numbers
to the last bit. All logarithms are of numbers above zero, and no answer is 0 or 1.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._field_groups import ListOf, Matrix, Numbers, Record, Wholes, check_length
from calibrant._core._fields import PROBABILITY, Choice, Flag, Maybe, Number, Text
from calibrant._core._place import Place
from calibrant.maps._features import features_named
from calibrant.maps._graph import answers
from calibrant.maps._map import Map
from calibrant.maps._operations import LOG_TINY, SYMBOLS, Operations
from calibrant.maps._row_maps import softmax
from calibrant.maps._score_maps import Lines

#: Standardised scores, and principal axes, are kept within these bounds.
FAR, AXIS_END = 1e9, 4.0
#: Steps are no lower than this before a row of them is normalised.
LEAST_STEP = 1e-12
#: What the two classes of a single score are given of it: of a margin, and of a probability after (1, 0).
HALVES, SIDES = np.array([[-0.5, 0.5]]), np.array([[-1.0, 1.0]])
#: What a linear map sees of a row besides the logarithms of the start.
BLOCKS = ("none", "inputs", "squares", "kernel")
NAME = Text("a name", r"[a-z]+")


def mixed(proba: Any, share: float, n_classes: int) -> Any:
    """Probabilities, a share of which is spread evenly."""
    return proba * (1 - share) + share / n_classes


def rest_of(proba: Any, n_classes: int, ops: Operations) -> Any:
    """For every class the sum of the others, without differences that cancel."""
    return ops.product(proba, 1.0 - np.eye(n_classes))


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

    @property
    def n_classes(self) -> int:
        """How many there are."""
        return len(self.order)

    @property
    def n_columns(self) -> int:
        """How many scores a row has."""
        return 1 if self.single else self.n_classes if self.code is None else len(self.code)

    @property
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
    """Temperature scaling, ``q = (1 - e) softmax(a log(p + d)) + e/k``; of margins ``softmax(a s)``.

    Parameters
    ----------
    scale : float
        The number a.
    floor : float or None
        The number d; None for margins.
    share : float
        The number e.
    """

    scale: float
    floor: float | None
    share: float

    fields = Record(scale=Number(0.0), floor=Maybe(PROBABILITY), share=PROBABILITY)

    def formula(self, given: Any, n_classes: int, ops: Operations) -> Any:
        """The probabilities q of the classes."""
        z = given if self.floor is None else ops.log(given + self.floor)
        scale = np.full(n_classes, self.scale)  # onnxruntime rounds a number after a product to 32 bits
        return mixed(softmax(z * scale, ops), self.share, n_classes)


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
        one, other = np.triu_indices(n_axes)
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
        return by_column(self.knots, self.heights, own, ops)

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


def by_column(knots: list[Float64Array], values: list[Float64Array], rows: Any, ops: Operations) -> Any:
    """Every column by lines through its own knots."""
    pairs = list(zip(knots, values, strict=True))
    if ops is SYMBOLS:
        lines = [Lines.through(*pair) for pair in pairs]
        return answers(rows, lines) if len(lines) > 1 else answers(rows.as_vector(), lines).as_column()
    columns = zip(np.ascontiguousarray(rows.T), pairs, strict=True)
    return np.stack([np.interp(column, *pair) for column, pair in columns]).T


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


@dataclass(frozen=True, eq=False)
class Linear:
    """The softmax of ``slope u + bias``, of shapes of the class's own score, and of a block of features.

    Parameters
    ----------
    name : str
        What it is called.
    slope, bias : ndarray of shape (k,)
        Of the logarithm u of the start.
    shapes : ndarray of shape (3, k) or None
        Of log(1 - q), of the normal score of the class's own score, and of its square.
    block : {"none", "inputs", "squares", "kernel"}
        Which features there are besides; the last two after the principal axes themselves.
    matrix : ndarray of shape (f, k) or None
        What they are multiplied by.
    """

    name: str
    slope: Float64Array
    bias: Float64Array
    shapes: Float64Array | None = None
    block: str = "none"
    matrix: Float64Array | None = None

    fields = Record(
        name=NAME,
        slope=Numbers(),
        bias=Numbers(),
        shapes=Maybe(Matrix()),
        block=Choice(*BLOCKS),
        matrix=Maybe(Matrix()),
    )

    def formula(self, row: Row) -> Any:
        """The probabilities of the classes."""
        ops = row.ops
        z = row.log_start * self.slope + self.bias
        if self.shapes is not None:
            heights = row.heights
            for each, shape in zip((row.log_rest, heights, heights * heights), self.shapes, strict=True):
                z = z + each * shape
        if self.matrix is not None:
            before = 0
            for features, width in zip(row.blocks(self.block), self._widths(row.basis), strict=True):
                z = z + ops.product(features, self.matrix[before : before + width])
                before += width
        return softmax(z, ops)

    def _widths(self, basis: Basis) -> list[int]:
        """How many features each part of the block has."""
        n_axes = basis.axes.shape[1]
        return {
            "inputs": [len(basis.centre)],
            "squares": [n_axes, n_axes * (n_axes + 1) // 2],
            "kernel": [n_axes, 0 if basis.landmarks is None else len(basis.landmarks)],
        }[self.block]

    def fits(self, basis: Basis | None, n_classes: int) -> bool:
        """Whether all numbers are there."""
        shapes = self.shapes is None or (
            basis is not None and len(basis.knots) == n_classes and self.shapes.shape == (3, n_classes)
        )
        if (self.matrix is None) != (self.block == "none"):
            return False
        whole = self.matrix is None or (
            basis is not None and self.matrix.shape == (sum(self._widths(basis)), n_classes)
        )
        return shapes and whole and len(self.slope) == len(self.bias) == n_classes


@dataclass(frozen=True, eq=False)
class Stairs:
    """Isotonic steps of every class's own score, joined by lines; of two classes of the second alone.

    Parameters
    ----------
    knots, values : list of ndarray
        Where the steps begin and end, and the probabilities there.
    """

    knots: list[Float64Array]
    values: list[Float64Array]

    fields = Record(
        knots=ListOf(Numbers(least_length=1), least=1), values=ListOf(Numbers(PROBABILITY, least_length=1))
    )

    name = "steps"

    def formula(self, row: Row) -> Any:
        """The steps of a row, divided by their sum."""
        return self.of_own(row.own, row.n_classes, row.ops)

    def of_own(self, own: Any, n_classes: int, ops: Operations) -> Any:
        """The same from the classes' own scores."""
        if n_classes == 2:
            second = by_column(self.knots, self.values, ops.columns(own, np.array([1])), ops)
            return ops.beside([1.0 - second, second])
        steps = ops.clip(by_column(self.knots, self.values, own, ops), LEAST_STEP, 1.0)
        return steps / ops.row_sums(steps)


@dataclass(frozen=True, eq=False)
class Pool(Map, name="pool"):
    """Several maps of all scores of a row: their mean by weights, to a power, a share spread evenly.

    Parameters
    ----------
    entry : Entry
        How scores come in.
    start : Start
        What all of them begin from.
    basis : Basis or None
        The features, where some map needs them.
    linear : list of Linear
        The maps that are a softmax, and are worth keeping.
    stairs : Stairs or None
        The steps, if they are worth it.
    names : list of str
        All maps that were tried.
    weights, losses : ndarray
        Of each of these its weight, and its mean log loss on rows that it has not seen.
    power : float
        The probabilities are taken to this power.
    share : float
        Of them, this is spread evenly.
    """

    entry: Entry
    start: Start
    basis: Basis | None
    linear: list[Linear]
    stairs: Stairs | None
    names: list[str]
    weights: Float64Array
    losses: Float64Array
    power: float
    share: float

    fields = Record(
        entry=Record(Entry, **Entry.fields.fields),
        start=Record(Start, **Start.fields.fields),
        basis=Maybe(Record(Basis, **Basis.fields.fields)),
        linear=ListOf(Record(Linear, **Linear.fields.fields)),
        stairs=Maybe(Record(Stairs, **Stairs.fields.fields)),
        names=ListOf(NAME, least=1),
        weights=Numbers(PROBABILITY),
        losses=Numbers(Number(0.0)),
        power=Number(above=0.0),
        share=PROBABILITY,
    )

    @property
    def takes_probabilities(self) -> bool:
        """Where the scores are declared to be some."""
        return self.entry.kind == "probability"

    def formula(self, scores: Any, ops: Operations) -> Any:
        """The pool of the maps, classes in the order of the columns."""
        k, parts = self.entry.n_classes, self._parts
        row = Row(self.entry, self.start, self.basis, scores, ops)
        pooled: Any = None
        for weight, each in parts:
            part = each.formula(row) * weight
            pooled = part if pooled is None else pooled + part
        if self.power != 1.0:
            pooled = softmax(ops.log(mixed(pooled, self.share, k)) * self.power, ops)
        return ops.columns(mixed(pooled, self.share, k), np.argsort(self.entry.order))

    @cached_property
    def _parts(self) -> list[tuple[float, Any]]:
        """The maps that are kept, and their weights, which sum to one."""
        kept: list[Any] = [*self.linear, *([] if self.stairs is None else [self.stairs])]
        weights = np.array([self.weights[self.names.index(each.name)] for each in kept])
        return list(zip((weights / weights.sum()).tolist(), kept, strict=True))

    def check(self, at: Place) -> None:
        """Every map has all its numbers, and a weight."""
        k, entry, basis = self.entry.n_classes, self.entry, self.basis
        entry.check(at / "entry")
        if (self.start.floor is None) == entry.of_probabilities:
            (at / "start" / "floor").fail("must be null for margins, and a number for probabilities")
        for name in ("weights", "losses"):
            check_length(getattr(self, name), len(self.names), at / name, "one per name")
        if basis is not None:
            basis.check(at / "basis", entry)
        for number, each in enumerate(self.linear):
            if each.name not in self.names or not each.fits(basis, k):
                (at / "linear")[number].fail("must be a map of the names, with all its numbers; it is not")
        stairs = self.stairs
        if stairs is not None:
            check_length(stairs.knots, 1 if k == 2 else k, at / "stairs" / "knots", "one list per class")
            check_pairs(stairs.knots, stairs.values, at / "stairs")
        if not self.linear and (stairs is None or "steps" not in self.names):
            at.fail("must have one map or more; it has none")
        if not sum(weight for weight, _ in self._parts) > 0:
            (at / "weights").fail("must be above zero for some map that is there")
