"""Maximum likelihood for P = 1/(1 + exp(A f + B)), by safeguarded Newton steps."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from calibrant._core._arrays import Float64Array
from calibrant.calibrators._binary import BLOCK

#: With more rows than the first number, the fit starts from the solution for about the second number of them.
MANY_ROWS, FEW_ROWS = 100_000, 10_000


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """The parameters of a logistic map and how they were reached."""

    slope: Float64Array
    intercept: float
    n_iter: int
    converged: bool


def fit_logistic(
    features: Float64Array,
    target: Float64Array,
    weights: Float64Array | None,
    *,
    max_iter: int = 100,
    tol: float = 1e-9,
) -> LogisticFit:
    """Minimise the weighted cross entropy of targets in [0, 1] under a logistic map.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        The scores; any scale and any origin, none of them constant.
    target : ndarray of shape (n,)
        Wanted probabilities.
    weights : ndarray of shape (n,) or None
        Positive weights.
    max_iter : int, default=100
        Largest number of Newton steps.
    tol : float, default=1e-9
        A step whose largest entry is below this, in units of the standardised features and relative to
        the parameters where these are large, is the last. Newton's method squares the error in each
        step, so the answer is good to rounding.

    Returns
    -------
    LogisticFit
        Slopes A and intercept B of ``1/(1 + exp(features @ A + B))``.

    Notes
    -----
    The objective ``sum_i w_i [t_i log(1 + e^z_i) + (1 - t_i) log(1 + e^-z_i)]``, ``z = f A + B``, is
    convex. It is minimised in standardised features, because a fixed tolerance would otherwise stop too
    early on scores of a small scale. A Newton step of a convex function that ends going downhill, or
    where the slope along it has all but vanished, is taken. Only after one that went too far is the
    objective itself evaluated, and the step halved until it decreases enough (Lin, Lin & Weng 2007).
    """
    standard, shift, unit = _standardise(features)
    problem = _Problem(standard, target, weights)
    theta, n_iter, converged = _minimise(problem, _start(problem), max_iter, tol)
    slope = theta[:-1] / unit
    return LogisticFit(slope, float(theta[-1] - slope @ shift), n_iter, converged)


def _standardise(features: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Centred and scaled features as rows, with a row of ones for the intercept.

    Powers of two are taken out first, so that squares can neither overflow nor vanish.
    """
    size = np.ldexp(1.0, np.frexp(np.abs(features).max(axis=0))[1] - 1)
    standard = np.ones((features.shape[1] + 1, len(features)))
    scaled = np.divide(features.T, size[:, None], out=standard[:-1])
    shift = scaled.mean(axis=1)
    scaled -= shift[:, None]
    spread = np.sqrt(np.einsum("ij,ij->i", scaled, scaled) / len(features))
    scaled /= spread[:, None]
    return standard, shift * size, spread * size


def _start(problem: "_Problem") -> Float64Array:
    """No slope and the mean target; with many rows, the solution for a few of them if that is tame."""
    flat = problem.flat_map()
    if problem.n_rows <= MANY_ROWS:
        return flat
    sample = problem.every(problem.n_rows // FEW_ROWS)
    theta, _, converged = _minimise(sample, sample.flat_map(), 20, 1e-3)
    return theta if converged and np.abs(theta).max() < 20 else flat


def _minimise(
    problem: "_Problem", theta: Float64Array, max_iter: int, tol: float
) -> tuple[Float64Array, int, bool]:
    search = newton(theta, max_iter, tol)
    try:
        question = next(search)
        while True:
            answer = (
                problem.derivatives(question.at[0])
                if question.slopes
                else np.array([problem.objective(point) for point in question.at])
            )
            question = search.send(answer)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Question:
    """What Newton's method asks of the rows: gradient and Hessian at a point, or the objective at some."""

    slopes: bool
    at: tuple[Float64Array, ...]


#: Is sent gradient and Hessian, or objectives, per unit of weight.
NewtonSearch = Generator[Question, Any, tuple[Float64Array, int, bool]]


def newton(theta: Float64Array, max_iter: int, tol: float) -> NewtonSearch:
    """Minimise a convex objective by safeguarded Newton steps, wherever the rows are.

    Parameters
    ----------
    theta : ndarray of shape (r,)
        Where to begin.
    max_iter : int
        Largest number of steps.
    tol : float
        A step whose largest entry is below this, relative to the parameters where these are large, is the
        last.

    Yields
    ------
    Question
        What must be known of the rows; the answer is to be sent.

    Returns
    -------
    tuple
        The minimiser, the number of steps, and whether the optimum was reached.
    """
    gradient, hessian = yield Question(True, (theta,))
    for n_iter in range(1, max_iter + 1):
        # The step of least norm: collinear features, or certainty everywhere, leave the Hessian singular.
        step = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0], dtype=np.float64)
        if np.abs(step).max() < tol * max(1.0, np.abs(theta).max()):
            return theta + step, n_iter, True
        reached = yield from _advance(theta, step, gradient)
        if reached is None:
            return theta, n_iter, True
        theta, gradient, hessian = reached
    return theta, max_iter, False


def _advance(
    theta: Float64Array, step: Float64Array, gradient: Float64Array
) -> Generator[Question, Any, tuple[Float64Array, Float64Array, Float64Array] | None]:
    """Go along the step as far as the objective decreases; None if rounding leaves no way to go.

    The objective is asked for at a few lengths at once, as an answer may take a pass over a file.
    """
    slope = gradient @ step
    ahead, hessian = yield Question(True, (theta + step,))
    if ahead @ step <= -0.1 * slope:
        return theta + step, ahead, hessian
    lengths = np.ldexp(1.0, -np.arange(34))
    here = None
    for some in np.split(lengths, [4, 10]):
        trials = tuple(theta + length * step for length in some)
        objectives = yield Question(False, trials if here is not None else (theta, *trials))
        if here is None:
            here, objectives = objectives[0], objectives[1:]
        enough = np.flatnonzero(objectives <= here + 1e-4 * some * slope)
        if len(enough):
            trial = trials[enough[0]]
            gradient, hessian = yield Question(True, (trial,))
            return trial, gradient, hessian
    return None


class _Problem:
    """The objective per unit of weight, summed block by block."""

    def __init__(self, features: Float64Array, target: Float64Array, weights: Float64Array | None) -> None:
        self._features, self._target, self._weights = features, target, weights
        self._total = float(len(target)) if weights is None else float(weights.sum())
        self.n_rows = len(target)

    def every(self, stride: int) -> "_Problem":
        """The same problem with one row in so many."""
        weights = None if self._weights is None else self._weights[::stride]
        return _Problem(self._features[:, ::stride], self._target[::stride], weights)

    def flat_map(self) -> Float64Array:
        """No slope, and the intercept that fits the mean target."""
        wanted = self._target.mean() if self._weights is None else self._weights @ self._target / self._total
        return np.append(np.zeros(len(self._features) - 1), np.log((1 - wanted) / wanted))

    def derivatives(self, theta: Float64Array) -> tuple[Float64Array, Float64Array]:
        gradient, hessian = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        for features, target, weights in self._blocks():
            proba = expit(-(theta @ features))
            curvature = proba * (1 - proba)
            excess = np.subtract(target, proba, out=proba)
            if weights is not None:
                excess *= weights
                curvature *= weights
            gradient += features @ excess
            hessian += (features * curvature) @ features.T
        return gradient / self._total, hessian / self._total

    def objective(self, theta: Float64Array) -> float:
        total = 0.0
        for features, target, weights in self._blocks():
            z = theta @ features
            loss = target * np.logaddexp(0, z) + (1 - target) * np.logaddexp(0, -z)
            total += float(loss.sum() if weights is None else weights @ loss)
        return total / self._total

    def _blocks(self) -> Iterator[tuple[Float64Array, Float64Array, Float64Array | None]]:
        for start in range(0, self.n_rows, BLOCK):
            rows = slice(start, start + BLOCK)
            weights = None if self._weights is None else self._weights[rows]
            yield self._features[:, rows], self._target[rows], weights
