"""An ONNX graph that is written like NumPy: tensors with operators, arrays as constants.

Nothing here needs the package onnx until `Graph.to_model` turns the finished graph into its messages. Only
operators of the default set and of ai.onnx.ml are used, for which onnxruntime's CPU provider has kernels in
double precision.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import ROUNDING
from calibrant.maps._onnx_messages import Body, Content, Node, Output, model_of
from calibrant.maps._onnx_steps import tree
from calibrant.maps._tensor import ExportError, Operand, Target, Tensor

if TYPE_CHECKING:
    from onnx import ModelProto

#: The trees answer in single precision, which holds whole numbers up to this one exactly.
MOST_INTERVALS = 1 << 24


class OnnxExportError(ExportError):
    """A part of a model has no exact counterpart in ONNX."""

    __module__ = "calibrant.models"  # where users find it


@dataclass(frozen=True, slots=True, eq=False)
class OnnxTensor(Tensor):
    """A value that the graph computes. Operations add nodes, and broadcast as in NumPy."""

    graph: "Graph"
    name: str

    @property
    def target(self) -> "Graph":
        return self.graph

    def __add__(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Add", self, other)

    def __sub__(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Sub", self, other)

    def __rsub__(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Sub", other, self)

    def __mul__(self, other: Operand) -> "OnnxTensor":
        if _is_nearly_one(other):
            return self.graph.op("Mul", self.graph.op("Mul", self, other / 2), 2.0)
        return self.graph.op("Mul", self, other)

    def __truediv__(self, other: Operand) -> "OnnxTensor":
        if _is_nearly_one(other):
            return self.graph.op("Mul", self.graph.op("Div", self, other * 2), 2.0)
        return self.graph.op("Div", self, other)

    def __rtruediv__(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Div", other, self)

    def is_above(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Greater", self, other)

    def is_at_least(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("GreaterOrEqual", self, other)

    def is_at_most(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("LessOrEqual", self, other)

    def is_equal(self, other: Operand) -> "OnnxTensor":
        return self.graph.op("Equal", self, other)

    def at_least(self, low: Operand) -> "OnnxTensor":
        return self.graph.op("Max", self, low)

    def at_most(self, high: Operand) -> "OnnxTensor":
        return self.graph.op("Min", self, high)

    def choose(self, if_true: Operand, if_false: Operand) -> "OnnxTensor":
        return self.graph.op("Where", self, if_true, if_false)

    def cast(self, kind: type[np.generic]) -> "OnnxTensor":
        """The same numbers in another type."""
        return self.graph.op("Cast", self, to=_KINDS[kind])

    def columns(self, places: Sequence[int] | Array) -> "OnnxTensor":
        return self.graph.op("Gather", self, np.asarray(places, dtype=np.int64), axis=1)

    def column(self, place: int) -> "OnnxTensor":
        return self.graph.op("Gather", self, np.asarray(place, dtype=np.int64), axis=1)

    def as_vector(self) -> "OnnxTensor":
        return self.graph.op("Reshape", self, np.array([-1]))

    def as_column(self) -> "OnnxTensor":
        return self.graph.op("Reshape", self, np.array([-1, 1]))

    def row_sums(self) -> "OnnxTensor":
        return self.graph.op("ReduceSum", self, np.array([1]), keepdims=1)

    def divided_by_sum(self, instead: Operand) -> "OnnxTensor":
        """Every row divided by its sum; rows of nothing but zeros get something else.

        Sums of products with 0 and 1 are as exact as `Where`, which is slow for a condition of one column.
        """
        total = self.row_sums()
        empty = total.is_equal(0.0).cast(np.float64)
        return self / (total + empty) + empty * instead

    def first_true(self) -> "OnnxTensor":
        return self.graph.op("ArgMax", self.cast(np.uint8), axis=1, keepdims=0)

    def in_table(self, values: Array) -> "OnnxTensor":
        return self.graph.op("Gather", values, self, axis=0)

    def exp(self) -> "OnnxTensor":
        return self.graph.op("Exp", self)

    def log(self) -> "OnnxTensor":
        return self.graph.op("Log", self)

    def sqrt(self) -> "OnnxTensor":
        return self.graph.op("Sqrt", self)

    def floor(self) -> "OnnxTensor":
        return self.graph.op("Floor", self)

    def size(self) -> "OnnxTensor":
        return self.graph.op("Abs", self)

    def intervals(self, edges: Sequence[Array]) -> "OnnxTensor":
        sizes = [len(each) + 1 for each in edges]
        if sum(sizes) > MOST_INTERVALS:
            self.graph.refuse(
                f"a model in ONNX must have at most {MOST_INTERVALS} steps or cells; got {sum(sizes)}; "
                "calibrate by a sigmoid or by fewer bins, or serve the model that `save` writes"
            )
        before = np.cumsum([0, *sizes[:-1]])
        matrix = self.as_column() if len(edges) == 1 else self
        places = [
            self.graph.op(
                "TreeEnsembleRegressor",
                matrix,
                **tree(np.asarray(each, dtype=np.float64), column, int(start)),
            )
            for column, (each, start) in enumerate(zip(edges, before, strict=True))
        ]
        place = self.graph.beside(places).cast(np.int32)
        return place.as_vector() if len(edges) == 1 else place

    def intervals_of_all(self, edges: Array) -> "OnnxTensor":
        place = self.as_vector().intervals([edges])
        return self.graph.op("Reshape", place, self.graph.op("Shape", self))

    def as_whole(self) -> "OnnxTensor":
        return self.cast(np.int64)

    def times(self, matrix: Float64Array) -> "OnnxTensor":
        return self.graph.op("MatMul", self, matrix)

    def row_max(self) -> "OnnxTensor":
        return self.graph.op("ReduceMax", self, np.array([1]), keepdims=1)

    def row_min(self) -> "OnnxTensor":
        return self.graph.op("ReduceMin", self, np.array([1]), keepdims=1)

    def running_sums(self, *, exclusive: bool = False) -> "OnnxTensor":
        return self.graph.op("CumSum", self, np.array(1), exclusive=int(exclusive))

    def first_greatest(self) -> "OnnxTensor":
        return self.graph.op("ArgMax", self, axis=1, keepdims=0)

    def n_true(self) -> "OnnxTensor":
        return self.cast(np.int64).row_sums()

    def ranked(self, n_ranks: int) -> tuple["OnnxTensor", "OnnxTensor"]:
        values, places = self.graph.ops("TopK", 2, self, np.array([n_ranks]), axis=1)
        return values, places

    def gathered(self, places: "OnnxTensor") -> "OnnxTensor":
        return self.graph.op("GatherElements", self, places, axis=1)

    def scattered(self, places: "OnnxTensor", values: "OnnxTensor") -> "OnnxTensor":
        return self.graph.op("ScatterElements", self, places, values, axis=1)


def _is_nearly_one(operand: Operand) -> TypeGuard[Array | float]:
    """Whether this is one number that is not 1, but is so when rounded to single precision.

    onnxruntime leaves out multiplications and divisions by such a constant, also those in double precision.
    Halves and doubles are exact, so that the long way round gives the same numbers.
    """
    if isinstance(operand, Tensor) or np.size(operand) != 1:
        return False
    number = float(np.reshape(operand, ()))
    return number != 1 and np.float32(number) == 1


#: Numbers of the types in ONNX.
_KINDS: dict[type[np.generic], int] = {np.float64: 11, np.int64: 7, np.int32: 6, np.uint8: 2}


class Graph(Target):
    """A graph that grows operator by operator, from one input of shape (rows, columns)."""

    name, error = "ONNX", OnnxExportError
    most_dense = 1 << 20  # 8 MB

    def __init__(self, n_columns: int, meaning: str = "") -> None:
        self.n_columns, self.meaning = n_columns, meaning
        self._nodes: list[Node] = []
        self._numbers = count()
        self._constants: dict[tuple[object, ...], tuple[str, Array]] = {}
        self._outputs: dict[str, Output] = {}

    @property
    def scores(self) -> OnnxTensor:
        """The input."""
        return OnnxTensor(self, "scores")

    def op(self, operator: str, *operands: Operand, **attributes: Any) -> OnnxTensor:
        """Add a node with one output."""
        return self.ops(operator, 1, *operands, **attributes)[0]

    def ops(self, operator: str, n_outputs: int, *operands: Operand, **attributes: Any) -> list[OnnxTensor]:
        """Add a node with so many outputs; attributes are numbers, texts, lists of them, or arrays."""
        number = next(self._numbers)
        outputs = tuple(f"{operator}_{number}_{place}" for place in range(n_outputs))
        self._nodes.append(Node(operator, tuple(map(self._name_of, operands)), outputs, attributes))
        return [OnnxTensor(self, name) for name in outputs]

    def beside(self, tensors: Sequence[OnnxTensor]) -> OnnxTensor:
        """Matrices side by side."""
        return tensors[0] if len(tensors) == 1 else self.op("Concat", *tensors, axis=1)

    def spread(self, columns: Array) -> OnnxTensor:
        """A matrix with as many rows as the input, all equal to this one."""
        n_rows = self.op("Shape", self.scores, start=0, end=1)
        shape = self.op("Concat", n_rows, np.array([len(columns)]), axis=0)
        return self.op("Expand", columns, shape)

    def refusing(self, proba: OnnxTensor, probabilities: Sequence[bool]) -> OnnxTensor:
        """A graph cannot raise an error: NaN marks the rows that the library refuses."""
        scores = self.scores if self.n_columns > 1 else self.scores.as_vector()
        if not any(probabilities):
            marks = scores * 0.0
        else:
            greatest = np.finfo(np.float64).max
            low = _per_column([-ROUNDING if bounded else -greatest for bounded in probabilities])
            high = _per_column([1 + ROUNDING if bounded else greatest for bounded in probabilities])
            inside = self.op("And", scores.is_at_least(low), scores.is_at_most(high))
            marks = inside.choose(0.0, np.nan)
        return proba + (marks.as_column() if self.n_columns == 1 else marks.row_sums())

    def iterated(
        self, state: Sequence[OnnxTensor], step: Callable[[list[Any]], tuple[list[Any], Any]], most: int
    ) -> list[OnnxTensor]:
        """A loop. What its steps need from outside goes through it, as some tools do not look inside."""
        outer, self._nodes = self._nodes, []
        inside = [OnnxTensor(self, f"state_{next(self._numbers)}") for _ in range(len(state) + 1)]
        was_live, before = inside[0].is_above(0.0), inside[1:]
        after, live = step(before)
        kept = [was_live.choose(new, old) for new, old in zip(after, before, strict=True)]
        still = inside[0] * live.cast(np.float64)
        more = self.op("ReduceSum", still, keepdims=0).is_above(0.0)
        given = self._from_outside([each.name for each in inside])
        passed = [self.op("Identity", OnnxTensor(self, f"{name}_inside")) for name in given]
        inputs = [*(each.name for each in inside), *(f"{name}_inside" for name in given)]
        body = Body(self._nodes, inputs, [each.name for each in (more, still, *kept, *passed)])
        self._nodes = outer
        started = state[0].columns([0]) * 0.0 + 1.0
        begin = [started, *state, *(OnnxTensor(self, name) for name in given)]
        found = self.ops("Loop", len(begin), np.array(most), np.array(True), *begin, body=body)
        return found[1 : len(state) + 1]

    def _from_outside(self, inside: list[str]) -> list[str]:
        """The tensors that the nodes of a body need and do not make; there they get other names."""
        made = {name for node in self._nodes for name in node.outputs} | set(inside)
        made |= {name for name, _ in self._constants.values()}
        given = list(dict.fromkeys(name for node in self._nodes for name in node.inputs if name not in made))
        renamed = {name: f"{name}_inside" for name in given}
        self._nodes = [
            node._replace(inputs=tuple(renamed.get(name, name) for name in node.inputs))
            for node in self._nodes
        ]
        return given

    def output(
        self, name: str, meaning: str, tensor: OnnxTensor, kind: type[np.generic], *columns: int
    ) -> None:
        """Give a tensor out; it has one row per row of the input, and so many columns if any."""
        self._outputs[tensor.name] = Output(name, kind, ("rows", *columns), meaning)

    def _name_of(self, operand: Operand) -> str:
        if isinstance(operand, OnnxTensor):
            return operand.name
        array = np.asarray(operand, order="C")
        content = tuple(array.tolist()) if array.dtype.kind == "O" else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        return self._constants.setdefault(key, (f"constant_{len(self._constants)}", array))[0]

    def to_model(self, name: str, version: str, properties: Mapping[str, str]) -> "ModelProto":
        """The finished graph as a checked model; raises MissingExtraError without the package onnx."""
        constants = dict(self._constants.values())
        content = Content(self._nodes, constants, self._outputs, self.n_columns, self.meaning)
        return model_of(content, name, version, properties)


def _per_column(numbers: Sequence[float]) -> Array:
    """Numbers of the columns of a matrix; a single one for a vector."""
    return np.array(numbers[0] if len(numbers) == 1 else numbers, dtype=np.float64)
