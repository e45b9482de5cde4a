"""The question of logistic regression: the map ``1/(1 + exp(A f + B))`` of greatest likelihood."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, Target
from calibrant._core._odds import logit
from calibrant.maps import features_of
from calibrant.passes._logistic import LogisticFit, fit_logistic, vary
from calibrant.passes._logistic_fast import fit_fast
from calibrant.passes._logistic_pass import Featured
from calibrant.passes._logistic_plan import MOST_STEPS, search, standardise
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._summary import Plan

#: The greatest number below 1.
BELOW_ONE = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True, eq=False)
class LogisticAnswer:
    """A logistic map; and whether some threshold of the score separates the classes, so that none is best."""

    fit: LogisticFit
    separable: bool = False

    @property
    def slope(self) -> tuple[float, ...]:
        """The slopes A, one for every feature."""
        return tuple(self.fit.slope.tolist())

    @property
    def intercept(self) -> float:
        """The intercept B."""
        return self.fit.intercept


@dataclass(frozen=True)
class LogisticRegression(Question[LogisticAnswer]):
    """The logistic map of features of a score that has the greatest likelihood.

    Parameters
    ----------
    features : str, default="score"
        What of the score is used; see `calibrant.maps.FEATURES`.
    smooth : bool, default=True
        Whether the targets are Platt's ``(N+ + 1)/(N+ + 2)`` and ``1/(N- + 2)`` instead of 1 and 0.
    max_iter : int, default=100
        Largest number of Newton steps.
    """

    features: str = "score"
    smooth: bool = True
    max_iter: int = 100

    def of_cases(self, cases: Cases) -> LogisticAnswer:
        """By Newton's method in memory."""
        _, target, weight = cases
        features = features_of(cases.scores.astype(np.float64, copy=False), self.features)
        totals = class_totals(target, weight)
        wanted = targets(target, totals, smooth=self.smooth or min(totals) == 0)
        low, high = (np.array([extreme(each) for each in features]) for extreme in (np.min, np.max))
        if min(totals) == 0 or not vary(low, high).any():
            mean = wanted.mean() if weight is None else np.average(wanted, weights=weight)
            return LogisticAnswer(flat_fit(float(mean), len(features)))
        if len(features) > 1:
            return LogisticAnswer(fit_fast(np.stack(features), wanted, weight))
        fit = fit_logistic(features[0][:, None], wanted, weight, max_iter=self.max_iter)
        return LogisticAnswer(fit.checked(), not self.smooth and _separable(features[0], wanted))

    def in_passes(self, rows: RowsInPasses) -> Plan[LogisticAnswer]:
        """By the same steps, each of which is a pass."""
        problem = Featured(rows.problem, self.features)
        standard = yield from standardise(problem, rows.sample)
        moments = standard.moments
        totals = moments.totals
        smooth = self.smooth or min(totals) == 0
        wanted = platt_targets(*totals, smooth=smooth)
        if min(totals) == 0 or not vary(moments.low, moments.high).any():
            mean = (wanted[0] * totals[0] + wanted[1] * totals[1]) / moments.weight
            return LogisticAnswer(flat_fit(mean, len(moments.low)))
        separable = not smooth and len(moments.low) == 1 and moments.threshold_separates
        most = min(self.max_iter, MOST_STEPS) if separable else self.max_iter
        fit = yield from search(problem, standard, wanted, rows.sample, max_iter=most)
        return LogisticAnswer(fit.checked(), separable)


def class_totals(target: Target, weight: Float64Array | None) -> tuple[float, float]:
    """Total weight of the positive and of the negative class."""
    against = ~target if target.dtype == bool else 1.0 - target
    if weight is None:
        return float(np.sum(target)), float(np.sum(against))
    return float(np.dot(target, weight)), float(np.dot(against, weight))


def flat_fit(mean: float, n_features: int = 1) -> LogisticFit:
    """The map that gives the mean target to every score."""
    return LogisticFit(np.zeros(n_features), float(-logit(mean)), 0, True)


def platt_targets(positive: float, negative: float, *, smooth: bool) -> tuple[float, float]:
    """What positives and negatives are wanted to get: Platt's targets for their totals, or 1 and 0.

    Platt's stay below 1, however large a total is, as no finite map gives 1.
    """
    return (min((positive + 1) / (positive + 2), BELOW_ONE), 1 / (negative + 2)) if smooth else (1.0, 0.0)


def targets(target: Target, totals: tuple[float, float], *, smooth: bool) -> Float64Array:
    """Platt's targets for the given class totals, or the labels themselves."""
    high, low = platt_targets(*totals, smooth=smooth)
    if target.dtype == bool:
        return np.where(target, high, low)
    return low + (high - low) * target


def _separable(features: Float64Array, target: Float64Array) -> bool:
    """Whether some threshold leaves the classes on different sides, touching at most."""
    may_be_negative, may_be_positive = features[target < 1], features[target > 0]
    return bool(
        may_be_negative.max() <= may_be_positive.min() or may_be_positive.max() <= may_be_negative.min()
    )
