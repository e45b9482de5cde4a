"""Least squares over x >= 0, one row at a time: for the rows that need care (docs/methods/codes.md)."""

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.codes._nonnegative import minimise_nonnegative

#: Relative size of the ridge that picks, among equal minimisers, nearly the one of smallest norm.
_RIDGE = 1e-5
#: Rounding may make the active set cycle; this many steps are more than it ever needs otherwise.
_STEPS_PER_CLASS = 100
#: Rounding in derivatives and in answers.
_ROUNDING = 1e-12
#: How far an exact solution may be from the one with a ridge.
_NEAR = 1e-3


def likely_support(matrices: Float64Array, linear: Float64Array) -> BoolArray:
    """Guess which coordinates of the smallest minimiser of x'Hx / 2 - h'x over x >= 0 are not zero."""
    k = len(linear)
    ridged = matrices.copy()
    ridged[np.arange(k), np.arange(k)] += _RIDGE**2 * np.einsum("iin->n", matrices)
    found = minimise_nonnegative(ridged, linear, np.ones(linear.shape, dtype=bool), _RIDGE**2 / k)
    return np.asarray(found.x > 0)


def minimum_norm_nonnegative(
    system: Float64Array, target: Float64Array, support: BoolArray
) -> tuple[Float64Array, bool]:
    """Minimise |Bx - c| over x >= 0; among several minimisers give the one of smallest norm."""
    k = system.shape[1]
    unique = len(system) >= k and int(np.linalg.matrix_rank(system)) == k
    x = _on(support, system, target)
    if _is_minimiser(x, system, target):
        return np.maximum(x, 0.0), unique
    if unique:
        return _active_set(system, target), True
    ridge = _RIDGE * np.linalg.norm(system, 2) * np.eye(k)
    nearly = _active_set(np.vstack([system, ridge]), np.append(target, np.zeros(k)))
    exact = _on(nearly > 0, system, target)
    good = np.abs(exact - nearly).max() <= _NEAR and _is_minimiser(exact, system, target)
    return (np.maximum(exact, 0.0) if good else nearly), False


def _is_minimiser(x: Float64Array, system: Float64Array, target: Float64Array) -> bool:
    """Whether x is not negative and no coordinate wants to change, beyond rounding."""
    slope = system.T @ (system @ x - target)
    size = np.abs(system).max() + np.abs(target).max()
    least = np.where(x > 0, -np.abs(slope), slope).min()
    return bool(x.min() >= -1e-9 and least >= -1e-9 * size * max(size, 1.0))


def _active_set(system: Float64Array, target: Float64Array) -> Float64Array:
    """Move to the best point of the free coordinates; drop the first to hit zero, add the best one."""
    k = system.shape[1]
    free = np.zeros(k, dtype=bool)
    x = np.zeros(k)
    for _ in range(_STEPS_PER_CLASS * k):
        best = _on(free, system, target)
        if best.min() < 0:
            falling = best < 0
            steps = np.divide(x, x - best, out=np.full(k, np.inf), where=falling)
            first = int(np.argmin(steps))
            x = np.maximum(x + steps[first] * (best - x), 0.0)
            x[first] = 0.0
            free[first] = False
            continue
        x = best
        slope = system.T @ (system @ x - target)
        slope[free] = 0.0
        if slope.min() >= -_ROUNDING * np.abs(system).max():
            break
        free[np.argmin(slope)] = True
    return x


def _on(free: BoolArray, system: Float64Array, target: Float64Array) -> Float64Array:
    """The least-squares solution of smallest norm that uses the free coordinates only."""
    x = np.zeros(system.shape[1])
    if free.any():
        x[free] = np.linalg.lstsq(system[:, free], target, rcond=1e-10)[0]
    return x
