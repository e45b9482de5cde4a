"""Weights of the classes (Lachiche and Flach 2003)."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from calibrant._core._arrays import (
    Array,
    Float64Array,
    FloatArray,
    IntArray,
    as_floats,
)
from calibrant._core._chance import Seed
from calibrant._core._checks import check_option
from calibrant._core._errors import DataError
from calibrant._core._field_groups import Numbers, Record
from calibrant._core._fields import Choice, Number, Seed as SeedField, Whole
from calibrant._core._place import Place
from calibrant._core._ties import TIE
from calibrant.decisions._descent import best_descent, check_schedule
from calibrant.decisions._estimates import row_blocks
from calibrant.decisions._families import Coordinate, Factors
from calibrant.decisions._rule import COSTS, DecisionRule
from calibrant.decisions._sweep import Events, changepoints
from calibrant.decisions._training import TrainingRows
from calibrant.maps import Tensor

#: A rule by weights has a matrix of the classes by the classes: more, in a file, would fill the memory.
MOST_WEIGHTS = 4096
#: Standard deviation of the logarithms of the weights at which a restart begins: most lie within a factor of
#: fifty of 1, as costs by rarity do.
SCATTER = 2.0


def weight_matrix(weights: object) -> Float64Array:
    """Write the decision by greatest weighted probability as a partition matrix.

    Parameters
    ----------
    weights : array-like of shape (k,)
        The weight of every class.

    Returns
    -------
    ndarray of shape (k, k)
        Every column holds the weight of its class off the diagonal: a column multiple of the costs 0 and
        1 (property 6; O'Brien, Gupta and Gray print property 5).

    Examples
    --------
    >>> from calibrant.decisions import weight_matrix
    >>> weight_matrix([1, 2, 0.5])
    array([[0. , 2. , 0.5],
           [1. , 0. , 0.5],
           [1. , 2. , 0. ]])
    """
    numbers = np.asarray(as_floats(weights, "weights"), dtype=np.float64)
    if numbers.ndim != 1:
        raise DataError(f"weights must be one number per class; got shape {numbers.shape}")
    matrix = np.tile(numbers, (len(numbers), 1))
    np.fill_diagonal(matrix, 0.0)
    return matrix


def greatest_weighted(proba: FloatArray, weights: Float64Array) -> IntArray:
    """The first class of greatest weighted probability, but for ties, which are relative here."""
    decisions = np.empty(len(proba), dtype=np.intp)
    for rows in row_blocks(*proba.shape):
        weighted = np.multiply(proba[rows].T, weights[:, None], order="C")
        decisions[rows] = (weighted >= weighted.max(axis=0) * (1 - TIE)).argmax(axis=0)
    return decisions


class LachicheFlachRule(DecisionRule):
    r"""Decide for the class of greatest weighted probability, with learned weights.

    The costs serve to learn the weights, and are ignored when deciding.

    Parameters
    ----------
    active : {"all", "incremental"}, default="all"
        Start with weight 1 for all classes; or with weight 0 for those that have not been visited yet.
    passes : int, default=1
        How often every weight but the first is visited.
    restarts : int, default=0
        How often the learning is repeated with the classes in a random order and, under "all", from random
        weights; the best result is kept.
    random_state : int, Generator, RandomState or None, default=None
        The random orders and weights.

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
        The weights; that of the class visited first is 1.
    matrix_ : ndarray of shape (k, k)
        The same as a partition matrix, ``weights_[j]`` off the diagonal of column j.
    cost_before_, cost_after_ : float
        Training cost of deciding for the most probable class, and of this rule.

    See Also
    --------
    ParallelPartitionRule : Learns starting from the costs.

    Notes
    -----
    The decision is :math:`\arg\max_i w_i p_i`. Classes are visited by decreasing frequency; the first
    keeps weight 1, and each later one is given the weight of least training cost, exactly, by a sort of
    the ratios :math:`\max_{k \ne i} w_k p_k / p_i`. The value is the geometric mean of the ends of the
    interval of least cost; half or double the other end if one is 0 or infinite; among equals the
    interval around the present weight, else the nearest by its logarithm.

    One pass from equal weights can end in a local optimum far above the plain rule of least expected cost,
    where costs are far from equal. Passes alone seldom leave it; a restart does, as it begins with weights
    whose logarithms are normal with standard deviation 2.

    References
    ----------
    N. Lachiche and P. Flach, "Improving accuracy and cost of two-class and multi-class probabilistic
    classifiers using ROC curves", ICML 2003.

    Examples
    --------
    >>> from calibrant.decisions import LachicheFlachRule
    >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.65, 0.35], [0.4, 0.6]]
    >>> rule = LachicheFlachRule().fit(proba, [0, 0, 1, 1, 1], [[0, 1], [1, 0]])
    >>> rule.cost_before_, rule.cost_after_
    (2.0, 0.0)
    >>> rule.weights_.round(4)
    array([0.3273, 1.    ])
    """

    def __init__(
        self,
        active: Literal["all", "incremental"] = "all",
        passes: int = 1,
        restarts: int = 0,
        random_state: Seed = None,
    ) -> None:
        self.active = active
        self.passes = passes
        self.restarts = restarts
        self.random_state = random_state

    name = "lachiche_flach"
    parameters = Record(
        active=Choice("all", "incremental"), passes=Whole(1), restarts=Whole(0), random_state=SeedField()
    )
    fitted = Record(weights=Numbers(Number(0.0), least_length=1), **COSTS)

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        super().take_fitted(numbers, at, classes)
        if len(self.weights_) > MOST_WEIGHTS:
            (at / "weights").fail(f"must have at most {MOST_WEIGHTS} entries; got {len(self.weights_)}")
        self.matrix_ = weight_matrix(self.weights_)

    def decide_in_symbols(self, proba: Tensor) -> Tensor:
        """Decide in symbols, by the greatest weighted probability."""
        weighted = proba.at_least(0.0) * self.weights_
        greatest = weighted.row_max()
        return weighted.is_at_least(greatest * (1 - TIE)).first_true()

    def _check_parameters(self) -> None:
        check_option("active", self.active, ("all", "incremental"))
        check_schedule(self.passes, self.restarts)

    def _fit(self, rows: TrainingRows) -> tuple[float, float]:
        before = rows.total(greatest_weighted(rows.proba, np.ones(rows.n_classes)))
        learned = best_descent(
            lambda order, start: _Weights(
                rows.proba,
                order if self.active == "incremental" else None,
                None if start is None else start - start[order[0]],
            ),
            rows,
            before,
            order=rows.by_frequency(),
            passes=self.passes,
            restarts=self.restarts,
            random_state=self.random_state,
            scatter=SCATTER if self.active == "all" else 0.0,
        )
        self.matrix_, self.weights_ = learned.matrix, learned.parameters
        return before, learned.cost

    def _decide(self, estimates: FloatArray) -> IntArray:
        return greatest_weighted(estimates, self.weights_)


class _Weights(Factors):
    """The weights as factors: the logarithm of the weighted probability, negative, is the risk."""

    def __init__(
        self, proba: Float64Array, order: IntArray | None, start: Float64Array | None = None
    ) -> None:
        # Products are compared by their ratio, so that a weight need only stay a number.
        super().__init__((proba.shape[1],), reach=600.0)
        self.proba = proba
        self.risks = np.full(proba.shape[::-1], np.inf)
        self.waiting = set(range(len(self.risks)))
        for i in range(len(self.risks)) if order is None else order[:1].tolist():
            self.admit((i,))
        for i, step in enumerate(() if start is None else start.tolist()):
            self.move((i,), step)

    def admit(self, coordinate: Coordinate) -> bool:
        (i,) = coordinate
        if i not in self.waiting:
            return False
        self.waiting.remove(i)
        with np.errstate(divide="ignore"):
            np.log(self.proba[:, i], out=self.risks[i])
        np.negative(self.risks[i], out=self.risks[i])
        return True

    def coordinates(self, order: IntArray) -> Iterator[Coordinate]:
        """The first class keeps weight 1, as a common factor changes nothing."""
        return super().coordinates(order[1:])

    def events(self, coordinate: Coordinate) -> Events:
        (i,) = coordinate
        at, other = changepoints(self.risks, i)
        return Events(start=other, at=np.negative(at, out=at), before=other, after=i)

    def move(self, coordinate: Coordinate, step: float) -> None:
        super().move(coordinate, step)
        self.risks[coordinate] -= step

    def parameters(self) -> Float64Array:
        weights = super().parameters()
        weights[list(self.waiting)] = 0.0
        return weights

    def matrix(self) -> Float64Array:
        return weight_matrix(self.parameters())

    def decide(self, proba: FloatArray) -> IntArray:
        return greatest_weighted(proba, self.parameters())
