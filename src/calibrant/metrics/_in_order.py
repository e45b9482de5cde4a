"""Rows by rising probability, column by column: sorted once for all that is measured in order."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics._isotonic import Ordered, put_in_order
from calibrant.metrics._row_losses import BLOCK, most_probable
from calibrant.metrics._threads import side_by_side

#: The number of the most probable class among those of the classes.
CALLED = -1


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """Rows in order.

    Attributes
    ----------
    called : ndarray of int of shape (n,)
        The most probable class of every row.
    confidence : ndarray of shape (n,)
        Its probability.
    columns : list of Ordered
        The rows by the probability of every class, or of the positive of two, against being of that class; at
        last, if that was asked for, by that of the most probable class, against its being right.
    """

    called: IntArray
    confidence: Float64Array
    columns: list[Ordered]


def in_order(truth: IntArray, proba: Float64Array, weights: Float64Array | None, *, called: bool) -> InOrder:
    """Sort rows by every column, and, if `called`, by the probability of the most probable class."""
    starts = range(0, len(truth), BLOCK)
    parts = side_by_side(lambda first: most_probable(proba[first : first + BLOCK]), starts, len(truth))
    named, confidence = (np.concatenate(each) for each in zip(*parts, strict=True))
    n_columns = proba.shape[1]

    def column(number: int) -> Ordered:
        if number == CALLED:
            return put_in_order(named == truth, confidence, weights)
        return put_in_order(truth == number, proba[:, min(number, n_columns - 1)], weights)

    numbers = [*(range(n_columns) if n_columns > 2 else [1]), *([CALLED] if called else [])]
    return InOrder(named, confidence, side_by_side(column, numbers, len(truth)))
