"""Answers of a row put together, in symbols: normalisation, least squares, coupling."""

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
from calibrant.models._combine_by_steps import couple, least_squares_of

ADVICE = "use 'normalize', 'least_squares' or 'coupling', or serve the file of `save`"


def combine(answers: Tensor, combiner: object, code: Array, counts: Array | None) -> Any:
    """Combine the answers of a code matrix."""
    how: Any = check_combiner(combiner)
    target, k = answers.target, len(code)
    within = answers.at_least(0.0).at_most(1.0)  # straight lines may pass 1 by rounding
    if type(how) is Normalize:
        return within.divided_by_sum(_instead(how, k))
    if type(how) is Coupling:
        return couple(within, how, code, check_column_weights(counts, code.shape[1]))
    if type(how) is not LeastSquares:
        target.refuse(
            f"answers must be combined by calibrant's own ways to be written as {target.name}; got a "
            f"{type(how).__name__}, which may do anything; {ADVICE}"
        )
    if not how.sum_constraint:
        target.refuse(
            f"least squares must give probabilities to be written as {target.name}; got "
            "sum_constraint=False, whose answers need not sum to one; leave sum_constraint=True"
        )
    weights = check_column_weights(counts if how.weighted else None, code.shape[1])
    if is_one_vs_all(code) and weights.all():
        proba = _on_simplex(within, None if weights.min() == weights.max() else weights / weights.max())
    else:
        proba = least_squares_of(within, code, weights)
    return _keep_possible(proba, within, k) if how.keep_possible else proba


def _keep_possible(proba: Tensor, answers: Tensor, k: int) -> Tensor:
    """As `LeastSquares` does it."""
    raised = proba.at_least(answers.at_most(1.0 - answers).row_min() / float(k))
    changed = raised.is_above(proba).n_true().is_above(np.array(0))
    return changed.choose(raised / raised.row_sums(), proba)


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
