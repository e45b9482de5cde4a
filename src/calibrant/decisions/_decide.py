"""The decision that costs least, row by row."""

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, IntArray
from calibrant._core._checks import check_flag
from calibrant._core._errors import DataError
from calibrant._core._ties import TIE, lowest_of_least, tie_unit
from calibrant.decisions._estimates import check_estimates, row_blocks
from calibrant.decisions._matrix import check_cost
from calibrant.maps import Tensor


def decide(proba: object, cost: object, *, allow_any: bool = False) -> IntArray:
    r"""Decide for every row what costs least on average.

    ``cost[i, j]`` is the cost of deciding i when the truth is j. Many libraries use the transpose.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Probabilities of the classes; rows sum to one, but for the last digits of printed ones (0.001).
    cost : array-like of shape (k, k), (a, k) or (n, a, k)
        The costs: of deciding for classes; of any a decisions, such as the classes and "ask a person"; or
        one matrix for every row, where costs depend on the case. `cost_matrix` makes one from labels.
    allow_any : bool, default=False
        Allow a square matrix in which some class is not the cheapest decision when it is the truth. By
        default that is refused, because it usually means that the matrix is transposed. Costs of other
        shapes are not tested for it.

    Returns
    -------
    ndarray of shape (n,)
        The number of the decision, which is its row in `cost`. Ties go to the lowest number.

    See Also
    --------
    cost_matrix : Costs by label.
    ParallelPartitionRule : Learns better decisions where the probabilities have systematic errors.

    Notes
    -----
    Equation 1 of O'Brien, Gupta and Gray (2008):

    .. math:: g(p; c) = \arg\min_i \sum_j c_{ij} p_j .

    Two risks are tied when they differ by at most :math:`10^{-12} \max(1, |\text{least risk}|)`. Where no
    cost reaches 1, the greatest one takes its place, so that costs may be small.

    Examples
    --------
    A missed illness (class 1) costs a hundred times as much as a needless check, so 2% are enough:

    >>> from calibrant.decisions import decide
    >>> proba = [[0.995, 0.005], [0.98, 0.02], [0.3, 0.7]]
    >>> decide(proba, [[0, 100], [1, 0]])
    array([0, 1, 1])

    With a third possibility, a quick test for 0.5 whatever the truth:

    >>> decide(proba, [[0, 100], [1, 0], [0.5, 0.5]])
    array([0, 2, 1])
    """
    check_flag("allow_any", allow_any)
    estimates = check_estimates(proba)
    matrix = check_cost(cost, estimates.shape[1], allow_any=allow_any)
    if matrix.ndim == 3 and len(matrix) != len(estimates):
        raise DataError(
            f"cost must have one matrix per row, {len(estimates)} in all; got {len(matrix)}; one matrix "
            "for all rows has two dimensions"
        )
    return least_risk(estimates, matrix)


def least_risk(estimates: FloatArray, matrix: Float64Array) -> IntArray:
    """Decide for checked rows, a block at a time."""
    decisions = np.empty(len(estimates), dtype=np.intp)
    for rows in row_blocks(len(estimates), max(matrix.shape[-2:])):
        block = estimates[rows].astype(np.float64, copy=False)
        costs = matrix if matrix.ndim == 2 else matrix[rows]
        risks = costs @ block.T if matrix.ndim == 2 else np.einsum("nij,nj->in", costs, block)
        decisions[rows] = lowest_of_least(risks, costs)
    return decisions


def least_risk_in_symbols(proba: Tensor, matrix: Float64Array) -> Tensor:
    """The same in symbols: the first decision whose risk is, but for a tie, the least."""
    risks = proba.at_least(0.0).times(np.asarray(matrix, dtype=np.float64).T)
    least = risks.row_min()
    size = least.size().at_least(float(tie_unit(matrix))).at_most(np.finfo(np.float64).max)
    return risks.is_at_most(least + size * TIE).first_true()
