"""What the tests of the ONNX export share: running a graph, and scores at which it could go wrong."""

import numpy as np
import onnxruntime

from calibrant.maps._onnx_graph import Graph
from calibrant.models import to_onnx


def session_of(model):
    """A session of onnxruntime for a model, or for a graph that is not finished yet."""
    proto = model.to_model("test", "0", {}) if isinstance(model, Graph) else to_onnx(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])


def run(model, scores):
    """All outputs by name, for scores of one column or more."""
    session = session_of(model)
    matrix = np.asarray(scores, dtype=np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    outputs = session.run(None, {"scores": matrix})
    return dict(zip((each.name for each in session.get_outputs()), outputs, strict=True))


def proba_of(model, scores):
    """The probabilities that the graph of a model gives."""
    return run(model, scores)["probabilities"]


def beside(points):
    """Points, their neighbours one bit away, and what lies far outside."""
    points = np.asarray(points, dtype=np.float64)
    with np.errstate(over="ignore"):
        below, above = np.nextafter(points, -np.inf), np.nextafter(points, np.inf)
    far = [0.0, -0.0, 5e-324, 1e-300, 1e300, -1e300, np.finfo(float).max, -np.finfo(float).max]
    query = np.concatenate([points, below, above, (points[:-1] / 2 + points[1:] / 2), far])
    return query[np.isfinite(query)]


def scored_rows(n, k, seed=0, levels=None):
    """Scores of k classes and labels that they tell something about; with levels, many are equal."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k))
    if levels is not None:
        scores = np.round(scores * levels) / levels
    y = (2 * scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = range(k)
    return scores, y
