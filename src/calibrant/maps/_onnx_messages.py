"""A finished graph as messages of the package onnx, which nothing else needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import MissingExtraError

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

#: Versions that onnxruntime reads since 1.14; tried with 1.16, 1.22 and 1.31.
OPSET, ML_OPSET, IR_VERSION = 18, 3, 8
#: The operators that are not in the default set.
ML_OPERATORS = frozenset({"TreeEnsembleRegressor"})


class Node(NamedTuple):
    """An operator with its operands and results, by name."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


class Body(NamedTuple):
    """The steps of a loop, from matrices to whether there is more to do, and the matrices after it."""

    nodes: list[Node]
    inputs: list[str]
    outputs: list[str]


class Output(NamedTuple):
    """A tensor that is given out."""

    name: str
    kind: type[np.generic]
    shape: tuple[str | int, ...]
    meaning: str


class Content(NamedTuple):
    """All that a graph holds; the outputs by their names inside."""

    nodes: list[Node]
    constants: dict[str, Array]
    outputs: dict[str, Output]
    n_columns: int
    meaning: str


def model_of(content: Content, name: str, version: str, properties: Mapping[str, str]) -> "ModelProto":
    """The graph as a checked model; raises MissingExtraError without the package onnx."""
    try:
        from onnx import TensorProto, checker, helper  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx") from error

    kinds = {np.float64: TensorProto.DOUBLE, np.int64: TensorProto.INT64, np.str_: TensorProto.STRING}
    renamed = {inside: each.name for inside, each in content.outputs.items()}
    shape: list[str | int | None] = ["rows", content.n_columns]
    graph = helper.make_graph(
        [_node(node, renamed) for node in content.nodes],
        name,
        [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, shape, content.meaning)],
        [
            helper.make_tensor_value_info(each.name, kinds[each.kind], each.shape, each.meaning)
            for each in content.outputs.values()
        ],
        [_tensor(array, constant) for constant, array in content.constants.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="calibrant",
        producer_version=version,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
    )
    helper.set_model_props(model, dict(properties))
    checker.check_model(model, full_check=True)
    return model


def _node(node: Node, renamed: Mapping[str, str]) -> "NodeProto":
    """A node as a message; tensors that are given out have another name outside."""
    from onnx import helper  # noqa: PLC0415

    attributes = {name: _attribute(value, name, renamed) for name, value in node.attributes.items()}
    domain = "ai.onnx.ml" if node.operator in ML_OPERATORS else ""
    inputs, outputs = ([renamed.get(name, name) for name in names] for names in (node.inputs, node.outputs))
    return helper.make_node(node.operator, inputs, outputs, domain=domain, **attributes)


def _attribute(value: Any, name: str, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, Body):
        from onnx import TensorProto, helper  # noqa: PLC0415

        def matrix(each: str) -> Any:
            return helper.make_tensor_value_info(each, TensorProto.DOUBLE, [None, None])

        number, more = f"{value.inputs[0]}_number", f"{value.inputs[0]}_more"
        scalars = [
            helper.make_tensor_value_info(number, TensorProto.INT64, []),
            helper.make_tensor_value_info(more, TensorProto.BOOL, []),
        ]
        return helper.make_graph(
            [_node(node, renamed) for node in value.nodes],
            "loop",
            [*scalars, *map(matrix, value.inputs)],
            [
                helper.make_tensor_value_info(value.outputs[0], TensorProto.BOOL, []),
                *map(matrix, value.outputs[1:]),
            ],
        )
    return _tensor(value, name) if isinstance(value, np.ndarray) else value


def _tensor(array: Array, name: str) -> Any:
    from onnx import numpy_helper  # noqa: PLC0415

    return numpy_helper.from_array(array, name)
