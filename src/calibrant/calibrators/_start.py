"""What vector and matrix scaling and the stack begin from: temperature scaling with two floors, or biases."""

import math

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators._joint_rows import JointRows
from calibrant.maps import NUMPY, Start

#: What is added to probabilities before their logarithm is taken.
FLOORS = (1e-300, 1e-15, 1e-8, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
#: Scores by which the floor is found, and the scale.
FLOOR_ENTRIES, SCALE_ENTRIES = 40_000, 200_000
#: Bounds of the logarithm of the scale, for scores that differ by about 1.
LOWEST, HIGHEST = -7.0, 5.0
#: Steps of the logarithm of the scale, at most and the last; logarithms of odds that are as good as infinite.
MOST_STEP, SMALL_STEP, FAR = 2.0, 1e-3, 300.0
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
    true_first = _true_first(given, few.y)
    bounds, begin = ((LOWEST, HIGHEST), 0.0) if probable else _range_of_margins(given)
    found: tuple[float, float, float | None] | None = None
    for floor in FLOORS if probable else (None,):
        loss, begin = _best_scale(_logs(true_first, floor), few.weight, share, bounds, begin)
        if found is None or loss < found[0] - 1e-9 * abs(found[0]):
            found = loss, begin, floor
    assert found is not None
    least, begin, floor = found
    more = rows.some(rows.thinned(SCALE_ENTRIES))
    all_given = more.entry.of_classes(more.scores, NUMPY)
    if biased and floor is None:
        n_free, whole = rows.entry.n_classes - 1, rows.weight.sum() / few.weight.sum()
        loss, scale, bias = _best_biases(given, few, share, math.exp(begin), None)
        leaning = len(np.unique(given.argmax(axis=1))) == 1
        if (least - loss) * whole > (WORTH_LEANING if leaning else WORTH) * n_free:
            _, scale, bias = _best_biases(all_given, more, share, scale, bias)
            return Start(scale, None, share, bias)
    logs = _logs(_true_first(all_given, more.y), floor)
    _, scale = _best_scale(logs, more.weight, share, bounds, begin)
    return Start(math.exp(scale), floor, share)


def _range_of_margins(given: Float64Array) -> tuple[tuple[float, float], float]:
    """Bounds wide enough for margins of any unit, and where to begin."""
    unit = float(np.mean(given.max(axis=1) / 2 - given.min(axis=1) / 2))
    even = -math.log(unit) if unit > 0 else 0.0
    return (min(LOWEST, LOWEST + even), max(HIGHEST, HIGHEST + even)), even


def _logs(given: Float64Array, floor: float | None) -> Float64Array:
    return given if floor is None else np.log(given + floor)


def _true_first(given: Float64Array, y: IntArray) -> Float64Array:
    """What is given of the true class, and of the others; rows second, as NumPy is slow along short ones."""
    n, k = given.shape
    places = (y + np.arange(k)[:, None]) % k * n + np.arange(n)
    return np.asarray(given.T.ravel().take(places))


def _best_scale(
    logs: Float64Array, weight: Float64Array, share: float, bounds: tuple[float, float], begin: float
) -> tuple[float, float]:
    """The least loss, and the logarithm of its scale: by Newton's method, kept between bounds."""
    k, ahead = len(logs), logs[1:] / 2 - logs[0] / 2
    unit = float(np.abs(ahead).max()) or 1.0  # halves, of which the greatest is one: no square overflows
    ahead /= unit
    low, high = bounds
    at = begin
    while True:
        scale = 2 * math.exp(at + math.log(unit))
        odds = np.exp(np.minimum(scale * ahead, FAR))
        own: Array = 1 / (1 + odds.sum(axis=0))
        odds *= ahead
        mean = own * odds.sum(axis=0)
        odds *= ahead
        square = own * odds.sum(axis=0)
        said = (1 - share) * own + share / k
        part = (1 - share) * own / said
        mass = weight * part
        slope = scale * float(mass @ mean)
        curve = scale * scale * float(mass @ (square - (2 - part) * mean * mean)) + slope
        low, high = (low, at) if slope > 0 else (at, high)
        step = -slope / curve if curve > 0 else math.copysign(MOST_STEP, -slope)
        step = max(-MOST_STEP, min(step, MOST_STEP))
        if not low < at + step < high:
            step = (low + high) / 2 - at
        if abs(step) <= SMALL_STEP or slope == 0:
            return slope * step / 2 - float(weight @ np.log(said)), at + step
        at += step


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
