"""Coupling: the distribution whose two-class consequences are nearest the answers (docs/methods/codes.md)."""

import warnings
from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, FloatArray, IntArray
from calibrant._core._checks import check_number, check_option
from calibrant._core._errors import DataError, ParameterError
from calibrant.codes._answers import check_answers, check_column_weights, row_blocks
from calibrant.codes._coupling_parts import KLMinimiser
from calibrant.codes._matrices import CodeMatrix
from calibrant.codes._problems import expected_answers
from calibrant.codes._published import PublishedCoupling
from calibrant.codes._validation import as_code


@dataclass(frozen=True)
class CouplingResult:
    """Probabilities by coupling, and how they were reached.

    Parameters
    ----------
    proba : ndarray of shape (n, k)
        The probabilities.
    n_iter : ndarray of shape (n,)
        The iterations that each row took.
    converged : ndarray of shape (n,)
        Whether each row met the tolerance within the limit of iterations.
    """

    proba: Float64Array
    n_iter: IntArray
    converged: BoolArray


def coupling(
    code: object,
    answers: object,
    weights: object = None,
    algorithm: str = "mm",
    *,
    eps: float = 1e-6,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Float64Array:
    """Combine the answers of a code matrix by coupling.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix; every column has both signs.
    answers : array-like of shape (n, l)
        For every row and column the probability r of the positive side, in [0, 1].
    weights : array-like of shape (l,), optional
        The number n of examples behind each column, not negative; by default all count alike. Columns of
        weight 0 are dropped.
    algorithm : {"mm", "published"}, default="mm"
        Which answer is meant: "mm" the minimiser of the objective below, "published" the limit of
        Zadrozny's update.
    eps : float, default=1e-6
        Answers are clipped to [eps, 1 - eps].
    tol : float, default=1e-8
        A row is finished when no probability changes by this much or more. The second-order steps behind
        "mm" leave a smaller error than that.
    max_iter : int, default=1000
        The limit of iterations.

    Returns
    -------
    ndarray of shape (n, k)
        Probabilities; each row sums to one.

    Warns
    -----
    ConvergenceWarning
        When rows are not finished within `max_iter` iterations; they are returned as they are.

    See Also
    --------
    solve_coupling : The same, and how many iterations each row took.
    kl_objective : The objective.
    least_squares : Minimises squared errors instead.

    Notes
    -----
    The objective is the Kullback-Leibler divergence of the answers from what p makes of them,

        L(p) = sum_b n_b [r_b log(r_b / mu_b) + (1 - r_b) log((1 - r_b) / (1 - mu_b))],

    mu_b = P_b / (P_b + N_b), where P_b and N_b are the probabilities of the positive and the negative
    classes of column b together. "mm" is named after the iteration that finds its minimiser for every
    code, the generalised Bradley-Terry model of Huang, Weng & Lin (2006). That iteration needs hundreds
    of steps; the same minimiser is found here by one equation per row for one-vs-all, by Newton's method
    in the log-probabilities for columns of two classes, and by Newton's method in p, with the bounds
    p >= 0, otherwise; never with a step that raises L. For codes with zeros and more than one class on a
    side L may have several local minima, of which one is found.

    "published" repeats, for all classes at once,

        p_c <- p_c A_c / B_c,  then p <- p / sum p,

    A_c = sum of n_b r_b over the columns with c positive and of n_b (1 - r_b) over those with c negative,
    B_c the same with mu_b for r_b. **Erratum.** The papers (Zadrozny, NIPS 2001; ZE02) say that it
    minimises L. The gradient of L has factors p_c / P_b and p_c / N_b that the update lacks. They are 1
    only where every side of a column is a single class: for all-pairs the limit is the minimiser, for
    other codes it is another point unless the answers are consistent, L may rise along the way, and
    strongly inconsistent answers can drive classes to zero, as the example shows. The tables of ZE02 need
    "published"; everyone else does not.

    Classes with identical rows share their probability equally. Groups of classes that no chain of columns
    links get the share that their number of classes gives them.

    Examples
    --------
    The published update goes down first, then up and away:

    >>> import warnings
    >>> from calibrant.codes import coupling, kl_objective, one_vs_all
    >>> code, answers = one_vs_all(4), [[0.34, 0.70, 0.08, 0.40]]
    >>> with warnings.catch_warnings(action="ignore"):  # the update is cut short on purpose
    ...     for n in (1, 5, 50, 5000):
    ...         p = coupling(code, answers, algorithm="published", max_iter=n, tol=1e-14)
    ...         print(n, kl_objective(code, answers, p).round(3))
    1 [0.418]
    5 [0.207]
    50 [0.54]
    5000 [2.293]
    >>> p = coupling(code, answers)
    >>> p.round(3), kl_objective(code, answers, p).round(3)
    (array([[0.207, 0.498, 0.045, 0.249]]), array([0.197]))
    """
    return solve_coupling(code, answers, weights, algorithm, eps=eps, tol=tol, max_iter=max_iter).proba


def solve_coupling(
    code: object,
    answers: object,
    weights: object = None,
    algorithm: str = "mm",
    *,
    eps: float = 1e-6,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> CouplingResult:
    """Combine the answers of a code matrix by coupling, and report on the iteration.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix; every column has both signs.
    answers : array-like of shape (n, l)
        For every row and column the probability of the positive side, in [0, 1].
    weights : array-like of shape (l,), optional
        The number of examples behind each column, not negative; by default all count alike.
    algorithm : {"mm", "published"}, default="mm"
        Which answer is meant, see `coupling`.
    eps : float, default=1e-6
        Answers are clipped to [eps, 1 - eps].
    tol : float, default=1e-8
        A row is finished when no probability changes by this much or more.
    max_iter : int, default=1000
        The limit of iterations.

    Returns
    -------
    CouplingResult
        The probabilities, and for each row the number of iterations and whether it converged.

    Warns
    -----
    ConvergenceWarning
        When rows are not finished within `max_iter` iterations; they are returned as they are.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, solve_coupling
    >>> result = solve_coupling(all_pairs(3), [[0.9, 0.1, 0.9]])
    >>> result.proba.round(3), result.converged
    (array([[0.333, 0.333, 0.333]]), array([ True]))
    """
    matrix = as_code(code)
    checked = check_answers(answers, matrix.shape[1])
    scale = check_column_weights(weights, matrix.shape[1])
    check_option("algorithm", algorithm, ("mm", "published"))
    check_number("eps", eps, "from 1e-15 to below 0.5", lambda x: 1e-15 <= x < 0.5)
    check_number("tol", tol, "a number above 0", lambda x: x > 0)
    check_number("max_iter", max_iter, "a whole number, at least 1", lambda x: x >= 1 and x == int(x))
    _check_both_signs(matrix[:, scale > 0], np.flatnonzero(scale > 0))
    method = (PublishedCoupling if algorithm == "published" else KLMinimiser)(matrix, scale)
    result = _in_blocks(method, checked, eps, tol, int(max_iter))
    missed = np.count_nonzero(~result.converged)
    if missed:
        _warn(f"coupling did not converge for {missed} of {len(checked)} rows in {max_iter} iterations")
    return result


def _in_blocks(
    method: KLMinimiser | PublishedCoupling, answers: FloatArray, eps: float, tol: float, max_iter: int
) -> CouplingResult:
    n_rows = len(answers)
    result = CouplingResult(
        np.empty((n_rows, method.n_classes)), np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=bool)
    )
    for rows in row_blocks(n_rows, method.numbers_per_row):
        given = answers[rows].T
        clipped = np.clip(given, eps, 1.0 - eps, out=np.empty(given.shape), dtype=np.float64)
        found = method.solve(clipped, tol, max_iter)
        result.proba[rows] = found.proba.T
        result.n_iter[rows] = found.n_iter
        result.converged[rows] = found.converged
    return result


def _check_both_signs(code: CodeMatrix, columns: IntArray) -> None:
    if not code.size:
        return
    one_sided = (code.max(axis=0) < 1) | (code.min(axis=0) > -1)
    if one_sided.any():
        raise ParameterError(
            f"code must have a +1 and a -1 in every column; got only one sign in column "
            f"{columns[np.argmax(one_sided)]}; drop the column or give it weight 0"
        )


def _warn(message: str) -> None:
    warnings.warn(f"{message}; raise max_iter or tol", late.exceptions.ConvergenceWarning, stacklevel=3)


def kl_objective(code: object, answers: object, proba: object, weights: object = None) -> Float64Array:
    """Measure how far the answers are from what the probabilities make of them.

    Parameters
    ----------
    code : array-like of shape (k, l)
        The code matrix.
    answers : array-like of shape (n, l)
        For every row and column the probability r of the positive side, in [0, 1].
    proba : array-like of shape (n, k)
        Class probabilities; rows need not sum to one.
    weights : array-like of shape (l,), optional
        Weights of the columns, not negative; by default all count alike.

    Returns
    -------
    ndarray of shape (n,)
        L(p) = sum_b n_b [r_b log(r_b / mu_b) + (1 - r_b) log((1 - r_b) / (1 - mu_b))] with
        mu = `expected_answers`; 0 log 0 is 0, and a certain mistake costs infinity.

    Examples
    --------
    >>> from calibrant.codes import all_pairs, expected_answers, kl_objective
    >>> proba = [[0.5, 0.3, 0.2]]
    >>> answers = expected_answers(all_pairs(3), proba)
    >>> float(kl_objective(all_pairs(3), answers, proba)[0])
    0.0
    """
    matrix = as_code(code)
    given = check_answers(answers, matrix.shape[1])
    scale = check_column_weights(weights, matrix.shape[1])
    expected = expected_answers(matrix, proba)
    if len(expected) != len(given):
        raise DataError(
            f"answers and proba must have the same number of rows; got {len(given)} and {len(expected)}"
        )
    kept = scale > 0  # columns of weight 0 are dropped, also where their term is infinite
    rest = expected_answers(-matrix, proba)[:, kept]  # 1 - expected, with all its digits
    given, expected = given[:, kept], expected[:, kept]
    return np.asarray(
        (late.special.rel_entr(given, expected) + late.special.rel_entr(1 - given, rest)) @ scale[kept]
    )
