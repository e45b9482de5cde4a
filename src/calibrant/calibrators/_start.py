"""What vector and matrix scaling and the stack begin from: temperature scaling with two floors, or biases."""

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
#: Every free bias of margins must be worth so much log likelihood; and where all rows lean to one class.
WORTH, WORTH_LEANING = 10.0, 2.0


def fit_start(rows: JointRows, *, biased: bool = True) -> Start:
    """Find ``q = (1 - e) softmax(a log(p + d)) + e/k`` of least log loss, with e = 1/(W + 1).

    Of margins it is ``softmax(a s + c)``, where c is 0 unless the rows say that margins are not even at 0, as
    those of a credit score from 300 to 850.
    """
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
    least, begin, floor = found
    more = rows.some(rows.thinned(SCALE_ENTRIES))
    logs = _logs(more.entry.of_classes(more.scores, NUMPY), floor)
    if biased and floor is None:
        n_free, whole = rows.entry.n_classes - 1, rows.weight.sum() / few.weight.sum()
        loss, scale, bias = _best_biases(given, few, share, math.exp(begin), None)
        leaning = len(np.unique(given.argmax(axis=1))) == 1
        if (least - loss) * whole > (WORTH_LEANING if leaning else WORTH) * n_free:
            _, scale, bias = _best_biases(logs, more, share, scale, bias)
            return Start(scale, None, share, bias)
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


def _best_biases(
    margins: Float64Array, rows: JointRows, share: float, scale: float, bias: Float64Array | None
) -> tuple[float, float, Float64Array]:
    """The least loss with a bias for every class, its scale, and the biases; searched from some others."""
    places, k = np.arange(len(rows.y)), margins.shape[1]
    largest = float(np.abs(margins).max()) or 1.0
    centre = largest * (rows.weight @ (margins / largest) / rows.weight.sum())
    unit = largest * float(np.abs(margins / largest - centre / largest).mean()) or 1.0
    below = np.ascontiguousarray((margins / unit - centre / unit).T)

    def loss(numbers: Float64Array) -> tuple[float, Float64Array]:
        z = numbers[0] * below + numbers[1:, None]
        odds = np.exp(z - z.max(axis=0))
        proba: Array = odds / odds.sum(axis=0)
        own = proba[rows.y, places]
        said = (1 - share) * own + share / k
        slope = proba * (rows.weight * (1 - share) * own / said)
        slope[rows.y, places] -= rows.weight * (1 - share) * own / said
        value = -float(rows.weight @ np.log(said))
        return value, np.append((slope * below).sum(), slope.sum(axis=1))

    begin = np.append(scale * unit, scale * centre + (0.0 if bias is None else bias))
    begin[1:] -= begin[1:].mean()
    bounds = [(0.0, math.exp(HIGHEST))] + [(None, None)] * k
    best = late.optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    found = best.x[1:] - best.x[0] * centre / unit
    return float(best.fun), float(best.x[0] / unit), found - found.mean()
