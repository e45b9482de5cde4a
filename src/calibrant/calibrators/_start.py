"""What vector and matrix scaling and the stack begin from: temperature scaling with two floors."""

import math

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, Float64Array
from calibrant.calibrators._joint_rows import JointRows
from calibrant.maps import NUMPY, Start

#: What is added to probabilities before their logarithm is taken.
FLOORS = (1e-300, 1e-15, 1e-8, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
#: Scores by which the floor is found, and the scale.
FLOOR_ENTRIES, SCALE_ENTRIES = 40_000, 200_000
#: Bounds of the logarithm of the scale, for scores that differ by about 1.
LOWEST, HIGHEST = -7.0, 5.0


def fit_start(rows: JointRows) -> Start:
    """Find ``q = (1 - e) softmax(a log(p + d)) + e/k`` of least log loss, with e = 1/(W + 1)."""
    share = 1 / (rows.total + 1)
    probable = rows.entry.of_probabilities
    few = rows.some(rows.thinned(FLOOR_ENTRIES))
    given = few.entry.of_classes(few.scores, NUMPY)
    found: tuple[float, float, float | None] | None = None
    bounds = (LOWEST, HIGHEST) if probable else _bounds_of_margins(given)
    for floor in FLOORS if probable else (None,):
        loss, scale = _best_scale(_logs(given, floor), few, share, bounds, 1e-2)
        if found is None or loss < found[0] - 1e-9 * abs(found[0]):
            found = loss, scale, floor
    assert found is not None
    _, begin, floor = found
    more = rows.some(rows.thinned(SCALE_ENTRIES))
    logs = _logs(more.entry.of_classes(more.scores, NUMPY), floor)
    _, scale = _best_scale(logs, more, share, (begin - 0.2, begin + 0.2), 2e-3)
    return Start(math.exp(scale), floor, share)


def _bounds_of_margins(given: Float64Array) -> tuple[float, float]:
    """Wide enough for margins of any unit."""
    unit = float(np.mean(given.max(axis=1) / 2 - given.min(axis=1) / 2))
    if unit <= 0:
        return LOWEST, HIGHEST
    return min(LOWEST, LOWEST - math.log(unit)), max(HIGHEST, HIGHEST - math.log(unit))


def _logs(given: Float64Array, floor: float | None) -> Float64Array:
    return given if floor is None else np.log(given + floor)


def _best_scale(
    logs: Float64Array, rows: JointRows, share: float, bounds: tuple[float, float], within: float
) -> tuple[float, float]:
    """The least loss, and the logarithm of its scale."""
    places, k = np.arange(len(rows.y)), logs.shape[1]
    below = np.ascontiguousarray(logs.T)  # NumPy is slow along short rows
    below = below - below.max(axis=0)

    def loss(log_scale: float) -> float:
        odds = np.exp(math.exp(log_scale) * below)
        proba: Array = odds[rows.y, places] / odds.sum(axis=0)
        return -float(rows.weight @ np.log((1 - share) * proba + share / k))

    best = late.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": within})
    return float(best.fun), float(best.x)
