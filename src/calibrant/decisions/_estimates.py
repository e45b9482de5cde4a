"""Probabilities at the border: one column per class, rows that sum to one."""

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from calibrant._core._arrays import FloatArray, as_floats
from calibrant._core._checks import ROUNDING, check_probabilities
from calibrant._core._errors import DataError

#: How far from one a row may sum: probabilities printed with four decimals still pass.
SUM_TOLERANCE = 1e-3
#: Entries worked on at once, so that the working arrays of a block stay in the processor's cache.
BLOCK_ENTRIES = 1 << 15
#: Fewest rows worked on at once, so that a block of a wide matrix is worth its call.
BLOCK_ROWS = 1 << 12


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Slices that cover all rows, for arrays with so many entries per row."""
    step = max(BLOCK_ROWS, BLOCK_ENTRIES // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def check_estimates(proba: object, n_classes: int | None = None) -> FloatArray:
    """Probabilities of shape (n, k), rows summing to one; float32 stays what it is."""
    array = as_floats(proba, "proba")
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"proba must have one column per class, shape (n, k); got shape {array.shape}; two classes "
            "need two columns: np.column_stack([1 - p, p])"
        )
    if n_classes is not None and array.shape[1] != n_classes:
        raise DataError(
            f"proba must have one column per class, {n_classes} in all; got {array.shape[1]} columns"
        )
    ones = np.ones(array.shape[1])
    low = 0.0
    for rows in row_blocks(*array.shape):
        block = array[rows]
        low = min(low, block.min())
        # Comparisons with NaN are false, so that this lets nothing pass but finite probabilities.
        if not (block.min() >= -ROUNDING and np.abs(block @ ones - 1).max() <= SUM_TOLERANCE):
            _refuse(array)
    return np.maximum(array, 0) if low < 0 else array


def _refuse(array: FloatArray) -> NoReturn:
    """Say what is wrong with rows that failed the quick test."""
    proba = check_probabilities(array)
    excess = proba.sum(axis=1) - 1
    # A little less than the tolerance, as the quick test may have added up in another order.
    wrong = np.flatnonzero(np.abs(excess) > SUM_TOLERANCE * (1 - 1e-9))
    row = wrong[0]
    more = f" (and {len(wrong) - 1} more rows are off)" if len(wrong) > 1 else ""
    raise DataError(
        f"every row of proba must sum to 1; row {row} sums to {1 + excess[row]:.6g}, "
        f"{abs(excess[row]):.3g} too {'much' if excess[row] > 0 else 'little'}{more}; divide every row by "
        "its sum, or calibrate the scores first"
    )
