"""The KL minimiser for any code: Newton's method with the bounds p >= 0, safeguarded by the MM iteration.

Up to a constant the objective (docs/methods/codes.md) is, for column weights n and w+ = n r, w- = n (1 - r),

    L(p) = sum_b [ -w+_b log P_b - w-_b log N_b + n_b log(P_b + N_b) ].

On the simplex the last term is constant for columns without zeros: there L is convex in p, and a solution may
well have p_c = 0, which no method in log-probabilities reaches in finitely many steps. So the steps are
taken in p, each to the minimum of the quadratic model over p >= 0. Columns with zeros bring in a concave
term. Where it leaves the model without a minimum, two other steps compete, and the lower L wins:

- one in p, with r replaced by max(r, mu) and 1 - r by max(1 - r, 1 - mu) in the second derivative, which
  makes every column's share of it positive semidefinite (for mu = r it is the Fisher information);
- one in log p, where L is often convex although it is not in p: always if every side is a single class.

No step is taken that raises L: it is shortened first, and given up for a step of the MM iteration (the
generalised Bradley-Terry of Huang, Weng & Lin 2006), which never does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.codes._gram import product, signed_gram
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._nonnegative import minimise_nonnegative
from calibrant.codes._solution import Solution
from calibrant.codes._symmetric import solve_symmetric

#: MM steps before the first Newton step; they leave the uniform start in the right direction.
_MM_STEPS = 3
#: The largest share of any P or N that a step in p may take, and the largest step in log p.
_MOST, _MOST_LOG = 0.9, 3.0
#: How many lengths of a step are tried, each how much shorter.
_TRIALS, _SHORTER = 4, 0.3
#: Relative ridge on the diagonal, for directions that the answers do not determine; and the trusted pivots.
_RIDGE, _FLOOR = 1e-10, 1e-12
#: How often the guess of the classes above zero may change in one step.
_EXCHANGES = 20
#: Rounding in L, relative to the sum of its terms.
_ROUNDING = 1e-14


class _Rows(NamedTuple):
    """The rows still at work; rows of data are last."""

    proba: Float64Array
    pull: Float64Array  # w+
    push: Float64Array  # w-
    free: BoolArray  # the guess of where p > 0
    loss: Float64Array

    def where(self, mask: BoolArray) -> Self:
        arrays: tuple[Any, ...] = self
        return type(self)(*(array[..., mask] for array in arrays))


class _Columns(NamedTuple):
    """What the columns make of p."""

    ahead: Float64Array  # P
    behind: Float64Array  # N
    up: Float64Array  # w+ / P
    down: Float64Array  # w- / N
    rate: Float64Array  # n / (P + N)

    def where(self, mask: BoolArray) -> Self:
        return type(self)(*(array[:, mask] for array in self))


class _Trial(NamedTuple):
    """Where a step leads, and L there; infinite where it would rise."""

    proba: Float64Array
    loss: Float64Array

    def take_better(self, mask: BoolArray, other: Self) -> None:
        """Put in what another trial, of the masked rows only, does better."""
        better = other.loss < self.loss[mask]
        rows = np.flatnonzero(mask)[better]
        for mine, theirs in zip(self, other, strict=True):
            mine[..., rows] = theirs[..., better]


@dataclass
class NewtonCoupling:
    """Coupling for any code whose columns all have both signs."""

    code: CodeMatrix
    weights: Float64Array
    positive: Float64Array = field(init=False)
    negative: Float64Array = field(init=False)
    partial: BoolArray = field(init=False)
    partial_weight: float = field(init=False)

    def __post_init__(self) -> None:
        self.weights = (self.weights / self.weights.max())[:, None]
        self.positive = (self.code > 0).astype(np.float64)
        self.negative = (self.code < 0).astype(np.float64)
        self.partial = np.asarray(~self.code.all(axis=0))
        self.partial_weight = float(self.weights[self.partial].sum())

    @property
    def numbers_per_row(self) -> int:
        """The size of the largest temporary array, for one row of data."""
        return int(max(len(self.code) * (len(self.code) + 1), 2 * self.code.shape[1]))

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Give the minimisers (k, n) for answers (l, n) strictly inside (0, 1).

        A row stops after a small step, or when L no longer falls by more than rounding: what still moves
        then is not determined by the answers.
        """
        solution = Solution.blank(len(self.code), answers.shape[1])
        numbers = np.arange(answers.shape[1])
        rows = self._start(answers)
        for iteration in range(1, max_iter + 1):
            rows, live = self._step(rows, tol)
            solution.put(numbers, rows.proba, iteration, ~live)
            if not live.any():
                break
            if not live.all():
                numbers, rows = numbers[live], rows.where(live)
        return solution

    def _start(self, answers: Float64Array) -> _Rows:
        k, n_rows = len(self.code), answers.shape[1]
        pull = self.weights * answers
        push = self.weights - pull
        proba = np.full((k, n_rows), 1.0 / k)
        for _ in range(_MM_STEPS):
            proba = self._mm(proba, pull, push)
        free = np.ones((k, n_rows), dtype=bool)
        return _Rows(proba, pull, push, free, self._loss(proba, pull, push))

    def _step(self, rows: _Rows, tol: float) -> tuple[_Rows, BoolArray]:
        """The rows one step on, and which of them need another one."""
        at = self._columns(rows.proba, rows.pull, rows.push)
        slope = product(self.positive, at.rate - at.up) + product(self.negative, at.rate - at.down)
        trial, free = self._in_p(rows, at, slope, self._second_derivative(at))
        hard = np.isinf(trial.loss)
        if self.partial_weight and hard.any():
            few, near, slope = rows.where(hard), at.where(hard), slope[:, hard]
            convex, free[:, hard] = self._in_p(few, near, slope, self._convex_part(near))
            trial.take_better(hard, convex)
            trial.take_better(hard, self._in_logs(few, near, slope))
            hard = np.isinf(trial.loss)
        if hard.any():
            few = rows.where(hard)
            proba = self._mm(few.proba, few.pull, few.push)
            loss = self._loss(proba, few.pull, few.push)
            trial.take_better(hard, _Trial(proba, loss))
        lower = trial.loss < rows.loss - self._rounding(rows.loss)
        live = lower & self._moved(at, trial.proba - rows.proba, tol)
        return _Rows(trial.proba, rows.pull, rows.push, free, trial.loss), live

    def _moved(self, at: _Columns, step: Float64Array, tol: float) -> BoolArray:
        """Where a step changes a probability by `tol` or more, or any P or N by a tenth of itself."""
        moved = np.abs(step).max(axis=0) >= tol
        for sides, share in ((self.positive, at.ahead), (self.negative, at.behind)):
            still = np.flatnonzero(~moved)
            moved[still] = (np.abs(product(sides.T, step[:, still])) >= 0.1 * share[:, still]).any(axis=0)
        return np.asarray(moved)

    def _rounding(self, loss: Float64Array) -> Float64Array:
        return np.asarray(_ROUNDING * (np.abs(loss) + self.weights.sum()))

    def _columns(self, proba: Float64Array, pull: Float64Array, push: Float64Array) -> _Columns:
        ahead, behind = product(self.positive.T, proba), product(self.negative.T, proba)
        return _Columns(ahead, behind, pull / ahead, push / behind, self.weights / (ahead + behind))

    def _loss(self, proba: Float64Array, pull: Float64Array, push: Float64Array) -> Float64Array:
        ahead, behind = product(self.positive.T, proba), product(self.negative.T, proba)
        loss = -np.einsum("bn,bn->n", pull, np.log(ahead)) - np.einsum("bn,bn->n", push, np.log(behind))
        if self.partial_weight:
            loss += self.weights[self.partial, 0] @ np.log((ahead + behind)[self.partial])
        return np.asarray(loss)

    def _mm(self, proba: Float64Array, pull: Float64Array, push: Float64Array) -> Float64Array:
        """One step that never raises the objective (docs/methods/codes.md)."""
        at = self._columns(proba, pull, push)
        after = proba * (product(self.positive, at.up) + product(self.negative, at.down))
        after /= product(self.positive + self.negative, at.rate)
        after /= after.sum(axis=0)
        return after

    def _in_p(
        self, rows: _Rows, at: _Columns, slope: Float64Array, curvature: Float64Array
    ) -> tuple[_Trial, BoolArray]:
        """To the minimum of the quadratic model over p >= 0; also, which classes are above zero there."""
        diagonal = np.arange(len(slope))
        curvature[diagonal, diagonal] *= 1.0 + _RIDGE
        linear = np.einsum("ijn,jn->in", curvature, rows.proba) - slope
        goal, free, solved = minimise_nonnegative(curvature, linear, rows.free, _FLOOR, _EXCHANGES)
        step = np.where(solved, goal - rows.proba, 0.0)
        taken = -product(self.positive.T, step) / at.ahead
        np.maximum(taken, -product(self.negative.T, step) / at.behind, out=taken)
        length = _MOST / np.maximum(taken.max(axis=0), _MOST)
        trial = self._descend(rows, lambda t: rows.proba + t * step, length)
        trial.loss[~solved] = np.inf
        return trial, free

    def _in_logs(self, rows: _Rows, at: _Columns, slope: Float64Array) -> _Trial:
        """A Newton step in log p: its derivatives are p L' and p p' L'' + diag(p L')."""
        pull = rows.proba * slope
        curvature = self._second_derivative(at)
        curvature *= rows.proba[:, None]
        curvature *= rows.proba[None]
        diagonal = np.arange(len(pull))
        curvature[diagonal, diagonal] += pull
        move, _ = solve_symmetric(curvature, -pull, _FLOOR)
        length = _MOST_LOG / np.maximum(np.abs(move).max(axis=0), _MOST_LOG)
        return self._descend(rows, lambda t: rows.proba * np.exp(t * move), length)

    def _descend(
        self,
        rows: _Rows,
        path: Callable[[Float64Array], Float64Array],
        length: Float64Array,
    ) -> _Trial:
        """Follow a path, less and less far where L would rise."""
        bound = rows.loss + self._rounding(rows.loss)
        for _ in range(_TRIALS):
            proba = path(length)
            proba /= proba.sum(axis=0)
            loss = self._loss(proba, rows.pull, rows.push)
            safe = loss <= bound
            if safe.all():
                break
            length = np.where(safe, length, _SHORTER * length)
        return _Trial(proba, np.where(safe, loss, np.inf))

    def _second_derivative(self, at: _Columns) -> Float64Array:
        up, down = at.up / at.ahead, at.down / at.behind
        if not self.partial_weight:
            return signed_gram(self.code, up, down, None)
        concave = np.where(self.partial[:, None], at.rate / (at.ahead + at.behind), 0.0)
        curvature = signed_gram(self.code, up - concave, down - concave, -concave)
        # L does not change with the scale of p; this term fixes the scale and has no other effect
        curvature += self.partial_weight
        return curvature

    def _convex_part(self, at: _Columns) -> Float64Array:
        """The second derivative with max(r, mu) for r: max(w+, n mu) / P is the larger of `up` and `rate`."""
        rate = np.where(self.partial[:, None], at.rate, 0.0)
        return self._second_derivative(
            at._replace(up=np.maximum(at.up, rate), down=np.maximum(at.down, rate))
        )
