"""Answers of a row put together: normalisation, and least squares for one-vs-all."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.codes import (
    Coupling,
    LeastSquares,
    Normalize,
    check_column_weights,
    check_combiner,
    is_one_vs_all,
    normalize,
)
from calibrant.maps import OnnxExportError, Tensor

ADVICE = "use one score per class with combine='normalize' or 'least_squares', or serve the file of `save`"


def combine(answers: Tensor, combiner: object, code: Array, counts: Array | None) -> Tensor:
    """Combine the answers of a code matrix."""
    how: Any = check_combiner(combiner)
    if type(how) not in (Normalize, LeastSquares):
        name = "coupling" if isinstance(how, Coupling) else f"a {type(how).__name__}"
        why = "iterates for every row" if isinstance(how, Coupling) else "may do anything"
        raise OnnxExportError(
            "answers must be combined in closed form to be written as ONNX; "
            f"got {name}, which {why}; {ADVICE}"
        )
    if isinstance(how, LeastSquares) and not how.sum_constraint:
        raise OnnxExportError(
            "least squares must give probabilities to be written as ONNX; got sum_constraint=False, whose "
            "answers need not sum to one; leave sum_constraint=True"
        )
    if not is_one_vs_all(code):
        raise OnnxExportError(
            "least squares has a closed form for the one-vs-all code only; got another one, of shape "
            f"{code.shape}, whose solutions are found by iteration for every row; {ADVICE}"
        )
    within = answers.at_least(0.0).at_most(1.0)  # straight lines may pass 1 by rounding
    if isinstance(how, Normalize):
        return within.divided_by_sum(_instead(how, len(code)))
    weights = check_column_weights(counts if how.weighted else None, len(code))
    return _on_simplex(within, None if weights.min() == weights.max() else weights / weights.max())


def _instead(how: Normalize, k: int) -> Float64Array:
    """What a row without any answer gets, as the combiner itself says."""
    return normalize(np.zeros((1, k)), fallback=how.fallback, prior=how.prior)


def _on_simplex(points: Tensor, weights: Float64Array | None) -> Tensor:
    """The nearest point of the simplex, by sorting, as `project_on_simplex` finds it."""
    graph = points.graph
    k = graph.n_columns

    def running(entries: Tensor, **before: int) -> Tensor:
        return graph.op("CumSum", entries, np.array(1), **before)

    if weights is None:
        heights, _ = graph.ops("TopK", 2, points, np.array([k]), axis=1)
        excess, give = running(heights) - 1.0, graph.spread(np.arange(1.0, k + 1))
        in_support = (heights * give).is_above(excess)
    else:
        heights, order = graph.ops("TopK", 2, points * weights, np.array([k]), axis=1)
        ordered, shares = graph.op("GatherElements", points, order, axis=1), order.in_table(1 / weights)
        excess, give = running(ordered) - 1.0, running(shares)
        in_support = (heights * running(shares, exclusive=1)).is_above(running(ordered, exclusive=1) - 1.0)
    last = (in_support.cast(np.int64).row_sums() - np.array(1)).at_least(np.array(0))
    threshold = graph.op("GatherElements", excess, last, axis=1) / graph.op(
        "GatherElements", give, last, axis=1
    )
    return (points - (threshold if weights is None else threshold / weights)).at_least(0.0)
