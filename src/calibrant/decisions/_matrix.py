"""Cost matrices at the border.

`cost[i, j]` is the cost of deciding i when the truth is j: rows are decisions, columns are truths. Many
libraries use the transpose.
"""

from collections.abc import Mapping

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, as_floats
from calibrant._core._errors import DataError, ParameterError

MEANING = "cost[i, j] is the cost of deciding i when the truth is j"


def check_cost(cost: object, n_classes: int | None = None, *, allow_any: bool = False) -> Float64Array:
    """Costs of any number of decisions, shape (a, k); or one such matrix per row, shape (n, a, k)."""
    matrix = _as_costs(cost)
    if matrix.ndim not in (2, 3) or 0 in matrix.shape[-2:] or n_classes not in (None, matrix.shape[-1]):
        number = "" if n_classes is None else f", {n_classes} in all"
        raise DataError(
            f"cost must have one row per decision and one column per class{number}; got shape "
            f"{matrix.shape}; {MEANING}"
        )
    if not allow_any and matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]:
        refuse_unreasonable(matrix, "or pass allow_any=True")
    return matrix


def check_square_cost(cost: object, n_classes: int | None = None) -> Float64Array:
    """Costs of deciding classes: shape (k, k), reasonable or not."""
    matrix = _as_costs(cost)
    k = len(matrix) if n_classes is None and matrix.ndim == 2 else n_classes
    if matrix.shape != (k, k) or k == 0:
        wanted = "(k, k)" if n_classes is None else f"({n_classes}, {n_classes})"
        raise DataError(
            f"cost must have one row and one column per class, shape {wanted}; got shape {matrix.shape}; "
            f"{MEANING}"
        )
    return matrix


def check_class_number(name: str, value: object, n_classes: int) -> int:
    """One of the rows or columns of a cost matrix, counted from 0."""
    if not isinstance(value, int | np.integer) or not 0 <= value < n_classes:
        raise ParameterError(f"{name} must be a whole number from 0 to {n_classes - 1}; got {value!r}")
    return int(value)


def reasonable(cost: object) -> bool:
    """Tell whether every class is the cheapest decision when it is the truth.

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.

    Returns
    -------
    bool
        Whether ``cost[j, j] < cost[i, j]`` for every j and every other i.

    Notes
    -----
    The standing assumption of O'Brien, Gupta and Gray (2008). Costs may be negative: those are benefits.

    Examples
    --------
    >>> from calibrant.decisions import reasonable
    >>> reasonable([[0, 1], [1, 0]]), reasonable([[2, 1], [1, 0]])
    (True, False)
    """
    return _first_unreasonable(check_square_cost(cost)) is None


def too_cheap(matrix: Float64Array) -> BoolArray:
    """Which entries of checked costs of classes do not exceed the diagonal of their column."""
    wrong: BoolArray = matrix <= np.diag(matrix)
    np.fill_diagonal(wrong, False)
    return wrong


def refuse_unreasonable(matrix: Float64Array, advice: str) -> None:
    """Refuse a matrix in which a wrong decision is no dearer than the right one."""
    place = _first_unreasonable(matrix)
    if place is None:
        return
    i, j = place
    raise DataError(
        "every class must be the cheapest decision when it is the truth; got "
        f"cost[{j}, {j}] = {matrix[j, j]:g} and cost[{i}, {j}] = {matrix[i, j]:g}; check that rows are "
        f"decisions and columns are truths, {advice}"
    )


def _first_unreasonable(matrix: Float64Array) -> tuple[int, int] | None:
    """The first entry, column by column, that is too cheap."""
    wrong = too_cheap(matrix)
    if not wrong.any():
        return None
    j, i = np.argwhere(wrong.T)[0]
    return int(i), int(j)


def _as_costs(cost: object) -> Float64Array:
    if isinstance(cost, Mapping) or hasattr(cost, "columns"):
        raise DataError(
            f"cost must be an array here, as nothing tells the order of the classes; got a "
            f"{type(cost).__name__}; pass cost_matrix(cost, classes)"
        )
    if isinstance(cost, str) or not hasattr(cost, "__len__"):
        raise DataError(f"cost must be a matrix; got {cost!r}; {MEANING}")
    matrix = np.asarray(as_floats(cost, "cost"), dtype=np.float64)
    _refuse_infinite(matrix)
    return matrix


def _refuse_infinite(matrix: Array) -> None:
    finite = np.isfinite(matrix)
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        raise DataError(
            f"cost must be finite; got {matrix[place]} at cost[{', '.join(map(str, place))}]; a decision "
            "that must never be taken needs a large number"
        )
