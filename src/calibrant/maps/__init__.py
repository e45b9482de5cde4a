"""Fitted maps as values: one formula each, for NumPy and for an ONNX graph; plain fields for the model file.

- `Steps`, `Lines`, `Logistic`, `Constant`, `Identity`: one score to the probability of the positive class.
- `Softmax`: from all scores of a row to the probabilities of the classes.
- `Map`: the base of them and of maps of one's own; `Operations`: what a formula may do; `FEATURES`: what of a
  score logistic and softmax maps are linear in.
"""

from calibrant.maps._features import FEATURES, Features, features_named, features_of
from calibrant.maps._graph import answers, answers_of_rows, refusals
from calibrant.maps._intervals import IntervalLookup, midpoints
from calibrant.maps._map import MAPS, AnyMap, Map
from calibrant.maps._onnx_graph import Graph, OnnxExportError, Tensor
from calibrant.maps._onnx_steps import intervals
from calibrant.maps._operations import GRAPH, LOG_CLIP, NUMPY, Operations
from calibrant.maps._row_maps import Softmax
from calibrant.maps._score_maps import Constant, Identity, Lines, Logistic, Steps

__all__ = [
    "FEATURES",
    "GRAPH",
    "LOG_CLIP",
    "MAPS",
    "NUMPY",
    "AnyMap",
    "Constant",
    "Features",
    "Graph",
    "Identity",
    "IntervalLookup",
    "Lines",
    "Logistic",
    "Map",
    "OnnxExportError",
    "Operations",
    "Softmax",
    "Steps",
    "Tensor",
    "answers",
    "answers_of_rows",
    "features_named",
    "features_of",
    "intervals",
    "midpoints",
    "refusals",
]
