"""Learned rules for decisions beside the classes, such as "ask a person".

A learned rule decides among classes. Every other decision is given a class of its own, which is never the
truth: its probability is 0 in every row, and it costs too much to decide anything else there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray


@dataclass(frozen=True)
class AmongActions:
    """A fitted rule of the classes and of others that never occur.

    Attributes
    ----------
    rule : object
        The rule.
    n_actions : int
        How many decisions there are, the classes first.
    """

    rule: Any
    n_actions: int

    def decide(self, proba: Float64Array) -> IntArray:
        """Decide for new rows, by the probabilities of the classes."""
        return np.asarray(self.rule.decide(with_absent(proba, self.n_actions)))


def with_absent(proba: Float64Array, n_actions: int) -> Float64Array:
    """Probabilities of the classes, and of those that never occur."""
    return np.hstack([proba, np.zeros((len(proba), n_actions - proba.shape[1]))])


def square_costs(matrix: Float64Array) -> Float64Array:
    """The costs of all decisions for all classes, with those that never occur."""
    n_actions, n_classes = matrix.shape
    square = np.full((n_actions, n_actions), 10 * (1 + np.abs(matrix).max()))
    square[:, :n_classes] = matrix
    extra = np.arange(n_classes, n_actions)
    square[extra, extra] = 0.0
    return square
