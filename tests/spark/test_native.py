"""Models that Spark computes itself, against the library."""

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.errors.exceptions.base import PySparkException

from calibrant import ScoreModel
from calibrant.calibrators import METHODS
from calibrant.calibrators._joint import JointCalibrator
from calibrant.spark import ScoreCalibratorModel, _calibrator as stage
from calibrant.spark._native import native_form
from models.cases import class_scores

#: Methods of one score that only compare and look up: the same bits.
STEPS = ("pav", "binning", "venn_abers")
COST = [[0, 1], [5, 0]]


def fitted(method, n_rows=3000):
    scores, y = class_scores(n_rows, 2, 0)
    return ScoreModel(method, COST).fit(scores[:, 1] - scores[:, 0], y), scores[:, 1] - scores[:, 0]


def judged(spark, model, scores):
    frame = spark.createDataFrame([(float(score),) for score in scores], "s double")
    found = ScoreCalibratorModel.fromModel(model).setRawPredictionCol("s").transform(frame)
    rows = found.collect()
    return found, np.array([row.probability.toArray() for row in rows]), [row.prediction for row in rows]


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if kind.takes == "score"])
def test_columns_have_the_numbers_of_the_library(spark, method):
    if "margin" not in METHODS[method].kinds:
        pytest.skip("what is no probability is an error, which batches tell")
    model, scores = fitted(method)
    form = native_form(model)
    assert form is not None
    assert (form.table is not None) == (method in STEPS)
    edges = getattr(getattr(model.calibrator_.map_, "lookup", None), "edges", np.empty(0))
    asked = np.concatenate([scores[:200], edges, np.nextafter(edges, np.inf), [0.0, -0.0, -1e300, 1e300]])
    found, proba, decided = judged(spark, model, asked)
    assert "ArrowEvalPython" not in found._jdf.queryExecution().executedPlan().toString()
    want = model.predict_proba(asked)
    if method in STEPS:
        np.testing.assert_array_equal(proba, want)
    else:
        np.testing.assert_allclose(proba, want, rtol=0, atol=1e-12)
    clear = np.abs(want @ np.array(COST).T @ [1, -1]) > 1e-9
    np.testing.assert_array_equal(np.array(decided)[clear], model.decide(asked)[clear])


@pytest.mark.parametrize(
    "method", [name for name, kind in METHODS.items() if issubclass(kind, JointCalibrator)]
)
def test_methods_of_all_scores_take_a_single_one(spark, method):
    """As columns or in batches: a program of any length is answered, and by a driver of any size."""
    model, scores = fitted(method)
    _, proba, decided = judged(spark, model, scores[:200])
    np.testing.assert_allclose(proba, model.predict_proba(scores[:200]), rtol=0, atol=1e-12)
    assert decided == model.decide(scores[:200]).tolist()


def test_vectors_and_rows_that_cannot_be_used_are_as_in_batches(spark, monkeypatch):
    model, _ = fitted("pav")
    rows = [([0.5],), ([1.0, 2.0],), (None,), ([float("nan")],), ([float("inf")],)]
    frame = spark.createDataFrame(rows, "s array<double>")
    form = native_form

    def said(invalid, native):
        monkeypatch.setattr(stage, "native_form", form if native else lambda _: None)
        made = ScoreCalibratorModel.fromModel(model).setRawPredictionCol("s").setHandleInvalid(invalid)
        answers = []
        for row in rows:  # in a batch all vectors have one length
            one = spark.createDataFrame([row], "s array<double>")
            try:
                answers.append(
                    [(each.probability, each.prediction) for each in made.transform(one).collect()]
                )
            except PySparkException as error:
                line = str(error)
                answers.append(line[line.index("the scores in") :].split("; set", maxsplit=1)[0])
        return answers

    for invalid in ("error", "skip", "keep"):
        assert said(invalid, True) == said(invalid, False)
    wrong = spark.createDataFrame([([1.0, 2.0, 3.0],)], "s array<double>")
    monkeypatch.setattr(stage, "native_form", form)
    with pytest.raises(PySparkException, match="the model takes 1 scores per row; got 3 from 's'"):
        ScoreCalibratorModel.fromModel(model).setRawPredictionCol("s").transform(wrong).collect()
    assert frame.count() == 5


def test_a_stream_is_transformed_as_it_comes(spark, tmp_path):
    model, scores = fitted("pav")
    source = tmp_path / "in"
    spark.createDataFrame([(float(score),) for score in scores[:50]], "s double").write.parquet(str(source))
    stream = spark.readStream.schema("s double").parquet(str(source))
    made = ScoreCalibratorModel.fromModel(model).setRawPredictionCol("s")
    query = made.transform(stream).writeStream.format("memory").queryName("judged").trigger(availableNow=True)
    running = query.start()
    running.awaitTermination(60)
    rows = spark.table("judged").collect()
    assert len(rows) == 50
    got = np.array([row.probability.toArray() for row in rows])
    np.testing.assert_array_equal(got, model.predict_proba([row.s for row in rows]))


def test_what_executors_import_is_numpy_and_arrow(spark):
    scores, y = class_scores(300, 3, 0)
    model = ScoreCalibratorModel.fromModel(ScoreModel("pav").fit(scores, y)).setScoresCols(["a", "b", "c"])
    frame = spark.createDataFrame(scores[:20].tolist(), ["a", "b", "c"])
    assert model.transform(frame).count() == 20

    def loaded(batches):
        import sys

        import pyarrow as pa

        for batch in batches:
            sent = {name.partition(".")[0] for name in sys.modules}
            there = [name in sent for name in ("scipy", "sklearn")]
            yield pa.RecordBatch.from_pydict({"n": [batch.num_rows], "heavy": [any(there)]})

    found = model.transform(frame).select("prediction").mapInArrow(loaded, "n long, heavy boolean").collect()
    assert not any(row.heavy for row in found)
