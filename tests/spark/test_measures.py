"""What is measured on a cluster is what is measured in memory."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pandas as pd
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.linalg import Vectors

from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics import auc, brier_decomposition, brier_score, error_rate, log_loss
from calibrant.models import compare_methods
from calibrant.spark import CalibrationEvaluator, ScoreCalibrator, compare, evaluate
from calibrant.spark._evaluator import METRICS


@pytest.fixture(scope="module")
def forecasts(spark):
    rng = np.random.default_rng(8)
    proba = rng.beta(2, 3, 2500).round(3)
    y = (rng.random(2500) < proba**1.3).astype(np.int64)
    frame = spark.createDataFrame(pd.DataFrame({"probability": proba, "label": y})).repartition(3).cache()
    return proba, y, frame


def test_the_measures_are_those_of_the_library(forecasts):
    proba, y, frame = forecasts
    parts = brier_decomposition(y, proba, isotonic=True)
    expected = {
        "logLoss": log_loss(y, proba),
        "brierScore": brier_score(y, proba, convention="positive"),
        "errorRate": error_rate(y, proba),
        "calibration": parts.calibration,
        "refinement": parts.refinement,
        "areaUnderROC": auc(y, proba),
    }
    assert set(expected) == set(METRICS)
    for name, value in expected.items():
        evaluator = CalibrationEvaluator(metricName=name)
        assert evaluator.evaluate(frame) == pytest.approx(value, rel=1e-12), name
        assert evaluator.isLargerBetter() == (name == "areaUnderROC")
    found = evaluate(frame)
    assert (found.n_rows, found.weight) == (2500, 2500)
    spark_says = BinaryClassificationEvaluator(rawPredictionCol="probability").evaluate(frame)
    assert found.auc == pytest.approx(spark_says, abs=1e-9)
    assert found.log_loss.low < found.log_loss < found.log_loss.high


def test_vectors_of_many_classes_with_text_labels(spark):
    rng = np.random.default_rng(9)
    proba = rng.dirichlet(np.ones(3), size=1500).round(4)
    proba[:, 2] = 1 - proba[:, :2].sum(axis=1)
    y = np.array([rng.choice(3, p=np.abs(row) / np.abs(row).sum()) for row in proba])
    names = np.array(["a", "b", "c"])
    rows = [(Vectors.dense(row), str(names[number])) for row, number in zip(proba, y, strict=True)]
    frame = spark.createDataFrame(rows, ["probability", "label"])
    by_hand = CalibrationEvaluator(classes=["a", "b", "c"], metricName="logLoss").evaluate(frame)
    assert by_hand == pytest.approx(-np.log(proba[np.arange(1500), y]).mean(), rel=1e-12)
    with pytest.raises(
        DataError, match=r"must hold one of the classes 0, 1, 2; got 'a', 'b', 'c' in 1500 rows|'a'"
    ):
        CalibrationEvaluator().evaluate(frame)


def test_labels_come_with_the_probabilities_of_a_model(spark):
    rows = [(float(i % 11), "up" if (i * 7) % 13 < i % 11 else "down") for i in range(900)]
    frame = spark.createDataFrame(rows, ["s", "label"])
    judged = ScoreCalibrator(rawPredictionCol="s").fit(frame).transform(frame)
    assert 0 < CalibrationEvaluator(metricName="logLoss").evaluate(judged) < np.log(2)


def test_methods_are_ranked_as_in_memory(spark):
    rng = np.random.default_rng(10)
    scores = rng.normal(size=3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-2 * scores))).astype(np.int64)
    frame = spark.createDataFrame(pd.DataFrame({"rawPrediction": scores, "label": y})).repartition(2)
    found, expected = compare(frame), compare_methods(scores, y)
    losses = {result.name: result.log_loss for result in expected.results}
    for result in found.results:
        assert result.log_loss == pytest.approx(losses[result.name], rel=0.02)


def test_wrong_input(spark, forecasts):
    with pytest.raises(ParameterError, match=r"metricName must be .*; got 'f1'"):
        CalibrationEvaluator(metricName="f1")
    with pytest.raises(ParameterError, match=r"metricName must be .*; got 'f1'"):
        CalibrationEvaluator().setMetricName("f1")
    with pytest.raises(ParameterError, match=r"handleInvalid must be .*; got 'keep'"):
        evaluate(forecasts[2], handleInvalid="keep")
    with pytest.raises(ParameterError, match=r"cv must be a whole number from 2; got 1"):
        compare(forecasts[2], rawPredictionCol="probability", cv=1)
    wrong = spark.createDataFrame([(0.5, 0), (1.5, 1)], ["probability", "label"])
    with pytest.raises(DataError, match=r"scores must .*1\.5"):
        evaluate(wrong)
