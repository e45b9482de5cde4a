"""The evaluation of more than two classes."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._odds import expit
from calibrant.metrics._calibration_interval import (
    Overfit,
    calibration_estimate,
    distance_error,
    distance_estimate,
    distance_of,
    refinement_estimate,
)
from calibrant.metrics._cox import fit_cox, log_odds
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import CalibrationErrors, ClassEvaluation
from calibrant.metrics._evaluation_column import Binned, Studied
from calibrant.metrics._evaluation_common import Result
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._intervals import area_estimate, mean_estimate, normal_estimate
from calibrant.metrics._threads import side_by_side

T = TypeVar("T")

#: A distance of less than this from 0 is rounding.
ROUNDING = 1e-12


class ManyClasses(Result):
    """More classes: what is added over columns varies as the columns do together, which some rows show."""

    def __init__(self, sums: EvaluationSums, labels: tuple[object, ...], seed: int) -> None:
        super().__init__(sums, labels, seed)
        rows = sums.sample[1]
        self.truth, mass, self.proba = rows[:, 0].astype(np.intp), rows[:, 1], rows[:, 2:]
        self.came = self.truth[:, np.newaxis] == np.arange(len(labels))
        #: How much the rows of the sample count in a variance, as shares.
        self.mass = mass if self.whole else mass**2
        self.mass = self.mass / self.mass.sum()

    def columns(self) -> list[Studied]:
        return self.side_by_side(lambda number: self.column(number, number), range(len(self.labels)))

    def uncertainty(self) -> Estimate:
        """The Brier score of the base rates: quadratic in these, and flat where they are equal."""
        share = self.sums.sums["truth"][0] / self.weight
        second, third = float(share @ share), float(share @ share**2)
        # Bias, and variance of the first and of the second order, of one minus the sum of squares.
        bias = (1 - second) / self.n
        variance = 4 * (third - second**2) / self.n + 2 * (second - 2 * third + second**2) / self.n**2
        scale = 0.5 if len(share) == 2 else 1.0
        most = scale * (1 - 1 / len(share))
        found = normal_estimate(
            scale * (1 - second), scale * math.sqrt(max(variance, 0.0)), bias=-scale * bias
        )
        return Estimate(found, max(found.low, 0.0), max(min(found.high, most), found), found.error)

    def side_by_side(self, work: Callable[[int], T], places: Iterable[int]) -> list[T]:
        return side_by_side(work, places, len(self.points[0]))

    def places(self, column: Studied, number: int) -> IntArray:
        """The point of every row of the sample."""
        found = np.searchsorted(column.points.low, self.proba[:, number], side="right") - 1
        return np.maximum(found, 0)

    def together(self, spreads: Sequence[float], influence: Float64Array) -> float:
        """The standard deviation of a sum of deviations, which vary together as the influences of rows do."""
        centred = influence - self.mass @ influence
        weighted = centred * np.sqrt(self.mass)[:, np.newaxis]
        size = np.sqrt(np.einsum("ij,ij->j", weighted, weighted))
        spread = np.asarray(spreads)
        known = size > 0
        scale = np.divide(spread, size, out=np.zeros(len(size)), where=known)
        return math.sqrt(float(np.sum((weighted @ scale) ** 2)) + float(np.sum(spread[~known] ** 2)))

    def parts(self, columns: list[Studied]) -> tuple[Estimate, Estimate]:
        fits = np.column_stack(
            [
                each.fit.fitted(len(each.points))[self.places(each, number)]
                for number, each in enumerate(columns)
            ]
        )
        lost = (fits - self.came) ** 2
        gained = (self.proba - self.came) ** 2 - lost
        overfit = Overfit(
            sum(each.overfit.bias for each in columns),
            *(
                math.hypot(*(getattr(each.overfit, name) for each in columns))
                for name in ("spread", "below", "above")
            ),
        )
        return (
            calibration_estimate(
                sum(each.parts.calibration for each in columns),
                self.variance(gained.sum(axis=1)),
                sum(distance_of(each.fit, each.points) for each in columns),
                overfit,
            ),
            refinement_estimate(
                sum(each.parts.refinement for each in columns), self.variance(lost.sum(axis=1)), overfit
            ),
        )

    def variance(self, values: Float64Array) -> float:
        """The variance of the mean of what the rows of the sample have."""
        mean = float(self.mass @ values)
        return float(self.mass @ (values - mean) ** 2) / max(self.n - 1, 1.0)

    def auc(self, columns: list[Studied]) -> Estimate:
        known = [(number, each) for number, each in enumerate(columns) if not math.isnan(each.ranking.area)]
        if not known:
            return Estimate(math.nan)
        total = np.zeros(len(self.truth))
        for number, each in known:
            place, came, share = self.places(each, number), self.came[:, number], float(self.share(number))
            ranking = each.ranking
            total += np.where(
                came,
                (ranking.below[place] - ranking.area) / share,
                (ranking.above[place] - ranking.area) / (1 - share),
            )
        area = sum(each.ranking.area for _, each in known) / len(known)
        slack = sum(each.ranking.slack for _, each in known) / len(known)
        return area_estimate(area, self.variance(total / len(known)), self.n, slack)

    def cox(self, columns: list[Studied]) -> tuple[Estimate, tuple[Estimate, ...]]:
        known = [
            number for number, each in enumerate(columns) if each.points.pos.any() and each.points.neg.any()
        ]
        fit = fit_cox([columns[number].points for number in known]) if known else None
        unknown = Estimate(math.nan)
        if fit is None or fit.bread is None:
            return Estimate(math.nan if fit is None else fit.slope), (unknown,) * len(columns)
        x = log_odds(self.proba[:, known])
        residual = self.came[:, known] - expit(fit.slope * x + fit.intercepts)
        scores = np.column_stack([(residual * x).sum(axis=1), residual])
        meat = (scores * self.mass[:, np.newaxis]).T @ scores * self.weight2
        errors = np.sqrt(np.maximum(np.diag(fit.bread @ meat @ fit.bread), 0.0))
        intercepts = dict(zip(known, zip(fit.intercepts, errors[1:], strict=True), strict=True))
        return normal_estimate(fit.slope, float(errors[0])), tuple(
            normal_estimate(*map(float, intercepts[number])) if number in intercepts else unknown
            for number in range(len(columns))
        )

    def calibration_errors(self) -> tuple[Estimate, CalibrationErrors]:
        top, k = self.points[-1], len(self.labels)
        expected = self.estimate(self.in_width(top, k, self.sums.sums["bins"][k]))
        width = [self.in_width(self.points[c], c, self.sums.sums["bins"][c]) for c in range(k)]
        frequency = self.side_by_side(lambda c: self.in_frequency(self.points[c], k + 1 + c), range(k))
        return expected, CalibrationErrors(
            top_label_width=expected,
            top_label_frequency=self.estimate(self.in_frequency(top, 2 * k + 1)),
            classwise_width=self.classwise(width, 2 * k + 2),
            classwise_frequency=self.classwise(frequency, 2 * k + 3),
            corrected=self.corrected(expected, self.sums.sums["bins"][k]),
        )

    def classwise(self, found: list[Binned], seed: int) -> Estimate:
        """The mean error over the classes."""
        influence = np.empty(self.proba.shape)
        for number, each in enumerate(found):
            low = self.points[number].low
            inner = each.starts[1:-1]
            bins = np.searchsorted(low[inner[inner < len(low)]], self.proba[:, number], side="right")
            sign = np.sign(np.where(np.abs(each.gap) > ROUNDING, each.gap, 0.0))
            sign = sign[np.minimum(bins, len(each.gap) - 1)]
            influence[:, number] = sign * (self.proba[:, number] - self.came[:, number])
        errors = [distance_error(each.gap, each.variance, self.draws(each.seed)) for each in found]
        apart = math.hypot(*errors)
        k = len(found)
        return distance_estimate(
            sum(each.value for each in found) / k,
            np.concatenate([each.gap for each in found]) / k,
            np.concatenate([each.variance for each in found]) / k**2,
            self.draws(seed),
            self.together(errors, influence) / apart if apart > 0 else 1.0,
        )

    def by_class(self, columns: list[Studied]) -> list[ClassEvaluation]:
        found = []
        for number, (label, column) in enumerate(zip(self.labels, columns, strict=True)):
            calibration, refinement = column.split()
            slope, intercept = column.regression()
            found.append(
                ClassEvaluation(
                    label=label,
                    share=self.share(number),
                    mean_probability=mean_estimate(self.class_moments(number, 0), least=0.0, most=1.0),
                    brier_score=mean_estimate(column.moments, least=0.0),
                    calibration=calibration,
                    refinement=refinement,
                    auc=column.ranking.estimate(),
                    calibration_slope=slope,
                    calibration_intercept=intercept,
                )
            )
        return found
