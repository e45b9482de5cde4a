"""What an evaluation must know of rows in any order: sums over a batch of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant._core._ties import lowest_of_least
from calibrant.metrics._bins import fixed_width_bins
from calibrant.metrics._intervals import power_sums
from calibrant.metrics._reliability import BIN_WIDTH
from calibrant.metrics._row_losses import BLOCK, log_losses, squared_errors

#: Losses of a row, of which sums of powers are kept; and their number.
LOG_LOSS, BRIER, ERROR, CONFIDENCE, N_LOSSES = range(5)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows whose weights are above 0, or None where all are 1.

    Attributes
    ----------
    truth, proba, weights, decided
        As `EvaluationSums.add` takes them.
    called, confidence : ndarray of shape (n,)
        The most probable class of every row, and its probability.
    """

    truth: IntArray
    proba: Float64Array
    weights: Float64Array | None
    called: IntArray
    confidence: Float64Array
    decided: IntArray | None

    def blocks(self) -> Iterator["Batch"]:
        """Give a few rows at a time."""
        for first in range(0, len(self.truth), BLOCK):
            rows = slice(first, first + BLOCK)
            yield Batch(
                self.truth[rows],
                self.proba[rows],
                some(self.weights, rows),
                self.called[rows],
                self.confidence[rows],
                some(self.decided, rows),
            )

    def losses(self, n_classes: int) -> dict[str, Float64Array]:
        """Sums of the losses, and of the weights of classes."""
        truth, weights = self.truth, self.weights
        chance, loss = log_losses(truth, self.proba)
        certain = chance <= 0
        wrong = (self.called != truth).astype(np.float64)
        losses = np.where(certain, 0.0, loss), squared_errors(truth, self.proba), wrong, self.confidence
        unlike = 0 if weights is None else np.count_nonzero(weights != np.floor(weights))
        squares = None if weights is None else weights**2
        return {
            "rows": np.array([len(truth), np.count_nonzero(certain), unlike], dtype=np.float64),
            "losses": np.array([power_sums(each, weights) for each in losses]),
            "truth": np.array([np.bincount(truth, mass, n_classes) for mass in (weights, squares)]),
        }

    def decisions(self, cost: Float64Array) -> dict[str, Float64Array]:
        """Weights by decision and truth, their squares and cubes; the same for the most probable class."""
        decided = self.decided
        if decided is None:
            decided = lowest_of_least(cost @ _both_columns(self.proba).T, cost)
        found = {"decided": self._tables(decided, cost)}
        if cost.shape[0] == cost.shape[1]:
            found["called"] = self._tables(self.called, cost)
        return found

    def _tables(self, decided: IntArray, cost: Float64Array) -> Float64Array:
        cells, weights = decided * cost.shape[1] + self.truth, self.weights
        powers = (None,) * 3 if weights is None else (weights, weights**2, weights**3)
        return np.array([np.bincount(cells, mass, cost.size).reshape(cost.shape) for mass in powers])

    def _column(self, number: int) -> tuple[Float64Array, BoolArray]:
        """The probabilities of a class, a single column is that of the second; and which rows are of it."""
        if self.proba.shape[1] > 1:
            p = np.ascontiguousarray(self.proba[:, number])
        else:
            p = self.proba[:, 0] if number == 1 else 1.0 - self.proba[:, 0]
        return p, self.truth == number

    def column_sums(self, number: int) -> Float64Array:
        """Of a class: sums of p, p² and of the squared error and its square; the same by w²."""
        p, happened = self._column(number)
        error = (p - happened) ** 2
        values = (p, p * p, error, error * error)
        if self.weights is None:
            sums = [each.sum() for each in values]
            return np.array([sums, sums])
        return np.array([[mass @ each for each in values] for mass in (self.weights, self.weights**2)])

    def diagram(self, number: int) -> Float64Array:
        """Of every bin of a class: rows, weight, and sums of p and of what came."""
        p, happened = self._column(number)
        bins, n_bins = fixed_width_bins(p, BIN_WIDTH, 0.0, 1.0)
        mass = np.ones(len(p)) if self.weights is None else self.weights
        sums: tuple[Any, ...] = (None, mass, mass * p, mass * happened)
        return np.stack([np.bincount(bins, each, n_bins) for each in sums])


def some(values: Any, rows: slice | BoolArray) -> Any:
    """Some of what there may be."""
    return None if values is None else values[rows]


def _both_columns(proba: Float64Array) -> Float64Array:
    """One column per class."""
    return np.column_stack([1.0 - proba, proba]) if proba.shape[1] == 1 else proba
