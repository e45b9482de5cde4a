"""The point of the simplex where all decisions cost the same."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.decisions._matrix import check_square_cost

#: Singular values below this share of the largest count as zero.
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class EqualRiskPoint:
    """Where all decisions cost the same.

    Attributes
    ----------
    kind : {"unique", "none", "many"}
        Whether there is one such point, none (the boundaries are parallel, the point is at infinity), or
        many.
    point : ndarray of shape (k,) or None
        The point; the one of least norm if there are many; None if there is none. Its entries sum to one,
        but it may lie outside the simplex.
    dimension : int
        The dimension of the set of such points: 0 for a unique one, -1 for none.
    """

    kind: Literal["unique", "none", "many"]
    point: Float64Array | None
    dimension: int


def equal_risk_point(cost: object) -> EqualRiskPoint:
    r"""Find the probabilities at which all decisions cost the same (property 2).

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j. Any finite costs will do.

    Returns
    -------
    EqualRiskPoint
        The point, if there is one, and whether it is the only one.

    Notes
    -----
    The point e solves :math:`\sum_j (c_{ij} - c_{kj}) e_j = 0` for all i and :math:`\sum_j e_j = 1`. If c
    is invertible and :math:`s = 1^\top c^{-1} 1 \ne 0`, then :math:`e = c^{-1} 1 / s`. O'Brien, Gupta and
    Gray (2008) divide by the 1-norm instead of the signed sum s, which is wrong as soon as signs differ,
    and can never be zero, as they then suppose. An invertible c with s = 0 has no such point, and a
    singular one can have exactly one, so neither is asked for here.

    Examples
    --------
    Where mistakes all cost the same, it is the centre of the simplex:

    >>> from calibrant.decisions import equal_risk_point
    >>> equal_risk_point([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).point.round(4)
    array([0.3333, 0.3333, 0.3333])

    Here it is outside, so that the regions of the first and the last class never meet:

    >>> equal_risk_point([[0, 1, 6], [1, 0, 1], [6, 1, 0]]).point.round(4)
    array([-0.5,  2. , -0.5])
    >>> equal_risk_point([[1, 2], [3, 4]]).kind
    'none'
    """
    matrix = check_square_cost(cost)
    k = len(matrix)
    differences = matrix[:-1] - matrix[-1]
    # All costs may be multiplied by a constant, and then the rank should not depend on their currency.
    size = np.abs(differences).max(initial=0.0)
    system = np.vstack([differences / (size or 1.0), np.ones(k)])
    wanted = np.append(np.zeros(k - 1), 1.0)
    point, _, rank, _ = np.linalg.lstsq(system, wanted, rcond=RANK_TOLERANCE)
    if np.abs(system @ point - wanted).max() > 1e-8 * max(1.0, np.abs(point).max()):
        return EqualRiskPoint("none", None, -1)
    dimension = k - int(rank)
    return EqualRiskPoint("many" if dimension else "unique", point, dimension)
