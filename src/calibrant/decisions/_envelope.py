"""How decisions change while the costs of one truth are multiplied.

The risks of a row are then straight lines over the factor: a constant from the other truths, plus the
factor times a slope. The least risk is their lower envelope, along which the slopes fall, and the order of
the slopes is the same for all rows.
"""

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._ties import lowest_of_least
from calibrant.decisions._estimates import row_blocks
from calibrant.decisions._sweep import Events


def envelope(proba: Float64Array, matrix: Float64Array, column: int) -> Events:
    """All changes of decision while a column is multiplied by a factor, at the factor's logarithm."""
    by_slope = np.argsort(matrix[:, column], kind="stable")
    place = np.argsort(by_slope)
    slopes = matrix[by_slope, column]
    rest = matrix[by_slope].copy()
    rest[:, column] = 0.0
    start = np.empty(len(proba), dtype=np.intp)
    found = []
    for rows in row_blocks(len(proba), len(matrix)):
        constants, weight = rest @ proba[rows].T, proba[rows, column]
        # As soon as the factor grows, ties go to the least slope; where it cannot, to the lowest class.
        line = lowest_of_least(constants, matrix)
        still = weight == 0
        line[still] = place[lowest_of_least(constants[place][:, still], matrix)]
        start[rows] = line
        found += _walk(constants, slopes, line, weight, rows.start)
    at, row, before, after = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Events(by_slope[start], at, by_slope[before], by_slope[after], row)


def _walk(
    constants: Float64Array, slopes: Float64Array, line: IntArray, weight: Float64Array, first_row: int
) -> list[tuple[Float64Array, IntArray, IntArray, IntArray]]:
    """Follow the envelopes of a block of rows from line to line; lines are in the order of their slopes."""
    none = np.empty(0, dtype=np.intp)
    found = [(np.empty(0), none, none, none)]
    moving = np.flatnonzero((weight > 0) & (slopes[line] > slopes[0]))
    while len(moving):
        now = line[moving]
        fall = slopes[now] - slopes[:, None]
        rise = constants[:, moving] - constants[now, moving]
        crossing = np.full(fall.shape, np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            np.divide(rise, fall, out=crossing, where=fall > 0)
            after = crossing.argmin(axis=0)
            at = np.log(np.maximum(crossing[after, np.arange(len(moving))], 0.0) / weight[moving])
        found.append((at, moving + first_row, now, after))
        line = line.copy()
        line[moving] = after
        moving = moving[slopes[after] > slopes[0]]
    return found
