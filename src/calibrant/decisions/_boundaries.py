"""Where one decision gives way to another: the threshold of two classes, the segments of three."""

import math

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._errors import ParameterError
from calibrant.decisions._matrix import check_class_number, check_square_cost, refuse_unreasonable

#: Shorter pieces of a boundary are points.
SHORTEST = 1e-12


def two_class_threshold(cost: object) -> float:
    r"""Find the probability of class 0 above which class 0 is decided.

    Parameters
    ----------
    cost : array-like of shape (2, 2)
        Reasonable costs; ``cost[i, j]`` is the cost of deciding i when the truth is j.

    Returns
    -------
    float
        The threshold t: class 0 is decided if its probability is above t, class 1 if that of class 1 is
        above 1 - t. At t itself both cost the same.

    Notes
    -----
    Equation 2 of O'Brien, Gupta and Gray (2008), whose class 1 is our class 0:
    :math:`t^* = (c_{12} - c_{22}) / ((c_{12} - c_{22}) + (c_{21} - c_{11}))`.

    Examples
    --------
    Missing class 1 costs nine times as much as a false alarm, so class 0 must be nine times as probable:

    >>> from calibrant.decisions import two_class_threshold
    >>> two_class_threshold([[0, 9], [1, 0]])
    0.9
    """
    matrix = check_square_cost(cost, 2)
    refuse_unreasonable(matrix, "as otherwise one decision is always best")
    miss, alarm = matrix[0, 1] - matrix[1, 1], matrix[1, 0] - matrix[0, 0]
    return float(miss / (miss + alarm))


def boundary_segment(cost: object, i: int, k: int) -> Float64Array | None:
    r"""Find where two of three classes tie for the least risk.

    Parameters
    ----------
    cost : array-like of shape (3, 3)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    i, k : int
        The two decisions.

    Returns
    -------
    ndarray of shape (2, 3) or None
        The ends of the segment of the simplex, in lexicographic order; None if the regions of the two do
        not meet in more than a point, or if the two decisions always cost the same.

    See Also
    --------
    equal_risk_point : Where the three segments meet.

    Notes
    -----
    The boundary is :math:`\sum_j (c_{ij} - c_{kj}) p_j = 0` (equation 6 of O'Brien, Gupta and Gray 2008),
    cut where a probability becomes negative or the third decision cheaper.

    Examples
    --------
    >>> from calibrant.decisions import boundary_segment
    >>> boundary_segment([[0, 1, 1], [1, 0, 1], [1, 1, 0]], 0, 1).round(3)
    array([[0.333, 0.333, 0.333],
           [0.5  , 0.5  , 0.   ]])
    """
    matrix = check_square_cost(cost, 3)
    first, second = check_class_number("i", i, 3), check_class_number("k", k, 3)
    if first == second:
        raise ParameterError(f"i and k must be different decisions; got {first} twice")
    difference = _unit(matrix[first] - matrix[second])
    third = _unit(matrix[3 - first - second] - matrix[first])
    direction = np.cross(difference, np.ones(3))
    if np.abs(direction).max() <= SHORTEST:
        return None
    start = np.linalg.lstsq(np.vstack([difference, np.ones(3)]), np.array([0.0, 1.0]), rcond=None)[0]
    ends = _positive_part(np.append(start, third @ start), np.append(direction, third @ direction))
    if ends is None:
        return None
    segment = np.clip(start + np.outer(ends, direction), 0.0, 1.0)
    return np.asarray(segment[np.lexsort(segment.T[::-1])])


def _unit(differences: Float64Array) -> Float64Array:
    """The differences of two rows, in units of the largest, so that tolerances mean something."""
    return differences / (np.abs(differences).max() or 1.0)


def _positive_part(offset: Float64Array, slope: Float64Array) -> tuple[float, float] | None:
    """The interval of t in which no entry of ``offset + slope t`` is negative, unless it is a point."""
    level = np.abs(slope) <= SHORTEST * max(1.0, np.abs(slope).max())
    if (offset[level] < -SHORTEST).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -offset / slope
    low = zero[~level & (slope > 0)].max(initial=-math.inf)
    high = zero[~level & (slope < 0)].min(initial=math.inf)
    return (float(low), float(high)) if high - low > SHORTEST else None
