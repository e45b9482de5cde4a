"""The published update of coupling: it minimises its objective for all-pairs only (docs/methods/codes.md)."""

import numpy as np

from calibrant._core._arrays import (
    Float64Array,
    as_floats,
)
from calibrant._core._errors import DataError
from calibrant.codes._answers import check_answers, check_column_weights
from calibrant.codes._gram import product
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._solution import Solution
from calibrant.codes._validation import as_code


class PublishedCoupling:
    """Zadrozny's update, from the uniform start."""

    def __init__(self, code: CodeMatrix, weights: Float64Array) -> None:
        kept = weights > 0
        self.kept = kept
        self.weights = (weights[kept] / max(weights.max(), np.finfo(float).tiny))[:, None]
        self.positive = (code[:, kept] > 0).astype(np.float64)
        self.negative = (code[:, kept] < 0).astype(np.float64)
        self.n_classes = len(code)
        self.numbers_per_row = max(code.shape)

    def solve(self, answers: Float64Array, tol: float, max_iter: int) -> Solution:
        """Iterate on answers (l, n) until no probability of a row changes by `tol` or more."""
        k, n_rows = len(self.positive), answers.shape[1]
        solution = Solution.blank(k, n_rows)
        rows = np.arange(n_rows)
        proba = np.full((k, n_rows), 1.0 / k)
        wanted = self._sum(answers[self.kept])
        for iteration in range(1, max_iter + 1):
            had = self._sum(self._expected(proba))
            # had = 0 leaves nothing to compare with: such a class keeps what it has
            after = proba * np.divide(wanted, had, out=np.ones_like(had), where=had > 0)
            after /= after.sum(axis=0)
            live = np.abs(after - proba).max(axis=0) >= tol
            solution.put(rows, after, iteration, ~live)
            if not live.any():
                break
            rows, proba, wanted = rows[live], after[:, live], wanted[:, live]
        return solution

    def _sum(self, answers: Float64Array) -> Float64Array:
        """A_c of the answers, B_c of the expected ones."""
        given = self.weights * answers
        return product(self.positive, given) + product(self.negative, self.weights - given)

    def _expected(self, proba: Float64Array) -> Float64Array:
        ahead = product(self.positive.T, proba)
        total = ahead + product(self.negative.T, proba)
        return np.asarray(np.divide(ahead, total, out=np.full_like(total, 0.5), where=total > 0))


def noniterative_coupling(code: object, answers: object, weights: object = None) -> Float64Array:
    """Estimate the coupled probabilities without iterating.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    answers : array-like of shape (n, l)
        For every row and column the probability of the positive side, in [0, 1].
    weights : array-like of shape (l,), optional
        Weights of the columns, not negative; by default all count alike.

    Returns
    -------
    ndarray of shape (n, k)
        Zadrozny's estimate: p_c proportional to A_c, the weighted sum of what the columns answer for the
        class, over the total weight of the columns that use it. Uniform where there is nothing to go by.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, noniterative_coupling
    >>> noniterative_coupling(all_pairs(3), [[0.214, 0.173, 0.643]]).round(3)
    array([[0.129, 0.476, 0.395]])
    """
    matrix = as_code(code)
    checked = check_answers(answers, matrix.shape[1]).astype(np.float64, copy=False)
    scale = check_column_weights(weights, matrix.shape[1])
    used = np.abs(matrix) @ scale
    total = (checked * scale) @ (matrix > 0).T + ((1.0 - checked) * scale) @ (matrix < 0).T
    raw = np.divide(total, used, out=np.zeros_like(total), where=used > 0)
    size = raw.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(raw, size, out=np.full_like(raw, 1.0 / len(matrix)), where=size > 0))


def published_one_vs_all(answers: object) -> Float64Array:
    """Give the fixed point of the published update for one-vs-all in closed form.

    Parameters
    ----------
    answers : array-like of shape (n, k)
        For every row and class the probability of the class against all others, in [0, 1].

    Returns
    -------
    ndarray of shape (n, k)
        The fixed point for equal weights, which is affine in the answers; rows sum to one. It is the limit
        of the update where all its entries are positive.

    Notes
    -----
    With A_c = 2 r_c + k - 1 - sum r and kappa = sum A / (k (k - 2) + 2), the fixed point is
    p_c = (A_c / kappa - (k - 2)) / 2.

    Examples
    --------
    >>> from calibrant.codes import coupling, one_vs_all, published_one_vs_all
    >>> answers = [[0.3, 0.0, 0.0, 0.1]]
    >>> published_one_vs_all(answers).round(3)
    array([[0.429, 0.161, 0.161, 0.25 ]])
    >>> coupling(one_vs_all(4), answers, algorithm="published").round(3)
    array([[0.429, 0.161, 0.161, 0.25 ]])
    """
    array = np.asarray(as_floats(answers, "answers"), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 2:
        raise DataError(
            f"answers must have one column per class, of shape (n, k) with k >= 2; got shape {array.shape}"
        )
    checked = check_answers(array, array.shape[1])
    k = checked.shape[1]
    wanted = 2 * checked + (k - 1) - checked.sum(axis=1, keepdims=True)
    kappa = wanted.sum(axis=1, keepdims=True) / (k * (k - 2) + 2)
    return np.asarray((wanted / kappa - (k - 2)) / 2)
