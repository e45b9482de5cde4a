"""A converter for skl2onnx, so that a pipeline that ends in a `CalibratedClassifier` becomes one graph."""

from typing import Any

import numpy as np

from calibrant._core._errors import MissingExtraError
from calibrant.calibrators import takes_of
from calibrant.maps import OnnxExportError
from calibrant.models._onnx import to_onnx
from calibrant.models._score_model import ScoreModel

#: The number of a double in ONNX.
DOUBLE = 11


def register_skl2onnx() -> None:
    """Let skl2onnx convert `CalibratedClassifier`, alone and in pipelines.

    The learner inside is converted by skl2onnx itself, and what it says is calibrated as `to_onnx` does: in
    double precision. The outputs are the most probable class, and the probabilities in double precision.

    Raises
    ------
    MissingExtraError
        If skl2onnx is not installed.

    Notes
    -----
    The scores are those that skl2onnx's learner gives, in the precision of the input: in single precision
    they can fall on the other side of a step. Use ``DoubleTensorType`` where the learner has kernels for it.

    ``response_method="log_odds"`` is refused, as skl2onnx gives probabilities and not their logarithms.

    Examples
    --------
    >>> from calibrant.models import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    >>> graph = skl2onnx.to_onnx(pipeline, X[:1])  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("skl2onnx", "skl2onnx") from error
    from calibrant.classifiers import CalibratedClassifier  # noqa: PLC0415  (nothing else here needs it)

    update_registered_converter(
        CalibratedClassifier,
        "CalibrantCalibratedClassifier",
        _shapes,
        _convert,
        options={"zipmap": [True, False, "columns"], "nocl": [True, False]},
    )


def _shapes(operator: Any) -> None:
    """What the converter gives: labels, and probabilities in double precision."""
    from skl2onnx.common.data_types import (  # noqa: PLC0415
        DoubleTensorType,
        Int64TensorType,
        StringTensorType,
    )

    n_rows, classes = operator.inputs[0].get_first_dimension(), operator.raw_operator.classes_
    label = Int64TensorType if np.asarray(classes).dtype.kind in "iub" else StringTensorType
    operator.outputs[0].type = label([n_rows])
    operator.outputs[1].type = DoubleTensorType([n_rows, len(classes)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Scores by the learners' own converters, then our graph."""
    model = operator.raw_operator
    calibrator = model.calibrator_
    if calibrator is None:
        raise OnnxExportError("a model must have two classes or more to be written as ONNX; got one")
    if model.code_ is None:
        scores = _scores(scope, operator, container, model.estimator_, model.response_method_)
        if takes_of(calibrator) == "score":
            scores = _second(scope, container, scores)
    else:
        columns = [_column(scope, operator, container, each) for each in model.columns_]
        scores = _named(scope, "scores")
        container.add_node("Concat", columns, scores, name=_named(scope, "Concat"), axis=1, op_version=13)
    chain = ScoreModel._of_parts(calibrator, model.classes_, None, None)
    _append(scope, container, to_onnx(chain), scores, [each.full_name for each in operator.outputs])


def _column(scope: Any, operator: Any, container: Any, trained: Any) -> str:
    """The score of a column of a code; any for one that answers a constant."""
    if trained is None:
        raise OnnxExportError(
            "every column of the code must have rows on both sides to be written as ONNX; got one that "
            "answers a constant; use another code"
        )
    return _second(scope, container, _scores(scope, operator, container, trained.estimator, trained.method))


def _scores(scope: Any, operator: Any, container: Any, learner: Any, method: str) -> str:
    """What a learner says, in double precision: margins or probabilities, a column for every class."""
    from skl2onnx._supported_operators import sklearn_operator_name_map  # noqa: PLC0415
    from skl2onnx.common.data_types import Int64TensorType, guess_tensor_type  # noqa: PLC0415

    if method == "log_odds":
        raise OnnxExportError(
            "response_method must be 'decision_function' or 'predict_proba' to be written as ONNX; got "
            "'log_odds', which need logarithms that skl2onnx does not give; fit with another one"
        )
    if type(learner) not in sklearn_operator_name_map:
        raise OnnxExportError(
            "the learner must be one that skl2onnx knows to be written as ONNX; got a "
            f"{type(learner).__name__}; register a converter for it"
        )
    if method == "decision_function":
        for each in (scope, container):
            each.add_options(id(learner), {"raw_scores": True})
    inner = scope.declare_local_operator(sklearn_operator_name_map[type(learner)], learner)
    inner.inputs = operator.inputs
    inner.outputs.append(scope.declare_local_variable("label", Int64TensorType()))
    said = scope.declare_local_variable("said", guess_tensor_type(operator.inputs[0].type))
    inner.outputs.append(said)
    scores = _named(scope, "scores")
    container.add_node("Cast", said.full_name, scores, name=_named(scope, "Cast"), to=DOUBLE, op_version=13)
    return scores


def _second(scope: Any, container: Any, scores: str) -> str:
    """The last column: the score of the second of two classes, also where there is but one."""
    last, found = _named(scope, "last"), _named(scope, "score")
    container.add_initializer(last, 7, [1], [-1])
    container.add_node("Gather", [scores, last], found, name=_named(scope, "Gather"), axis=1, op_version=13)
    return found


def _append(scope: Any, container: Any, model: Any, scores: str, outputs: list[str]) -> None:
    """Put the nodes of a graph of ours behind what is there."""
    prefix, graph = _named(scope, "calibrant") + "_", model.graph
    _rename(graph, prefix)

    def pass_on(one: str, other: str) -> None:
        container.add_node("Identity", one, other, name=_named(scope, "Identity"), op_version=13)

    pass_on(scores, f"{prefix}scores")
    container.initializers.extend(graph.initializer)
    for imported in model.opset_import:
        container.node_domain_version_pair_sets.add((imported.domain, imported.version))
    container.nodes.extend(graph.node)
    for name, output in zip(("decision", "probabilities"), outputs, strict=True):
        pass_on(f"{prefix}{name}", output)


def _rename(graph: Any, prefix: str) -> None:
    """Put a prefix before every name of a graph, and of the graphs inside."""
    for named in (*graph.initializer, *graph.input, *graph.output):
        named.name = prefix + named.name
    for node in graph.node:
        node.input[:] = [prefix + name for name in node.input]
        node.output[:] = [prefix + name for name in node.output]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, prefix)


def _named(scope: Any, name: str) -> str:
    """A name that is not taken."""
    found: str = scope.get_unique_variable_name(name)
    return found
