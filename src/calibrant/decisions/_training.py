"""The rows that a rule learns from, and what decisions about them cost."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows with their truth.

    Attributes
    ----------
    proba : ndarray of shape (n, k)
        Probabilities of the classes.
    truth : ndarray of shape (n,)
        The number of the true class of every row.
    cost : ndarray of shape (k, k)
        The user's costs, which score decisions.
    weights : ndarray of shape (n,) or None
        Positive weights; None where every row counts once.
    """

    proba: Float64Array
    truth: IntArray
    cost: Float64Array
    weights: Float64Array | None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.cost)

    def paid(self, decisions: IntArray | int, rows: IntArray | None = None) -> Float64Array:
        """What the decisions cost, row by row; for the given rows only, which may be repeated."""
        truth = self.truth if rows is None else self.truth[rows]
        if isinstance(decisions, np.ndarray):
            paid = self.cost.ravel().take(decisions * self.n_classes + truth)
        else:
            paid = self.cost[decisions].take(truth)
        if self.weights is not None:
            paid *= self.weights if rows is None else self.weights[rows]
        return paid

    def total(self, decisions: IntArray) -> float:
        """What the decisions cost in all."""
        return float(self.paid(decisions).sum())

    def by_frequency(self) -> IntArray:
        """The classes by decreasing frequency; of equally frequent ones the lowest number first."""
        frequency = np.bincount(self.truth, self.weights, self.n_classes)
        return np.argsort(-frequency, kind="stable")
