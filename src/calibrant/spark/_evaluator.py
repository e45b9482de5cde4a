"""One number that says how good probabilities are."""

from collections.abc import Callable, Sequence
from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.sql import DataFrame

from calibrant.files import Evaluation, GivenForecast, MetricSums, SumMetrics, evaluation_plan
from calibrant.passes import Plan
from calibrant.spark._measures import forecast_rows
from calibrant.spark._params import HasClasses, HasLabels, HasProbabilities, new_param, one_of, with_accessors
from calibrant.spark._persistence import Stage

#: What sums over the rows tell, in one pass.
FROM_SUMS: dict[str, Callable[[MetricSums], float]] = {
    "logLoss": lambda sums: sums.log_loss,
    "brier": lambda sums: float(sums.brier.sum()),
    "errorRate": lambda sums: sums.error_rate,
}
#: What needs isotonic regression of the probabilities too.
FROM_EVALUATION: dict[str, Callable[[Evaluation], float]] = {
    "calibration": lambda found: found.brier.calibration,
    "refinement": lambda found: found.brier.refinement,
    "areaUnderROC": lambda found: sum(low + high for low, high in found.auc) / (2 * len(found.auc)),
}
METRICS = (*FROM_SUMS, *FROM_EVALUATION)


@with_accessors
class CalibrationEvaluator(Evaluator, HasProbabilities, HasLabels, HasClasses, Stage):
    """Measures probabilities, for `CrossValidator` and `TrainValidationSplit`.

    Parameters
    ----------
    metricName : {"logLoss", "brier", "calibration", "refinement", "errorRate", "areaUnderROC"}, \
            default="logLoss"
        What is measured: the mean log loss, infinite if something happened that had probability 0; the Brier
        score, its part that calibration could remove, and the rest; the share of rows whose most probable
        class is not the true one; the area under the ROC curve, of many classes the mean of those of each
        against the others.
    probabilityCol : str, default="probability"
        The column of the probabilities: vectors or arrays, or numbers that are those of the second of two
        classes.
    labelCol : str, default="label"
        The column of the labels.
    weightCol : str, optional
        The column of the weights.
    classes : list, optional
        The labels in the order of the probabilities; by default those that the column carries, or 0, 1, ...

    See Also
    --------
    evaluate : All of these at once, and more.

    Notes
    -----
    Of the area under the ROC curve the middle of two bounds is given, which are usually less than 1e-5 apart.

    Examples
    --------
    >>> from calibrant.spark import CalibrationEvaluator
    >>> frame = spark.createDataFrame([(0.2, 0), (0.7, 0), (0.7, 1), (0.9, 1)], ["probability", "label"])
    >>> round(CalibrationEvaluator(metricName="brier").evaluate(frame), 4)
    0.1575
    """

    metricName = new_param(
        "metricName", f"what is measured: {', '.join(METRICS)}.", one_of("metricName", METRICS)
    )

    @keyword_only
    def __init__(
        self,
        *,
        metricName: str = "logLoss",
        probabilityCol: str = "probability",
        labelCol: str = "label",
        weightCol: str | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(metricName="logLoss")
        self._set_given()

    def isLargerBetter(self) -> bool:
        """Tell whether more is better.

        Returns
        -------
        bool
            True for the area under the ROC curve alone.
        """
        return bool(self.getMetricName() == "areaUnderROC")

    def _evaluate(self, dataset: DataFrame) -> float:
        name = self.getMetricName()
        rows = forecast_rows(
            dataset,
            self.getLabelCol(),
            self.getProbabilityCol(),
            self._given("weightCol"),
            self._given("classes"),
            "error",
        )
        n_classes, n_columns = len(rows.classes), rows.n_scores
        if name in FROM_SUMS:
            return FROM_SUMS[name](rows.run(_sums(SumMetrics(GivenForecast(), n_classes, n_columns, 1.0))))
        plan = evaluation_plan(n_classes, 1.0, rows.options(n_columns), rows.n_rows)
        return FROM_EVALUATION[name](rows.run(plan))


def _sums(task: SumMetrics) -> Plan[MetricSums]:
    sums: MetricSums = yield task
    return sums
