"""One number that says how good probabilities are."""

from collections.abc import Sequence
from typing import Any

from pyspark import keyword_only
from pyspark.ml.evaluation import Evaluator
from pyspark.sql import DataFrame

from calibrant.files import evaluation_plan
from calibrant.spark._measures import forecast_rows
from calibrant.spark._params import HasClasses, HasLabels, HasProbabilities, new_param, one_of, with_accessors
from calibrant.spark._persistence import Stage

#: What is measured, by the names of the parameter.
MEASURES = {
    "logLoss": "log_loss",
    "brierScore": "brier_score",
    "calibration": "calibration",
    "refinement": "refinement",
    "errorRate": "error_rate",
    "areaUnderROC": "auc",
}
METRICS = tuple(MEASURES)


@with_accessors
class CalibrationEvaluator(Evaluator, HasProbabilities, HasLabels, HasClasses, Stage):
    """Measures probabilities, for `CrossValidator` and `TrainValidationSplit`.

    Parameters
    ----------
    metricName : {"logLoss", "brierScore", "calibration", "refinement", "errorRate", "areaUnderROC"}, \
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

    Examples
    --------
    >>> from calibrant.spark import CalibrationEvaluator
    >>> frame = spark.createDataFrame([(0.2, 0), (0.7, 0), (0.7, 1), (0.9, 1)], ["probability", "label"])
    >>> round(CalibrationEvaluator(metricName="brierScore").evaluate(frame), 4)
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
        found = rows.run(evaluation_plan(len(rows.classes)))
        measured = found.overall.losses() if name != "areaUnderROC" else found.result(rows.classes)
        return float(getattr(measured, MEASURES[name]))
