"""The two-class problems of a code matrix: what each column learns from, and what it estimates.

See docs/methods/codes.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._checks import check_class_labels, check_probabilities, check_weights
from calibrant._core._errors import DataError
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._validation import as_code


@dataclass(frozen=True)
class BinaryProblem:
    """The two-class problem of one column.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        The numbers of the rows that take part: those whose class the column uses and whose weight is not
        zero.
    labels : ndarray of shape (m,)
        Whether each of these rows is on the positive side.
    weights : ndarray of shape (m,) or None
        Their weights; None where every row counts once.
    n_positive : float
        The total weight of the positive rows.
    n_rows : float
        The total weight of all rows that take part: the n_b of coupling.
    """

    rows: IntArray
    labels: BoolArray
    weights: Float64Array | None
    n_positive: float
    n_rows: float

    @property
    def constant(self) -> float | None:
        """The answer (N+ + 1) / (N + 2) where only one side is present; None where there are two."""
        if 0 < self.n_positive < self.n_rows:
            return None
        return (self.n_positive + 1) / (self.n_rows + 2)


@dataclass(frozen=True)
class BinaryProblems(Sequence[BinaryProblem]):
    """The two-class problems of all columns, made one by one as they are asked for.

    Parameters
    ----------
    code : ndarray of shape (k, l)
        The code matrix.
    classes : ndarray of shape (n,)
        The number of every row's class.
    weights : ndarray of shape (n,) or None
        The weights of the rows.
    counts : ndarray of shape (l,)
        The total weight of the rows that take part in each column: the n_b of coupling.
    positives : ndarray of shape (l,)
        The total weight of the positive ones among them.
    """

    code: CodeMatrix
    classes: IntArray
    weights: Float64Array | None
    counts: Float64Array
    positives: Float64Array

    def __len__(self) -> int:
        return int(self.code.shape[1])

    @overload
    def __getitem__(self, column: int) -> BinaryProblem: ...
    @overload
    def __getitem__(self, column: slice) -> list[BinaryProblem]: ...
    def __getitem__(self, column: int | slice) -> BinaryProblem | list[BinaryProblem]:
        if isinstance(column, slice):
            return [self[b] for b in range(*column.indices(len(self)))]
        sides = self.code[:, column][self.classes]
        kept = sides != 0
        if self.weights is not None:
            kept &= self.weights > 0
        rows = np.flatnonzero(kept)
        return BinaryProblem(
            rows,
            sides[rows] > 0,
            None if self.weights is None else self.weights[rows],
            float(self.positives[column]),
            float(self.counts[column]),
        )


def binary_problems(code: object, y_positions: object, sample_weight: object = None) -> BinaryProblems:
    """Split a problem of k classes into the two-class problems of a code matrix.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    y_positions : array-like of shape (n,)
        The class of every row as its number from 0 to k - 1, which is its row in the matrix.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, not negative; a weight of zero means that the row is absent.

    Returns
    -------
    BinaryProblems
        A sequence with one `BinaryProblem` per column, and the `counts` of all columns.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, binary_problems
    >>> problems = binary_problems(all_pairs(3), [0, 1, 2, 2, 0, 1])
    >>> problems.counts
    array([4., 4., 4.])
    >>> problems[0].rows, problems[0].labels
    (array([0, 1, 4, 5]), array([ True, False,  True, False]))
    """
    matrix = as_code(code)
    classes = check_class_labels(y_positions, len(matrix))
    weights = check_weights(sample_weight, len(classes))
    mass = np.bincount(classes, weights, len(matrix)).astype(np.float64)
    positives = mass @ (matrix > 0)
    return BinaryProblems(matrix, classes, weights, positives + mass @ (matrix < 0), positives)


def expected_answers(code: object, proba: object) -> Float64Array:
    """Give the answers that perfect two-class estimators would give.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    proba : array-like of shape (n, k)
        Class probabilities; rows need not sum to one.

    Returns
    -------
    ndarray of shape (n, l)
        The ratios r = P / (P + N), where P and N are the probabilities of the positive and the negative
        classes of the column together; 1/2 where both are zero.

    Notes
    -----
    P + N = 1 only for columns without zeros, not always as the slides on the paper say. Nor is the
    system of equations always without an exact solution: answers that are consistent, such as these,
    have one, and every combination returns it.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, coupling, expected_answers
    >>> answers = expected_answers(all_pairs(3), [[0.5, 0.3, 0.2]])
    >>> answers.round(3)
    array([[0.625, 0.714, 0.6  ]])
    >>> coupling(all_pairs(3), answers).round(3)
    array([[0.5, 0.3, 0.2]])
    """
    matrix = as_code(code)
    proba = check_distribution(proba, len(matrix))
    positive = proba @ (matrix > 0)
    total = positive + proba @ (matrix < 0)
    return np.asarray(np.divide(positive, total, out=np.full_like(total, 0.5), where=total > 0))


def check_distribution(proba: object, k: int) -> Float64Array:
    """Probabilities in [0, 1] with one column per class."""
    array = check_probabilities(proba)
    if array.ndim != 2 or array.shape[1] != k:
        raise DataError(f"proba must have one column per class, {k} in all; got shape {array.shape}")
    return array
