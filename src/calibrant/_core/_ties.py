"""When two risks are the same but for rounding, and which decision is the first of the least."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray

#: Two risks are tied when they differ by at most this much, times the least risk where that exceeds one;
#: or where all costs are below one, the greatest of them.
TIE = 1e-12


def lowest_of_least(risks: Float64Array, costs: Float64Array) -> IntArray:
    """For every column of risks under some costs the first row whose risk is, but for a tie, the least."""
    return np.asarray((risks <= tie_bound(risks.min(axis=0), tie_unit(costs))).argmax(axis=0))


def tie_bound(least: Float64Array, unit: float | Float64Array) -> Float64Array:
    """The greatest risk that is still tied with the least one, which may be infinite."""
    return least + TIE * np.clip(np.abs(least), unit, np.finfo(np.float64).max)


def tie_unit(matrix: Float64Array) -> Any:
    """What a tie of small risks is measured by: one, or the greatest cost if that is less."""
    return np.minimum(np.abs(matrix).max(axis=(-2, -1), initial=0.0), 1.0)
