"""What all rules share: probabilities, labels and costs in, decisions out."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray
from calibrant._core._checks import (
    check_class_labels,
    check_flag,
    check_not_empty,
    check_same_length,
    check_weights,
    class_labels,
)
from calibrant._core._errors import DataError
from calibrant._core._estimator import Estimator
from calibrant._core._fields import Number
from calibrant._core._fitted import all_or_nothing, check_fitted
from calibrant._core._kinds import Saved
from calibrant._core._names import NamedColumns
from calibrant.decisions._decide import least_risk, least_risk_in_symbols
from calibrant.decisions._estimates import check_estimates
from calibrant.decisions._matrix import check_cost, check_square_cost, refuse_unreasonable
from calibrant.decisions._training import TrainingRows
from calibrant.maps import Tensor

#: The training cost of a rule in a model file, before and after.
COSTS = {"cost_before": Number(), "cost_after": Number()}


class DecisionRule(Saved, NamedColumns, Estimator, ABC):
    """Base of the rules: checks at the border, a partition of the simplex learned inside.

    A subclass says how its matrix is learned (`_fit`), and how it decides if not by that matrix
    (`_decide`), in NumPy and in symbols (`decide_in_symbols`). It declares its parameters and its fitted
    numbers, by which it is saved.
    """

    mark = "cost_after_"
    #: Whether there may be other decisions than the classes, such as "ask a person".
    any_decisions: ClassVar[bool] = False
    matrix_: Float64Array
    cost_before_: float
    cost_after_: float
    _labels: Array | None = None

    def fit(
        self,
        proba: object,
        y: object,
        cost: object,
        sample_weight: object = None,
        *,
        allow_any: bool = False,
    ) -> Self:
        """Learn where to cut the simplex.

        Parameters
        ----------
        proba : array-like of shape (n, k)
            Probabilities of the classes, for rows that the classifier behind them was not trained on. The
            columns of a frame are taken by label where they are named like the labels; their names are
            remembered, and new frames may have them in any order.
        y : array-like of shape (n,)
            The true classes: column numbers of `proba`, or other labels, which are then taken in sorted
            order and must all occur.
        cost : array-like of shape (k, k) or (a, k)
            ``cost[i, j]`` is the cost of deciding i when the truth is j. Only rules with `any_decisions` take
            a number of decisions other than that of the classes.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.
        allow_any : bool, default=False
            For rules with `any_decisions`: whether as many decisions as classes may be others than the
            classes, so that none need be the cheapest when it is the truth.

        Returns
        -------
        Self
            The fitted rule.
        """
        estimates = check_estimates(proba)
        check_not_empty(len(estimates), "proba")
        n_classes = estimates.shape[1]
        matrix = self.check_cost(cost, n_classes, allow_any=allow_any)
        truth = check_class_labels(y, n_classes)
        check_same_length(proba=estimates, labels=truth)
        weights = check_weights(sample_weight, len(truth))
        with all_or_nothing(self):
            self._labels = class_labels(y, n_classes)
            estimates = self._learn_columns(proba, estimates, self._labels, "proba")
            estimates = estimates.astype(np.float64, copy=False)
            if weights is not None and not weights.all():
                present = weights > 0
                estimates, truth, weights = estimates[present], truth[present], weights[present]
            rows = TrainingRows(estimates, truth, matrix, weights)
            rows.refuse_infinite()
            self.cost_before_, self.cost_after_ = self._fit(rows)
        return self

    def decide(self, proba: object) -> IntArray:
        """Decide for new rows.

        Parameters
        ----------
        proba : array-like of shape (n, k)
            Probabilities of the classes; rows sum to one.

        Returns
        -------
        ndarray of shape (n,)
            The numbers of the decisions, which are rows of the costs; ties go to the lowest.
        """
        check_fitted(self, "cost_after_")
        n_classes = self.matrix_.shape[1]
        return self._decide(
            check_estimates(self._in_order(proba, self._labels, n_classes, "proba"), n_classes)
        )

    def check_cost(self, cost: object, n_classes: int, *, allow_any: bool = False) -> Float64Array:
        """Refuse parameters or costs that the rule cannot use, before anybody trains a learner for it.

        Parameters
        ----------
        cost : array-like of shape (k, k) or (a, k)
            The costs.
        n_classes : int
            The number of classes.
        allow_any : bool, default=False
            Whether decisions may be others than the classes, as in `fit`.

        Returns
        -------
        ndarray of shape (k, k) or (a, k)
            The costs as numbers.
        """
        self._check_parameters()
        check_flag("allow_any", allow_any)
        if not self.any_decisions:
            matrix = check_square_cost(cost, n_classes)
            self._check_cost(matrix)
            return matrix
        matrix = check_cost(cost, n_classes, allow_any=True)
        if matrix.ndim == 3:
            raise DataError(
                f"cost must be one matrix for all rows to learn a rule; got shape {matrix.shape}; use decide"
            )
        if len(matrix) == n_classes and not allow_any:
            self._check_cost(matrix)
        return matrix

    def _check_parameters(self) -> None:
        """Refuse options that cannot be."""

    def _check_cost(self, matrix: Float64Array) -> None:
        """Refuse costs that the rule cannot use."""
        refuse_unreasonable(matrix, "or decide without a learned rule: decide(..., allow_any=True)")

    @abstractmethod
    def _fit(self, rows: TrainingRows) -> tuple[float, float]:
        """Learn `matrix_` from checked rows; give the training cost before and after."""

    def decide_in_symbols(self, proba: Tensor) -> Tensor:
        """Decide in symbols, for ONNX, SQL or Python.

        Parameters
        ----------
        proba : Tensor of shape (rows, k)
            Probabilities of the classes.

        Returns
        -------
        Tensor of shape (rows,)
            The numbers of the decisions.
        """
        return least_risk_in_symbols(proba, self.matrix_)

    def _decide(self, estimates: FloatArray) -> IntArray:
        """Decide for checked rows."""
        return least_risk(estimates, self.matrix_)
