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
#: Logarithms of scales that are tried before the search, for scores that differ by about 1; by what scores.
TRIED, TRIED_ENTRIES, TRIED_ROWS = np.arange(-6.0, 5.0, 0.5), 10_000, 1000
#: How far the search goes from there; its steps, and the last; logarithms of odds as good as infinite.
REACH, MOST_STEPS, SMALL_STEP, FAR = 1.0, 20, 1e-5, 300.0
#: The bound of scales with biases; losses that differ by this share are equal.
HIGHEST, TIE = 5.0, 1e-9
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
    tried = few.thinned(TRIED_ENTRIES, TRIED_ROWS) if probable else None  # one try of margins is cheap
    tried = np.arange(len(few.y)) if tried is None else tried
    scales = TRIED if probable else _scales_of_margins(given)
    found: tuple[float, float, float | None] | None = None
    for floor in FLOORS if probable else (None,):
        logs = _logs(true_first, floor)
        begin = _good_scale(logs[:, tried], few.weight[tried], share, scales)
        loss, begin = _best_scale(logs, few.weight, share, begin)
        if found is None or loss < found[0] * (1 - TIE):
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
    _, scale = _best_scale(logs, more.weight, share, begin)
    return Start(math.exp(scale), floor, share)


def _scales_of_margins(given: Float64Array) -> Float64Array:
    """Those for margins that differ by about 1, as most may do, and for their mean unit, and between."""
    unit = float(np.mean(given.max(axis=1) / 2 - given.min(axis=1) / 2))
    even = -math.log(unit) if unit > 0 else 0.0
    first, last = TRIED[0] + min(even, 0.0), TRIED[-1] + max(even, 0.0)
    return np.linspace(first, last, len(TRIED) + math.ceil(2 * abs(even)))


def _logs(given: Float64Array, floor: float | None) -> Float64Array:
    return given if floor is None else np.log(given + floor)


def _true_first(given: Float64Array, y: IntArray) -> Float64Array:
    """What is given of the true class, and of the others; rows second, as NumPy is slow along short ones."""
    n, k = given.shape
    places = (y + np.arange(k)[:, None]) % k * n + np.arange(n)
    return np.asarray(given.T.ravel().take(places))


def _ahead(logs: Float64Array) -> tuple[Float64Array, float]:
    """How far the others are ahead of the true class, by halves of which the greatest is one, and that one.

    So no square overflows.
    """
    ahead = logs[1:] / 2 - logs[0] / 2
    unit = float(np.abs(ahead).max()) or 1.0
    ahead /= unit
    return ahead, unit


def _good_scale(logs: Float64Array, weight: Float64Array, share: float, scales: Float64Array) -> float:
    """The best of some logarithms of scales; of equal ones the greatest.

    The share keeps a sure and wrong answer from costing without end, so that the greatest scales are a valley
    of their own, where all answers are sure.
    """
    ahead, unit = _ahead(logs)
    odds = (np.exp(np.minimum(2 * math.exp(each + math.log(unit)) * ahead, FAR)) for each in scales)
    said = ((1 - share) / (1 + each.sum(axis=0)) + share / len(logs) for each in odds)
    loss = np.array([-np.log(each) @ weight for each in said])
    return float(scales[np.flatnonzero(loss <= loss.min() * (1 + TIE))[-1]])


def _best_scale(logs: Float64Array, weight: Float64Array, share: float, begin: float) -> tuple[float, float]:
    """The least loss near a scale, and the logarithm of its own: by Newton's method, kept between bounds."""
    (ahead, unit), k = _ahead(logs), len(logs)
    low, high, at = begin - REACH, begin + REACH, begin
    for _ in range(MOST_STEPS):  # a tail may fall for ever
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
        step = -slope / curve if curve > 0 else math.inf
        if not low < at + step < high:
            step = (low + high) / 2 - at
        at += step
        if abs(step) <= SMALL_STEP or slope == 0:
            break
    return slope * step / 2 - float(weight @ np.log(said)), at


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
