"""Groups of rows: those in the same bin, or those that are alike."""

import math

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray

#: How far below an edge, in widths of the bin that begins there, a number still counts as on the edge.
#: Without it 0.3 / 0.1, which is 2.9999999999999996, would fall into bin 2.
EDGE_SLACK = 1e-9


def fixed_width_bins(values: Float64Array, width: float, lo: float, hi: float) -> tuple[IntArray, int]:
    """Number the bins of equal width, and put every value into one."""
    n_bins = max(1, math.ceil((hi - lo) / width - EDGE_SLACK))
    bins = np.floor((np.clip(values, lo, hi) - lo) / width + EDGE_SLACK)
    return np.minimum(bins, n_bins - 1).astype(np.intp), n_bins


def bins_between(values: Float64Array, edges: Float64Array) -> IntArray:
    """Put every value into the bin between two edges."""
    starts = edges[:-1] - EDGE_SLACK * np.diff(edges)
    return np.maximum(np.searchsorted(starts, values, side="right") - 1, 0)


def number_alike(rows: Array) -> IntArray:
    """Number the distinct rows of a matrix."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    begins = np.any(ordered[1:] != ordered[:-1], axis=1)
    numbers = np.empty(len(rows), dtype=np.intp)
    numbers[order] = np.concatenate([[0], np.cumsum(begins)])
    return numbers


def group_sums(groups: IntArray, values: Float64Array) -> Float64Array:
    """Add up the values of every group."""
    return np.asarray(np.bincount(groups, values), dtype=np.float64)
