"""Temperature scaling: one number for all classes."""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Float64Array
from calibrant._core._field_groups import Record
from calibrant.calibrators._joint import JointCalibrator, NumberOfColumns
from calibrant.maps import HALVES, NUMPY, AnyMap, Map, Softmax, features_named

if TYPE_CHECKING:
    from calibrant.passes import Cases, Learning, Plan, RowsInPasses

#: Steps at most, the relative length of a step after which no further one is needed, and the rows of a guess.
MOST_STEPS, SMALL_STEP, GUESS_ROWS = 200, 1e-8, 2000
#: Scores that are worked on at once, but so many rows at least.
BLOCK, SHORTEST = 1 << 15, 256
#: The greatest distance between two scores of a row: its square is finite.
FAR = 1e150


@passes.travels
@dataclass(frozen=True, eq=False)
class Tempered(passes.Sums):
    """Derivatives of the log loss of softmax(a z) by a.

    Parameters
    ----------
    inverse : float
        The number a.
    features : str
        What z is of the scores.
    matrix : ndarray of shape (c, k) or None
        What it is multiplied by before.
    """

    inverse: float
    features: str
    matrix: Any = None

    def of_cases(self, cases: "Cases") -> Float64Array:
        """Weight; slope, where a is 0, here, and at infinity; curvature here."""
        below, lead = cases.once("below", lambda: self._below(cases))
        k, n = below.shape
        weight = np.ones(n) if cases.weight is None else cases.weight
        mean, square = np.empty(n), np.empty(n)
        step = max(SHORTEST, BLOCK // k)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            z = below[:, rows]
            odds = np.exp(z * self.inverse)
            total = odds.sum(axis=0)
            odds *= z
            mean[rows] = odds.sum(axis=0) / total
            odds *= z
            square[rows] = odds.sum(axis=0) / total
        flat = cases.once("flat", lambda: weight @ (below.mean(axis=0) + lead))
        curve = weight @ np.maximum(square - mean * mean, 0.0)
        return np.array([weight.sum(), flat, weight @ (mean + lead), weight @ lead, curve])

    def _below(self, cases: "Cases") -> tuple[Float64Array, Float64Array]:
        """How far every z of a row is below the greatest; and how far that is above the true one."""
        scores = np.asarray(cases.scores, dtype=np.float64)
        scores = scores[:, None] if scores.ndim == 1 else scores
        (z,) = features_named(self.features).formula(scores, NUMPY)
        z = z if self.matrix is None else z @ self.matrix
        z = np.ascontiguousarray(z.T)  # NumPy is slow along short rows
        most = z.max(axis=0)
        with np.errstate(over="ignore"):
            lead = most - z[cases.truth, np.arange(len(most))]
            z = z - most
        return np.maximum(z, -FAR, out=z), np.minimum(lead, FAR)


@dataclass(frozen=True, eq=False)
class Guess(passes.Question[float]):
    """The best number for a few of the rows, to begin from."""

    slopes: Tempered
    n_classes: int

    def of_cases(self, cases: "Cases") -> float:
        """Those that stand at even distances."""
        some = slice(None, None, max(1, len(cases.truth) // GUESS_ROWS))
        weight = None if cases.weight is None else cases.weight[some]
        few = passes.Cases(cases.scores[some], cases.truth[some], weight)
        search = _search(self.slopes, 1.0, self.n_classes)
        try:
            question = next(search)
            while True:
                question = search.send(question.of_cases(few))
        except StopIteration as end:
            return float(end.value) or 1.0

    def in_passes(self, rows: "RowsInPasses") -> "Plan[float]":
        """Those of the sample."""
        yield from ()
        cases = rows.problem.cases(rows.sample)
        return self.of_cases(cases) if len(cases.truth) else 1.0


def _search(slopes: Tempered, begin: float, n_classes: int) -> Generator[Tempered, Float64Array, float]:
    """Newton's method, kept between bounds that are known to hold the optimum of a convex loss."""
    low, high, inverse = 0.0, math.inf, begin
    for _ in range(MOST_STEPS):
        answer = yield Tempered(inverse, slopes.features, slopes.matrix)
        weight, at_zero, slope, at_infinity, curve = answer.tolist()
        if at_zero >= 0:  # equal chances are best; or all scores of a row are equal, and no number matters
            return 0.0 if at_zero > 0 or at_infinity > 0 else 1.0
        if at_infinity == 0:  # no best number: of n rows the true class gets the target (n + 1)/(n + k)
            slope -= n_classes / (weight + n_classes) * at_zero
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        newton = inverse - slope / curve if curve > 0 else math.inf
        if abs(newton - inverse) <= SMALL_STEP * inverse:
            return newton
        if not low < newton < high:
            newton = min(4 * inverse, (low + high) / 2)
        if newton == inverse:
            break
        inverse = newton
    return inverse


class TemperatureCalibrator(JointCalibrator, name="temperature"):
    """Calibrate all scores of a row by one number.

    The probabilities are ``softmax(a log p)``, those of margins ``softmax(a s)``, with the number a, the
    inverse of the temperature, of least log loss. It makes all probabilities more or less certain, and never
    changes their order in a row: the most probable class stays the same. Probabilities below 1e-12 count as
    that.

    Parameters
    ----------
    kind : {"probability", "margin"}, default="probability"
        What the scores are.
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), optional
        The code matrix behind the scores, which then have one column per column of it, as in
        `CodeCalibrator`. Every class has the sum of the margins, or log-odds, of the columns by its row.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as many
        as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    inverse_temperature_ : float
        The number a.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    VectorCalibrator : A number and a bias for every class.
    StackCalibrator : Learns from all scores jointly.

    Notes
    -----
    The loss is convex in a, so that Newton's method between bounds finds its least value, over all rows.

    Deviations from the paper, which minimises the same loss: a is not negative, so that scores which are
    worse than none give equal chances. Where the true class has the greatest score in every row there is no
    best number, and of n rows the true class then gets the target (n + 1)/(n + k) instead of 1. A
    probability of zero counts as 1e-300.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> from calibrant import TemperatureCalibrator
    >>> proba = [[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.9, 0.0], [0.0, 0.2, 0.8], [0.7, 0.1, 0.2]]
    >>> model = TemperatureCalibrator().fit(proba, ["a", "a", "b", "c", "c"])
    >>> model.predict_proba([[0.9, 0.08, 0.02]]).round(2)
    array([[0.93, 0.06, 0.01]])
    """

    fitted = Record(map=AnyMap(Softmax))
    complexity = 1.5

    @property
    def inverse_temperature_(self) -> float:
        """The number that logarithms, or margins, are multiplied by."""
        slope = np.asarray(self.map_.slope)  # type: ignore[attr-defined]
        if slope.ndim == 0:
            return float(slope)
        return float(np.abs(slope).max()) * (2 if self.code is None else 1)  # a single score is halved

    def _learn(self, n_classes: int) -> "Learning[Map]":
        code = self._matrix_of(n_classes)
        single = code is None and (yield NumberOfColumns()) == 1
        matrix = HALVES if single else code
        features = "log" if matrix is None else "log_odds"
        features = features if self.kind == "probability" else "score"
        slopes = Tempered(1.0, features, matrix)
        begin = yield Guess(slopes, n_classes)
        inverse = yield from _search(slopes, begin, n_classes)
        return Softmax(inverse if matrix is None else inverse * matrix, features=features)
