"""The ways to combine answers as objects, for `combine=`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol, Self, cast, runtime_checkable

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray
from calibrant._core._checks import can_take, check_flag, not_among
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import Added, ListOf, Record
from calibrant._core._fields import PROBABILITY, Choice, Flag, Maybe, Number, Whole
from calibrant._core._kinds import Kinds, Saved, Unfitted
from calibrant._core._place import Place
from calibrant.codes._answers import check_answers, check_range
from calibrant.codes._coupling import CouplingResult, solve_coupling
from calibrant.codes._least_squares import LeastSquaresResult, keep_possible, solve_least_squares
from calibrant.codes._matrices import CodeMatrix, is_one_vs_all
from calibrant.codes._names import code_name
from calibrant.codes._normalize import check_fallback, divide_by_sum
from calibrant.codes._validation import as_code

#: More iterations than this, in a model file, never end for those who wait.
MOST_ITERATIONS = 1_000_000


@runtime_checkable
class Combiner(Protocol):
    """What `combine=` accepts: a callable from the answers of a code matrix to class probabilities."""

    def __call__(self, code: object, answers: object, weights: object = None) -> Float64Array:
        """Combine answers (n, l) of a code matrix (k, l), with column weights (l,), into (n, k)."""


class Combination(Saved, ABC):
    """Base of the combiners of this package."""

    @abstractmethod
    def __call__(self, code: object, answers: object, weights: object = None) -> Float64Array:
        """Combine answers (n, l) of a code matrix (k, l), with column weights (l,), into (n, k)."""

    def _of_fitted(self, code: CodeMatrix, answers: FloatArray, weights: object = None) -> Float64Array:
        """Combine what a fitted calibrator answers, whose code is known to suit."""
        return self(code, answers, weights)


@dataclass(frozen=True)
class Normalize(Combination):
    """Divide one-vs-all answers by their sum.

    Parameters
    ----------
    fallback : {"uniform", "prior"}, default="uniform"
        What a row gets whose answers are all zero.
    prior : tuple of float, optional
        The probabilities of the classes for `fallback="prior"`.

    Examples
    --------
    >>> from calibrant.codes import Normalize, one_vs_all
    >>> Normalize()(one_vs_all(3), [[0.2, 0.2, 0.1]])
    array([[0.4, 0.4, 0.2]])
    """

    fallback: str = "uniform"
    prior: tuple[float, ...] | None = None

    name = "normalize"
    parameters = Record(fallback=Choice("uniform", "prior"), prior=Maybe(ListOf(PROBABILITY, least=2)))

    def __post_init__(self) -> None:
        check_fallback(self.fallback, self.prior)

    @classmethod
    def from_parameters(cls, given: dict[str, Any], at: Place) -> Self:
        """Make one of the parameters of a file: a prior goes with its fallback, and sums to one."""
        fallback, prior = given["fallback"], given["prior"]
        if (fallback == "prior") != (prior is not None):
            (at / "prior").refuse("be given with fallback 'prior', and only then", prior)
        if prior is not None and abs(sum(prior) - 1) > 1e-6:
            (at / "prior").fail(f"must sum to one; got a sum of {sum(prior):.6g}")
        return cls(fallback, None if prior is None else tuple(prior))

    def __call__(self, code: object, answers: object, weights: object = None) -> Float64Array:
        """Combine; the code must be one-vs-all, and the weights of its columns make no difference."""
        del weights
        matrix = as_code(code)
        if not is_one_vs_all(matrix):
            raise ParameterError(
                f"code must be one_vs_all for combine='normalize'; got another one, of shape {matrix.shape}; "
                "use 'least_squares' or 'coupling'"
            )
        return divide_by_sum(check_answers(answers, len(matrix)), self.prior)

    def _of_fitted(self, code: CodeMatrix, answers: FloatArray, weights: object = None) -> Float64Array:
        """Divide by the sum."""
        del code, weights
        return divide_by_sum(check_range(answers), self.prior)


@dataclass(frozen=True)
class LeastSquares(Combination):
    """Take the distribution whose answers are closest in the squared sense.

    Parameters
    ----------
    weighted : bool, default=False
        Whether the weights of the columns count. Kong & Dietterich's problem has none, and a classifier
        passes the counts behind its columns to every combiner.
    sum_constraint : bool, default=True
        Whether the answer must sum to one.
    keep_possible : bool, default=True
        Whether no class is called impossible unless an answer is certain: every class gets at least 1/k of
        the smallest r or 1 - r of the row, and what that takes comes from all others alike. False is the
        published method, which gives classes 0 that every answer allows.

    Examples
    --------
    >>> from calibrant.codes import LeastSquares, one_vs_all
    >>> LeastSquares()(one_vs_all(3), [[0.9, 0.8, 0.05]]).round(3)
    array([[0.541, 0.443, 0.016]])
    >>> LeastSquares(keep_possible=False)(one_vs_all(3), [[0.9, 0.8, 0.05]]).round(3)
    array([[0.55, 0.45, 0.  ]])
    """

    weighted: bool = False
    sum_constraint: bool = True
    keep_possible: bool = True

    name = "least_squares"
    parameters = Record(weighted=Flag(), sum_constraint=Flag(), keep_possible=Added(Flag(), absent=False))

    def __call__(self, code: object, answers: object, weights: object = None) -> Float64Array:
        """Combine; rows sum to one unless `sum_constraint` is False."""
        return self.solve(code, answers, weights).proba

    def solve(self, code: object, answers: object, weights: object = None) -> LeastSquaresResult:
        """Combine, and tell which rows have no other solution.

        Parameters
        ----------
        code : array-like of shape (k, l)
            The code matrix.
        answers : array-like of shape (n, l)
            For every row and column the probability of the positive side.
        weights : array-like of shape (l,), optional
            Weights of the columns.

        Returns
        -------
        LeastSquaresResult
            The probabilities, and whether each row's are unique.
        """
        used = weights if check_flag("weighted", self.weighted) else None
        found = solve_least_squares(code, answers, used, sum_constraint=self.sum_constraint)
        if not (check_flag("keep_possible", self.keep_possible) and self.sum_constraint):
            return found
        return replace(
            found, proba=keep_possible(found.proba, check_answers(answers, as_code(code).shape[1]))
        )


@dataclass(frozen=True)
class Coupling(Combination):
    """Take the distribution whose answers are closest in the Kullback-Leibler sense.

    Parameters
    ----------
    algorithm : {"mm", "published"}, default="mm"
        The minimiser of the Kullback-Leibler divergence, or the limit of the published update.
    eps : float, default=1e-6
        Answers are clipped to [eps, 1 - eps].
    tol : float, default=1e-8
        A row is finished when no probability changes by this much or more.
    max_iter : int, default=1000
        The limit of iterations.

    Examples
    --------
    >>> from calibrant.codes import Coupling, one_vs_all
    >>> Coupling()(one_vs_all(4), [[0.3, 0.0, 0.0, 0.1]]).round(3)
    array([[0.56 , 0.052, 0.052, 0.335]])
    """

    algorithm: str = "mm"
    eps: float = 1e-6
    tol: float = 1e-8
    max_iter: int = 1000

    name = "coupling"
    parameters = Record(
        algorithm=Choice("mm", "published"),
        eps=Number(1e-15, below=0.5),
        tol=Number(above=0.0),
        max_iter=Whole(1, MOST_ITERATIONS),
    )

    def __call__(self, code: object, answers: object, weights: object = None) -> Float64Array:
        """Combine; weights are the numbers of examples behind the columns."""
        return self.solve(code, answers, weights).proba

    def solve(self, code: object, answers: object, weights: object = None) -> CouplingResult:
        """Combine, and report the iterations and the convergence of every row.

        Parameters
        ----------
        code : array-like of shape (k, l)
            The code matrix.
        answers : array-like of shape (n, l)
            For every row and column the probability of the positive side.
        weights : array-like of shape (l,), optional
            The numbers of examples behind the columns.

        Returns
        -------
        CouplingResult
            The probabilities, and for each row the number of iterations and whether it converged.
        """
        return solve_coupling(
            code, answers, weights, self.algorithm, eps=self.eps, tol=self.tol, max_iter=self.max_iter
        )


@dataclass(frozen=True, slots=True, eq=False)
class Combining:
    """How the answers of the columns of a fitted calibrator become one distribution.

    Attributes
    ----------
    combiner : Combiner
        What combines them, which has been checked.
    code : ndarray of shape (k, l)
        The code, which suits it.
    weights : ndarray of shape (l,) or None
        The weights of its columns, where they count.
    """

    combiner: Combiner
    code: CodeMatrix
    weights: Float64Array | None

    def __call__(self, answers: FloatArray) -> Float64Array:
        """Combine answers (n, l) into (n, k)."""
        if isinstance(self.combiner, Combination):
            return self.combiner._of_fitted(self.code, answers, self.weights)
        return self.combiner(self.code, answers, self.weights)


def combination_for(code: object) -> str:
    """Give the name of the combination that suits a code.

    Parameters
    ----------
    code : str, array-like of shape (k, l) or None
        The code, by its name or as a matrix; None for one answer per class.

    Returns
    -------
    str
        "normalize" for one answer per class, "least_squares" for pairs of classes, "coupling" for all other
        codes.

    Notes
    -----
    That is what was measured on development sets, see `benchmarks/results/combinations.md`, with one
    exception. For one answer per class coupling is better by some percent; dividing by the sum is the default
    there as it runs everywhere, also in SQL, and at no cost. `docs/decisions` says why (18).

    Examples
    --------
    >>> from calibrant.codes import combination_for
    >>> combination_for("all_pairs")
    'least_squares'
    """
    code = code_name(code)
    if code is None or isinstance(code, str):
        return {None: "normalize", "one_vs_all": "normalize", "all_pairs": "least_squares"}.get(
            code, "coupling"
        )
    try:
        matrix = np.asarray(code)
    except ValueError:  # rows of different lengths, which will be refused where the code is read
        return "coupling"
    if matrix.ndim != 2:
        return "coupling"
    if is_one_vs_all(matrix):
        return "normalize"
    pairs = ((matrix == 1).sum(axis=0) == 1) & ((matrix == -1).sum(axis=0) == 1)
    return "least_squares" if pairs.all() else "coupling"


def check_combiner(combine: object, code: object = None) -> Combiner:
    """Give the combiner that a name stands for, or check one's own.

    Parameters
    ----------
    combine : {"normalize", "least_squares", "coupling"}, callable or None
        A name, or any object that is called as `combine(code, answers, weights)`; None is what suits the
        code, see `combination_for`.
    code : str, array-like of shape (k, l) or None, default=None
        The code; None for one answer per class.

    Returns
    -------
    Combiner
        The object.

    Examples
    --------
    >>> from calibrant.codes import check_combiner
    >>> check_combiner("coupling")
    Coupling(algorithm='mm', eps=1e-06, tol=1e-08, max_iter=1000)
    """
    named = {each.name: each for each in COMBINERS}
    combine = combination_for(code) if combine is None else combine
    if isinstance(combine, str) and combine in named:
        return named[combine]()
    if can_take(combine, 3):
        return cast("Combiner", combine)
    raise not_among(
        "combine", combine, named, otherwise=", or an object to call with code, answers and weights"
    )


COMBINERS: tuple[type[Normalize] | type[LeastSquares] | type[Coupling], ...] = (
    Normalize,
    LeastSquares,
    Coupling,
)


@cache
def combiner_kinds() -> Kinds:
    """The ways to combine answers that can be saved."""
    return Kinds(each.kind_in_file() for each in COMBINERS)


#: A combiner in a model file.
COMBINER = Unfitted(combiner_kinds, check_combiner)
