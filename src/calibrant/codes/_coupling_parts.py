"""A coupling problem taken apart, so that the solvers meet only connected ones without repetition.

- Columns of weight zero are dropped.
- Groups of classes that no chain of columns links are problems of their own: the answers say nothing of the
  odds between groups, and each gets the share that its number of classes gives it.
- Classes with identical rows are one class, whose probability they share equally.
- Columns that repeat another, or its complement with 1 - r, are one column with the sum of their weights
  and the weighted mean of their answers (docs/methods/codes.md).
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.codes._coupling_newton import NewtonCoupling
from calibrant.codes._coupling_one_vs_all import OneVsAllCoupling
from calibrant.codes._coupling_pairwise import PairwiseCoupling
from calibrant.codes._matrices import CodeMatrix, is_one_vs_all
from calibrant.codes._solution import Solution
from calibrant.codes._validation import linked_classes

Solver = OneVsAllCoupling | PairwiseCoupling | NewtonCoupling


@dataclass(frozen=True)
class Part:
    """One connected problem: how to reach it from the whole, and back.

    Parameters
    ----------
    classes : ndarray
        The classes of the whole problem that are in the part.
    members : ndarray
        For each of them its class in the part.
    columns : ndarray
        The columns of the whole problem that are in the part.
    mixing, offset : ndarray or None
        The answers of the part are mixing @ answers + offset; None where no columns are put together.
    solver : solver or None
        What solves the part; None for a class that no column uses.
    """

    classes: IntArray
    members: IntArray
    columns: IntArray
    mixing: Float64Array | None
    offset: Float64Array
    solver: Solver | None

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Solve for answers (l, n) of the whole problem; the classes of the part sum to one."""
        n_rows = answers.shape[1]
        if self.solver is None:
            return Solution(
                np.ones((1, n_rows)), np.zeros(n_rows, dtype=np.intp), np.ones(n_rows, dtype=bool)
            )
        mine = answers if len(self.columns) == len(answers) else answers[self.columns]
        if self.mixing is not None:
            mine = self.mixing @ mine + self.offset
        found = self.solver.solve(mine, tol, max_iter)
        if len(found.proba) == len(self.classes):
            return found
        shares = 1.0 / np.bincount(self.members)
        proba = (found.proba * shares[:, None])[self.members]
        return Solution(proba, found.n_iter, found.converged)


class KLMinimiser:
    """The whole problem, solved part by part."""

    def __init__(self, code: CodeMatrix, weights: Float64Array) -> None:
        kept = np.flatnonzero(weights > 0)
        used = code[:, kept]
        self.n_classes = len(code)
        self.parts = [
            _part(code, weights, classes, kept[used[classes].any(axis=0)]) for classes in linked_classes(used)
        ]
        solvers = [part.solver for part in self.parts if part.solver is not None]
        self.numbers_per_row = max(*code.shape, *(solver.numbers_per_row for solver in solvers))

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Give the minimisers (k, n) for answers (l, n) strictly inside (0, 1)."""
        solution = Solution.blank(self.n_classes, answers.shape[1])
        solution.converged[:] = True
        for part in self.parts:
            found = part.solve(answers, tol, max_iter)
            solution.proba[part.classes] = found.proba * (len(part.classes) / self.n_classes)
            np.maximum(solution.n_iter, found.n_iter, out=solution.n_iter)
            np.logical_and(solution.converged, found.converged, out=solution.converged)
        return solution


def _part(code: CodeMatrix, weights: Float64Array, classes: IntArray, columns: IntArray) -> Part:
    own, weights = code[np.ix_(classes, columns)], weights[columns]
    if not len(columns):
        return Part(classes, np.zeros(1, dtype=np.intp), columns, None, np.empty(0), None)
    first, members = _groups(own)
    own = own[first]
    # every column turned so that its first class that is not zero is positive
    turn = own[np.argmax(own != 0, axis=0), np.arange(len(columns))]
    first, same = _groups((own * turn).T)
    mixing, offset = None, np.empty(0)
    if len(first) < len(columns):
        share = (same == np.arange(len(first))[:, None]) * weights
        weights = share.sum(axis=1)
        share = share / weights[:, None]
        agree = turn * turn[first][same]
        mixing, offset = share * agree, (share @ (agree < 0))[:, None]
        own = own[:, first]
    return Part(classes, members, columns, mixing, offset, _solver(own, weights))


def _groups(vectors: CodeMatrix) -> tuple[IntArray, IntArray]:
    """The first of every set of equal vectors, in order, and for each vector the number of its set."""
    numbers: dict[bytes, int] = {}
    group = np.array([numbers.setdefault(vector.tobytes(), len(numbers)) for vector in vectors])
    return np.unique(group, return_index=True)[1], group


def _solver(code: CodeMatrix, weights: Float64Array) -> Solver:
    if np.count_nonzero(code, axis=0).max() == 2:
        return PairwiseCoupling(code, weights)
    if is_one_vs_all(code):
        return OneVsAllCoupling(weights)
    return NewtonCoupling(code, weights)
