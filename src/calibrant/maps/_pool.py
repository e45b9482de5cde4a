"""Several maps of all scores of a row, pooled: each is a softmax of features of the row, or made of steps.

No answer is 0 or 1.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._field_groups import ListOf, Matrix, Numbers, Record, check_length
from calibrant._core._fields import PROBABILITY, Choice, Maybe, Number, Text
from calibrant._core._place import Place
from calibrant.maps._at_once import AtOnce
from calibrant.maps._map import Map
from calibrant.maps._operations import SYMBOLS, Operations
from calibrant.maps._pool_row import Basis, Curves, Entry, Row, Start, check_pairs, mixed
from calibrant.maps._row_maps import softmax

#: Steps are no lower than this before a row of them is normalised.
LEAST_STEP = 1e-12
#: What a linear map sees of a row besides the logarithms of the start.
BLOCKS = ("none", "inputs", "squares", "kernel")
NAME = Text("a name", r"[a-z]+")


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
            for features, part in zip(row.blocks(self.block), self.parts(row.basis), strict=True):
                z = z + ops.product(features, part)
        return softmax(z, ops)

    def parts(self, basis: Basis) -> list[Float64Array]:
        """What every part of the block is multiplied by."""
        return np.split(self.matrix, np.cumsum(self._widths(basis))[:-1])  # type: ignore[arg-type]

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
            second = self._curves.formula(ops.columns(own, np.array([1])), ops)
            return ops.beside([1.0 - second, second])
        steps = ops.clip(self._curves.formula(own, ops), LEAST_STEP, 1.0)
        return steps / ops.row_sums(steps)

    @cached_property
    def _curves(self) -> Curves:
        return Curves(self.knots, self.values)


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
        k = self.entry.n_classes
        row = Row(self.entry, self.start, self.basis, scores, ops)
        if ops is SYMBOLS:
            pooled = reduce(add, (each.formula(row) * weight for weight, each in self._parts))
        else:
            pooled = self._mean(row)
        if self.power != 1.0:
            pooled = softmax(ops.log(mixed(pooled, self.share, k)) * self.power, ops)
        return ops.columns(mixed(pooled, self.share, k), self.entry.places)

    def _mean(self, row: Row) -> Any:
        """The mean of the maps by their weights, all linear ones at once."""
        pooled = 0.0 if self._at_once is None else self._at_once.mean(row)
        if self.stairs is not None:
            pooled = pooled + self.stairs.formula(row) * self._parts[-1][0]
        return pooled

    @cached_property
    def _at_once(self) -> AtOnce | None:
        weights = [weight for weight, _ in self._parts]
        return AtOnce.of(self.linear, weights[: len(self.linear)], self.basis) if self.linear else None

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
        if self.start.bias is not None:
            check_length(self.start.bias, k, at / "start" / "bias", "one per class")
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
