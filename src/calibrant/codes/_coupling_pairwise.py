"""The KL minimiser of pairwise answers: Newton's method for the Bradley-Terry model.

When every column compares one class with one other, the objective (docs/methods/codes.md) is convex in the
log-probabilities x, and its second derivative is a graph Laplacian: v_ij = n_ij mu_ij (1 - mu_ij) between
classes i and j. Two facts make the method fast and safe without a line search.

- The answers themselves are good guesses of the mu_ij: one weighted least-squares fit of their log-odds
  starts every row close to its end.
- Along a step d whose entries span a range R, the third derivative of the objective is at most R times its
  second. A Newton step of length s therefore changes the objective by at most

      -m [ s - (exp(R s) - R s - 1) / R^2 ],     m = d'Hd,

  which is a decrease for s = 1 as long as R <= 1.79, and for s = log(1 + R) / R always.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.codes._gram import product
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._solution import Solution
from calibrant.codes._symmetric import eliminate

#: Full steps up to this range of log-probabilities are sure to go down.
_FULL_STEP = 1.5
#: The smallest trusted pivot: chains of nearly certain answers make matrices nearly singular.
_FLOOR = 1e-14


@dataclass
class PairwiseCoupling:
    """Coupling for columns of two classes each, no two columns with the same pair, all classes linked."""

    code: CodeMatrix
    weights: Float64Array
    negative_weights: Float64Array = field(init=False)
    signed_weights: Float64Array = field(init=False)
    first: IntArray = field(init=False)
    second: IntArray = field(init=False)

    def __post_init__(self) -> None:
        weights = self.weights / self.weights.max()
        self.negative_weights = -weights[:, None]
        self.signed_weights = self.code * weights
        self.first = np.argmax(self.code, axis=0)
        self.second = np.argmin(self.code, axis=0)

    @property
    def numbers_per_row(self) -> int:
        """The size of the largest temporary array, for one row of data."""
        return int(max(len(self.code) ** 2, self.code.shape[1]))

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Give the minimisers (k, n) for answers (l, n) strictly inside (0, 1).

        The error that a Newton step leaves is its size times R, to leading order; a row stops when
        that product, the change that the next step would bring, is below a tenth of `tol`, and when also
        the small probabilities are right: R below a tenth.
        """
        k, n_rows = len(self.code), answers.shape[1]
        solution = Solution.blank(k, n_rows)
        rows = np.arange(n_rows)
        space = _Space.for_block(k, *answers.shape)
        proba = self._start(answers, space)
        for iteration in range(1, max_iter + 1):
            after, reach = self._step(proba, answers, space)
            live = (np.abs(after - proba).max(axis=0) * reach >= 0.1 * tol) | (reach >= 0.1)
            solution.put(rows, after, iteration, ~live)
            if not live.any():
                break
            if live.all():
                proba = after
            else:
                rows, proba, answers = rows[live], after[:, live], answers[:, live]
                space = space.narrowed(len(rows))
        return solution

    def _start(self, answers: Float64Array, space: "_Space") -> Float64Array:
        rest, mass, odds = space.ahead, space.behind, space.total
        np.subtract(1.0, answers, out=rest)
        np.multiply(answers, rest, out=mass)
        np.divide(answers, rest, out=odds)
        np.multiply(mass, np.log(odds.astype(np.float32)), out=odds)  # a start needs no more digits
        return _softmax(self._potentials(mass, product(self.signed_weights, odds), space))

    def _step(
        self, proba: Float64Array, answers: Float64Array, space: "_Space"
    ) -> tuple[Float64Array, Float64Array]:
        """One Newton step down, and the range of log-probabilities that Newton asked for."""
        ahead, behind, total = space.ahead, space.behind, space.total
        np.take(proba, self.first, axis=0, out=ahead, mode="clip")
        np.take(proba, self.second, axis=0, out=behind, mode="clip")
        np.add(ahead, behind, out=total)
        ahead /= total
        behind /= total
        np.subtract(answers, ahead, out=total)
        pull = product(self.signed_weights, total)
        behind *= ahead  # mu (1 - mu), whose small values keep the digits that 1 - ahead would lose
        move = self._potentials(behind, pull, space)
        reach = move.max(axis=0) - move.min(axis=0)
        long = reach > _FULL_STEP
        if long.any():
            move[:, long] *= np.log1p(reach[long]) / reach[long]
        return _softmax(move, proba), reach

    def _potentials(self, mass: Float64Array, pull: Float64Array, space: "_Space") -> Float64Array:
        """Solve the Laplacian system with the last class held at zero."""
        k, n_rows = pull.shape
        work = space.work
        if len(mass) < k * (k - 1) // 2:
            work[:] = 0.0  # pairs without a column
        np.multiply(mass, self.negative_weights, out=space.total)
        work[np.maximum(self.first, self.second), np.minimum(self.first, self.second)] = space.total
        work[np.arange(k - 1), np.arange(k - 1)] = product(np.abs(self.signed_weights[:-1]), mass)
        work[-1] = pull[:-1]
        potentials = np.zeros((k, n_rows))
        potentials[:-1] = eliminate(work, _FLOOR)[0]
        return potentials


class _Space(NamedTuple):
    """Arrays that the steps of a block fill again and again: fresh memory costs more than the arithmetic."""

    ahead: Float64Array
    behind: Float64Array
    total: Float64Array
    work: Float64Array

    @classmethod
    def for_block(cls, k: int, n_columns: int, n_rows: int) -> Self:
        ahead, behind, total = np.empty((3, n_columns, n_rows))
        return cls(ahead, behind, total, np.empty((k, k - 1, n_rows)))

    def narrowed(self, n_rows: int) -> Self:
        return type(self)(*(array[..., :n_rows] for array in self))


def _softmax(logs: Float64Array, times: Float64Array | float = 1.0) -> Float64Array:
    proba = np.exp(logs - logs.max(axis=0))
    proba *= times
    proba /= proba.sum(axis=0)
    return np.asarray(proba)
