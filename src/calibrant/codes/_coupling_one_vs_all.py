"""The KL minimiser of one-vs-all answers: one equation in one unknown per row.

On the simplex the objective (docs/methods/codes.md) falls apart into one term per class,

    sum_c n_c [ -r_c log p_c - (1 - r_c) log(1 - p_c) ],

so that for a multiplier t of the constraint every p_c solves a quadratic equation of its own,

    t p^2 - (n + t) p + n r = 0,

and falls as t grows. What remains is to find the t at which the p_c sum to one. Since all p_c move the same
way, |sum p - 1| bounds the error of p, summed over the classes: the stopping rule is a certificate.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.codes._solution import Solution


@dataclass(frozen=True)
class OneVsAllCoupling:
    """Coupling for one-vs-all by Newton's method on the multiplier, kept inside a shrinking bracket."""

    weights: Float64Array

    @property
    def numbers_per_row(self) -> int:
        """The size of the largest temporary array, for one row of data."""
        return len(self.weights)

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Give the minimisers (k, n) for answers (k, n) strictly inside (0, 1)."""
        k, n_rows = answers.shape
        weights = (self.weights / self.weights.max())[:, None]
        pull = weights * answers
        low = -(weights - pull).sum(axis=0) / (k - 1)  # here the p_c sum to at least one,
        high = pull.sum(axis=0)  # and here to at most one
        solution = Solution.blank(k, n_rows)
        rows = np.arange(n_rows)
        multiplier = np.zeros(n_rows)
        target = max(0.01 * tol, 1e-15 * k)
        for iteration in range(1, max_iter + 1):
            proba, root = _classes_at(multiplier, weights, pull)
            excess = proba.sum(axis=0) - 1.0
            live = np.abs(excess) > target
            solution.put(rows, proba / (1.0 + excess), iteration, ~live)
            if not live.any():
                break
            low = np.where(excess > 0, multiplier, low)
            high = np.where(excess > 0, high, multiplier)
            step = multiplier + excess / (proba * (1.0 - proba) / root).sum(axis=0)
            multiplier = np.where((low < step) & (step < high), step, (low + high) / 2)
            if not live.all():
                rows, multiplier, low, high = rows[live], multiplier[live], low[live], high[live]
                pull = pull[:, live]
        return solution


def _classes_at(
    multiplier: Float64Array, weights: Float64Array, pull: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """The p of every class and the root of the discriminant; the formula adds no terms of opposite sign."""
    other = np.where(multiplier > 0, weights - pull, pull)
    size = np.abs(multiplier)
    root = np.sqrt((weights - size) ** 2 + 4.0 * size * other)
    middle = weights + multiplier
    upper = middle > 0
    proba = np.where(upper, 2.0 * pull, root - middle) / np.where(upper, middle + root, -2.0 * multiplier)
    return proba, root
