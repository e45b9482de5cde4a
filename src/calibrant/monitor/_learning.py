"""The learned alternative: shifts of all classes and a slope, by penalised maximum likelihood on past rows.

Rows are looked at in blocks. A block that has been looked at is remembered as a parabola: the second-order
expansion of its log likelihood in the parameters, which add up, and which fade.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.monitor._alternatives import LEAST, tempered

#: How many rows' weight the wish for no change has.
RIDGE_ROWS = 10.0
#: What a block still counts for when the next one has come.
FADING = 1.0 - 1.0 / 32
#: How far shifts and slopes may go.
MOST_SHIFT, LEAST_SLOPE, MOST_SLOPE = 4.0, 0.1, 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Parabola:
    """The log likelihood of rows, minus a constant: linear @ theta - theta @ curvature @ theta / 2.

    Attributes
    ----------
    curvature : ndarray of shape (..., k + 1, k + 1)
        The information of the rows.
    linear : ndarray of shape (..., k + 1)
        The information times the parameters that fit best.
    """

    curvature: Float64Array
    linear: Float64Array

    def __add__(self, other: "Parabola") -> "Parabola":
        return Parabola(self.curvature + other.curvature, self.linear + other.linear)

    def __rmul__(self, share: float) -> "Parabola":
        return Parabola(share * self.curvature, share * self.linear)


def no_rows(shape: tuple[int, ...]) -> Parabola:
    """What is known before there are rows; the last of the shape is the number of parameters."""
    return Parabola(np.zeros((*shape, shape[-1])), np.zeros(shape))


def ridge(base_rates: Float64Array) -> Float64Array:
    """The weight of the wish for no change, for every parameter."""
    return RIDGE_ROWS * np.append(np.maximum(base_rates, 1e-3), 1.0)


def best(past: Parabola, penalty: Float64Array) -> Float64Array:
    """The parameters that past rows and the penalty like best: shifts of the classes, then the slope."""
    right = past.linear + penalty * unchanged(len(penalty))
    matrix = past.curvature + np.diag(penalty)
    theta = np.linalg.solve(matrix, right[..., np.newaxis])[..., 0]
    shifts = np.clip(theta[..., :-1], -MOST_SHIFT, MOST_SHIFT)
    slope = np.clip(theta[..., -1:], LEAST_SLOPE, MOST_SLOPE)
    return np.concatenate([shifts, slope], axis=-1)


def unchanged(n_parameters: int) -> Float64Array:
    """The parameters of the forecasts themselves."""
    return np.append(np.zeros(n_parameters - 1), 1.0)


def learned(
    proba: Float64Array, truth: IntArray, weights: Float64Array | None, theta: Float64Array
) -> tuple[Float64Array, Parabola]:
    """Ratios of rows under parameters, and the parabola of these rows about them.

    Parameters
    ----------
    proba : ndarray of shape (..., n, k)
        The forecasts.
    truth : ndarray of int of shape (..., n)
        What came.
    weights : ndarray of shape (..., n) or None
        How much every row counts; rows of weight 0 are absent.
    theta : ndarray of shape (..., k + 1)
        The parameters.

    Returns
    -------
    ratios : ndarray of shape (..., n)
        Ratios of what the tilted and the given forecasts said of what came.
    parabola : Parabola
        Of all rows.
    """
    log_p = np.log(np.maximum(proba, LEAST))
    shifts, slope = theta[..., np.newaxis, :-1], theta[..., np.newaxis, -1:]
    tilted = slope * log_p + shifts
    tilted -= tilted.max(axis=-1, keepdims=True)
    np.exp(tilted, out=tilted)
    tilted /= tilted.sum(axis=-1, keepdims=True)
    place = truth[..., np.newaxis]
    log_came = np.take_along_axis(log_p, place, axis=-1)[..., 0]
    came = np.take_along_axis(tilted, place, axis=-1)[..., 0]
    ratios = tempered(came * np.exp(-log_came))
    mass = tilted if weights is None else tilted * weights[..., np.newaxis]
    mean = (tilted * log_p).sum(axis=-1)
    off = log_p - mean[..., np.newaxis]
    k = proba.shape[-1]
    curvature = np.empty((*proba.shape[:-2], k + 1, k + 1))
    total = mass.sum(axis=-2)
    curvature[..., :k, :k] = -np.swapaxes(mass, -1, -2) @ tilted
    diagonal = np.arange(k)
    curvature[..., diagonal, diagonal] += total
    by_slope = mass * off
    curvature[..., :k, k] = curvature[..., k, :k] = by_slope.sum(axis=-2)
    curvature[..., k, k] = (by_slope * off).sum(axis=(-1, -2))
    gradient = np.empty((*proba.shape[:-2], k + 1))
    one_hot = place == np.arange(k)
    happened = one_hot if weights is None else one_hot * weights[..., np.newaxis]
    gradient[..., :k] = happened.sum(axis=-2) - total
    gain = log_came - mean
    gradient[..., k] = (gain if weights is None else gain * weights).sum(axis=-1)
    linear = gradient + (curvature @ theta[..., np.newaxis])[..., 0]
    return ratios, Parabola(curvature, linear)
