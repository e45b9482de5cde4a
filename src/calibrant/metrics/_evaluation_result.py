"""From sums to an evaluation: every number, and its interval."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._chance import Seed, generator
from calibrant._core._threads import side_by_side
from calibrant.metrics._calibration_error import error_in_bins, even_starts
from calibrant.metrics._calibration_interval import (
    Overfit,
    Parts,
    calibration_estimate,
    distance_estimate,
    distance_of,
    overfit_of,
    part_variances,
    refinement_estimate,
    split_points,
)
from calibrant.metrics._cox import CoxFit, expit, fit_cox, in_cells, log_odds, sandwich
from calibrant.metrics._delong import Ranking, rank_points
from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import (
    CalibrationErrors,
    ClassEvaluation,
    CostEvaluation,
    Evaluation,
    LossMeasures,
)
from calibrant.metrics._evaluation_rows import BRIER, CONFIDENCE, ERROR, LOG_LOSS
from calibrant.metrics._evaluation_sums import EvaluationSums
from calibrant.metrics._intervals import (
    Moments,
    area_estimate,
    mean_estimate,
    moments_of,
    normal_estimate,
    share_of,
)
from calibrant.metrics._points import Points, bin_starts, sums_in
from calibrant.metrics._reliability import BIN_WIDTH, ReliabilityBins

T = TypeVar("T")

#: A distance of less than this from 0 is rounding.
ROUNDING = 1e-12


def evaluation_of(sums: EvaluationSums, labels: tuple[object, ...], random_state: Seed) -> Evaluation:
    """Make the evaluation of the rows that were added."""
    random = generator(random_state)
    seed = random_state if isinstance(random_state, int) else int(random.integers(2**31))
    if sums.n_classes == 2:
        return _TwoClasses(sums, labels, seed).evaluation()
    return _ManyClasses(sums, labels, seed).evaluation()


def losses_of(sums: EvaluationSums) -> LossMeasures:
    """What the forecasts of the rows that were added lose."""
    found = _Sums(sums)
    moments, log_loss = found.losses()
    numbers = [1] if sums.n_classes == 2 else range(sums.n_classes)
    parts = [
        split_points(points, found.class_moments(number, 2).mean)
        for number, points in zip(numbers, found.points, strict=False)  # without those of the called class
    ]
    return LossMeasures(
        log_loss=log_loss,
        brier_score=mean_estimate(moments[BRIER], least=0.0),
        calibration=Estimate(sum(part.calibration for part in parts)),
        refinement=Estimate(sum(part.refinement for part in parts)),
        error_rate=share_of(moments[ERROR]),
        certain_mistakes=found.n_certain,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A column of probabilities against what it forecasts, and all that is found in its points alone."""

    points: Points  # in cells, if they are many
    moments: Moments  # of the squared error
    parts: Parts
    fit: Parts  # of the same points
    overfit: Overfit
    ranking: Ranking
    cox: CoxFit


@dataclass(frozen=True, slots=True, eq=False)
class _Binned:
    """The expected calibration error of a column in some bins."""

    estimate: Estimate
    starts: IntArray
    gap: Float64Array
    variance: Float64Array


class _Sums:
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


class _Result(_Sums, ABC):
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
    def columns(self) -> list[_Column]:
        """Every column that is looked at."""

    @abstractmethod
    def parts(self, columns: list[_Column]) -> tuple[Estimate, Estimate]:
        """Calibration and refinement."""

    @abstractmethod
    def auc(self, columns: list[_Column]) -> Estimate:
        """The area under the ROC curve."""

    @abstractmethod
    def cox(self, columns: list[_Column]) -> tuple[Estimate, Estimate | tuple[Estimate, ...]]:
        """Slope and intercept of the regression on log-odds."""

    @abstractmethod
    def calibration_errors(self) -> tuple[Estimate, CalibrationErrors]:
        """The expected calibration error, and its other forms."""

    @abstractmethod
    def by_class(self, columns: list[_Column]) -> list[ClassEvaluation]:
        """Every class against the others."""

    def column(self, place: int, number: int) -> _Column:
        """Look at the points of a class."""
        points, moments = self.points[place], self.class_moments(number, 2)
        parts = split_points(points, moments.mean)
        rough = in_cells(points)
        fit = parts if rough is points else split_points(rough, moments.mean)
        cox = fit_cox([rough])
        overfit = overfit_of(points, cox, np.random.default_rng([self.seed, place]), self.sums.n_points)
        return _Column(rough, moments, parts, fit, overfit, rank_points(points, rough), cox)

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

    def binned(self, sums: Float64Array, starts: IntArray, seed: int) -> _Binned:
        """The error of a column from the sums of its bins."""
        mass, expected, came, *others = sums
        gap = (expected - came) / self.weight
        squares, by_forecast, _ = others[:3] if self.whole else others[3:]
        # A bin in which a rare class happens not to come seems to vary less than it does.
        variance = np.maximum(squares / self.weight**2 - gap**2 / self.n, by_forecast / self.weight**2)
        value = error_in_bins(mass, expected, came)
        estimate = distance_estimate(value, gap, variance, self.draws(seed))
        return _Binned(estimate, starts, gap, variance)

    def draws(self, seed: int) -> np.random.Generator:
        """Draws for the errors of some bins."""
        return np.random.default_rng([self.seed, 1 << 20, seed])

    def in_width(self, points: Points, seed: int, sums: Float64Array | None = None) -> _Binned:
        starts = bin_starts(points.p, 1 / self.sums.n_bins)
        return self.binned(sums_in(points, starts) if sums is None else sums, starts, seed)

    def in_frequency(self, points: Points, seed: int) -> _Binned:
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


class _TwoClasses(_Result):
    """Two classes: all but a few sums belong to the column of the positive one."""

    def uncertainty(self) -> Estimate:
        """That of all shares of the positive class that are in its interval."""
        share = self.share(1)
        value, *ends = (each * (1 - each) for each in (float(share), share.low, share.high))
        high = 0.25 if share.low <= 0.5 <= share.high else max(ends)
        return Estimate(value, min(*ends, value), max(high, value), abs(1 - 2 * share) * share.error)

    def columns(self) -> list[_Column]:
        return [self.column(0, 1)]

    def parts(self, columns: list[_Column]) -> tuple[Estimate, Estimate]:
        return _parts(columns[0])

    def auc(self, columns: list[_Column]) -> Estimate:
        return columns[0].ranking.estimate()

    def cox(self, columns: list[_Column]) -> tuple[Estimate, Estimate]:
        return _cox(columns[0])

    def calibration_errors(self) -> tuple[Estimate, CalibrationErrors]:
        points, sums = self.points[0], self.sums.sums["bins"][0]
        expected = self.in_width(points, 0, sums).estimate
        top, other = points.folded(), points.mirrored()
        return expected, CalibrationErrors(
            top_label_width=self.in_width(top, 1).estimate,
            top_label_frequency=self.in_frequency(top, 2).estimate,
            classwise_width=_mean_of_mirrored(expected, self.in_width(other, 3).estimate),
            classwise_frequency=_mean_of_mirrored(
                self.in_frequency(points, 4).estimate, self.in_frequency(other, 5).estimate
            ),
            corrected=self.corrected(expected, sums),
        )

    def by_class(self, columns: list[_Column]) -> list[ClassEvaluation]:
        """What depends on the order is the same from either end; 1 - p would round it away."""
        (column,) = columns
        calibration, refinement = _parts(column)
        slope, intercept = _cox(column)
        opposite = Estimate(0.0 - intercept, -intercept.high, -intercept.low, intercept.error)
        return [
            ClassEvaluation(
                label=label,
                share=self.share(number),
                mean_probability=mean_estimate(self.class_moments(number, 0), least=0.0, most=1.0),
                brier_score=mean_estimate(self.class_moments(number, 2), least=0.0),
                calibration=calibration,
                refinement=refinement,
                auc=column.ranking.estimate(),
                calibration_slope=slope,
                calibration_intercept=intercept if number else opposite,
            )
            for number, label in enumerate(self.labels)
        ]


class _ManyClasses(_Result):
    """More classes: what is added over columns varies as the columns do together, which some rows show."""

    def __init__(self, sums: EvaluationSums, labels: tuple[object, ...], seed: int) -> None:
        super().__init__(sums, labels, seed)
        rows = sums.sample[1]
        self.truth, mass, self.proba = rows[:, 0].astype(np.intp), rows[:, 1], rows[:, 2:]
        self.came = self.truth[:, np.newaxis] == np.arange(len(labels))
        #: How much the rows of the sample count in a variance, as shares.
        self.mass = mass if self.whole else mass**2
        self.mass = self.mass / self.mass.sum()

    def columns(self) -> list[_Column]:
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

    def places(self, column: _Column, number: int) -> IntArray:
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

    def parts(self, columns: list[_Column]) -> tuple[Estimate, Estimate]:
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

    def auc(self, columns: list[_Column]) -> Estimate:
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

    def cox(self, columns: list[_Column]) -> tuple[Estimate, tuple[Estimate, ...]]:
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
        expected = self.in_width(top, k, self.sums.sums["bins"][k]).estimate
        width = [self.in_width(self.points[c], c, self.sums.sums["bins"][c]) for c in range(k)]
        frequency = self.side_by_side(lambda c: self.in_frequency(self.points[c], k + 1 + c), range(k))
        return expected, CalibrationErrors(
            top_label_width=expected,
            top_label_frequency=self.in_frequency(top, 2 * k + 1).estimate,
            classwise_width=self.classwise(width, 2 * k + 2),
            classwise_frequency=self.classwise(frequency, 2 * k + 3),
            corrected=self.corrected(expected, self.sums.sums["bins"][k]),
        )

    def classwise(self, found: list[_Binned], seed: int) -> Estimate:
        """The mean error over the classes."""
        influence = np.empty(self.proba.shape)
        for number, each in enumerate(found):
            points = self.points[number]
            place = np.searchsorted(points.low, self.proba[:, number], side="right") - 1
            bins = np.searchsorted(each.starts, np.maximum(place, 0), side="right") - 1
            sign = np.sign(np.where(np.abs(each.gap) > ROUNDING, each.gap, 0.0))
            sign = sign[np.minimum(bins, len(each.gap) - 1)]
            influence[:, number] = sign * (self.proba[:, number] - self.came[:, number])
        errors = [each.estimate.error for each in found]
        apart = math.hypot(*errors)
        k = len(found)
        return distance_estimate(
            sum(each.estimate for each in found) / k,
            np.concatenate([each.gap for each in found]) / k,
            np.concatenate([each.variance for each in found]) / k**2,
            self.draws(seed),
            self.together(errors, influence) / apart if apart > 0 else 1.0,
        )

    def by_class(self, columns: list[_Column]) -> list[ClassEvaluation]:
        found = []
        for number, (label, column) in enumerate(zip(self.labels, columns, strict=True)):
            calibration, refinement = _parts(column)
            slope, intercept = _cox(column)
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


def _variance(second: float, weight: float, n: float) -> float:
    """The variance of a mean from the sum of squared deviations."""
    return max(second, 0.0) / weight**2 * (n / (n - 1) if n > 1 else math.inf) if second > 0 else 0.0


def _parts(column: _Column) -> tuple[Estimate, Estimate]:
    parts, overfit = column.parts, column.overfit
    gained, lost = part_variances(column.fit, column.points)
    return (
        calibration_estimate(parts.calibration, gained, distance_of(column.fit, column.points), overfit),
        refinement_estimate(parts.refinement, lost, overfit),
    )


def _mean_of_mirrored(one: Estimate, other: Estimate) -> Estimate:
    """The mean error of two classes, which are one and the same: only where their bins begin is different."""
    ends = (min(one.low, other.low), max(one.high, other.high))
    return Estimate((one + other) / 2, *ends, max(one.error, other.error))


def _cox(column: _Column) -> tuple[Estimate, Estimate]:
    """Slope and intercept of a single column."""
    if column.cox.bread is None:
        return Estimate(column.cox.slope), Estimate(column.cox.intercepts[0])
    slope, intercept = np.sqrt(np.maximum(np.diag(sandwich(column.cox, column.points)), 0.0))
    return (
        normal_estimate(column.cox.slope, float(slope)),
        normal_estimate(float(column.cox.intercepts[0]), float(intercept)),
    )


def _mean_cost(matrix: Float64Array, tables: Float64Array, *, whole: bool) -> Estimate:
    """The mean cost from the weights, their squares and cubes, of decisions and truths."""
    unit = float(np.abs(matrix).max()) or 1.0  # so that no power overflows
    powers = [(matrix / unit) ** power for power in range(4)]
    wanted = [(0, range(4)), (1, range(3)), (2, range(4))]
    sums = [float((tables[place] * powers[power]).sum()) for place, some in wanted for power in some]
    found = mean_estimate(moments_of(np.array(sums), whole=whole))
    return Estimate(*(unit * each for each in (float(found), found.low, found.high, found.error)))
