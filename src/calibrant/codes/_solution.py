"""What a solver of one block gives back."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray


@dataclass(frozen=True)
class Solution:
    """Probabilities of a block of rows, filled in as rows converge."""

    proba: Float64Array
    n_iter: IntArray
    converged: BoolArray

    @classmethod
    def blank(cls, k: int, n_rows: int) -> Self:
        """Space for k classes and n rows."""
        return cls(np.empty((k, n_rows)), np.zeros(n_rows, dtype=np.intp), np.zeros(n_rows, dtype=bool))

    def put(self, rows: IntArray, proba: Float64Array, iteration: int, done: BoolArray) -> None:
        """Keep the state of some rows after an iteration; those that are not done may be put again."""
        self.proba[:, rows] = proba
        self.n_iter[rows] = iteration
        self.converged[rows] = done
