"""The operations that the formula of a map may use: one set for NumPy, one in symbols.

Beside these a formula adds, subtracts, multiplies and divides by the ordinary operators, and broadcasts as in
NumPy. Symbols become an ONNX graph, SQL or Python, whichever target their tensors are of.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._odds import expit, logit
from calibrant.maps._intervals import IntervalLookup
from calibrant.maps._tensor import Tensor

#: How close to 0 and 1 a probability may come before its logarithm is taken.
LOG_CLIP = 1e-12
#: The same where probabilities however small keep their order: about the least whose inverse is finite.
LOG_TINY = 1e-300


class Operations(ABC):
    """What a formula may do with scores besides arithmetic."""

    @abstractmethod
    def interval(self, edges: Any, scores: Any) -> Any:
        """Number of edges strictly below every score."""

    @abstractmethod
    def take(self, table: Any, place: Any) -> Any:
        """The entries of a table at some places."""

    @abstractmethod
    def clip(self, values: Any, low: Any, high: Any) -> Any:
        """Values kept within bounds."""

    @abstractmethod
    def filled(self, scores: Any, value: Any) -> Any:
        """The same value for every score."""

    @abstractmethod
    def exp(self, values: Any) -> Any:
        """Exponentials."""

    @abstractmethod
    def log(self, values: Any) -> Any:
        """Logarithms of positive numbers."""

    @abstractmethod
    def log_odds(self, proba: Any) -> Any:
        """Log-odds of probabilities strictly between 0 and 1."""

    @abstractmethod
    def falling_sigmoid(self, z: Any) -> Any:
        """The map ``1/(1 + exp(z))``."""

    @abstractmethod
    def product(self, rows: Any, matrix: Float64Array) -> Any:
        """Rows times a matrix."""

    @abstractmethod
    def columns(self, rows: Any, places: Array) -> Any:
        """Some columns, in this order."""

    @abstractmethod
    def beside(self, matrices: Sequence[Any]) -> Any:
        """Matrices side by side."""

    @abstractmethod
    def row_max(self, rows: Any) -> Any:
        """The greatest entry of every row, as a column."""

    @abstractmethod
    def row_sums(self, rows: Any) -> Any:
        """The sum of every row, as a column."""


class _NumpyOperations(Operations):
    def interval(self, edges: IntervalLookup, scores: Float64Array) -> Any:
        return edges(scores)

    def take(self, table: Array, place: Array) -> Any:
        return table.take(place)

    def clip(self, values: Array, low: Any, high: Any) -> Any:
        return values.clip(low, high)

    def filled(self, scores: Array, value: Any) -> Any:
        return np.full(scores.shape, value)

    def exp(self, values: Array) -> Any:
        return np.exp(values)

    def log(self, values: Array) -> Any:
        return np.log(values)

    def log_odds(self, proba: Array) -> Any:
        return logit(proba)

    def falling_sigmoid(self, z: Array) -> Any:
        return expit(-z)

    # Matrices stand column by column: NumPy is slow along short rows, by ten times and more.

    def product(self, rows: Array, matrix: Float64Array) -> Any:
        return (matrix.T @ rows.T).T

    def columns(self, rows: Array, places: Array) -> Any:
        return rows.T.take(places, axis=-2).T

    def beside(self, matrices: Sequence[Array]) -> Any:
        return np.concatenate([each.T for each in matrices]).T

    def row_max(self, rows: Array) -> Any:
        return np.ascontiguousarray(rows.T).max(axis=0)[:, None]

    def row_sums(self, rows: Array) -> Any:
        return np.ascontiguousarray(rows.T).sum(axis=0)[:, None]


class _SymbolicOperations(Operations):
    """The same in symbols. Edges and tables may be lists, with one entry for each of the columns."""

    def interval(self, edges: IntervalLookup | Sequence[IntervalLookup], scores: Tensor) -> Any:
        lookups = [edges] if isinstance(edges, IntervalLookup) else edges
        return scores.intervals([each.edges for each in lookups])

    def take(self, table: Array | Sequence[Array], place: Tensor) -> Any:
        return place.in_table(table if isinstance(table, np.ndarray) else np.concatenate(list(table)))

    def clip(self, values: Tensor, low: Any, high: Any) -> Any:
        return values.at_least(low).at_most(high)

    def filled(self, scores: Tensor, value: Any) -> Any:
        return scores * 0.0 + value

    def exp(self, values: Tensor) -> Any:
        return values.exp()

    def log(self, values: Tensor) -> Any:
        return values.log()

    def log_odds(self, proba: Tensor) -> Any:
        return self.log(proba / (1.0 - proba))

    def falling_sigmoid(self, z: Tensor) -> Any:
        return 1.0 / (self.exp(z) + 1.0)  # where the exponential overflows it is 0, as it should be

    def product(self, rows: Tensor, matrix: Float64Array) -> Any:
        return rows.times(matrix)

    def columns(self, rows: Tensor, places: Array) -> Any:
        return rows.columns(places)

    def beside(self, matrices: Sequence[Tensor]) -> Any:
        return matrices[0].target.beside(matrices)

    def row_max(self, rows: Tensor) -> Any:
        return rows.row_max()

    def row_sums(self, rows: Tensor) -> Any:
        return rows.row_sums()


NUMPY: Operations = _NumpyOperations()
SYMBOLS: Operations = _SymbolicOperations()
