"""Fits and applies by Spark Connect, in a process of its own: `python fit_on_connect.py MODEL FOLDER`."""

import os
import sys


def main(out, folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import numpy as np
    import pandas as pd
    import pytest
    from pyspark.errors import PySparkException
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession, functions as F

    from calibrant.spark import (
        CalibrationEvaluator,
        CostDecider,
        ScoreCalibrator,
        ScoreCalibratorModel,
        _engine,
    )

    _engine.SAMPLE_ROWS = 400
    _engine.MOST_COMING = 0
    builder = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2")
    spark = builder.getOrCreate()
    sys.stdout.write("connect: started\n")
    rng = np.random.default_rng(5)
    scores = rng.normal(size=2000)
    label = (rng.random(2000) < 1 / (1 + np.exp(-scores))).astype(np.int64)
    frame = spark.createDataFrame(pd.DataFrame({"s": scores, "label": label})).repartition(3)
    pair = frame.select(array_to_vector(F.array(-F.col("s"), "s")).alias("rawPrediction"), "label")
    model = ScoreCalibrator().fit(pair)
    model.saveModel(out)
    judged = CostDecider(cost=[[0, 4], [1, 0]], predictionCol="action").transform(model.transform(pair))
    rows = judged.select("probability", "prediction", "action").collect()
    assert len(rows) == 2000
    assert sum(row.action for row in rows) > sum(row.prediction for row in rows)
    assert 0.5 < CalibrationEvaluator(metricName="logLoss").evaluate(judged) < 0.7
    model.save(folder)
    ScoreCalibrator(labelCol="other").write().overwrite().save(folder)  # another stage in its place
    assert ScoreCalibrator.load(folder).getLabelCol() == "other"
    model.write().overwrite().save(folder)
    failing = model.transform(spark.createDataFrame([(float("nan"),)], ["rawPrediction"]))
    with pytest.raises(PySparkException) as caught:
        failing.collect()
    assert "the scores in 'rawPrediction' must be finite numbers; got [nan]" in str(caught.value)
    assert "Traceback" not in str(caught.value)
    again = ScoreCalibratorModel.load(folder)
    assert again.transform(pair).select("probability").collect() == [(row.probability,) for row in rows]
    steps = ScoreCalibrator(method="pav", rawPredictionCol="s").fit(frame)
    one = steps.transform(frame).select("s", "probability").collect()
    want = steps.scoreModel.predict_proba(np.array([row.s for row in one]))
    np.testing.assert_array_equal([row.probability.toArray() for row in one], want)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
