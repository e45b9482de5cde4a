"""Decisions: the least-cost rule and the learned partitions, with their ties, and the labels."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant.decisions import RULES
from calibrant.maps import OnnxExportError, Tensor


def most_probable(proba: Tensor) -> Tensor:
    """The first class of greatest probability, as a number."""
    return proba.graph.op("ArgMax", proba, axis=1, keepdims=0)


def by_rule(proba: Tensor, rule: Any) -> Tensor:
    """What a fitted rule decides, as a number."""
    if type(rule) not in RULES.values():
        raise OnnxExportError(
            f"a rule must be one of calibrant's own to be written as ONNX; got a {type(rule).__name__}, "
            f"whose decisions are not known; use {', '.join(map(repr, RULES))}, or export the calibrator "
            "and decide by its probabilities"
        )
    decision: Tensor = rule.decide_in_graph(proba)
    return decision


def as_labels(decision: Tensor, proba: Tensor, actions: Array) -> tuple[Tensor, type[np.generic]]:
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
    values = np.asarray(actions).tolist()
    least, greatest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    if all(isinstance(value, int) and least < value <= greatest for value in values):
        return np.array(values, dtype=np.int64), np.int64, least
    if all(isinstance(value, float) for value in values):
        return np.array(values, dtype=np.float64), np.float64, np.nan
    texts = [str(value) for value in values]
    if not all(isinstance(value, str | int | float) for value in values) or len(set(texts)) < len(texts):
        raise OnnxExportError(
            "labels must be texts or numbers that differ as texts to be written as ONNX; got "
            f"{values!r}; fit with other labels"
        )
    return np.array(texts, dtype=object), np.str_, ""
