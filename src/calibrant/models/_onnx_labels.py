"""The labels of decisions in an ONNX graph."""

import numpy as np

from calibrant._core._arrays import Array
from calibrant.maps import Graph, OnnxTensor
from calibrant.models._labels_out import labels_of_one_type


def as_labels(decision: OnnxTensor, proba: OnnxTensor, actions: Array) -> tuple[OnnxTensor, type[np.generic]]:
    """The labels of decisions, and their type: text, whole numbers, or numbers.

    A row without probabilities has no decision. It gets a label that is none: an empty text, the least whole
    number of 64 bits, or NaN.
    """
    labels, kind, none = _labels(actions)
    unknown = proba.graph.op("IsNaN", proba.column(0))
    place = unknown.choose(np.array(len(labels)), decision)
    return place.in_table(np.append(labels, np.array([none], dtype=labels.dtype))), kind


def _labels(actions: Array) -> tuple[Array, type[np.generic], object]:
    """Labels as an array that ONNX knows, its type, and the label that is none."""
    values = labels_of_one_type(actions, Graph.name, Graph.error)
    if isinstance(values[0], int):
        return np.array(values, dtype=np.int64), np.int64, np.iinfo(np.int64).min
    if isinstance(values[0], float):
        return np.array(values, dtype=np.float64), np.float64, np.nan
    return np.array(values, dtype=object), np.str_, ""
