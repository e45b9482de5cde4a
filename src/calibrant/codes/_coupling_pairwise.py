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

The start and the first steps are made in single precision, which takes half the time. The steps in double
precision that follow begin there, and lose nothing.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.codes._gram import product
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._solution import Solution
from calibrant.codes._symmetric import eliminate

#: Full steps up to this range of log-probabilities are sure to go down.
_FULL_STEP = 1.5
#: The smallest trusted pivot, in roundings: chains of nearly certain answers make matrices nearly singular.
_FLOOR = 45.0
#: Steps in single precision, and the range of log-probabilities within which they are made.
_ROUGH_STEPS, _ROUGH_RANGE = 3, 30.0


@dataclass
class PairwiseCoupling:
    """Coupling for columns of two classes each, no two columns with the same pair, all classes linked."""

    code: CodeMatrix
    weights: Float64Array
    signed_weights: Float64Array = field(init=False)
    first: IntArray = field(init=False)
    second: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.signed_weights = self.code * (self.weights / self.weights.max())
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
        proba = self._begun(answers)
        steps = _Steps.of(self, answers, np.float64)
        for iteration in range(1, max_iter + 1):
            after, reach = steps.step(proba)
            live = (np.abs(after - proba).max(axis=0) * reach >= 0.1 * tol) | (reach >= 0.1)
            solution.put(rows, after, iteration, ~live)
            if not live.any():
                break
            if live.all():
                proba = after
            else:
                rows, proba, steps = rows[live], after[:, live], steps.narrowed(live)
        return solution

    def _begun(self, answers: Float64Array) -> Float64Array:
        """Probabilities near their end; where single precision cannot hold them, those of the start."""
        steps = _Steps.of(self, answers, np.float32)
        with np.errstate(all="ignore"):
            logs = steps.start()
            proba = _softmax(logs)
            for _ in range(_ROUGH_STEPS):
                proba, _ = steps.step(proba)
            held = (np.ptp(logs, axis=0) < _ROUGH_RANGE) & (proba.min(axis=0) > np.exp(-_ROUGH_RANGE))
        begun: Float64Array = proba.astype(np.float64)
        if not held.all():
            begun[:, ~held] = _softmax(_Steps.of(self, answers[:, ~held], np.float64).start())
        return begun


@dataclass(frozen=True)
class _Steps:
    """Newton's steps for the answers (l, n) of a block, in the precision of these.

    Attributes
    ----------
    answers : ndarray of shape (l, n)
        The answers.
    signed_weights : ndarray of shape (k, l)
        The code with the weights of its columns.
    first, second : ndarray of int of shape (l,)
        The positive and the negative class of every column.
    ahead, behind, total, work : ndarray
        Arrays that the steps fill again and again: fresh memory costs more than the arithmetic.
    """

    answers: Any
    signed_weights: Any
    first: IntArray
    second: IntArray
    ahead: Any
    behind: Any
    total: Any
    work: Any

    @classmethod
    def of(cls, problem: PairwiseCoupling, answers: Float64Array, real: type) -> Self:
        """Make room for a block."""
        k, n_rows = len(problem.code), answers.shape[1]
        ahead, behind, total = np.empty((3, *answers.shape), real)
        return cls(
            answers.astype(real, copy=False),
            problem.signed_weights.astype(real, copy=False),
            problem.first,
            problem.second,
            ahead,
            behind,
            total,
            np.empty((k, k - 1, n_rows), real),
        )

    def narrowed(self, rows: BoolArray) -> Self:
        """The same for some of the rows."""
        n = np.count_nonzero(rows)
        room = {name: getattr(self, name)[..., :n] for name in ("ahead", "behind", "total", "work")}
        return replace(self, answers=self.answers[:, rows], **room)

    def start(self) -> Any:
        """Log-probabilities by least squares of the log-odds."""
        rest, mass, odds = self.ahead, self.behind, self.total
        np.subtract(1.0, self.answers, out=rest)
        np.multiply(self.answers, rest, out=mass)
        np.divide(self.answers, rest, out=odds)
        np.multiply(mass, np.log(odds), out=odds)
        return self._potentials(mass, product(self.signed_weights, odds))

    def step(self, proba: Any) -> tuple[Any, Any]:
        """One Newton step down, and the range of log-probabilities that Newton asked for."""
        ahead, behind, total = self.ahead, self.behind, self.total
        np.take(proba, self.first, axis=0, out=ahead, mode="clip")
        np.take(proba, self.second, axis=0, out=behind, mode="clip")
        np.add(ahead, behind, out=total)
        ahead /= total
        behind /= total
        np.subtract(self.answers, ahead, out=total)
        pull = product(self.signed_weights, total)
        behind *= ahead  # mu (1 - mu), whose small values keep the digits that 1 - ahead would lose
        move = self._potentials(behind, pull)
        reach = move.max(axis=0) - move.min(axis=0)
        long = reach > _FULL_STEP
        if long.any():
            move[:, long] *= np.log1p(reach[long]) / reach[long]
        return _softmax(move, proba), reach

    def _potentials(self, mass: Any, pull: Any) -> Any:
        """Solve the Laplacian system with the last class held at zero."""
        k, n_rows = pull.shape
        work = self.work
        if len(mass) < k * (k - 1) // 2:
            work[:] = 0.0  # pairs without a column
        np.multiply(mass, -np.abs(self.signed_weights).sum(axis=0)[:, None] / 2, out=self.total)
        work[np.maximum(self.first, self.second), np.minimum(self.first, self.second)] = self.total
        work[np.arange(k - 1), np.arange(k - 1)] = product(np.abs(self.signed_weights[:-1]), mass)
        work[-1] = pull[:-1]
        potentials = np.zeros((k, n_rows), work.dtype)
        potentials[:-1] = eliminate(work, _FLOOR * float(np.finfo(work.dtype).eps))[0]
        return potentials


def _softmax(logs: Any, times: Any = 1.0) -> Any:
    proba = np.exp(logs - logs.max(axis=0))
    proba *= times
    proba /= proba.sum(axis=0)
    return proba
