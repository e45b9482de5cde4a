"""The point of the simplex nearest to a vector: least squares for one-vs-all (METHODS 9.2, A.4)."""

import numpy as np

from calibrant._core._arrays import Float64Array


def project_on_simplex(points: Float64Array, weights: Float64Array | None = None) -> Float64Array:
    """Minimise sum_c w_c (p_c - r_c)^2 over the simplex, for every row r.

    The answer is p_c = max(r_c - t / w_c, 0) for the one t that makes it sum to one. Classes leave the
    support in ascending order of w_c r_c, so that sorting finds t.

    Parameters
    ----------
    points : ndarray of shape (n, k)
        The vectors r.
    weights : ndarray of shape (k,), optional
        The weights w, all positive; by default all equal.

    Returns
    -------
    ndarray of shape (n, k)
        The vectors p.
    """
    n_rows, k = points.shape
    if weights is None:
        heights = np.sort(points, axis=1)[:, ::-1]
        excess = np.cumsum(heights, axis=1)
        give = np.arange(1.0, k + 1)
    else:
        heights = points * weights
        order = np.argsort(-heights, axis=1)
        heights = np.take_along_axis(heights, order, axis=1)
        excess = np.cumsum(np.take_along_axis(points, order, axis=1), axis=1)
        give = np.cumsum((1.0 / weights)[order], axis=1)
    excess -= 1.0
    size = np.count_nonzero(heights * give > excess, axis=1)  # true for the support, false behind it
    last = (np.arange(n_rows), size - 1)
    threshold = excess[last] / (give[last] if weights is not None else size)
    proba = points - (threshold[:, None] if weights is None else threshold[:, None] / weights)
    return np.asarray(np.maximum(proba, 0.0, out=proba))
