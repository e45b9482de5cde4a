"""The answers of the columns at the border, and the blocks of rows in which they are worked through."""

from collections.abc import Iterator

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, as_floats
from calibrant._core._checks import check_finite, check_probabilities
from calibrant._core._errors import DataError

#: Numbers that the largest temporary array of a block may hold: 4 MB, which a cache can keep.
_BLOCK = 2**20


def check_answers(answers: object, n_columns: int) -> FloatArray:
    """Check that answers lie in [0, 1], one column per column of the code; float32 stays float32."""
    array = as_floats(answers, "answers")
    if array.ndim != 2:
        raise DataError(f"answers must have shape (n, {n_columns}); got shape {array.shape}")
    if array.shape[1] != n_columns:
        raise DataError(
            f"answers must have one column per column of the code, {n_columns} in all; "
            f"got {array.shape[1]} columns"
        )
    return check_range(array)


def check_range(answers: FloatArray) -> FloatArray:
    """Check that answers lie in [0, 1]."""
    # NaN fails every comparison; good answers are neither copied nor looked at again
    if answers.size and not (answers.min() >= 0 and answers.max() <= 1):
        return check_probabilities(answers, "answers")
    return answers


def check_column_weights(weights: object, n_columns: int) -> Float64Array:
    """Weights of the columns: finite, none negative; None means that all count alike."""
    if weights is None:
        return np.ones(n_columns)
    array = np.asarray(as_floats(weights, "weights"), dtype=np.float64)
    if array.shape != (n_columns,):
        raise DataError(
            f"weights must have one entry per column of the code, {n_columns} in all; got shape {array.shape}"
        )
    check_finite(array, "weights")
    if array.min() < 0:
        column = int(np.argmax(array < 0))
        raise DataError(f"weights must not be negative; got {array[column]} for column {column}")
    return array


def row_blocks(n_rows: int, numbers_per_row: int) -> Iterator[slice]:
    """Slices of rows, each small enough that its temporary arrays stay within a few megabytes."""
    size = max(1, min(8192, _BLOCK // numbers_per_row))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def columns_first(answers: FloatArray, rows: slice) -> Float64Array:
    """The answers of some rows as a contiguous float64 array (l, rows), which may be a view of the user's."""
    return np.ascontiguousarray(answers[rows].T, dtype=np.float64)
