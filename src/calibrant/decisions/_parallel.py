"""Parallel-partition learning (O'Brien, Gupta and Gray 2008)."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray, as_floats
from calibrant._core._chance import Seed
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._field_groups import ListOf, Matrix, Numbers, Record, Wholes, check_length
from calibrant._core._fields import Choice, Either, Seed as SeedField, Whole
from calibrant._core._place import Place
from calibrant.decisions._decide import least_risk
from calibrant.decisions._descent import best_descent, check_schedule
from calibrant.decisions._families import (
    ColumnFactors,
    Family,
    FreeEntries,
    PaperOffsets,
    RowFactors,
    RowOffsets,
    homes,
    regrets_of,
)
from calibrant.decisions._matrix import check_square_cost
from calibrant.decisions._rule import COSTS, DecisionRule
from calibrant.decisions._training import TrainingRows

FAMILIES: dict[str, Callable[[Float64Array, Float64Array], Family]] = {
    "row_add": RowOffsets,
    "row_mul": RowFactors,
    "col_mul": ColumnFactors,
    "free": FreeEntries,
}


def partition_matrix(cost: object, delta: object) -> Float64Array:
    """Move the boundaries of every decision parallel.

    Parameters
    ----------
    cost : array-like of shape (k, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j.
    delta : array-like of shape (k,)
        What is added to the risk of every decision. A common shift of all changes nothing.

    Returns
    -------
    ndarray of shape (k, k)
        The partition matrix ``cost[i, j] - cost[j, j] + delta[i] - delta[j]``, whose least-cost
        decisions are those of ``risk[i] + delta[i]``.

    Examples
    --------
    >>> from calibrant.decisions import partition_matrix
    >>> partition_matrix([[0, 4], [1, 0]], [0.5, 0])
    array([[0. , 4.5],
           [0.5, 0. ]])
    """
    matrix = check_square_cost(cost)
    offsets = np.asarray(as_floats(delta, "delta"), dtype=np.float64)
    if offsets.shape != (len(matrix),):
        raise DataError(
            f"delta must have one number per class, {len(matrix)} in all; got shape {offsets.shape}"
        )
    return matrix - np.diag(matrix) + offsets[:, None] - offsets


class ParallelPartitionRule(DecisionRule):
    r"""Learn where to cut the simplex, by moving the boundaries of every decision parallel.

    Probabilities have systematic errors, calibrated or not. This rule decides by a matrix of its own
    instead of the user's costs, chosen such that the decisions about the training rows cost least.

    Parameters
    ----------
    strategy : {"feasible", "paper"}, default="feasible"
        Choose the best offset among the permitted ones, which never raises the training cost; or choose
        among all and clip it then, as printed, which can raise it. "paper" is defined for "row_add" only.
    family : {"row_add", "row_mul", "col_mul", "free"}, default="row_add"
        What is learned: an offset for every decision; a factor for every decision; a factor for every
        truth; or every entry but that of the cheapest decision for every truth.
    passes : int, default=1
        How often every number is visited; the paper visits each once.
    restarts : int, default=0
        How often the learning is repeated with the decisions in a random order; the best result is kept.
    random_state : int, Generator, RandomState or None, default=None
        The random orders.

    Attributes
    ----------
    matrix_ : ndarray of shape (k, k) or (a, k)
        The partition matrix; of deciding for classes its diagonal is zero.
    parameters_ : ndarray of shape (a,), (k,) or (a, k)
        The offsets delta; or the factors of decisions, of truths, or of entries.
    cost_before_, cost_after_ : float
        Training cost of the plain rule of least expected cost, and of this one.
    order_ : ndarray
        The decisions in the order of their visits; for "col_mul" truths, for "free" pairs of both.
    costs_ : ndarray
        Training cost after every visit.

    See Also
    --------
    ExpectedCostRule : The plain rule.
    LachicheFlachRule : Learns weights of the classes, and ignores the costs when it decides.

    Notes
    -----
    The partition matrix is :math:`a_{ij} = c_{ij} - c_{jj} + \delta_i - \delta_j`: the decision is the
    least :math:`\sum_j c_{ij} p_j + \delta_i`. Classes are visited by decreasing frequency, absent ones
    last. Each visit finds the best offset of one class exactly, by one sort of the rows; the whole is
    greedy, and need not be the best of all matrices. With two classes it is the choice of a threshold on
    a ROC curve.

    There may be other decisions than the classes, such as "ask a person". The cheapest decision for class j
    then has the place of class j in these formulas, and a decision counts as often as the classes for which
    it is the cheapest.

    Where the paper is silent: the interval of least cost is first cut to the range in which the matrix
    stays reasonable (property 5), and then its geometric mean is taken, or 0 if it contains 0, or the
    midpoint if one end is 0. The paper takes the mean first, which is undefined for ends of different
    sign and for infinite ones, and clips it then.

    References
    ----------
    D. B. O'Brien, M. R. Gupta and R. M. Gray, "Cost-sensitive multi-class classification from probability
    estimates", ICML 2008.

    Examples
    --------
    These probabilities are too timid about class 1. The plain rule misses it twice:

    >>> from calibrant.decisions import ParallelPartitionRule
    >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.65, 0.35], [0.4, 0.6]]
    >>> rule = ParallelPartitionRule().fit(proba, [0, 0, 1, 1, 1], [[0, 1], [1, 0]])
    >>> rule.cost_before_, rule.cost_after_
    (2.0, 0.0)
    >>> rule.decide([[0.7, 0.3]])
    array([1])
    """

    def __init__(
        self,
        strategy: Literal["feasible", "paper"] = "feasible",
        family: Literal["row_add", "row_mul", "col_mul", "free"] = "row_add",
        passes: int = 1,
        restarts: int = 0,
        random_state: Seed = None,
    ) -> None:
        self.strategy = strategy
        self.family = family
        self.passes = passes
        self.restarts = restarts
        self.random_state = random_state

    name = "parallel"
    any_decisions = True
    parameters = Record(
        strategy=Choice("feasible", "paper"),
        family=Choice(*FAMILIES),
        passes=Whole(1),
        restarts=Whole(0),
        random_state=SeedField(),
    )
    fitted = Record(
        matrix=Matrix(),
        parameters=Either(Numbers(), Matrix()),
        order=ListOf(Either(Whole(0), Wholes(0))),
        costs=Numbers(),
        **COSTS,
    )

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        shape = numbers["matrix"].shape
        wanted = {"free": shape, "col_mul": shape[1:]}.get(self.family, shape[:1])
        if numbers["parameters"].shape != wanted:
            (at / "parameters").fail(
                f"must have the shape {wanted} for family {self.family!r}; got {numbers['parameters'].shape}"
            )
        order = _read_order(numbers["order"], wanted, at / "order")
        check_length(numbers["costs"], len(order), at / "costs", "one per visit")
        super().take_fitted(numbers | {"order": order}, at, classes)

    def _check_parameters(self) -> None:
        for name in ("strategy", "family"):
            self.parameters.fields[name].check(name, getattr(self, name))
        check_schedule(self.passes, self.restarts)
        if self.strategy == "paper" and self.family != "row_add":
            raise ParameterError(
                f"strategy='paper' is defined for family='row_add' only; got family={self.family!r}; use "
                "strategy='feasible'"
            )

    def _fit(self, rows: TrainingRows) -> tuple[float, float]:
        regrets = regrets_of(rows.cost)
        before = rows.total(least_risk(rows.proba, rows.cost))
        family = FAMILIES[self.family] if self.strategy == "feasible" else PaperOffsets
        learned = best_descent(
            lambda _order, _start: family(rows.proba, regrets),
            rows,
            before,
            order=self._order(rows),
            passes=self.passes,
            restarts=self.restarts,
            random_state=self.random_state,
        )
        self.matrix_, self.parameters_ = learned.matrix, learned.parameters
        self.order_ = np.array([c[0] if len(c) == 1 else c for c in learned.coordinates], dtype=np.intp)
        self.costs_ = np.array(learned.costs)
        return before, learned.cost

    def _order(self, rows: TrainingRows) -> IntArray:
        """The decisions in the order of their visits."""
        return rows.by_frequency(homes(rows.cost))


def _read_order(visits: list[Any], shape: tuple[int, ...], at: Place) -> IntArray:
    """The decisions or truths visited, or the pairs of both, of a model file."""
    pairs = len(shape) == 2
    for number, visit in enumerate(visits):
        if (np.ndim(visit) == 1) != pairs or (pairs and len(visit) != 2):
            at[number].fail(f"must be {'a pair of classes' if pairs else 'a class'}; it is not")
        for each, n_numbers in zip(np.atleast_1d(visit).tolist(), shape, strict=True):
            if each >= n_numbers:
                at[number].refuse(f"be below {n_numbers}, the number of classes", each)
    return np.array(visits, dtype=np.intp)
