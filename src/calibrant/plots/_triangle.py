"""Three probabilities as a point of a triangle, and decisions as its regions.

The corners are those of an equilateral triangle of side one: the first class at the lower left, the second at
the lower right, the third on top.
"""

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_probabilities
from calibrant._core._errors import DataError

HEIGHT = np.sqrt(3) / 2
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])

#: Regions of less area, as a share of the triangle, are not seen and not drawn.
SMALLEST = 1e-9


def simplex_coordinates(proba: object) -> Float64Array:
    """Say where in the triangle of `simplex_diagram` probabilities of three classes lie.

    Parameters
    ----------
    proba : array-like of shape (n, 3)
        Probabilities of the classes.

    Returns
    -------
    ndarray of shape (n, 2)
        The coordinates on the axes.

    See Also
    --------
    simplex_diagram : Draws the triangle.

    Examples
    --------
    >>> from calibrant.plots import simplex_coordinates
    >>> simplex_coordinates([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]])
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 0. ]])
    """
    points = check_probabilities(proba)
    if points.ndim != 2 or points.shape[1] != 3:
        raise DataError(
            f"proba must have three columns, as a triangle has three corners; got shape {points.shape}"
        )
    return np.asarray(points @ CORNERS)


def least_risk_regions(cost: Float64Array) -> list[Float64Array]:
    """Cut the simplex into the regions in which a decision costs least."""
    return [_region(cost, decision) for decision in range(len(cost))]


def _region(cost: Float64Array, decision: int) -> Float64Array:
    polygon = np.eye(3)
    for other in range(len(cost)):
        advantage = cost[other] - cost[decision]  # how much the decision saves, at every corner
        size = np.abs(advantage).max()
        if other != decision and size > 0:
            polygon = _keep_positive(polygon, advantage / size)
        elif other < decision:
            return np.empty((0, 3))
    return polygon if _area(polygon) > SMALLEST * _area(np.eye(3)) else np.empty((0, 3))


def _keep_positive(polygon: Float64Array, normal: Float64Array) -> Float64Array:
    """The part of a convex polygon where a linear function is not negative (Sutherland and Hodgman)."""
    height = polygon @ normal
    kept = []
    for here, there, at, then in zip(
        polygon, np.roll(polygon, -1, axis=0), height, np.roll(height, -1), strict=True
    ):
        if at >= 0:
            kept.append(here)
        if at * then < 0:
            kept.append(here + at / (at - then) * (there - here))
    return np.array(kept).reshape(-1, 3)


def _area(polygon: Float64Array) -> float:
    x, y = (polygon @ CORNERS).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
