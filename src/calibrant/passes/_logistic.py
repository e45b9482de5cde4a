"""Maximum likelihood for P = 1/(1 + exp(A f + B)), by safeguarded Newton steps."""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._errors import DataError
from calibrant.passes._logistic_rough import BlockedRows, rough_optimum

#: Rows worked on at once: small enough for working arrays that need no fresh memory.
BLOCK = 1 << 13
#: From so many rows on the fit starts from an optimum in single precision.
MANY_ROWS = 2_000
#: Greatest change of the log-odds of any row by a last step, relative to log-odds beyond 1. Newton's method
#: squares the error, so that the answer is good to rounding.
TOLERANCE = 1e-7
#: A step that changes log-odds no more than this is the last, too, if it gains less than the second number,
#: per unit of weight: the rest is rounding.
SHORT, NO_GAIN = 1e-4, 1e-20
#: A step that changes the log-odds of no row by more than this changes no curvature by more than a factor of
#: e, and so goes downhill by at least a quarter of what it promises.
SAFE = 1.0
#: A step that would change log-odds by more than this in all is cut to the second number: it leads from where
#: nothing curves, and its length means nothing.
TOO_LONG, LONG = 100.0, 8.0
#: A step of the Newton method that leaves more than this share of the slope went along an exponential tail,
#: where a step of any length changes log-odds by one. After so many steps, longer ones are tried.
TAIL, PATIENCE = 0.3, 6
#: A longer step ends where at least this share of the slope is left: beyond, rows are certain of anything.
FADING = 1e-3
#: Lengths that are tried in one question, in place of a step that ended uphill, or in a tail.
SHORTER = (np.ldexp(1.0, -np.arange(1, 5)), np.ldexp(1.0, -np.arange(6, 62, 2)))
LONGER = np.ldexp(1.0, np.arange(2, 42, 2))
#: Features that, where the rows are uncertain, vary less than this in some direction have no optimum, or none
#: that can be told.
SINGULAR = 1e-14
#: Rows that are uncertain, and lie closer together than this in units of the reach of all, are at one point.
POINT = 1e-13
#: Features closer together than this, relative to their size, count as equal. They are a few roundings apart,
#: and to tell them apart takes a slope so steep that ``A f`` and B are rounded by as much as they must tell.
SAME = 2.0**-48


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """The parameters of a logistic map and how they were reached."""

    slope: Float64Array
    intercept: float
    n_iter: int
    converged: bool

    @classmethod
    def about(
        cls, pivot: Float64Array, slope: Float64Array, middle: float, n_iter: int, converged: bool
    ) -> "LogisticFit":
        """Give the map with some slopes whose log-odds at a pivot are known."""
        with np.errstate(over="ignore", invalid="ignore"):
            return cls(slope, float(middle - slope @ pivot), n_iter, converged)

    def checked(self) -> "LogisticFit":
        """Give the map if numbers can hold it.

        Raises
        ------
        DataError
            If a slope or the intercept is not finite.
        """
        if not (np.isfinite(self.slope).all() and np.isfinite(self.intercept)):
            raise DataError(
                "scores must differ by more than about 1e-305 for the slope of a logistic map to be finite; "
                "got scores that differ by less; multiply them by 1e300 or so first"
            )
        return self


def vary(low: Float64Array, high: Float64Array) -> BoolArray:
    """Whether features between these bounds differ by more than rounding."""
    with np.errstate(over="ignore"):
        return np.asarray(high - low > SAME * np.maximum(np.abs(low), np.abs(high)))


def fit_logistic(
    features: Float64Array,
    target: Float64Array,
    weights: Float64Array | None,
    *,
    max_iter: int = 100,
    tol: float = TOLERANCE,
) -> LogisticFit:
    """Minimise the weighted cross entropy of targets in [0, 1] under a logistic map."""
    unit = np.ldexp(1.0, np.frexp(np.maximum(-features.min(axis=0), features.max(axis=0)))[1] - 1)
    problem = _Problem(features, unit, target, weights)
    with np.errstate(over="ignore", under="ignore"):  # far out, certainty
        theta, pivot, n_iter, converged = _minimise(problem, *_start(problem), max_iter, tol)
    with np.errstate(over="ignore"):
        slope = theta[:-1] / unit
    return LogisticFit.about(pivot * unit, slope, float(theta[-1]), n_iter, converged)


def _start(problem: "_Problem") -> tuple[Float64Array, Float64Array]:
    """No slope and the mean target; of many rows, the rough optimum if that is bounded."""
    flat = problem.flat_map()
    if problem.n_rows < MANY_ROWS:
        return flat
    with np.errstate(divide="ignore", invalid="ignore"):  # of weights and features out of all proportion
        theta, pivot, settled = problem.rough_map(flat[1])
    return (theta, pivot) if settled and tame(theta, pivot, problem.low, problem.high) else flat


def tame(theta: Float64Array, pivot: Float64Array, low: Float64Array, high: Float64Array) -> bool:
    """Whether a map is far from certainty, so that it will do as a start."""
    return bool(np.abs(theta) @ _reach(pivot, low, high) < 50)


def _minimise(
    problem: "_Problem", theta: Float64Array, pivot: Float64Array, max_iter: int, tol: float
) -> tuple[Float64Array, Float64Array, int, bool]:
    search = newton(theta, pivot, problem.low, problem.high, max_iter, tol)
    try:
        question = next(search)
        while True:
            question = search.send(problem.answer(question))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Question:
    """What Newton's method asks of the rows, whose log-odds are ``theta[:-1] @ (x - pivot) + theta[-1]``.

    Without lengths gradient and Hessian, and otherwise the slopes along the step at these lengths, all per
    unit of weight.
    """

    theta: Float64Array
    pivot: Float64Array
    step: Float64Array
    lengths: Float64Array = field(default_factory=lambda: np.empty(0))


#: Gives the minimiser, the pivot that it is about, the number of steps, and whether the optimum was reached.
NewtonSearch = Generator[Question, Any, tuple[Float64Array, Float64Array, int, bool]]


def newton(
    theta: Float64Array,
    pivot: Float64Array,
    low: Float64Array,
    high: Float64Array,
    max_iter: int,
    tol: float = TOLERANCE,
) -> NewtonSearch:
    """Minimise the cross entropy under a logistic map by safeguarded Newton steps, wherever the rows are.

    Notes
    -----
    The objective ``sum_i w_i [t_i log(1 + e^z_i) + (1 - t_i) log(1 + e^-z_i)]``, ``z = f A + B``, is convex,
    so slopes alone prove that it decreases, and more finely than its values could: up to a place where a ray
    still goes downhill, it went downhill all the way. Newton steps do not depend on the origin and the scale
    of the features, their rounding does: features are taken about the mean of those rows that are uncertain
    yet, which an outlier does not move, and the Hessian is scaled to a diagonal of ones.
    """
    centre, reach = pivot, _reach(pivot, low, high)
    gradient, hessian = yield Question(theta, pivot, theta)
    for n_iter in range(1, max_iter + 1):
        theta, pivot, gradient, hessian = yield from _recentre(theta, pivot, gradient, hessian, low, high)
        if pivot is not centre:
            centre, reach = pivot, _reach(pivot, low, high)
        step, regular = _newton_step(gradient, hessian, reach)
        slope = float(gradient @ step)
        size = np.abs(step) * reach
        change = float((size / np.maximum(1.0, np.abs(theta) * reach)).max())
        if regular and (change <= tol or (change <= SHORT and -slope <= NO_GAIN)):
            return theta + step, pivot, n_iter, True
        moved = None
        if slope < 0 and np.isfinite(size).all():
            length = float(size.sum())
            shorter = 1.0 if length <= TOO_LONG else LONG / length
            safe, patient = length <= SAFE, shorter == 1 and n_iter < PATIENCE
            moved = yield from _advance(
                theta, shorter * step, pivot, shorter * slope, safe=safe, patient=patient
            )
        if moved is None:
            return theta, pivot, n_iter, False
        theta, gradient, hessian = moved
    return theta, pivot, max_iter, False


def _recentre(
    theta: Float64Array,
    pivot: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
    low: Float64Array,
    high: Float64Array,
) -> Generator[Question, Any, tuple[Float64Array, Float64Array, Float64Array, Float64Array]]:
    """Turn the same map about the middle of the rows that are uncertain, if the pivot is far from them."""
    for _ in range(4):
        mass = hessian[-1, -1]
        if not mass > 0:
            break
        offset = hessian[:-1, -1] / mass
        if (hessian.diagonal()[:-1] / mass > 1.01 * offset * offset).all():
            break
        moved = np.clip(pivot + offset, low, high)
        theta = np.append(theta[:-1], theta[-1] + theta[:-1] @ (moved - pivot))
        pivot = moved
        gradient, hessian = yield Question(theta, pivot, theta)
    return theta, pivot, gradient, hessian


def _newton_step(
    gradient: Float64Array, hessian: Float64Array, reach: Float64Array
) -> tuple[Float64Array, bool]:
    """The step, long but not without bounds where nothing curves, and whether the Hessian is regular."""
    if len(gradient) == 2:
        return _step_of_two(gradient.tolist(), hessian.tolist(), reach.tolist())
    scale = np.sqrt(hessian.diagonal())
    regular = bool((scale > POINT * scale[-1] * reach).all())
    if not regular:
        scale[scale == 0] = 1.0
    values, directions = np.linalg.eigh(hessian / (scale * scale[:, None]))
    if values[0] <= SINGULAR:
        regular, values = False, np.maximum(values, SINGULAR)
    return -(directions @ ((gradient / scale) @ directions / values)) / scale, regular


def _step_of_two(
    gradient: list[float], hessian: list[list[float]], reach: list[float]
) -> tuple[Float64Array, bool]:
    """The same for one feature, several times faster: sum and difference are the eigenvectors."""
    first, last = math.sqrt(hessian[0][0]), math.sqrt(hessian[1][1])
    regular = first > POINT * last * reach[0] and last > 0
    first, last = first or 1.0, last or 1.0
    correlation = hessian[0][1] / (first * last)
    regular = regular and 1 - abs(correlation) > SINGULAR
    along, across = gradient[0] / first, gradient[1] / last
    both = (along + across) / 2 / max(1 + correlation, SINGULAR)
    apart = (along - across) / 2 / max(1 - correlation, SINGULAR)
    return np.array([-(both + apart) / first, -(both - apart) / last]), regular


def _reach(pivot: Float64Array, low: Float64Array, high: Float64Array) -> Float64Array:
    """How much a unit of every parameter changes log-odds at most."""
    return np.append(np.maximum(high - pivot, pivot - low), 1.0)


def _advance(
    theta: Float64Array, step: Float64Array, pivot: Float64Array, slope: float, *, safe: bool, patient: bool
) -> Generator[Question, Any, tuple[Float64Array, Float64Array, Float64Array] | None]:
    """Go along the step as far as the objective decreases; None if rounding leaves no way to go."""
    gradient, hessian = yield Question(theta + step, pivot, step)
    end = float(gradient @ step)
    in_tail = end < TAIL * slope and not patient
    if (end <= 0 or safe) and not in_tail:
        return theta + step, gradient, hessian
    for lengths in (LONGER,) if in_tail else SHORTER:
        slopes = yield Question(theta, pivot, step, lengths)
        if not in_tail and lengths[0] == 0.5 and end + slopes[0] <= 0.1 * slope:
            # Slopes rise along the step, so their mean over it is at most that of the end and the middle.
            return theta + step, gradient, hessian
        downhill = np.flatnonzero(slopes <= (FADING * slope if in_tail else 0.0))
        if len(downhill):
            length = lengths[downhill].max()
            gradient, hessian = yield Question(theta + length * step, pivot, step)
            return theta + length * step, gradient, hessian
    return (theta + step, gradient, hessian) if in_tail else None


class _Problem:
    """The rows, and what they answer, summed block by block.

    Features are divided by a unit, a power of two, so that squares can neither overflow nor vanish.
    """

    def __init__(
        self, features: Float64Array, unit: Float64Array, target: Float64Array, weights: Float64Array | None
    ) -> None:
        self._features, self._unit, self._target, self._weights = features, unit, target, weights
        self._total = float(len(target)) if weights is None else float(weights.sum())
        self.n_rows = len(target)
        self.low, self.high = features.min(axis=0) / unit, features.max(axis=0) / unit
        self._centred = np.ones((features.shape[1] + 1, self.n_rows))
        self._pivot: Float64Array | None = None

    def flat_map(self) -> tuple[Float64Array, Float64Array]:
        """No slope, and the log-odds of the mean target, about the mean."""
        sides = 1 - self._target, self._target
        wrong, right = (each.sum() if self._weights is None else self._weights @ each for each in sides)
        pivot = (self._features / self._unit).mean(axis=0)
        return np.append(np.zeros(len(pivot)), math.log(wrong) - math.log(right)), pivot

    def rough_map(self, pivot: Float64Array) -> tuple[Float64Array, Float64Array, bool]:
        """The optimum in single precision about the middle of its uncertain rows, and whether it is one."""
        self._centre(pivot)
        spread = np.sqrt(np.einsum("ij,ij->i", self._centred, self._centred) / self.n_rows)
        standard = np.divide(self._centred, spread[:, None], dtype=np.float32, casting="same_kind")
        weights = None if self._weights is None else self._weights * (self.n_rows / self._total)
        rows = BlockedRows(standard, self._target, weights)
        theta, hessian, _ = rough_optimum(rows, rows.discriminant())
        if hessian is None:
            return theta, pivot, False
        theta /= spread
        middle = np.clip(pivot + hessian[:-1, -1] / hessian[-1, -1] * spread[:-1], self.low, self.high)
        return np.append(theta[:-1], theta[-1] + theta[:-1] @ (middle - pivot)), middle, True

    def answer(self, question: Question) -> Any:
        """Gradient and Hessian, or slopes along a ray."""
        self._centre(question.pivot)
        if len(question.lengths):
            ray = question.theta, question.step, question.lengths
            return sum(ray_slopes(*ray, *rows) for rows in self._blocks()) / self._total
        gradient, hessian = np.zeros(()), np.zeros(())
        for rows in self._blocks():
            part = derivatives(question.theta @ rows[0], *rows)
            gradient, hessian = gradient + part[0], hessian + part[1]
        return gradient / self._total, hessian / self._total

    def _centre(self, pivot: Float64Array) -> None:
        if self._pivot is not pivot:
            self._pivot = pivot
            np.divide(self._features.T, self._unit[:, None], out=self._centred[:-1])
            self._centred[:-1] -= pivot[:, None]

    def _blocks(self) -> Iterator[tuple[Float64Array, Float64Array, Float64Array | None]]:
        for start in range(0, self.n_rows, BLOCK):
            rows = slice(start, start + BLOCK)
            weights = None if self._weights is None else self._weights[rows]
            yield self._centred[:, rows], self._target[rows], weights


def derivatives(
    z: Float64Array, features: Float64Array, target: Float64Array, weights: Float64Array | None
) -> tuple[Float64Array, Float64Array]:
    """Gradient and Hessian of the cross entropy of some rows."""
    excess, curvature = _residuals(z, target)
    if weights is not None:
        excess *= weights
        curvature *= weights
    return features @ excess, (features * curvature) @ features.T


def ray_slopes(
    theta: Float64Array,
    step: Float64Array,
    lengths: Float64Array,
    features: Float64Array,
    target: Float64Array,
    weights: Float64Array | None,
) -> Float64Array:
    """Slopes of the cross entropy of some rows along a step, at some lengths."""
    z, along = theta @ features, step @ features
    mass = along if weights is None else along * weights
    return np.array([_residuals(z + length * along, target)[0] @ mass for length in lengths])


def _residuals(z: Float64Array, target: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Wanted minus given probability ``1/(1 + exp(z))``, and the variance of the latter.

    Both come from the less likely side, whose probability is exact to the last bits however small it is.
    """
    small = np.exp(-np.abs(z))
    large = np.reciprocal(1 + small)
    small *= large
    large *= small
    excess = target - np.signbit(z)
    excess -= np.copysign(small, z)
    return excess, large
