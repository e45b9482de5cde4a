"""What evaluations of two classes and of many have in common: from sums to numbers with intervals."""

import math
from abc import ABC, abstractmethod

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics._calibration_error import error_in_bins, even_starts
from calibrant.metrics._calibration_interval import distance_estimate, overfit_of, split_points
from calibrant.metrics._cox import fit_cox, in_cells
from calibrant.metrics._delong import rank_points
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import (
    CalibrationErrors,
    ClassEvaluation,
    CostEvaluation,
    Evaluation,
)
from calibrant.metrics._evaluation_column import Binned, Studied
from calibrant.metrics._evaluation_rows import BRIER, CONFIDENCE, ERROR, LOG_LOSS
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._intervals import Moments, mean_estimate, moments_of, share_of
from calibrant.metrics._points import Points, bin_starts, sums_in
from calibrant.metrics._reliability import BIN_WIDTH, ReliabilityBins


class Totals:
    """What follows from the sums alone, of two classes and of many."""

    def __init__(self, sums: EvaluationSums) -> None:
        self.sums = sums
        self.n_rows, self.n_certain, n_unlike = (int(each) for each in sums.sums["rows"])
        self.whole = n_unlike == 0
        self.weight, self.weight2 = (float(each) for each in sums.sums["truth"].sum(axis=1))
        if self.whole:
            self.weight2 = self.weight
        #: The number of rows that the weights are worth.
        self.n = self.weight * (self.weight / self.weight2)
        points = [column.points() for column in sums.points]
        self.points = [each.copies() for each in points] if self.whole else points

    def losses(self) -> tuple[list[Moments], Estimate]:
        """Moments of the losses of rows, and the log loss, infinite where a mistake was certain."""
        moments = [moments_of(each, whole=self.whole) for each in self.sums.sums["losses"]]
        if self.n_certain:
            return moments, Estimate(math.inf, math.inf, math.inf)
        return moments, mean_estimate(moments[LOG_LOSS], least=0.0)

    def class_moments(self, number: int, place: int) -> Moments:
        """Moments of the mean probability of a class (0), or of its squared error (2)."""
        by_weight, by_square = self.sums.sums["columns"][number]
        mean = float(by_weight[place] / self.weight)
        source, total = (by_weight, self.weight) if self.whole else (by_square, self.weight2)
        second = float(source[place + 1] - 2 * mean * source[place] + mean**2 * total)
        return Moments(mean, _variance(second, self.weight, self.n), 0.0, self.n)


class Result(Totals, ABC):
    """What two classes and many have in common."""

    def __init__(self, sums: EvaluationSums, labels: tuple[object, ...], seed: int) -> None:
        super().__init__(sums)
        self.labels, self.seed = labels, seed

    def evaluation(self) -> Evaluation:
        moments, log_loss = self.losses()
        columns = self.columns()
        slope, intercept = self.cox(columns)
        expected, errors = self.calibration_errors()
        calibration, refinement = self.parts(columns)
        return Evaluation(
            n_rows=self.n_rows,
            weight=self.weight,
            classes=self.labels,
            log_loss=log_loss,
            brier_score=mean_estimate(moments[BRIER], least=0.0),
            calibration=calibration,
            refinement=refinement,
            uncertainty=self.uncertainty(),
            error_rate=share_of(moments[ERROR]),
            confidence=mean_estimate(moments[CONFIDENCE], least=0.0, most=1.0),
            certain_mistakes=self.n_certain,
            expected_calibration_error=expected,
            calibration_errors=errors,
            calibration_slope=slope,
            calibration_intercept=intercept,
            auc=self.auc(columns),
            reliability=tuple(self.diagram(place) for place in range(len(self.labels))),
            by_class=tuple(self.by_class(columns)),
            cost=self.cost(),
        )

    @abstractmethod
    def columns(self) -> list[Studied]:
        """Every column that is looked at."""

    @abstractmethod
    def parts(self, columns: list[Studied]) -> tuple[Estimate, Estimate]:
        """Calibration and refinement."""

    @abstractmethod
    def auc(self, columns: list[Studied]) -> Estimate:
        """The area under the ROC curve."""

    @abstractmethod
    def cox(self, columns: list[Studied]) -> tuple[Estimate, Estimate | tuple[Estimate, ...]]:
        """Slope and intercept of the regression on log-odds."""

    @abstractmethod
    def calibration_errors(self) -> tuple[Estimate, CalibrationErrors]:
        """The expected calibration error, and its other forms."""

    @abstractmethod
    def by_class(self, columns: list[Studied]) -> list[ClassEvaluation]:
        """Every class against the others."""

    def column(self, place: int, number: int) -> Studied:
        """Look at the points of a class."""
        points, moments = self.points[place], self.class_moments(number, 2)
        parts = split_points(points, moments.mean)
        rough = in_cells(points)
        fit = parts if rough is points else split_points(rough, moments.mean)
        cox = fit_cox([rough])
        overfit = overfit_of(points, cox, np.random.default_rng([self.seed, place]), self.sums.n_points)
        return Studied(rough, moments, parts, fit, overfit, rank_points(points, rough), cox)

    def share(self, number: int) -> Estimate:
        """How often a class comes."""
        weight, square = self.sums.sums["truth"][:, number]
        square = weight if self.whole else square
        mean = float(weight / self.weight)
        second = float(square * (1 - 2 * mean) + mean**2 * self.weight2)
        return share_of(Moments(mean, _variance(second, self.weight, self.n), 0.0, self.n))

    @abstractmethod
    def uncertainty(self) -> Estimate:
        """The Brier score of the base rates."""

    def diagram(self, number: int) -> ReliabilityBins:
        """The bins of a class that have rows."""
        count, weight, score, came = self.sums.sums["diagrams"][number]
        held = np.flatnonzero(count)
        last = len(count) - 1
        return ReliabilityBins(
            left=held.astype(np.float64) * BIN_WIDTH,
            right=np.where(held == last, 1.0, (held + 1) * BIN_WIDTH),
            count=count[held].astype(np.intp),
            mean_score=score[held] / weight[held],
            frac_pos=came[held] / weight[held],
            weight=weight[held],
        )

    def binned(self, sums: Float64Array, starts: IntArray, seed: int) -> Binned:
        """The error of a column from the sums of its bins."""
        mass, expected, came, *others = sums
        gap = (expected - came) / self.weight
        squares, by_forecast, _ = others[:3] if self.whole else others[3:]
        # A bin in which a rare class happens not to come seems to vary less than it does.
        variance = np.maximum(squares / self.weight**2 - gap**2 / self.n, by_forecast / self.weight**2)
        return Binned(error_in_bins(mass, expected, came), starts, gap, variance, seed)

    def estimate(self, found: Binned) -> Estimate:
        """The error with its interval."""
        return distance_estimate(found.value, found.gap, found.variance, self.draws(found.seed))

    def draws(self, seed: int) -> tuple[int, ...]:
        """The seed of the draws for the errors of some bins."""
        return self.seed, 1 << 20, seed

    def in_width(self, points: Points, seed: int, sums: Float64Array | None = None) -> Binned:
        starts = bin_starts(points.p, 1 / self.sums.n_bins)
        return self.binned(sums_in(points, starts) if sums is None else sums, starts, seed)

    def in_frequency(self, points: Points, seed: int) -> Binned:
        starts = even_starts(points.reached(), self.sums.n_bins)
        return self.binned(sums_in(points, starts), starts, seed)

    def corrected(self, found: Estimate, sums: Float64Array) -> Estimate:
        """The error without what chance adds; the interval is the same, which has been rid of that too."""
        value = error_in_bins(*sums[:3], corrected=True)
        return Estimate(value, min(found.low, value), max(found.high, value), found.error)

    def cost(self) -> CostEvaluation | None:
        """What decisions cost."""
        if self.sums.cost is None:
            return None
        matrix, tables = self.sums.cost, self.sums.sums
        plain = _mean_cost(matrix, tables["called"], whole=self.whole) if "called" in tables else None
        weight = tables["decided"][0].copy()
        return CostEvaluation(
            mean_cost=_mean_cost(matrix, tables["decided"], whole=self.whole),
            total=float((weight * matrix).sum()),
            weight=weight,
            mean_cost_most_probable=plain,
        )


def _variance(second: float, weight: float, n: float) -> float:
    """The variance of a mean from the sum of squared deviations."""
    return max(second, 0.0) / weight**2 * (n / (n - 1) if n > 1 else math.inf) if second > 0 else 0.0


def _mean_cost(matrix: Float64Array, tables: Float64Array, *, whole: bool) -> Estimate:
    """The mean cost from the weights, their squares and cubes, of decisions and truths."""
    unit = float(np.abs(matrix).max()) or 1.0  # so that no power overflows
    powers = [(matrix / unit) ** power for power in range(4)]
    wanted = [(0, range(4)), (1, range(3)), (2, range(4))]
    sums = [float((tables[place] * powers[power]).sum()) for place, some in wanted for power in some]
    found = mean_estimate(moments_of(np.array(sums), whole=whole))
    return Estimate(*(unit * each for each in (float(found), found.low, found.high, found.error)))
