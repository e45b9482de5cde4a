"""Many small quadratic programmes over the non-negative orthant at once.

Block principal pivoting (Portugal, Júdice & Vicente 1994; Kim & Park 2011): guess which coordinates are
free, solve for them, and let all coordinates that break their sign change sides together. When that stops
making progress, Murty's rule moves one coordinate at a time, which cannot cycle.
"""

from typing import NamedTuple

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.codes._symmetric import solve_free

#: Signs are read after scaling the matrix to a unit diagonal, with this much for rounding.
_SIGN_TOLERANCE = 1e-12
#: Exchanges of whole blocks without progress before single coordinates move.
_PATIENCE = 3


class Minimum(NamedTuple):
    """The minimisers of a batch, their free coordinates, and which rows were solved."""

    x: Float64Array
    free: BoolArray
    solved: BoolArray


def minimise_nonnegative(
    matrices: Float64Array, linear: Float64Array, free: BoolArray, floor: float, max_iter: int = 100
) -> Minimum:
    """Minimise x'Hx / 2 - h'x over x >= 0, for positive definite H."""
    k, n_rows = linear.shape
    x = np.zeros((k, n_rows))
    free_of_all = free.copy()
    solved = np.zeros(n_rows, dtype=bool)
    rows = np.arange(n_rows)
    fewest = np.full(n_rows, k + 1)
    patience = np.full(n_rows, _PATIENCE)
    for _ in range(max_iter):
        candidate, sound = solve_free(matrices, linear, free, floor)
        wrong = _wrong_sign(matrices, linear, candidate, free)
        n_wrong = wrong.sum(axis=0)
        solved[rows] = done = (n_wrong == 0) & sound
        if done.any():
            x[:, rows[done]] = np.where(free, np.maximum(candidate, 0.0), 0.0)[:, done]
            free_of_all[:, rows[done]] = free[:, done]
        stay = (n_wrong > 0) & sound
        if not stay.any():
            break
        if not stay.all():
            matrices, linear = matrices[:, :, stay], linear[:, stay]
            free, wrong, n_wrong = free[:, stay], wrong[:, stay], n_wrong[stay]
            rows, fewest, patience = rows[stay], fewest[stay], patience[stay]
        progress = n_wrong < fewest
        fewest = np.where(progress, n_wrong, fewest)
        patience = np.where(progress, _PATIENCE, patience - 1)
        free = free ^ np.where(patience < 0, _last_only(wrong), wrong)
    return Minimum(x, free_of_all, solved)


def _wrong_sign(matrices: Float64Array, linear: Float64Array, x: Float64Array, free: BoolArray) -> BoolArray:
    """Free coordinates below zero, and coordinates held at zero whose derivative is negative."""
    scale = np.sqrt(np.maximum(np.einsum("iin->in", matrices), np.finfo(float).tiny))
    slope = np.einsum("ijn,jn->in", matrices, x) - linear
    scaled = x * scale
    tolerance = _SIGN_TOLERANCE * np.abs(scaled).max(axis=0)
    return np.asarray(np.where(free, scaled, slope / scale) < -tolerance)


def _last_only(wrong: BoolArray) -> BoolArray:
    """Keep the last marked coordinate of every row."""
    k = len(wrong)
    last = k - 1 - np.argmax(wrong[::-1], axis=0)
    return np.asarray(np.arange(k)[:, None] == last)
