"""Many logistic fits of moderate size: found in single precision, finished in double.

The way to the optimum is gone in single precision, see `_logistic_rough.py`, and only the last step or two,
for which the Hessian of the rough optimum is good enough, in double precision. The answer is the same to
rounding. Whatever is not bounded is left to the safeguarded solver.
"""

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.passes._logistic import LogisticFit, fit_logistic, vary
from calibrant.passes._logistic_rough import BlockedRows, moments, rough_optimum

#: Newton steps after which a fit counts as diverging. One that exists takes about seven, seldom thirty;
#: one that does not goes on for ever, by steps of about one in units of the log-odds, or longer ones.
MAX_STEPS = 40
#: Steps for targets strictly between 0 and 1: these have an optimum, far out where weights differ widely.
MOST_FOR_SURE = 400
#: Greatest number of last steps, and the length of one after which they end.
LAST_STEPS, FINE = 4, 1e-9
#: Standardised scores that vary less than this in some direction depend on each other.
ROUNDING = 1e-12


def fit_fast(scores: Float64Array, target: Float64Array, weights: Float64Array | None) -> LogisticFit:
    """Fit ``1/(1 + exp(A f + B))`` to targets in [0, 1] whose mean is neither 0 nor 1."""
    weights = None if weights is None else weights / weights.mean()
    standard, shift, unit = _standardise(scores, weights)
    varying = _varying_directions(standard[:-1], weights)
    if varying.shape[1] == 0:
        mean = np.average(target, weights=weights)
        return LogisticFit(np.zeros(len(scores)), float(np.log((1 - mean) / mean)), 0, True)
    if varying.shape[1] < len(scores):
        standard = np.concatenate([varying.T @ standard[:-1], standard[-1:]])
    else:
        varying = np.eye(len(scores))
    fit = _fit_standard(standard, target, weights)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slope = varying @ fit.slope / unit
    return LogisticFit.about(shift, slope, fit.intercept, fit.n_iter, fit.converged).checked()


def _standardise(
    scores: Float64Array, weights: Float64Array | None
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Centred and scaled scores, with a row of ones for the intercept; the centres and the scales."""
    low, high = scores.min(axis=1), scores.max(axis=1)
    size = np.maximum(np.abs(low), np.abs(high))
    size[size == 0] = 1.0
    standard = np.ones((len(scores) + 1, scores.shape[1]))
    scaled = np.divide(scores, size[:, None], out=standard[:-1])  # so that squares cannot overflow
    shift = _mean(scaled, weights)
    scaled -= shift[:, None]
    spread = np.sqrt(_mean(scaled * scaled, weights))
    spread[~vary(low, high)] = np.inf  # so that a score that does not vary becomes 0
    scaled /= spread[:, None]
    return standard, shift * size, spread * size


def _mean(rows: Float64Array, weights: Float64Array | None) -> Float64Array:
    return np.asarray(rows.mean(axis=1) if weights is None else rows @ weights / weights.sum())


def _varying_directions(scaled: Float64Array, weights: Float64Array | None) -> Float64Array:
    """Orthogonal directions in which the scores vary, of shape (r, number of them)."""
    mass = np.ones(scaled.shape[1]) if weights is None else weights
    values, directions = np.linalg.eigh(moments(scaled, mass) / mass.sum())
    return np.asarray(directions[:, values > ROUNDING])


def _fit_standard(standard: Float64Array, target: Float64Array, weights: Float64Array | None) -> LogisticFit:
    """Fit to standardised scores that depend on each other in no way, the last row being ones."""
    rows = BlockedRows(standard, target, weights)
    theta, hessian, n_rough = rough_optimum(rows, rows.flat_map())
    n_last = None if hessian is None else _finish(rows, theta, hessian)
    if n_last is not None or rows.are_told_apart(theta):
        return LogisticFit(theta[:-1], float(theta[-1]), n_rough + (n_last or 0), n_last is not None)
    has_optimum = bool(((target > 0) & (target < 1)).all())
    most = MOST_FOR_SURE if has_optimum else MAX_STEPS
    return fit_logistic(standard[:-1].T, target, weights, max_iter=most)


def _finish(rows: "BlockedRows", theta: Float64Array, hessian: Float64Array) -> int | None:
    """The last steps, in place: how many, or None if they do not settle."""
    for n_steps in range(1, LAST_STEPS + 1):
        step = np.linalg.solve(hessian, rows.derivatives(theta, hessian=False)[0])
        theta -= step
        if np.abs(step).max() < FINE * max(1.0, np.abs(theta).max()):
            return n_steps
    return None
