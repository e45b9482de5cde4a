"""What is remembered of long ago is remembered coarsely."""

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray


def pooled_starts(ages: Float64Array, most: int) -> IntArray:
    """Where parts begin if those next to each other are put together until at most so many are left.

    Parameters
    ----------
    ages : ndarray of shape (n,)
        How long ago every part began, falling, all above 0.
    most : int
        How many parts there may be.

    Returns
    -------
    ndarray of int
        The first of the parts that are put together: their length grows with their age.
    """
    depth = np.log1p(ages / ages[-1])
    cell = np.floor(depth / depth[0] * (most - 1))
    return np.append(0, np.flatnonzero(cell[1:] != cell[:-1]) + 1)
