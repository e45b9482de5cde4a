"""Answers of a row put together, in symbols: normalisation, and least squares for one-vs-all."""

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
from calibrant.maps import Tensor

ADVICE = "use one score per class with combine='normalize' or 'least_squares', or serve the file of `save`"


def combine(answers: Tensor, combiner: object, code: Array, counts: Array | None) -> Tensor:
    """Combine the answers of a code matrix."""
    how: Any = check_combiner(combiner)
    target = answers.target
    if type(how) not in (Normalize, LeastSquares):
        name = "coupling" if isinstance(how, Coupling) else f"a {type(how).__name__}"
        why = "iterates for every row" if isinstance(how, Coupling) else "may do anything"
        target.refuse(
            f"answers must be combined in closed form to be written as {target.name}; "
            f"got {name}, which {why}; {ADVICE}"
        )
    if isinstance(how, LeastSquares) and not how.sum_constraint:
        target.refuse(
            f"least squares must give probabilities to be written as {target.name}; got "
            "sum_constraint=False, whose answers need not sum to one; leave sum_constraint=True"
        )
    if not is_one_vs_all(code):
        target.refuse(
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
    target = points.target
    k = target.n_columns
    if weights is None:
        heights, _ = points.ranked(k)
        excess, give = heights.running_sums() - 1.0, target.spread(np.arange(1.0, k + 1))
        in_support = (heights * give).is_above(excess)
    else:
        heights, order = (points * weights).ranked(k)
        ordered, shares = points.gathered(order), order.in_table(1 / weights)
        excess, give = ordered.running_sums() - 1.0, shares.running_sums()
        in_support = (heights * shares.running_sums(exclusive=True)).is_above(
            ordered.running_sums(exclusive=True) - 1.0
        )
    last = (in_support.n_true() - np.array(1)).at_least(np.array(0))
    threshold = excess.gathered(last) / give.gathered(last)
    return (points - (threshold if weights is None else threshold / weights)).at_least(0.0)
