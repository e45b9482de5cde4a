"""Forecasts against what came, in fixed cells, so that sums of any rows can be put together."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics import Estimate, share_estimate

#: Ends of the cells: finer where forecasts are sure.
EDGES = np.array([0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1])
N_CELLS = len(EDGES) - 1
#: What is summed in every cell: w, w², w p, w y.
N_SUMS = 4


@dataclass(frozen=True, slots=True)
class ReliabilityCell:
    """Rows whose forecasts lie between two ends.

    Attributes
    ----------
    left, right : float
        The ends.
    weight : float
        The weight of the rows, or their number.
    mean_forecast : float
        Their mean forecast.
    frequency : Estimate
        How often what was forecast came.
    """

    left: float
    right: float
    weight: float
    mean_forecast: float
    frequency: Estimate


@dataclass(frozen=True, slots=True)
class Reliability:
    """What was forecast against what came, of some rows.

    Attributes
    ----------
    of : str
        What was forecast: the second of two classes, or of more classes the most probable one.
    first_row : int
        The number of the first row.
    weight : float
        The weight of all rows, or their number.
    cells : tuple of ReliabilityCell
        The rows by their forecasts; cells without rows are left out.
    """

    of: str
    first_row: int
    weight: float
    cells: tuple[ReliabilityCell, ...]


def cell_sums(proba: Float64Array, truth: IntArray, weights: Float64Array | None) -> Float64Array:
    """Sums over the rows of every cell, of shape (N_SUMS, N_CELLS); without weights every row counts once."""
    if proba.shape[1] == 2:
        forecast, came = proba[:, 1], truth == 1
    else:
        best = proba.argmax(axis=1)
        forecast, came = proba[np.arange(len(best)), best], truth == best
    cell = EDGES[1:-1].searchsorted(forecast, side="right")
    sums = np.empty((N_SUMS, N_CELLS))
    if weights is None:
        sums[:2] = np.bincount(cell, minlength=N_CELLS)
        sums[2] = np.bincount(cell, forecast, N_CELLS)
        sums[3] = np.bincount(cell[came], minlength=N_CELLS)
        return sums
    for place, each in enumerate((weights, weights * weights, weights * forecast, weights * came)):
        sums[place] = np.bincount(cell, each, N_CELLS)
    return sums


def reliability_of(sums: Float64Array, first_row: int, of: str) -> Reliability:
    """What sums say."""
    cells = []
    for place in np.flatnonzero(sums[0] > 0):
        weight, square, forecast, came = sums[:, place].tolist()
        frequency = share_estimate(min(came / weight, 1.0), weight**2 / square)
        mean = min(max(forecast / weight, EDGES[place]), EDGES[place + 1])
        cells.append(
            ReliabilityCell(float(EDGES[place]), float(EDGES[place + 1]), weight, float(mean), frequency)
        )
    return Reliability(of, first_row, float(sums[0].sum()), tuple(cells))
