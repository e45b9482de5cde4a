"""What may be done to a cost matrix, and what it does to the decisions: OGG's properties 1 to 7.

=====  ==============================  ================================================================
no     function                        effect on the decisions
=====  ==============================  ================================================================
1      `scale_costs`                   none
2      `equal_risk_point`              (not a change: the point where all decisions cost the same)
3      `add_to_column`                 none
4      `zero_diagonal`                 none
5      `add_to_row`                    boundaries of that decision move parallel; `row_shift_bounds`
6      `multiply_column`               the equal-risk point moves towards or away from that corner;
                                       `column_scale_point`
7      `multiply_row`                  the equal-risk point moves along the line where the other
                                       decisions cost the same
=====  ==============================  ================================================================

OGG call the factor of property 1 any scalar, but it must be positive, and the locus of property 7 a
hyperplane, but it is a line (a hyperplane only among three classes).
"""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._checks import check_number
from calibrant._core._errors import DataError
from calibrant.decisions._equal_risk import equal_risk_point
from calibrant.decisions._matrix import check_class_number, check_square_cost, refuse_unreasonable


@dataclass(frozen=True, slots=True, eq=False)
class MovedPoint:
    """Where the equal-risk point goes when a column is multiplied.

    Attributes
    ----------
    point : ndarray of shape (k,) or None
        The new point; None if it lies at infinity.
    lam : float
        The new point is ``lam`` times the old one plus ``1 - lam`` times the corner of the column's
        class; infinite if the new point is.
    """

    point: Float64Array | None
    lam: float


def scale_costs(cost: object, factor: float) -> Float64Array:
    """Multiply all costs, which changes no decision (property 1).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    factor : float
        A positive number.

    Returns
    -------
    ndarray of shape (k, k)
        The new costs.

    Examples
    --------
    >>> from calibrant.decisions import decide, scale_costs
    >>> proba, cost = [[0.7, 0.3]], [[0, 4], [1, 0]]
    >>> decide(proba, cost) == decide(proba, scale_costs(cost, 100))
    array([ True])
    """
    return check_square_cost(cost) * _positive(factor)


def add_to_column(cost: object, column: int, amount: float) -> Float64Array:
    """Add to all costs of one truth, which changes no decision (property 3).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    column : int
        The truth.
    amount : float
        What is added, whatever is decided.

    Returns
    -------
    ndarray of shape (k, k)
        The new costs.

    Examples
    --------
    >>> from calibrant.decisions import add_to_column
    >>> add_to_column([[0, 4], [1, 0]], 1, -4)
    array([[ 0.,  0.],
           [ 1., -4.]])
    """
    return _changed(cost, "column", column, added=_finite(amount))


def zero_diagonal(cost: object) -> Float64Array:
    """Subtract from every column what the right decision costs, which changes no decision (property 4).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.

    Returns
    -------
    ndarray of shape (k, k)
        ``cost[i, j] - cost[j, j]``, the regrets; all others are positive if the costs are reasonable.

    Examples
    --------
    >>> from calibrant.decisions import zero_diagonal
    >>> zero_diagonal([[1, 5, 4], [3, 0.5, 6], [2.5, 7, 1]])
    array([[0. , 4.5, 3. ],
           [2. , 0. , 5. ],
           [1.5, 6.5, 0. ]])
    """
    matrix = check_square_cost(cost)
    return matrix - np.diag(matrix)


def add_to_row(cost: object, row: int, amount: float) -> Float64Array:
    r"""Add to all costs of one decision, which moves its boundaries parallel (property 5).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    row : int
        The decision.
    amount : float
        What is added, whatever the truth.

    Returns
    -------
    ndarray of shape (k, k)
        The new costs.

    See Also
    --------
    row_shift_bounds : How much may be added before the costs stop being reasonable.

    Notes
    -----
    The boundary between decision i and another one k becomes
    :math:`\sum_j (c_{ij} - c_{kj}) p_j = -d`; the boundaries among the others stay.

    Examples
    --------
    >>> from calibrant.decisions import add_to_row
    >>> add_to_row([[0, 4], [1, 0]], 1, 0.5)
    array([[0. , 4. ],
           [1.5, 0.5]])
    """
    return _changed(cost, "row", row, added=_finite(amount))


def row_shift_bounds(cost: object, row: int) -> tuple[float, float]:
    r"""Find out how much may be added to a row before the costs stop being reasonable (property 5).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        Reasonable costs; ``cost[i, j]`` is the cost of deciding i when the truth is j.
    row : int
        The decision.

    Returns
    -------
    low, high : float
        The ends of an open interval, which contains 0.

    Notes
    -----
    :math:`\max_{j \ne i} (c_{jj} - c_{ij}) < d < \min_{k \ne i} (c_{ki} - c_{ii})`.

    Examples
    --------
    >>> from calibrant.decisions import row_shift_bounds
    >>> row_shift_bounds([[0, 3.86, 2.69], [6.65, 0, 4.8], [6.39, 4.78, 0]], 0)
    (-2.69, 6.39)
    """
    matrix = check_square_cost(cost)
    refuse_unreasonable(matrix, "as only reasonable costs have bounds")
    i = check_class_number("row", row, len(matrix))
    return shift_bounds(matrix - np.diag(matrix), np.eye(len(matrix), dtype=bool), i)


def shift_bounds(matrix: Float64Array, cheapest: BoolArray, i: int) -> tuple[float, float]:
    """How much may be added to a row before a decision that is not `cheapest` for some truth becomes it.

    For reasonable costs, of which every class is the cheapest for itself, these are the bounds of property 5.
    """
    rest = np.delete(np.where(cheapest, matrix, math.inf), i, axis=0).min(axis=0, initial=math.inf)
    dearer = np.delete(np.where(cheapest, math.inf, matrix), i, axis=0).min(axis=0, initial=math.inf)
    own = cheapest[i]
    alone = own & (rest >= dearer)
    low, high = (
        (rest - matrix[i])[~own].max(initial=-math.inf),
        (dearer - matrix[i])[alone].min(initial=math.inf),
    )
    return float(low), float(high)


def multiply_column(cost: object, column: int, factor: float) -> Float64Array:
    """Multiply all costs of one truth (property 6).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    column : int
        The truth.
    factor : float
        A positive number.

    Returns
    -------
    ndarray of shape (k, k)
        The new costs.

    See Also
    --------
    column_scale_point : Where the equal-risk point goes.

    Examples
    --------
    >>> from calibrant.decisions import multiply_column
    >>> multiply_column([[0, 4], [1, 0]], 1, 10)
    array([[ 0., 40.],
           [ 1.,  0.]])
    """
    return _changed(cost, "column", column, factor=_positive(factor))


def column_scale_point(cost: object, column: int, factor: float) -> MovedPoint:
    r"""Find out where the equal-risk point goes when a column is multiplied (property 6).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        Costs with a unique equal-risk point.
    column : int
        The truth whose costs are multiplied.
    factor : float
        A positive number.

    Returns
    -------
    MovedPoint
        The new point, and how far along the line from the corner through the old one it lies.

    Notes
    -----
    :math:`e'_j = \lambda e_j + (1 - \lambda) [j = l]` with
    :math:`\lambda = 1 / (1 - e_l + e_l / \alpha)`, for a column l multiplied by :math:`\alpha`.

    Examples
    --------
    It is the equal-risk point of the new costs:

    >>> from calibrant.decisions import column_scale_point, equal_risk_point, multiply_column
    >>> cost = [[0, 3, 2], [6, 0, 4], [6, 5, 0]]
    >>> column_scale_point(cost, 0, 2).point.round(4)
    array([0.0182, 0.4364, 0.5455])
    >>> equal_risk_point(multiply_column(cost, 0, 2)).point.round(4)
    array([0.0182, 0.4364, 0.5455])
    """
    matrix = check_square_cost(cost)
    corner, alpha = check_class_number("column", column, len(matrix)), _positive(factor)
    before = equal_risk_point(matrix)
    if before.point is None or before.kind != "unique":
        raise DataError(
            f"cost must have a unique equal-risk point; this one has {before.kind}; look at "
            "equal_risk_point(cost)"
        )
    at_corner = before.point[corner]
    denominator = 1 - at_corner + at_corner / alpha
    if abs(denominator) <= 1e-12 * (1 + abs(at_corner) + abs(at_corner / alpha)):
        return MovedPoint(None, math.inf)
    lam = float(1 / denominator)
    point = lam * before.point
    point[corner] += 1 - lam
    return MovedPoint(point, lam)


def multiply_row(cost: object, row: int, factor: float) -> Float64Array:
    """Multiply all costs of one decision (property 7).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    row : int
        The decision.
    factor : float
        A positive number.

    Returns
    -------
    ndarray of shape (k, k)
        The new costs. At their equal-risk point all the other decisions cost the same under the old
        costs too.

    Examples
    --------
    >>> from calibrant.decisions import multiply_row
    >>> multiply_row([[0, 4], [1, 0]], 0, 10)
    array([[ 0., 40.],
           [ 1.,  0.]])
    """
    return _changed(cost, "row", row, factor=_positive(factor))


def _changed(
    cost: object, name: str, place: object, *, factor: float = 1.0, added: float = 0.0
) -> Float64Array:
    """A copy of the costs with one row or column multiplied and added to."""
    matrix = check_square_cost(cost).copy()
    number = check_class_number(name, place, len(matrix))
    line = matrix[number] if name == "row" else matrix[:, number]
    line *= factor
    line += added
    return matrix


def _positive(factor: object) -> float:
    return check_number("factor", factor, "a positive number", lambda number: number > 0)


def _finite(amount: object) -> float:
    return check_number("amount", amount, "a finite number", lambda _: True)
