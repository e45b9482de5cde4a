"""The map of all scores of a row: the softmax of a linear function of features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._field_groups import Matrix, Numbers, Record
from calibrant._core._fields import Choice, Either, Number
from calibrant.maps._features import FEATURES, features_named
from calibrant.maps._map import Map
from calibrant.maps._operations import Operations

HUGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Softmax(Map, name="softmax"):
    """Probabilities ``exp(z_j) / sum_i exp(z_i)`` of a linear function z of a feature of the scores.

    Parameters
    ----------
    slope : float, or array-like of shape (k,) or (l, k)
        What the features are multiplied by: all by one number, each by its own, or a row of l scores by a
        matrix, whose columns are the classes.
    intercept : float or array-like of shape (k,), default=0.0
        What is added.
    features : str, default="score"
        What of every score is used; see `FEATURES`.
    """

    slope: Any
    intercept: Any = 0.0
    features: str = "score"

    fields = Record(
        slope=Either(Number(), Numbers(), Matrix()),
        intercept=Either(Number(), Numbers()),
        features=Choice(*FEATURES),
    )

    def __post_init__(self) -> None:
        for name in ("slope", "intercept"):
            given = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, given if given.ndim else float(given))

    @property
    def takes_probabilities(self) -> bool:
        """Logarithms are those of probabilities."""
        return features_named(self.features).of_probabilities

    def formula(self, scores: Any, ops: Operations) -> Any:
        """Exponentials, the greatest of which is 1, over their sum."""
        (feature,) = features_named(self.features).formula(scores, ops)
        matrix = np.ndim(self.slope) == 2
        z = (ops.product(feature, self.slope) if matrix else feature * self.slope) + self.intercept
        return softmax(z, ops)


def softmax(z: Any, ops: Operations) -> Any:
    """Exponentials, the greatest of which is 1, over their sum."""
    z = ops.clip(z, -HUGEST, HUGEST)  # so that no two infinities meet
    odds = ops.exp(z - ops.row_max(z))
    return odds / ops.row_sums(odds)
