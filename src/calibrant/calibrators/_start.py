"""What vector and matrix scaling and the stack begin from: temperature scaling with two floors, or biases."""

import math

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators._joint_rows import JointRows
from calibrant.maps import Start

#: What is added to probabilities before their logarithm is taken.
FLOORS = (1e-300, 1e-15, 1e-8, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
#: Scores by which the floor is found, and the scale.
FLOOR_ENTRIES, SCALE_ENTRIES = 40_000, 200_000
#: Scores that are worked on at once.
BLOCK = 1 << 15
#: Logarithms of scales that are tried before the search, for scores that differ by about 1.
TRIED = np.arange(-6.0, 5.0, 0.5)
#: They are tried by so many rows at most, and scores, but so many rows at least.
SKETCH, SKETCH_ENTRIES, LEAST_SKETCH = 500, 20_000, 150
#: Floors are not searched if their loss there is greater by this share, of two classes and of more.
HOPELESS_TWO, HOPELESS = 0.0005, 0.01
#: How far the search goes from there; its steps, and the last.
REACH, MOST_STEPS, SMALL_STEP = 1.0, 20, 1e-4
#: Logarithms of odds as good as infinite, and of scales.
FAR, MOST_LOG = 300.0, 700.0
#: The bound of scales with biases; losses that differ by this share are equal.
HIGHEST, TIE = 5.0, 1e-9
#: Every free bias of margins must be worth so much log likelihood; and where all rows lean to one class.
WORTH, WORTH_LEANING = 10.0, 2.0

Floors = tuple[float | None, ...]


def fit_start(rows: JointRows, *, biased: bool = True) -> Start:
    """Find ``q = (1 - e) softmax(a log(p + d)) + e/k`` of least log loss, with e = 1/(W + 1).

    Of margins it is ``softmax(a s + c)``, where c is 0 unless the rows say that margins are not even at 0, as
    those of a credit score from 300 to 850.
    """
    share = 1 / (rows.total + 1)
    few = rows.some(rows.thinned(FLOOR_ENTRIES))
    least, begin, floor = _best_floor(few, share)
    more = rows.some(rows.thinned(SCALE_ENTRIES))
    if biased and floor is None:
        n_free, whole = rows.entry.n_classes - 1, rows.weight.sum() / few.weight.sum()
        loss, scale, bias = _best_biases(few, share, math.exp(begin), None)
        leaning = len(np.unique(few.given.argmax(axis=1))) == 1
        if (least - loss) * whole > (WORTH_LEANING if leaning else WORTH) * n_free:
            _, scale, bias = _best_biases(more, share, scale, bias)
            return Start(scale, None, share, bias)
    if more is not few:
        logs = _logs(_true_first(more.given, more.y), floor)
        _, (begin,) = _best_scales(logs[:, None], more.weight, share, np.array([begin]))
    return Start(math.exp(begin), floor, share)


def _best_floor(rows: JointRows, share: float) -> tuple[float, float, float | None]:
    """The least loss, the logarithm of its scale, and its floor, the first of equal ones.

    All are tried by a sketch of the rows. Those that may be best are compared by all rows, but for those that
    are equal to one before.
    """
    floors: Floors = FLOORS if rows.entry.of_probabilities else (None,)
    true_first = _true_first(rows.given, rows.y)
    few, mass = _sketch(_logs(true_first, floors[0]), rows.weight)
    logs = np.stack([_logs(true_first[:, few], floor) for floor in floors], axis=1)
    losses, begins = _best_scales(
        logs, mass, share, _good_scales(logs, mass, share, _scales(rows.given, floors))
    )
    hopeless = HOPELESS_TWO if len(true_first) == 2 else HOPELESS
    found: tuple[float, float, float | None] = math.inf, 0.0, None
    compared: list[float] = []
    for number in np.flatnonzero(losses <= losses.min() * (1 + hopeless)):
        if any(abs(losses[number] - loss) <= TIE * loss for loss in compared):
            continue
        compared.append(losses[number])
        logs = _logs(true_first, floors[number])[:, None]
        (loss,), (scale,) = _best_scales(logs, rows.weight, share, begins[number, None])
        if loss < found[0] * (1 - TIE):
            found = float(loss), float(scale), floors[number]
    return found


def _scales(given: Float64Array, floors: Floors) -> Float64Array:
    """Those that are tried: for margins that differ by about 1, and for their mean unit, and between."""
    if floors is FLOORS:
        return TRIED
    unit = float(np.mean(given.max(axis=1) / 2 - given.min(axis=1) / 2))
    even = -math.log(unit) if unit > 0 else 0.0
    first, last = TRIED[0] + min(even, 0.0), TRIED[-1] + max(even, 0.0)
    return np.linspace(first, last, len(TRIED) + math.ceil(2 * abs(even)))


def _logs(given: Float64Array, floor: float | None) -> Float64Array:
    return given if floor is None else np.log(given + floor)


def _true_first(given: Float64Array, y: IntArray) -> Float64Array:
    """What is given of the true class, and of the others; rows second, as NumPy is slow along short ones."""
    n, k = given.shape
    found, ends = np.empty((k, n)), np.searchsorted(y, np.arange(k + 1))
    for number in range(k):  # rows stand by class
        rows = slice(ends[number], ends[number + 1])
        found[: k - number, rows] = given[rows, number:].T
        found[k - number :, rows] = given[rows, :number].T
    return found


def _ahead(logs: Float64Array) -> tuple[Float64Array, Float64Array]:
    """How far the others are ahead of the true class, by halves of which the greatest is one, and that one.

    So no square overflows. Classes come first, rows last.
    """
    ahead = logs[1:] / 2 - logs[0] / 2
    unit = np.abs(ahead).max(axis=(0, -1), keepdims=True)[0]
    unit[unit == 0] = 1.0
    ahead /= unit
    return ahead, unit


def _sketch(logs: Float64Array, weight: Float64Array) -> tuple[IntArray, Float64Array]:
    """Rows that stand for all, and for what weight: the most wrong each for itself, then ever more.

    So what a few rows cost that are sure and wrong, by which floors differ, is not lost.
    """
    most = min(SKETCH, max(SKETCH_ENTRIES // len(logs), LEAST_SKETCH))
    if len(weight) <= most:
        return np.arange(len(weight)), weight
    order = np.argsort(logs[0] / 2 - logs[1:].max(axis=0) / 2)
    mass = np.cumsum(weight[order])
    edges = mass[-1] * np.geomspace(1 / len(weight), 1, most)
    edges = np.append(0.0, edges)
    return order[np.searchsorted(mass, (edges[1:] + edges[:-1]) / 2)], np.diff(edges)


def _good_scales(
    logs: Float64Array, weight: Float64Array, share: float, scales: Float64Array
) -> Float64Array:
    """For every floor the best of some logarithms of scales; of equal ones the greatest.

    The share keeps a sure and wrong answer from costing without end, so that the greatest scales are a valley
    of their own, where all answers are sure.
    """
    (ahead, unit), k = _ahead(logs), len(logs)
    found = np.empty(len(unit))
    for number, factors in enumerate(2 * np.exp(np.minimum(scales + np.log(unit), MOST_LOG))):
        odds = np.ones((len(scales), len(weight)))
        for each in ahead[:, number]:
            odds += np.exp(np.minimum(factors[:, None] * each, FAR))
        loss = -np.log((1 - share) / odds + share / k) @ weight
        found[number] = scales[np.flatnonzero(loss <= loss.min() * (1 + TIE))[-1]]
    return found


def _best_scales(
    logs: Float64Array, weight: Float64Array, share: float, begin: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """For every floor the least loss near a scale, and its logarithm: by Newton's method between bounds."""
    n_rows = max(BLOCK // logs[..., 0].size, 1)
    blocks = [slice(start, start + n_rows) for start in range(0, len(weight), n_rows)]
    parts = [(*_ahead(logs[..., rows]), weight[rows]) for rows in blocks]
    low, high, at = begin - REACH, begin + REACH, begin
    for _ in range(MOST_STEPS):  # a tail may fall for ever
        loss, slope, curve = np.sum([_derivatives(at, *part, share) for part in parts], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(slope == 0, 0.0, np.where(curve > 0, -slope / curve, np.inf))
        long = np.abs(step) > SMALL_STEP  # a shorter one may be lost by rounding, and bounds would undo it
        low, high = np.where(long & (slope <= 0), at, low), np.where(long & (slope > 0), at, high)
        inside = (low < at + step) & (at + step < high)
        step = np.where(inside | ~long, step, (low + high) / 2 - at)
        at = at + step
        if not long.any():
            break
    return loss + slope * step / 2, at


def _derivatives(
    at: Float64Array, ahead: Float64Array, unit: Float64Array, weight: Float64Array, share: float
) -> Float64Array:
    """The loss, and its first and second derivative by the logarithm of the scale, for every floor."""
    scale = 2 * np.exp(np.minimum(at + np.log(unit[:, 0]), MOST_LOG))
    odds = np.exp(np.minimum(scale[:, None] * ahead, FAR))
    own = 1 / (1 + odds.sum(axis=0))
    odds *= ahead
    mean = own * odds.sum(axis=0)
    odds *= ahead
    square = own * odds.sum(axis=0)
    said = (1 - share) * own + share / (len(ahead) + 1)
    part = (1 - share) * own / said
    slope = scale * ((part * mean) @ weight)
    curve = scale * scale * ((part * (square - (2 - part) * mean * mean)) @ weight) + slope
    return np.array([-np.log(said) @ weight, slope, curve])


def _best_biases(
    rows: JointRows, share: float, scale: float, bias: Float64Array | None
) -> tuple[float, float, Float64Array]:
    """The least loss with a bias for every class, its scale, and the biases; searched from some others."""
    margins, places, k = rows.given, np.arange(len(rows.y)), rows.entry.n_classes
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
