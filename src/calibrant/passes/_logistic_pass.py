"""Passes of logistic regression: moments of the features, then gradients, Hessians and slopes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._extremes import halving
from calibrant.maps import NUMPY, features_named
from calibrant.passes._logistic import BLOCK, derivatives, ray_slopes
from calibrant.passes._questions import Cases
from calibrant.passes._range_pass import check_range
from calibrant.passes._rows import Rows
from calibrant.passes._summary import Task, Totals
from calibrant.passes._travel import travels


@travels
@dataclass(frozen=True, eq=False)
class Featured:
    """A problem whose cases are looked at through features of their scores.

    Parameters
    ----------
    problem : object
        What gives the cases: one score each, or several as the rows of a matrix.
    features : str
        What of the scores is used; of several scores the same of each.
    """

    problem: Any
    features: str

    def cases(self, rows: Rows) -> Cases:
        """Features of shape (r, n), whether each case is right, and weights."""
        scores, right, weight = self.problem.cases(rows)
        features = features_named(self.features)
        if features.of_probabilities and scores.size:
            check_range(float(scores.min()), float(scores.max()), "scores")
        found = [np.atleast_2d(each) for each in features.formula(scores, NUMPY)]
        return Cases(found[0] if len(found) == 1 else np.concatenate(found), right, weight)


def standardised(features: Float64Array, shift: Float64Array, unit: Float64Array) -> Float64Array:
    """Features in units about a shift; halved first where a difference might overflow."""
    half = halving(features)
    return (features * half - shift[:, None] * half) / (unit[:, None] * half)


@travels
@dataclass(frozen=True, eq=False)
class FindMoments(Task):
    """Totals, means, products and ranges of the features of a problem.

    Parameters
    ----------
    problem : Featured
        What gives the cases: features of shape (r, n), whether each is right, and weights.
    shift, unit : ndarray of shape (r,)
        Moments are those of ``(feature - shift) / unit``, so that nothing cancels or overflows.
    """

    problem: Featured
    shift: Float64Array
    unit: Float64Array

    def empty(self) -> "Moments":
        """Give the moments of no rows."""
        r = len(self.shift)
        return Moments(self, n_sums=3 + r + r * r, n_least=2 * r, n_most=2 * r)


class Moments(Totals):
    """Number of cases, weights of the right and the wrong ones, and moments of the features."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        features, right, weight = self.task.problem.cases(rows)
        if len(right) == 0:
            return
        r = len(features)
        mass = np.ones(len(right)) if weight is None else weight
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = standardised(features, self.task.shift, self.task.unit)
            self.sums[:3] += len(right), mass @ right, mass @ ~right
            self.sums[3 : 3 + r] += scaled @ mass
            self.sums[3 + r :] += ((scaled * mass) @ scaled.T).ravel()
        for side, chosen in enumerate((right, ~right)):
            if chosen.any():
                entries = slice(side * r, side * r + r)
                part = features[:, chosen]
                np.minimum(self.least[entries], part.min(axis=1), out=self.least[entries])
                np.maximum(self.most[entries], part.max(axis=1), out=self.most[entries])

    @property
    def totals(self) -> tuple[float, float]:
        """Weight of the right and of the wrong cases."""
        return float(self.sums[1]), float(self.sums[2])

    @property
    def weight(self) -> float:
        """Weight of all cases."""
        return float(self.sums[1] + self.sums[2])

    @property
    def mean(self) -> Float64Array:
        """Means of the scaled features."""
        return self.sums[3 : 3 + len(self.task.shift)] / self.weight

    @property
    def covariance(self) -> Float64Array:
        """Covariances of the scaled features."""
        r, mean = len(self.task.shift), self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.sums[3 + r :].reshape(r, r) / self.weight - np.outer(mean, mean))

    @property
    def low(self) -> Float64Array:
        """Least value of every feature, as it came."""
        return np.asarray(self.least.reshape(2, -1).min(axis=0))

    @property
    def high(self) -> Float64Array:
        """Greatest value of every feature, as it came."""
        return np.asarray(self.most.reshape(2, -1).max(axis=0))

    @property
    def threshold_separates(self) -> bool:
        """Whether some threshold of the only feature leaves the sides apart, touching at most."""
        (right_low, wrong_low), (right_high, wrong_high) = self.least, self.most
        return bool(wrong_high <= right_low or right_high <= wrong_low)


@travels
@dataclass(frozen=True, eq=False)
class AskSlopes(Task):
    """Gradient and Hessian of the cross entropy at a point, or its slopes along a ray from there.

    Parameters
    ----------
    problem : Featured
        What gives the cases.
    shift, unit : ndarray of shape (r,)
        Features are standardised as ``(feature - shift) / unit``.
    directions : ndarray of shape (r, q)
        The combinations of standardised features that are used.
    targets : tuple of float
        The wanted probabilities of right and of wrong cases.
    theta : ndarray of shape (q + 1,)
        The point: slopes, then the intercept.
    step : ndarray of shape (q + 1,)
        The direction of the ray.
    lengths : ndarray of shape (m,)
        Where on the ray slopes are asked for; none if the derivatives at the point are.
    """

    problem: Featured
    shift: Float64Array
    unit: Float64Array
    directions: Float64Array
    targets: tuple[float, float]
    theta: Float64Array
    step: Float64Array
    lengths: Float64Array

    def empty(self) -> "Slopes":
        """Give the sums over no rows."""
        n = len(self.theta)
        return Slopes(self, len(self.lengths) or n + n * n, n_least=1, n_most=1)

    def standard(self, features: Float64Array) -> Float64Array:
        """Features that are used, one per row, with a row of ones below."""
        scaled = standardised(features, self.shift, self.unit)
        used = np.ones((self.directions.shape[1] + 1, features.shape[1]))
        np.matmul(self.directions.T, scaled, out=used[:-1])
        return used


class Slopes(Totals):
    """Sums over the cases: of the derivatives, or of the slopes along the ray."""

    def update(self, rows: Rows) -> None:
        """Add rows, in blocks that fit into the cache."""
        features, right, weight = self.task.problem.cases(rows)
        high, low = self.task.targets
        with np.errstate(over="ignore", under="ignore"):  # far out, certainty
            for start in range(0, len(right), BLOCK):
                some = slice(start, start + BLOCK)
                target = np.where(right[some], high, low)
                mass = None if weight is None else weight[some]
                self._add(self.task.standard(features[:, some]), target, mass, right[some])

    def _add(
        self, features: Float64Array, target: Float64Array, weight: Float64Array | None, right: Array
    ) -> None:
        task = self.task
        if len(task.lengths):
            self.sums += ray_slopes(task.theta, task.step, task.lengths, features, target, weight)
            return
        z = task.theta @ features
        self.most[0] = max(self.most[0], z.max(where=right, initial=-np.inf))
        self.least[0] = min(self.least[0], z.min(where=~right, initial=np.inf))
        gradient, hessian = derivatives(z, features, target, weight)
        self.sums += np.append(gradient, hessian)

    def answer(self, total: float) -> Any:
        """What Newton's method wants to know, per unit of weight."""
        mean = self.sums / total
        n = len(self.task.theta)
        return mean if len(self.task.lengths) else (mean[:n], mean[n:].reshape(n, n))

    @property
    def told_apart(self) -> bool:
        """Whether this map puts all right cases before all wrong ones."""
        return bool(self.most[0] < self.least[0])
