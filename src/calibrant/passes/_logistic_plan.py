"""Logistic regression in passes: the Newton steps of the calibrators, each answered by a pass."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.passes._logistic import LogisticFit, fit_logistic, newton, tame, vary
from calibrant.passes._logistic_fast import ROUNDING
from calibrant.passes._logistic_pass import AskSlopes, Featured, FindMoments, Moments, Slopes, standardised
from calibrant.passes._rows import Rows
from calibrant.passes._summary import NoRowsError, Plan

#: Steps after which a fit without an optimum is left as it is: each of them is a pass.
MOST_STEPS = 40
#: Times that the moments are taken again about a better centre.
MOST_CENTRES = 4


@dataclass(frozen=True, eq=False)
class Standard:
    """How the features of a problem are standardised, and the totals behind them."""

    moments: Moments
    shift: Float64Array
    unit: Float64Array
    directions: Float64Array

    def about(self, pivot: Float64Array) -> Float64Array:
        """The features where the features that are used have given values."""
        with np.errstate(over="ignore"):
            place = self.shift + self.unit * (self.directions @ pivot)
        return np.clip(place, self.moments.low, self.moments.high)


def standardise(problem: Featured, sample: Rows) -> Plan[Standard]:
    """Find the moments of the features about a good centre."""
    shift, unit = _guess(problem.cases(sample).scores)
    for _ in range(MOST_CENTRES):
        moments: Moments = yield FindMoments(problem, shift, unit)
        if moments.sums[0] == 0:
            raise NoRowsError
        shift, unit, good = _better(moments, shift, unit)
        if good:
            break
    return Standard(moments, shift, unit, _directions(moments))


def _guess(features: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Centre and spread of the features of a sample."""
    if features.shape[1] == 0:
        return np.zeros(len(features)), np.ones(len(features))
    half = features / 2  # so that nothing overflows
    low, high = half.min(axis=1), half.max(axis=1)
    reach = np.where(low < high, high - low, 1.0)
    share = (half - low[:, None]) / reach[:, None]
    spread = share.std(axis=1) * reach * 2
    return np.clip(low + share.mean(axis=1) * reach, low, high) * 2, np.where(spread > 0, spread, 1.0)


def _better(
    moments: Moments, shift: Float64Array, unit: Float64Array
) -> tuple[Float64Array, Float64Array, bool]:
    """Centres and spreads from moments; and whether these moments were about good ones already."""
    mean, low, high = moments.mean, moments.low, moments.high
    varies = vary(low, high)
    variance = np.diagonal(moments.covariance)
    with np.errstate(over="ignore"):
        square = mean * mean
    good = ~varies | (np.isfinite(variance) & (variance > 1e-6 * (1 + square)) & (np.abs(mean) < 1e3))
    middle, reach = low / 2 + high / 2, np.where(varies, high / 2 - low / 2, 1.0)
    usable = np.isfinite(variance) & (variance > 1e-12 * square) & (variance > 0)
    spread = np.sqrt(np.where(usable, variance, 1.0)) * unit
    centre = np.where(np.isfinite(mean), shift + unit * mean, middle)
    shift = np.where(varies, np.clip(centre, low, high), low)
    return shift, np.where(varies, np.where(usable, spread, reach), 1.0), bool(good.all())


def _directions(moments: Moments) -> Float64Array:
    """Orthogonal directions in which the standardised features vary, of shape (r, number of them)."""
    covariance = moments.covariance
    spread = np.sqrt(np.diagonal(covariance).clip(0))
    varies = vary(moments.low, moments.high)
    if len(varies) == 1:
        return np.eye(1)[:, varies]
    varies &= spread > 0
    spread = np.where(varies, spread, np.inf)
    values, directions = np.linalg.eigh(covariance / spread[:, None] / spread)
    kept = values > ROUNDING
    return np.eye(len(varies)) if kept.all() else np.asarray(directions[:, kept])


def search(
    problem: Featured,
    standard: Standard,
    targets: tuple[float, float],
    sample: Rows,
    *,
    max_iter: int,
    until_told_apart: bool = False,
) -> Plan[LogisticFit]:
    """Find the map of greatest likelihood."""

    low, high = _bounds(standard)
    theta, pivot = _start(problem, standard, targets, sample)
    steps = newton(theta, pivot, low, high, max_iter)
    question, n_asked = next(steps), 0
    while True:
        slopes: Slopes = yield AskSlopes(
            problem,
            standard.about(question.pivot),
            standard.unit,
            standard.directions,
            targets,
            question.theta,
            question.step,
            question.lengths,
        )
        n_asked += 1
        if until_told_apart and not len(question.lengths) and slopes.told_apart:
            found = question.theta, question.pivot, n_asked, False
            break
        try:
            question = steps.send(slopes.answer(standard.moments.weight))
        except StopIteration as end:
            found = end.value
            break
    theta, pivot, n_iter, converged = found
    with np.errstate(over="ignore"):
        slope = standard.directions @ theta[:-1] / standard.unit
    return LogisticFit.about(standard.about(pivot), slope, float(theta[-1]), n_iter, converged)


def _bounds(standard: Standard) -> tuple[Float64Array, Float64Array]:
    """What the features that are used can come to."""
    ends = np.stack([standard.moments.low, standard.moments.high], axis=1)
    low, high = standardised(ends, standard.shift, standard.unit).T
    if len(low) == 1:
        return low, high
    reach = np.maximum(-low, high) @ np.abs(standard.directions)
    return -reach, reach


def _start(
    problem: Featured, standard: Standard, targets: tuple[float, float], sample: Rows
) -> tuple[Float64Array, Float64Array]:
    """The solution for the sample, if that is bounded; else no slopes, and the mean target."""
    right, wrong = standard.moments.totals
    high, low = targets
    pivot = np.zeros(standard.directions.shape[1])
    middle = np.log(right * (1 - high) + wrong * (1 - low)) - np.log(right * high + wrong * low)
    flat = np.append(pivot, middle)
    features, is_right, weight = problem.cases(sample)
    if not (is_right.any() and not is_right.all()):
        return flat, pivot
    features = standardised(features, standard.shift, standard.unit)
    features = standard.directions.T @ features
    if not (features.min(axis=1) < features.max(axis=1)).all():
        return flat, pivot
    fit = fit_logistic(features.T, np.where(is_right, *targets), weight, max_iter=20, tol=1e-3)
    theta = np.append(fit.slope, fit.intercept)
    return (theta if fit.converged and tame(theta, pivot, *_bounds(standard)) else flat), pivot
