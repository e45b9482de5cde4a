"""A fitted model as an ONNX graph: scores in, probabilities and decisions out."""

import json
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core._place import ModelFileError
from calibrant._core._whole_files import write_whole
from calibrant.maps import Graph
from calibrant.models._formulas import MEANINGS, calibrator_of, decision_in, is_declared, proba_in
from calibrant.models._onnx_labels import as_labels
from calibrant.models._score_model import ScoreModel

if TYPE_CHECKING:
    from onnx import ModelProto


def to_onnx(model: Any) -> "ModelProto":
    """Write a fitted model as an ONNX graph in double precision.

    The graph gives the numbers of `predict_proba` and the labels of `decide`, and needs no Python where it
    runs. What cannot be written exactly is refused.

    Parameters
    ----------
    model : ScoreModel or calibrator
        The fitted model.

    Returns
    -------
    onnx.ModelProto
        A checked model. Its input "scores" is float64 of shape (rows, columns): one column for two classes,
        else one per class (or per column of the code). Its output "probabilities" is float64 of shape
        (rows, classes). A `ScoreModel` has a second output "decision" of shape (rows,), the label that costs
        least, or without costs the most probable one: int64, float64 or text, as the labels are; those of
        several types are all written as text. The metadata hold the version of calibrant, the kind of model
        and its classes.

    Raises
    ------
    OnnxExportError
        If a part of the model has no exact counterpart: coupling for codes with zeros and several classes on
        a side, combinations and rules of one's own, and calibrators that are not methods of the registry.
    MissingExtraError
        If the package onnx is not installed.

    See Also
    --------
    save_onnx : The same, written to a file.

    Notes
    -----
    A graph cannot refuse a row as the library does. A row with a score that is not finite (or outside [0, 1]
    where the scores must be probabilities) gets the probabilities NaN, and as its decision an empty text, the
    least whole number of 64 bits, or NaN.

    Steps and straight lines are compared and computed by the same operations in the same order as in the
    library, and are equal to the last bit; exponentials and sums differ by rounding.

    Examples
    --------
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import to_onnx
    >>> graph = to_onnx(ScoreModel().fit([1, 2, 3, 4, 5, 6], [0, 1, 0, 0, 1, 1]))

    Any runtime takes it from there; this is onnxruntime's:

    >>> import numpy as np
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> session.run(["probabilities"], {"scores": np.array([[2.5], [4.5]])})[0].round(2)
    array([[0.45, 0.55],
           [0.4 , 0.6 ]])
    """
    calibrator = calibrator_of(model, Graph.name, Graph.error)
    graph = Graph(calibrator.n_scores, MEANINGS[calibrator.takes])
    proba = proba_in(graph, calibrator, declared=is_declared(model))
    n_classes = len(calibrator.classes_)
    graph.output("probabilities", "one column per class, as in the metadata", proba, np.float64, n_classes)
    if calibrator is not model:
        labels, kind = as_labels(decision_in(proba, model), proba, model.actions_)
        graph.output("decision", "what costs least, or without costs the most probable class", labels, kind)
    return graph.to_model("calibrant", version("calibrant"), _properties(model))


def save_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to an ONNX file, which is complete or absent.

    Parameters
    ----------
    model : ScoreModel or calibrator
        The fitted model, see `to_onnx`.
    path : str or path
        The file. One that exists is replaced when the new one is complete.

    Raises
    ------
    ModelFileError
        If the file cannot be written.

    See Also
    --------
    to_onnx : The same without a file, and what can be exported.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant import ScoreModel
    >>> from calibrant.models import save_onnx
    >>> model = ScoreModel().fit([-2, -1, 1, 2], [0, 1, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_onnx(model, Path(folder) / "model.onnx")
    ...     [path.name for path in Path(folder).iterdir()]
    ['model.onnx']
    """
    write_whole(path, to_onnx(model).SerializeToString(), error=ModelFileError)


def _properties(model: Any) -> dict[str, str]:
    """What the file says about itself; everything is text there."""
    properties = {
        "calibrant_version": version("calibrant"),
        "kind": type(model).__name__,
        "classes": json.dumps(np.asarray(model.classes_).tolist(), default=str),
    }
    if type(model) is ScoreModel:
        properties["calibrator"] = type(model.calibrator_).__name__
        properties["actions"] = json.dumps(model.actions_.tolist(), default=str)
        if model.rule_ is not None:
            properties["rule"] = type(model.rule_).__name__
    return properties
