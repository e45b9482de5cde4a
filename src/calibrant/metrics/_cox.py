"""Cox's calibration regression: the truth on the log-odds, one slope, and an intercept for every class."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._odds import expit
from calibrant.metrics._points import LEAST_ODDS, Grid, Points, dot

#: Steps of Newton's method, and when it has arrived.
MOST_STEPS, ARRIVED = 60, 1e-10
#: Slopes beyond this are without limit: the log-odds tell the classes apart.
NO_LIMIT = 1e4
#: Where the regression has run away to.
FARTHEST = 1e9
#: More points than this are put into cells, whose odds are within 0.4% of each other.
MANY, CELLS = 1 << 14, Grid(8)


@dataclass(frozen=True, slots=True, eq=False)
class CoxFit:
    """Slope and intercepts, and the inverse of the information of the first column's.

    Attributes
    ----------
    slope : float
        The slope; `nan` where there is none, infinite where the classes are apart.
    intercepts : ndarray of shape (c,)
        One for every column.
    bread : ndarray of shape (c + 1, c + 1) or None
        Inverse of the matrix of second derivatives; None where there is no fit.
    """

    slope: float
    intercepts: Float64Array
    bread: Float64Array | None


def log_odds(p: Float64Array) -> Float64Array:
    """Logarithm of the odds, limited."""
    p = np.maximum(p, LEAST_ODDS)
    return np.asarray(np.log(p) - np.log(np.maximum(1.0 - p, LEAST_ODDS)))


def in_cells(points: Points) -> Points:
    """The points, or cells where they are many: the slope, and all that an interval needs, are the same."""
    return CELLS.pooled(points) if len(points) > MANY else points


def fit_cox(columns: Sequence[Points]) -> CoxFit:
    """Fit one slope to the log-odds of all columns, each with an intercept of its own."""
    nothing = CoxFit(math.nan, np.full(len(columns), math.nan), None)
    if not all(points.pos.any() and points.neg.any() for points in columns):
        return nothing
    data = [(log_odds(points.p), points.pos, points.weight) for points in columns]
    if all(x[0] == x[-1] for x, _, _ in data):
        return nothing
    if all(_apart(points) for points in columns):
        return CoxFit(math.inf, np.full(len(columns), math.nan), None)
    if all(_apart(points, -1) for points in columns):
        return CoxFit(-math.inf, np.full(len(columns), math.nan), None)
    total = np.array([float(weight.sum()) for _, _, weight in data])
    fitted, information = _newton(data, np.append(1.0, np.zeros(len(data))), total)
    if information is None or abs(fitted[0]) > NO_LIMIT:
        return nothing
    return CoxFit(float(fitted[0]), fitted[1:], np.asarray(np.linalg.inv(information), dtype=np.float64))


def _apart(points: Points, sign: int = 1) -> bool:
    """Whether every positive is above every negative, or at the last of them."""
    pos, neg = points.pos[::sign], points.neg[::sign]
    return int(np.flatnonzero(pos)[0]) >= int(np.flatnonzero(neg)[-1])


Data = list[tuple[Float64Array, Float64Array, Float64Array]]


def _newton(data: Data, start: Float64Array, total: Float64Array) -> tuple[Float64Array, Float64Array | None]:
    """Newton's method with halved steps; and the matrix of second derivatives, if it arrived."""
    at, (loss, gradient, information) = start, _derivatives(data, start)
    for _ in range(MOST_STEPS):
        try:
            step = np.linalg.solve(information, -gradient)
        except np.linalg.LinAlgError:
            return at, None
        if not np.abs(at + step).max() < FARTHEST:
            return at, None
        if -float(gradient @ step) <= ARRIVED**2 * total.sum():
            return at, information
        for _ in range(30):
            new = at + step
            found = _derivatives(data, new)
            if found[0] <= loss + 1e-12 * abs(loss):
                break
            step = step / 2
        at, (loss, gradient, information) = new, found
        if abs(at[0]) > NO_LIMIT:
            return at, None
    return at, None


def _derivatives(data: Data, at: Float64Array) -> tuple[float, Float64Array, Float64Array]:
    """Loss, gradient and matrix of second derivatives."""
    loss, gradient, information = 0.0, np.zeros(len(at)), np.zeros((len(at), len(at)))
    for place, (x, pos, weight) in enumerate(data, start=1):
        z = at[0] * x + at[place]
        beyond = np.exp(-np.abs(z))
        q = np.where(z > 0, 1.0, beyond) / (1.0 + beyond)
        loss += dot(weight, np.maximum(z, 0.0) + np.log1p(beyond)) - dot(pos, z)
        residual, curve = weight * q - pos, weight * q * (1 - q)
        gradient[0] += dot(residual, x)
        gradient[place] = residual.sum()
        by_x = curve * x
        information[0, 0] += dot(by_x, x)
        information[0, place] = information[place, 0] = by_x.sum()
        information[place, place] = curve.sum()
    return loss, gradient, information


def sandwich(fit: CoxFit, points: Points) -> Float64Array:
    """The covariance of slope and intercept of a single column, right even if the regression is not."""
    assert fit.bread is not None
    x = log_odds(points.p)
    q = expit(fit.slope * x + float(fit.intercepts[0]))
    squares = points.pos2 * (1 - q) ** 2 + points.neg2 * q**2
    across = dot(squares, x)
    meat = np.array([[dot(squares, x * x), across], [across, float(squares.sum())]])
    n = float(points.weight.sum()) ** 2 / float((points.pos2 + points.neg2).sum())
    covariance = fit.bread @ meat @ fit.bread
    return np.asarray(covariance * (n / (n - 2) if n > 2 else 1.0))
