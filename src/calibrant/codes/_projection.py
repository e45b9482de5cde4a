"""The point of the simplex nearest to a vector: least squares for one-vs-all (docs/methods/codes.md)."""

import numpy as np

from calibrant._core._arrays import Float64Array


def project_on_simplex(points: Float64Array, weights: Float64Array | None = None) -> Float64Array:
    """Minimise sum_c w_c (p_c - r_c)^2 over the simplex, for every row r.

    The answer is p_c = max(r_c - t / w_c, 0) for the one t that makes it sum to one. Classes leave the
    support in ascending order of w_c r_c, so that sorting finds t.
    """
    n_rows, k = points.shape
    if weights is None:
        heights = np.sort(points, axis=1)[:, ::-1]
        excess = np.cumsum(heights, axis=1) - 1.0
        size = np.count_nonzero(heights * np.arange(1.0, k + 1) > excess, axis=1)
        threshold = excess[np.arange(n_rows), size - 1] / size
        proba = points - threshold[:, None]
    else:
        heights = points * weights
        order = np.argsort(-heights, axis=1)
        excess = _running(np.take_along_axis(points, order, axis=1)) - 1.0
        give = _running((1.0 / weights)[order])
        # A class is in the support if those before it leave it something. With its own terms on both sides,
        # which are equal, those of a class of little weight would hide all others.
        heights = np.take_along_axis(heights, order, axis=1)
        size = np.count_nonzero(heights * give[:, :-1] > excess[:, :-1], axis=1)
        last = (np.arange(n_rows), size)
        proba = points - (excess[last] / give[last])[:, None] / weights
    return np.asarray(np.maximum(proba, 0.0, out=proba))


def _running(rows: Float64Array) -> Float64Array:
    """Sums of the first 0, 1, ..., k entries of every row."""
    sums = np.zeros((len(rows), rows.shape[1] + 1))
    np.cumsum(rows, axis=1, out=sums[:, 1:])
    return sums
