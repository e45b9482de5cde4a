"""What decisions cost: as the truth turned out, or as the probabilities expect."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray, as_array
from calibrant._core._checks import check_class_labels, check_not_empty, check_same_length, check_weights
from calibrant._core._errors import DataError
from calibrant._core._names import by_label
from calibrant.decisions._estimates import check_estimates
from calibrant.decisions._matrix import check_cost


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """How often every decision met every truth, and what that cost.

    Attributes
    ----------
    counts : ndarray of shape (a, k)
        Number of rows, or their weight, by decision and truth: the confusion matrix.
    costs : ndarray of shape (a, k)
        Their cost in all.
    """

    counts: Float64Array
    costs: Float64Array

    @property
    def total(self) -> float:
        """The cost of all rows together."""
        return float(self.costs.sum())

    @property
    def mean(self) -> float:
        """The cost of one row on average."""
        return self.total / float(self.counts.sum())

    @property
    def by_decision(self) -> Float64Array:
        """The cost of every decision, whatever the truth."""
        return np.asarray(self.costs.sum(axis=1))

    @property
    def by_truth(self) -> Float64Array:
        """The cost of every truth, whatever was decided."""
        return np.asarray(self.costs.sum(axis=0))


def realised_cost(
    y: object, decisions: object, cost: object, *, sample_weight: object = None, classes: object = None
) -> CostTable:
    """Add up what decisions cost, now that the truth is known.

    Parameters
    ----------
    y : array-like of shape (n,)
        The true classes.
    decisions : array-like of shape (n,)
        The decisions, as `decide` or `predict` gives them: row numbers of `cost`, or labels.
    cost : array-like of shape (k, k), (a, k) or (n, a, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j; any finite costs.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels in the order of the columns of `cost`; then the decisions are labels too, if `cost` is
        square.

    Returns
    -------
    CostTable
        Counts and costs by decision and truth.

    See Also
    --------
    expected_cost : What the probabilities say about the same decisions.

    Examples
    --------
    >>> from calibrant.decisions import realised_cost
    >>> table = realised_cost([0, 0, 1, 1], [0, 1, 0, 1], [[0, 100], [1, 0]])
    >>> table.counts
    array([[1., 1.],
           [1., 1.]])
    >>> table.total, table.by_decision
    (101.0, array([100.,   1.]))
    """
    matrix = check_cost(cost, allow_any=True)
    n_actions, n_classes = matrix.shape[-2:]
    truth = check_class_labels(y, n_classes, classes)
    decided = _read_decisions(decisions, n_actions, classes if n_actions == n_classes else None)
    check_same_length(labels=truth, decisions=decided)
    weights = _read_weights(sample_weight, matrix, len(truth))
    paid = matrix[decided, truth] if matrix.ndim == 2 else matrix[np.arange(len(truth)), decided, truth]
    cell = decided * n_classes + truth
    return CostTable(
        *(
            np.asarray(np.bincount(cell, amount, n_actions * n_classes), dtype=np.float64).reshape(
                n_actions, n_classes
            )
            for amount in (weights, weights * paid)
        )
    )


def expected_cost(
    proba: object, decisions: object, cost: object, *, sample_weight: object = None, classes: object = None
) -> CostTable:
    """Add up what decisions will cost if the probabilities are right.

    Parameters
    ----------
    proba : array-like of shape (n, k)
        Probabilities of the classes; rows sum to one.
    decisions : array-like of shape (n,)
        The decisions, as `decide` or `predict` gives them: row numbers of `cost`, or labels.
    cost : array-like of shape (k, k), (a, k) or (n, a, k)
        ``cost[i, j]`` is the cost of deciding i when the truth is j; any finite costs.
    sample_weight : array-like of shape (n,), optional
        How often every row counts.
    classes : array-like of shape (k,), optional
        The labels in the order of the columns, if the decisions are labels.

    Returns
    -------
    CostTable
        Expected counts and costs by decision and truth.

    See Also
    --------
    realised_cost : What the same decisions turned out to cost. A large difference means that the
        probabilities should not be believed.

    Examples
    --------
    >>> from calibrant.decisions import decide, expected_cost
    >>> proba, cost = [[0.995, 0.005], [0.98, 0.02], [0.3, 0.7]], [[0, 100], [1, 0]]
    >>> table = expected_cost(proba, decide(proba, cost), cost)
    >>> round(table.total, 3)
    1.78
    """
    matrix = check_cost(cost, allow_any=True)
    n_actions, n_classes = matrix.shape[-2:]
    estimates = check_estimates(proba, n_classes)
    if classes is not None:
        estimates = by_label(proba, estimates, lambda: as_array(classes, "classes"), "proba")
    decided = _read_decisions(decisions, n_actions, classes if n_actions == n_classes else None)
    check_same_length(proba=estimates, decisions=decided)
    weights = _read_weights(sample_weight, matrix, len(decided))
    weighted = weights[:, None] * estimates
    counts = _sum_by(decided, weighted, n_actions)
    if matrix.ndim == 2:
        return CostTable(counts, counts * matrix)
    return CostTable(counts, _sum_by(decided, weighted * matrix[np.arange(len(decided)), decided], n_actions))


def _read_decisions(decisions: object, n_actions: int, names: object) -> IntArray:
    try:
        return check_class_labels(decisions, n_actions, names)
    except DataError as error:
        raise DataError(f"decisions: {error}") from error


def _read_weights(sample_weight: object, matrix: Array, n_rows: int) -> Float64Array:
    check_not_empty(n_rows, "decisions")
    if matrix.ndim == 3 and len(matrix) != n_rows:
        raise DataError(f"cost must have one matrix per row, {n_rows} in all; got {len(matrix)}")
    weights = check_weights(sample_weight, n_rows)
    return np.ones(n_rows) if weights is None else weights


def _sum_by(decided: IntArray, values: Float64Array, n_actions: int) -> Float64Array:
    """Sum the rows of `values` that have the same decision."""
    columns = [np.bincount(decided, column, n_actions) for column in values.T]
    return np.stack(columns, axis=1)
