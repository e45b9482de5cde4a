"""Least squares over x >= 0, one row at a time: for the few rows that need care (METHODS 9.4, A.5)."""

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array

#: Relative size of the ridge that picks, among equal minimisers, nearly the one of smallest norm.
_RIDGE = 1e-5
#: Rounding may make the active set cycle; this many steps are more than it ever needs otherwise.
_STEPS_PER_CLASS = 100
#: Rounding in derivatives and in answers.
_ROUNDING = 1e-12


def minimum_norm_nonnegative(system: Float64Array, target: Float64Array) -> tuple[Float64Array, bool]:
    """Minimise |Bx - c| over x >= 0; among several minimisers give the one of smallest norm.

    Where the minimiser is not unique, a small ridge shows which coordinates of the smallest one are not
    zero; on these the least-squares solution of smallest norm is then exact.

    Parameters
    ----------
    system : ndarray of shape (m, k)
        The matrix B.
    target : ndarray of shape (m,)
        The vector c.

    Returns
    -------
    x : ndarray of shape (k,)
        The minimiser.
    unique : bool
        Whether it is the only one.
    """
    k = system.shape[1]
    if np.linalg.matrix_rank(system) == k:
        return _active_set(system, target), True
    ridge = _RIDGE * np.linalg.norm(system, 2) * np.eye(k)
    nearly = _active_set(np.vstack([system, ridge]), np.append(target, np.zeros(k)))
    exact = _on(nearly > 0, system, target)
    return (np.maximum(exact, 0.0) if exact.min() >= -_RIDGE else nearly), False


def _active_set(system: Float64Array, target: Float64Array) -> Float64Array:
    """Move to the best point of the free coordinates; drop the first to hit zero, add the best one."""
    k = system.shape[1]
    free = np.ones(k, dtype=bool)
    x = np.full(k, 1.0 / k)
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
    x[free] = np.linalg.lstsq(system[:, free], target, rcond=1e-10)[0]
    return x
