"""Decisions: the least-cost rule and the learned partitions, with their ties, and the labels."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.decisions import ExpectedCostRule, LachicheFlachRule, MossmanRule, ParallelPartitionRule
from calibrant.decisions._decide import TIE, tie_unit
from calibrant.models._onnx_graph import OnnxExportError, Tensor


def most_probable(proba: Tensor) -> Tensor:
    """The first class of greatest probability, as a number."""
    return proba.graph.op("ArgMax", proba, axis=1, keepdims=0)


def by_cost(proba: Tensor, matrix: Float64Array) -> Tensor:
    """The first decision whose risk is, but for a tie, the least."""
    graph = proba.graph
    risks = graph.op("MatMul", proba.at_least(0.0), np.asarray(matrix, dtype=np.float64).T)
    least = graph.op("ReduceMin", risks, np.array([1]), keepdims=1)
    size = graph.op("Abs", least).at_least(float(tie_unit(matrix))).at_most(np.finfo(np.float64).max)
    return _first_true(risks.is_at_most(least + size * TIE))


def by_rule(proba: Tensor, rule: Any) -> Tensor:
    """What a fitted rule decides, as a number."""
    if type(rule) in (ExpectedCostRule, ParallelPartitionRule):
        return by_cost(proba, rule.matrix_)
    if type(rule) is LachicheFlachRule:
        return _by_weights(proba, rule.weights_)
    if type(rule) is MossmanRule:
        return _by_thresholds(proba, rule.order, rule.thresholds_)
    raise OnnxExportError(
        f"a rule must be one of calibrant's own to be written as ONNX; got a {type(rule).__name__}, whose "
        "decisions are not known; use 'expected', 'parallel', 'lachiche_flach' or 'mossman', or export the "
        "calibrator and decide by its probabilities"
    )


def as_labels(decision: Tensor, proba: Tensor, actions: Array) -> tuple[Tensor, type[np.generic]]:
    """The labels of decisions, and their type: text, whole numbers, or numbers.

    A row without probabilities has no decision. It gets a label that is none: an empty text, the least whole
    number of 64 bits, or NaN.
    """
    labels, kind, none = _labels(actions)
    unknown = proba.graph.op("IsNaN", proba.column(0))
    place = unknown.choose(np.array(len(labels)), decision)
    return place.in_table(np.append(labels, np.array([none], dtype=labels.dtype))), kind


def _by_weights(proba: Tensor, weights: Float64Array) -> Tensor:
    weighted = proba.at_least(0.0) * weights
    greatest = proba.graph.op("ReduceMax", weighted, np.array([1]), keepdims=1)
    return _first_true(weighted.is_at_least(greatest * (1 - TIE)))


def _by_thresholds(proba: Tensor, order: Any, thresholds: Float64Array) -> Tensor:
    kept = proba.at_least(0.0)
    asked, second, third = (int(each) for each in order)
    lead = kept.column(second) - kept.column(third)
    rest = lead.is_above(float(thresholds[1])).choose(np.array(second), np.array(third))
    return kept.column(asked).is_above(float(thresholds[0])).choose(np.array(asked), rest)


def _first_true(marks: Tensor) -> Tensor:
    return marks.graph.op("ArgMax", marks.cast(np.uint8), axis=1, keepdims=0)


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
