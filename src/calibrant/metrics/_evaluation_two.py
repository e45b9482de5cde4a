"""The evaluation of two classes."""

from calibrant.metrics._estimate import Estimate
from calibrant.metrics._evaluation import CalibrationErrors, ClassEvaluation
from calibrant.metrics._evaluation_column import Studied
from calibrant.metrics._evaluation_common import Result
from calibrant.metrics._intervals import mean_estimate


class TwoClasses(Result):
    """Two classes: all but a few sums belong to the column of the positive one."""

    def uncertainty(self) -> Estimate:
        """That of all shares of the positive class that are in its interval."""
        share = self.share(1)
        value, *ends = (each * (1 - each) for each in (float(share), share.low, share.high))
        high = 0.25 if share.low <= 0.5 <= share.high else max(ends)
        return Estimate(value, min(*ends, value), max(high, value), abs(1 - 2 * share) * share.error)

    def columns(self) -> list[Studied]:
        return [self.column(0, 1)]

    def parts(self, columns: list[Studied]) -> tuple[Estimate, Estimate]:
        return columns[0].split()

    def auc(self, columns: list[Studied]) -> Estimate:
        return columns[0].ranking.estimate()

    def cox(self, columns: list[Studied]) -> tuple[Estimate, Estimate]:
        return columns[0].regression()

    def calibration_errors(self) -> tuple[Estimate, CalibrationErrors]:
        points, sums = self.points[0], self.sums.sums["bins"][0]
        expected = self.estimate(self.in_width(points, 0, sums))
        top, other = points.folded(), points.mirrored()
        return expected, CalibrationErrors(
            top_label_width=self.estimate(self.in_width(top, 1)),
            top_label_frequency=self.estimate(self.in_frequency(top, 2)),
            classwise_width=_mean_of_mirrored(expected, self.estimate(self.in_width(other, 3))),
            classwise_frequency=_mean_of_mirrored(
                self.estimate(self.in_frequency(points, 4)), self.estimate(self.in_frequency(other, 5))
            ),
            corrected=self.corrected(expected, sums),
        )

    def by_class(self, columns: list[Studied]) -> list[ClassEvaluation]:
        """What depends on the order is the same from either end; 1 - p would round it away."""
        (column,) = columns
        calibration, refinement = column.split()
        slope, intercept = column.regression()
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


def _mean_of_mirrored(one: Estimate, other: Estimate) -> Estimate:
    """The mean error of two classes, which are one and the same: only where their bins begin is different."""
    ends = (min(one.low, other.low), max(one.high, other.high))
    return Estimate((one + other) / 2, *ends, max(one.error, other.error))
