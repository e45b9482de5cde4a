"""Least squares on the simplex (Kong & Dietterich 1997; docs/methods/codes.md).

    minimise sum_b w_b [(1 - r_b) P_b(p) - r_b N_b(p)]^2   subject to p >= 0, sum p = 1

The bracket is linear in p without a constant. Call its rows A, and G = A'A: the problem is to minimise p'Gp
on the simplex. Adding any multiple t of (sum p)^2 changes nothing there, and makes the direction of the
minimiser that of

    minimise x'(G + t 11')x / 2 - sum x   subject to x >= 0,        p = x / sum x,

so that one solver of small problems over x >= 0 serves every code.
"""

from dataclasses import dataclass, field

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, FloatArray
from calibrant._core._checks import check_flag
from calibrant._core._errors import DataError, ParameterError
from calibrant.codes._answers import check_answers, check_column_weights, columns_first, row_blocks
from calibrant.codes._gram import product, signed_gram
from calibrant.codes._matrices import CodeMatrix, is_one_vs_all
from calibrant.codes._minimum_norm import likely_support, minimum_norm_nonnegative
from calibrant.codes._nonnegative import minimise_nonnegative
from calibrant.codes._projection import project_on_simplex
from calibrant.codes._validation import as_code

#: Pivots below this share of their diagonal entry send a row to the slow and careful solver. Squaring A
#: into G squares its condition, and this keeps at least eight digits.
_FLOOR = 1e-8
#: Columns that weigh less than this, beside the heaviest, are lost in the rounding of the normal equations.
_LIGHTEST = 1e-8


@dataclass(frozen=True)
class LeastSquaresResult:
    """Probabilities by least squares, and whether they are the only ones.

    Parameters
    ----------
    proba : ndarray of shape (n, k)
        The minimisers.
    unique : ndarray of shape (n,)
        Whether a row has no other minimiser; where it has, its minimiser of smallest norm is given.
    """

    proba: Float64Array
    unique: BoolArray


def least_squares(
    code: object, answers: object, weights: object = None, *, sum_constraint: bool = True
) -> Float64Array:
    """Combine the answers of a code matrix by least squares.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    answers : array-like of shape (n, l)
        For every row and column the probability r of the positive side, in [0, 1].
    weights : array-like of shape (l,), optional
        Weights of the columns, not negative, and within a factor of 1e8 of each other where they are not 0;
        by default all count alike. One-vs-all has no such limit.
    sum_constraint : bool, default=True
        Whether the answer must sum to one. Without it, which only codes without zeros allow, the system
        P = r is solved over p >= 0 and the raw estimates are returned; they need not sum to one.

    Returns
    -------
    ndarray of shape (n, k)
        The minimiser of sum_b w_b [(1 - r_b) P_b - r_b N_b]^2 over the simplex, where P_b and N_b are the
        probabilities of the positive and the negative classes of column b together. Where several do
        equally well, the one of smallest norm: classes that nothing tells apart share equally.

    See Also
    --------
    solve_least_squares : The same, and which answers are unique.
    coupling : Minimises a Kullback-Leibler divergence instead.

    Notes
    -----
    For one-vs-all this is the Euclidean projection of the answers on the simplex, found by sorting; for
    all-pairs it is the second method of Wu, Lin & Weng (2004), whose closed form is already non-negative;
    otherwise an active-set method works on all rows of a block together. The papers do not say whether
    the sum is a constraint; their tables agree with a constraint, which is therefore the default.

    Examples
    --------
    The solution of smallest squared error on the simplex, here found again by SciPy.

    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> from calibrant.codes import exhaustive, least_squares
    >>> code, answers = exhaustive(3), np.array([0.422, 0.109, 0.099])
    >>> least_squares(code, [answers]).round(4)
    array([[0.0173, 0.4863, 0.4963]])
    >>> best = minimize(
    ...     lambda p: np.sum((p @ (code == 1) - answers) ** 2),
    ...     np.full(3, 1 / 3),
    ...     bounds=[(0, 1)] * 3,
    ...     constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
    ...     options={"ftol": 1e-12},
    ... )
    >>> np.allclose(best.x, least_squares(code, [answers])[0], atol=1e-5)
    True
    """
    return solve_least_squares(code, answers, weights, sum_constraint=sum_constraint).proba


def keep_possible(proba: Float64Array, answers: FloatArray) -> Float64Array:
    """Give no class less than 1/k of what the most certain answer of the row leaves open."""
    least = np.minimum(answers, 1 - answers).min(axis=1, keepdims=True) / proba.shape[1]
    raised = np.maximum(proba, least)
    changed = (raised > proba).any(axis=1, keepdims=True)
    return np.where(changed, raised / raised.sum(axis=1, keepdims=True), proba)


def solve_least_squares(
    code: object, answers: object, weights: object = None, *, sum_constraint: bool = True
) -> LeastSquaresResult:
    """Combine the answers of a code matrix by least squares, and tell which results are unique.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    answers : array-like of shape (n, l)
        For every row and column the probability of the positive side, in [0, 1].
    weights : array-like of shape (l,), optional
        Weights of the columns, not negative; by default all count alike.
    sum_constraint : bool, default=True
        Whether the answer must sum to one, see `least_squares`.

    Returns
    -------
    LeastSquaresResult
        The probabilities, and whether each row's are unique.

    Examples
    --------
    >>> from calibrant.codes import solve_least_squares
    >>> solve_least_squares([[1], [-1], [-1]], [[0.4]])
    LeastSquaresResult(proba=array([[0.4, 0.3, 0.3]]), unique=array([False]))
    """
    matrix = as_code(code)
    checked = check_answers(answers, matrix.shape[1])
    scale = check_column_weights(weights, matrix.shape[1])
    check_flag("sum_constraint", sum_constraint)
    if not sum_constraint and not matrix.all():
        column = int(np.argmin(matrix.all(axis=0)))
        raise ParameterError(
            "code must have no zeros where sum_constraint=False; "
            f"got one in column {column}; leave sum_constraint=True"
        )
    scale = scale / max(scale.max(), np.finfo(float).tiny)
    if sum_constraint and is_one_vs_all(matrix) and scale.all():
        return _projections(checked, scale)
    _check_range(scale)
    system = _System(matrix, scale, sum_constraint)
    n_rows, k = len(checked), len(matrix)
    proba, unique = np.empty((n_rows, k)), np.empty(n_rows, dtype=bool)
    for rows in row_blocks(n_rows, max(k * (k + 1), matrix.shape[1])):
        block, unique[rows] = system.solve(columns_first(checked, rows))
        proba[rows] = block.T
    return LeastSquaresResult(proba, unique)


def _check_range(scale: Float64Array) -> None:
    lightest = float(scale.min(where=scale > 0, initial=1.0))
    if lightest < _LIGHTEST * (1 - 1e-9):
        raise DataError(
            "weights of the columns must lie within a factor of 1e8 of each other, or be 0; got one that is "
            f"{lightest:.3g} of the greatest; use 0 for columns that hardly count"
        )


def _projections(answers: FloatArray, weights: Float64Array) -> LeastSquaresResult:
    n_rows, k = answers.shape
    equal = None if weights.min() == weights.max() else weights
    proba = np.empty((n_rows, k))
    for rows in row_blocks(n_rows, k):
        proba[rows] = project_on_simplex(answers[rows].astype(np.float64, copy=False), equal)
    return LeastSquaresResult(proba, np.ones(n_rows, dtype=bool))


@dataclass
class _System:
    """The normal equations of one code, ready for blocks of answers (l, n)."""

    code: CodeMatrix
    weights: Float64Array
    on_simplex: bool
    positive: Float64Array = field(init=False)
    dense: bool = field(init=False)
    gram: Float64Array = field(init=False)

    def __post_init__(self) -> None:
        self.positive = (self.code > 0).astype(np.float64)
        self.dense = bool(self.code.all())
        self.gram = (self.positive * self.weights) @ self.positive.T

    def solve(self, answers: Float64Array) -> tuple[Float64Array, BoolArray]:
        """The minimisers (k, n) and whether they are unique."""
        matrices, linear = self._normal_equations(answers)
        everywhere = np.ones(linear.shape, dtype=bool)
        proba, _, solved = minimise_nonnegative(matrices, linear, everywhere, _FLOOR)
        if self.on_simplex:
            np.divide(proba, proba.sum(axis=0), out=proba, where=solved)
        unique = np.ones(len(solved), dtype=bool)
        hard = np.flatnonzero(~solved)
        if len(hard):
            guess = likely_support(matrices[:, :, hard], linear[:, hard])
            for row, support in zip(hard, guess.T, strict=True):
                system, target = self._equations(answers[:, row])
                proba[:, row], unique[row] = minimum_norm_nonnegative(system, target, support)
            if self.on_simplex:
                proba[:, hard] /= proba[:, hard].sum(axis=0)
        return proba, unique

    def _normal_equations(self, answers: Float64Array) -> tuple[Float64Array, Float64Array]:
        """H and h of: minimise x'Hx / 2 - h'x over x >= 0."""
        if not self.on_simplex:
            linear = product(self.positive * self.weights, answers)
            return np.repeat(self.gram[:, :, None], linear.shape[1], axis=2), linear
        if self.dense:
            # N = 1 - P on the simplex: G = sum of w (i - r 1)(i - r 1)', i the classes on the positive side
            pull = product(self.positive * self.weights, answers)
            matrices = self.gram[:, :, None] - pull[:, None] - pull[None] + self.weights @ answers**2
        else:
            root = np.sqrt(self.weights)[:, None]
            ahead = root * answers
            behind = root - ahead
            matrices = signed_gram(self.code, behind * behind, ahead * ahead, ahead * -behind)
        matrices += np.einsum("iin->n", matrices) / len(self.code)
        return matrices, np.ones((len(self.code), answers.shape[1]))

    def _equations(self, answers: Float64Array) -> tuple[Float64Array, Float64Array]:
        """B and c of one row: minimise |Bx - c| over x >= 0."""
        root = np.sqrt(self.weights)[:, None]
        if not self.on_simplex:
            return root * self.positive.T, root[:, 0] * answers
        sides = np.where(self.code > 0, 1.0 - answers, 0.0) - np.where(self.code < 0, answers, 0.0)
        system = np.vstack([root * sides.T, np.ones(len(self.code))])
        return system, np.append(np.zeros(len(answers)), 1.0)
