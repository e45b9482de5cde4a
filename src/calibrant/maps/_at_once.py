"""The linear maps of a pool together, classes first: a call of NumPy costs more than a short row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.maps._row_maps import HUGEST

if TYPE_CHECKING:
    from calibrant.maps._pool import Linear
    from calibrant.maps._pool_row import Basis, Row


@dataclass(frozen=True, eq=False)
class AtOnce:
    """The numbers of m linear maps of k classes, one array for all.

    Attributes
    ----------
    slope, bias : ndarray of shape (m, k, 1)
        Of the logarithms of the start.
    weight : ndarray of shape (m, 1, 1)
        Of the maps in the pool.
    shapes : list of (int, ndarray of shape (3, k, 1))
        Which map has shapes, and their numbers.
    matrices : list of (int, str, list of ndarray of shape (k, f))
        Which map has a block of features, its name, and what its parts are multiplied by.
    """

    slope: Float64Array
    bias: Float64Array
    weight: Float64Array
    shapes: list[tuple[int, Float64Array]]
    matrices: list[tuple[int, str, list[Float64Array]]]

    @classmethod
    def of(cls, maps: "Sequence[Linear]", weights: Sequence[float], basis: "Basis | None") -> Self:
        """Put the numbers of some maps side by side."""
        return cls(
            np.array([each.slope for each in maps])[:, :, None],
            np.array([each.bias for each in maps])[:, :, None],
            np.array(weights)[:, None, None],
            [(place, each.shapes[:, :, None]) for place, each in enumerate(maps) if each.shapes is not None],
            [
                (place, each.block, [np.ascontiguousarray(part.T) for part in each.parts(basis)])
                for place, each in enumerate(maps)
                if basis is not None and each.matrix is not None
            ],
        )

    def mean(self, row: "Row") -> Any:
        """The sum of the maps' probabilities by their weights."""
        z = self.slope * row.log_start.T
        z += self.bias
        for place, (of_rest, of_height, of_square) in self.shapes:
            heights = row.heights.T
            z[place] += of_rest * row.log_rest.T + (of_height + of_square * heights) * heights
        for place, block, parts in self.matrices:
            for part, features in zip(parts, row.blocks(block), strict=True):
                z[place] += part @ features.T
        np.minimum(z, HUGEST, out=z)  # so that no two infinities meet
        z -= np.maximum(z, -HUGEST, out=z).max(axis=1, keepdims=True)
        np.exp(z, out=z)
        z *= self.weight / z.sum(axis=1, keepdims=True)
        return z.sum(axis=0).T
