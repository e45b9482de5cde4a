"""The KL minimiser of pairwise answers: Newton's method for the Bradley-Terry model.

When every column compares one class with one other, the objective (docs/methods/codes.md) is convex in the
log-probabilities x, and its second derivative is a graph Laplacian: v_ij = n_ij mu_ij (1 - mu_ij) between
classes i and j. Two facts make the method fast and safe without a line search.

- One least-squares fit to the log-odds of the answers, whose matrix is the same for all rows, starts every
  row near its end.
- Along a step d whose entries span a range R, the third derivative of the objective is at most R times its
  second. A Newton step of length s therefore changes the objective by at most

      -m [ s - (exp(R s) - R s - 1) / R^2 ],     m = d'Hd,

  which is a decrease for s = 1 as long as R <= 1.79, and for s = log(1 + R) / R always.

The start and the first steps are made in single precision, which takes half the time. The steps in double
precision that follow begin there, and lose nothing.
"""

import math
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
_ROUGH_STEPS, _ROUGH_RANGE = 4, 30.0


@dataclass
class PairwiseCoupling:
    """Coupling for columns of two classes each, no two columns with the same pair, all classes linked.

    Attributes
    ----------
    first, second : ndarray of int of shape (l,)
        The positive and the negative class of every column.
    signed_weights : ndarray of shape (k, l)
        The code with the weights of its columns, of which the greatest is 1.
    mutual : ndarray of shape (k, k), or None
        The weight of every pair; None where all pairs have the same.
    least_squares : ndarray of shape (k - 1, k)
        The log-probabilities of all classes but the last, which has 0, of the sums of log-odds.
    """

    code: CodeMatrix
    weights: Float64Array
    first: IntArray = field(init=False)
    second: IntArray = field(init=False)
    signed_weights: Float64Array = field(init=False)
    mutual: Float64Array | None = field(init=False)
    least_squares: Float64Array = field(init=False)

    def __post_init__(self) -> None:
        k, scaled = len(self.code), self.weights / self.weights.max()
        self.signed_weights = self.code * scaled
        self.first = np.argmax(self.code, axis=0)
        self.second = np.argmin(self.code, axis=0)
        mutual = np.zeros((k, k))
        mutual[self.first, self.second] = mutual[self.second, self.first] = scaled
        laplacian = np.diag(mutual.sum(axis=0)) - mutual
        # Weights may be so unlike that rounding takes the links between classes away.
        self.least_squares = np.asarray(np.linalg.pinv(laplacian[:-1, :-1], hermitian=True), np.float64)
        self.mutual = None if (mutual == 1 - np.eye(k)).all() else mutual

    def of_pairs(self, answers: Float64Array) -> Float64Array:
        """The answers for all pairs of classes, (0, 1), (0, 2), ..., (1, 2), ...: how likely the first is."""
        k, turned = len(self.code), self.first > self.second
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        place = low * (2 * k - low - 1) // 2 + high - low - 1
        if not turned.any() and np.array_equal(place, np.arange(k * (k - 1) // 2)):
            return answers
        found = np.full((k * (k - 1) // 2, answers.shape[1]), 0.5)  # some may have no column, and no weight
        found[place] = np.where(turned[:, None], 1.0 - answers, answers)
        return found

    @property
    def numbers_per_row(self) -> int:
        """Half the size of the largest temporary array, for one row of data: longer blocks are worth it."""
        return int(max(len(self.code) ** 2 // 2, self.code.shape[1]))

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Give the minimisers (k, n) for answers (l, n) strictly inside (0, 1).

        The error that a Newton step leaves is its size times R, to leading order; a row stops when
        that product, the change that the next step would bring, is below a tenth of `tol`, and when also
        the small probabilities are right: R below a tenth.
        """
        k, n_rows = len(self.code), answers.shape[1]
        solution = Solution.blank(k, n_rows)
        rows = np.arange(n_rows)
        steps = _Steps.of(self, answers)
        proba = self._begun(answers, steps)
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

    def _begun(self, answers: Float64Array, steps: "_Steps") -> Float64Array:
        """Probabilities near their end; where single precision cannot hold them, those of the start."""
        rough = steps.rough()
        with np.errstate(all="ignore"):
            logs = self._start(answers, steps.room(answers.shape, np.float32))
            proba = _softmax(logs)
            for _ in range(_ROUGH_STEPS):
                proba, _ = rough.step(proba)
            held = (np.ptp(logs, axis=0) < _ROUGH_RANGE) & (proba.min(axis=0) > np.exp(-_ROUGH_RANGE))
        begun: Float64Array = proba.astype(np.float64)
        if not held.all():
            begun[:, ~held] = _softmax(
                self._start(answers[:, ~held], np.empty((len(answers), (~held).sum())))
            )
        return begun

    def _start(self, answers: Float64Array, odds: Any) -> Any:
        """Log-probabilities by least squares of the log-odds, in the precision of the room for these."""
        np.subtract(1.0, answers, out=odds, casting="same_kind")
        np.divide(answers, odds, out=odds, casting="same_kind")
        np.log(odds, out=odds)
        signs, squares = (each.astype(odds.dtype) for each in (self.signed_weights, self.least_squares))
        found = np.zeros((len(self.code), answers.shape[1]), odds.dtype)
        found[:-1] = product(squares, product(signs, odds)[:-1])
        return found


@dataclass(frozen=True)
class _Steps:
    """Newton's steps for a block of rows, in the precision of their answers.

    Attributes
    ----------
    answers : ndarray of shape (k (k - 1) / 2, n)
        How likely the first class of every pair is.
    mutual : ndarray of shape (k, k), or None
        The weight of every pair; None where all pairs have the same.
    work : ndarray of shape (k, k - 1, n)
        An array that the steps fill again and again: fresh memory costs more than the arithmetic.
    """

    answers: Any
    mutual: Any
    work: Any

    @classmethod
    def of(cls, problem: PairwiseCoupling, answers: Float64Array) -> Self:
        """Make room for a block of answers (l, n)."""
        k = len(problem.code)
        return cls(problem.of_pairs(answers), problem.mutual, np.empty((k, k - 1, answers.shape[1])))

    def room(self, shape: tuple[int, ...], real: Any = np.float64) -> Any:
        """An array in the place of what steps fill."""
        return self.work.reshape(-1).view(real)[: math.prod(shape)].reshape(shape)

    def rough(self) -> Self:
        """The same in single precision."""
        real = np.float32
        mutual = None if self.mutual is None else self.mutual.astype(real)
        return replace(
            self, answers=self.answers.astype(real), mutual=mutual, work=self.room(self.work.shape, real)
        )

    def narrowed(self, rows: BoolArray) -> Self:
        """The same for some of the rows."""
        return replace(self, answers=self.answers[:, rows], work=self.work[..., : np.count_nonzero(rows)])

    def step(self, proba: Any) -> tuple[Any, Any]:
        """One Newton step down, and the range of log-probabilities that Newton asked for."""
        k, work, against = len(proba), self.work, -proba
        pull, curve = np.zeros_like(proba), np.zeros_like(proba)
        chance, gap = np.empty((2, *proba.shape), proba.dtype)
        end = 0
        for one in range(k - 1):  # and all classes behind it, of which each is as likely as `falls` says
            rest, begin, end = slice(one + 1, k), end, end + k - 1 - one
            falls, chances, gaps = work[rest, one], chance[rest], gap[rest]
            np.add(proba[rest], proba[one], out=falls)
            np.divide(-1.0, falls, out=falls)
            np.multiply(falls, against[one], out=chances)
            falls *= proba[rest]
            np.subtract(self.answers[begin:end], chances, out=gaps)
            if self.mutual is not None:
                gaps *= self.mutual[rest, one, None]
                falls *= self.mutual[rest, one, None]
            pull[one] += gaps.sum(axis=0)
            pull[rest] -= gaps
            falls *= chances  # -mu (1 - mu), whose small values keep the digits that 1 - mu would lose
            curve[one] -= falls.sum(axis=0)
            curve[rest] -= falls
        own = np.arange(k - 1)
        work[own, own], work[-1] = curve[:-1], pull[:-1]  # the last class is held at zero
        move = np.zeros_like(proba)
        move[:-1] = eliminate(work, _FLOOR * float(np.finfo(work.dtype).eps))[0]
        reach = move.max(axis=0) - move.min(axis=0)
        long = reach > _FULL_STEP
        if long.any():
            move[:, long] *= np.log1p(reach[long]) / reach[long]
        return _softmax(move, proba), reach


def _softmax(logs: Any, times: Any = 1.0) -> Any:
    proba = np.exp(logs - logs.max(axis=0))
    proba *= times
    proba /= proba.sum(axis=0)
    return proba
