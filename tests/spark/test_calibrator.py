"""The same model as in memory, from whatever columns and partitions; and rows that cannot be used."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pandas as pd
from pyspark.errors import SparkRuntimeException
from pyspark.ml.linalg import Vectors
from pyspark.sql import functions as F

from calibrant._core._errors import DataError, ParameterError
from calibrant.codes import all_pairs
from calibrant.models import ScoreModel, load, named_method, to_document
from calibrant.spark import ScoreCalibrator, ScoreCalibratorModel, _engine

METHODS = [
    "pav",
    "sigmoid",
    "binning",
    "venn_abers",
    "accuracy_table",
    "ranked_logistic",
    "temperature",
    "stack",
]


def frame_of(spark, scores, label, n_partitions=3, **more):
    """A frame with columns s_0, s_1, ..., or s, and label."""
    if scores.ndim == 1:
        columns = {"s": scores}
    else:
        columns = {f"s_{place}": column for place, column in enumerate(scores.T)}
    return spark.createDataFrame(pd.DataFrame(columns | {"label": label} | more)).repartition(n_partitions)


def fitted_numbers(model):
    """All that a calibrator has learned, as plain data."""
    document = to_document(model.calibrator_)
    return {name: document[name] for name in ("kind", "classes", "parameters", "fitted")}


def assert_same(ours, theirs, scores, method):
    """The same bits where methods count, and rounding elsewhere."""
    if method in ("pav", "binning", "accuracy_table"):
        assert fitted_numbers(ours) == fitted_numbers(theirs)
    np.testing.assert_allclose(ours.predict_proba(scores), theirs.predict_proba(scores), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS[:4])
def test_a_single_score_is_calibrated_as_in_memory(spark, two_classes, method):
    scores, y = two_classes
    model = ScoreCalibrator(rawPredictionCol="s", method=method).fit(frame_of(spark, scores, y))
    expected = ScoreModel(named_method(method)).fit(scores, y)
    assert_same(model.scoreModel, expected, scores, method)
    assert (model.classes, model.numClasses, model.summary.n_rows) == ([0, 1], 2, 4000)
    assert model.summary.metrics.log_loss == pytest.approx(expected.summary_.metrics.log_loss, rel=0.1)


@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_calibrated_as_in_memory(spark, two_classes, weighted):
    scores, y = two_classes
    proba = 1 / (1 + np.exp(-scores))
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 7 if weighted else None
    given = {"w": weight} if weighted else {}
    calibrator = ScoreCalibrator(rawPredictionCol="s", method="beta", kind="probability")
    calibrator = calibrator.setWeightCol("w") if weighted else calibrator
    model = calibrator.fit(frame_of(spark, proba, y, **given))
    expected = ScoreModel("beta").fit(proba, y, weight)
    np.testing.assert_allclose(
        model.scoreModel.predict_proba(proba), expected.predict_proba(proba), rtol=0, atol=1e-12
    )


def test_a_sigmoid_of_two_distinct_scores_gives_their_mean_targets(spark):
    """The rows are too unbalanced for Newton steps without a guard."""
    scores, y = np.repeat([-1.0, 1.0], [8, 1500]), np.repeat([0, 1], [8, 1500])
    frame = frame_of(spark, scores, y, n_partitions=2)
    model = ScoreCalibrator(rawPredictionCol="s", method="sigmoid").fit(frame).scoreModel
    np.testing.assert_allclose(model.predict_proba([-1, 1])[:, 1], [1 / 10, 1501 / 1502], atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_many_scores_are_calibrated_as_in_memory(spark, three_classes, method):
    scores, y = three_classes
    frame = frame_of(spark, scores, y)
    model = ScoreCalibrator(scoresCols=["s_0", "s_1", "s_2"], method=method).fit(frame)
    assert_same(model.scoreModel, ScoreModel(named_method(method)).fit(scores, y), scores, method)


@pytest.mark.parametrize("combine", ["least_squares", "coupling"])
def test_a_code_is_calibrated_as_in_memory(spark, three_classes, combine):
    scores, y = three_classes
    pairs = scores[:, [0, 0, 1]] - scores[:, [1, 2, 2]]
    frame = frame_of(spark, pairs, y)
    given = (
        {"code": "all_pairs"} if combine == "least_squares" else {"code": all_pairs(3), "combine": combine}
    )
    model = ScoreCalibrator(scoresCols=["s_0", "s_1", "s_2"], method="pav", **given).fit(frame)
    expected = ScoreModel(named_method("pav"), code="all_pairs", combine=combine).fit(pairs, y)
    assert_same(model.scoreModel, expected, pairs, "pav")


@pytest.mark.parametrize("method", ["pav", "sigmoid", "binning", "venn_abers"])
def test_weights_count_as_in_memory(spark, two_classes, method):
    scores, y = two_classes
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 7
    frame = frame_of(spark, scores, y, w=weight)
    model = ScoreCalibrator(rawPredictionCol="s", method=method, weightCol="w").fit(frame)
    expected = ScoreModel(named_method(method)).fit(scores, y, weight)
    np.testing.assert_allclose(
        model.scoreModel.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-12
    )
    assert model.summary.n_rows == (weight > 0).sum()


def test_partitions_and_bins_make_no_difference(spark, two_classes, monkeypatch):
    scores, y = two_classes
    expected = fitted_numbers(ScoreModel(named_method("pav")).fit(scores, y))
    frame = frame_of(spark, scores, y, 1)
    calibrator = ScoreCalibrator(rawPredictionCol="s", method="pav", numBins=64)
    assert fitted_numbers(calibrator.fit(frame.repartition(1)).scoreModel) == expected
    # Ties across every border, partitions of single scores, empty ones, and summaries merged in a tree.
    monkeypatch.setattr(_engine, "FEW_PARTITIONS", 2)
    monkeypatch.setattr(_engine, "FAN_IN", 3)
    spread = frame.repartition(11, F.floor("s"))
    assert 0 in spread.groupBy(F.spark_partition_id()).count().toPandas()["count"].reindex(
        range(11), fill_value=0
    )
    tree = calibrator.copy({calibrator.maxRows: 50}).fit(spread.sortWithinPartitions("s"))
    assert fitted_numbers(tree.scoreModel) == expected
    # On the driver alone.
    monkeypatch.setattr(_engine, "SAMPLE_ROWS", 10_000)
    assert fitted_numbers(calibrator.fit(spread).scoreModel) == expected


@pytest.mark.parametrize("method", ["pav", "sigmoid", "binning", "venn_abers"])
def test_passes_on_the_driver_have_the_bits_of_those_on_executors(spark, two_classes, monkeypatch, method):
    monkeypatch.setattr(_engine, "FEW_PARTITIONS", 2)
    monkeypatch.setattr(_engine, "FAN_IN", 3)
    scores, y = two_classes
    weight = np.random.default_rng(9).random(len(y))
    rows = spark.createDataFrame(
        list(zip(scores.tolist(), y.tolist(), weight.tolist(), strict=True)), ["s", "label", "w"]
    )
    frame = rows.repartition(7, F.floor("s")).cache()
    calibrator = ScoreCalibrator(rawPredictionCol="s", method=method, weightCol="w", numBins=64)
    there = calibrator.fit(frame).scoreModel
    jobs = reduced_on_the_driver(monkeypatch)
    here = calibrator.fit(frame).scoreModel
    assert jobs
    assert to_document(here) == to_document(there)
    # Who lets fewer rows come gets them counted where they are.
    jobs.clear()
    calibrator.copy({calibrator.maxRows: 3999}).fit(frame)
    assert not jobs
    frame.unpersist()


def reduced_on_the_driver(monkeypatch):
    """Let rows come to the driver, and keep the tasks that are solved there."""
    here, tasks = _engine.FrameRows._merged_here, []
    monkeypatch.setattr(_engine, "MOST_COMING", 1 << 22)
    monkeypatch.setattr(
        _engine.FrameRows, "_merged_here", lambda self, text: tasks.append(text) or here(self, text)
    )
    return tasks


def test_an_unusable_row_is_named_by_the_driver_as_by_an_executor(spark, monkeypatch):
    rows = [(0.5 * n if n != 17 else float("nan"), n % 2) for n in range(900)]
    frame = spark.createDataFrame(rows, ["s", "label"]).repartition(3)
    said = []
    for most in (0, 1 << 22):
        monkeypatch.setattr(_engine, "MOST_COMING", most)
        with pytest.raises(DataError, match="must hold finite numbers") as error:
            ScoreCalibrator(rawPredictionCol="s", method="pav").fit(frame)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_what_is_measured_does_not_depend_on_the_order_of_rows(spark, two_classes, monkeypatch):
    monkeypatch.setattr("calibrant.models._plan.MANY_SCORES", 1000)
    scores, y = two_classes
    frame = frame_of(spark, scores, y)
    calibrator = ScoreCalibrator(rawPredictionCol="s", method="binning")
    first = calibrator.fit(frame.sortWithinPartitions("s")).summary
    second = calibrator.fit(frame.sortWithinPartitions(F.desc("s"), "label")).summary
    assert first.n_measured == second.n_measured
    assert first.metrics.log_loss == pytest.approx(second.metrics.log_loss, rel=1e-12)
    # Rows of the same numbers are spread over the folds: a fifth is left out though many scores are whole.
    assert 0.15 < first.n_measured / first.n_rows < 0.25
    assert first.metrics.log_loss == pytest.approx(
        ScoreModel(named_method("binning")).fit(scores, y).summary_.metrics.log_loss, rel=0.05
    )


def test_keys_keep_rows_together(spark, two_classes, monkeypatch):
    monkeypatch.setattr("calibrant.models._plan.MANY_SCORES", 1000)
    scores, y = two_classes
    customer = np.arange(len(y)) // 100
    frame = frame_of(spark, scores, y, customer=[f"c{number}" for number in customer])
    summary = ScoreCalibrator(rawPredictionCol="s", method="sigmoid", keyCol="customer").fit(frame).summary
    assert summary.n_measured % 100 == 0
    assert 0 < summary.n_measured < len(y)


def test_vectors_and_arrays_hold_the_same_scores_as_columns(spark, three_classes):
    scores, y = three_classes
    frame = frame_of(spark, scores, y)
    names = ["s_0", "s_1", "s_2"]
    expected = fitted_numbers(ScoreCalibrator(scoresCols=names).fit(frame).scoreModel)
    packed = frame.select(F.array(*names).alias("rawPrediction"), F.col("label").cast("double"))
    doubles = {"classes": {"type": "float", "values": [0.0, 1.0, 2.0]}}
    assert fitted_numbers(ScoreCalibrator().fit(packed).scoreModel) == expected | doubles
    dense = spark.createDataFrame(
        [(Vectors.dense(row), int(label)) for row, label in zip(scores, y, strict=True)],
        ["rawPrediction", "label"],
    )
    model = ScoreCalibrator().fit(dense)
    assert fitted_numbers(model.scoreModel) == expected
    one = model.transform(dense).select("probability", "prediction").first()
    two = model.transform(packed).select("probability", "prediction").where("prediction is not null").count()
    assert (one.probability.size, two) == (3, 3000)
    wanted = model.copy().setScoresCols(names).transform(frame).orderBy("s_0", "s_1", "s_2")
    got = np.array([row.probability.toArray() for row in wanted.select("probability").collect()])
    order = np.lexsort(scores.T[::-1])
    np.testing.assert_array_equal(got, model.scoreModel.predict_proba(scores[order]))


def test_of_two_scores_for_two_classes_the_second_is_used(spark, two_classes):
    scores, y = two_classes
    frame = frame_of(spark, scores, y)
    pair = frame.select(F.array(-F.col("s"), "s").alias("rawPrediction"), "label")
    model = ScoreCalibrator().fit(pair)
    assert fitted_numbers(model.scoreModel) == fitted_numbers(
        ScoreCalibrator(rawPredictionCol="s").fit(frame).scoreModel
    )
    assert model.transform(pair).where("prediction in (0, 1)").count() == len(y)


def test_labels_may_be_text_or_truth_values_and_classes_may_be_missing(spark):
    rows = [(float(i % 7), "yes" if i % 7 > 3 else "no", i % 7 > 3) for i in range(900)]
    frame = spark.createDataFrame(rows, ["s", "text", "truth"])
    text = ScoreCalibrator(rawPredictionCol="s", labelCol="text").fit(frame)
    assert text.classes == ["no", "yes"]
    assert {row.prediction for row in text.transform(frame).collect()} == {"no", "yes"}
    turned = ScoreCalibrator(rawPredictionCol="s", labelCol="truth", classes=[True, False], method="sigmoid")
    truth = turned.fit(frame)
    assert truth.classes == [True, False]
    assert truth.transform(frame).schema["prediction"].dataType.typeName() == "boolean"
    # Class 1 has no rows, as may happen in a fold: MLlib's labels count from 0.
    gap = spark.createDataFrame(
        [([1.0, 0.0, float(i % 3)], float(i % 2 * 2)) for i in range(900)], ["r", "label"]
    )
    assert ScoreCalibrator(rawPredictionCol="r").fit(gap).classes == [0, 1, 2]


def test_a_model_from_elsewhere_applies_and_one_from_here_applies_elsewhere(spark, two_classes, tmp_path):
    scores, y = two_classes
    here = ScoreModel("pav", cost={0: {0: 0, 1: 3}, 1: {0: 1, 1: 0}, "ask": {0: 0.5, 1: 0.5}}).fit(scores, y)
    frame = frame_of(spark, scores, y)
    model = ScoreCalibratorModel.fromModel(here).setRawPredictionCol("s")
    rows = model.transform(frame).collect()
    got = np.array([row.s for row in rows])
    assert [row.prediction for row in rows] == [str(value) for value in here.decide(got)]
    np.testing.assert_array_equal([row.probability.toArray() for row in rows], here.predict_proba(got))
    model.saveModel(tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict_proba(got), here.predict_proba(got))
    again = ScoreCalibratorModel.fromFile(tmp_path / "model.json")
    assert fitted_numbers(again.scoreModel) == fitted_numbers(here)
    # A bare calibrator too.
    assert ScoreCalibratorModel.fromModel(here.calibrator_).classes == [0, 1]


def test_costs_and_learned_rules(spark, three_classes):
    scores, y = three_classes
    frame = frame_of(spark, scores, y)
    cost = [[0, 1, 9], [1, 0, 1], [2, 1, 0]]
    calibrator = ScoreCalibrator(scoresCols=["s_0", "s_1", "s_2"], cost=cost, rule="parallel")
    model = calibrator.fit(frame).scoreModel
    np.testing.assert_array_equal(model.cost_, cost)
    assert model.rule_.cost_after_ <= model.rule_.cost_before_
    assert model.summary_.metrics.mean_cost is not None


def test_rows_that_cannot_be_used(spark, two_classes):
    scores, y = two_classes
    good = frame_of(spark, scores, y)
    bad = spark.createDataFrame(
        [(None, 1), (float("nan"), 0), (float("inf"), 1), (1.0, None)], "s double, label long"
    )
    mixed = good.unionByName(bad)
    with pytest.raises(
        DataError, match=r"'label' must hold a label in every row; 1 rows have none; set handleInv"
    ):
        ScoreCalibrator(rawPredictionCol="s").fit(mixed)
    with pytest.raises(DataError, match=r"the column 's' of .* must hold finite numbers; got .* in row \d+"):
        ScoreCalibrator(rawPredictionCol="s").fit(mixed.where("label is not null"))
    expected = fitted_numbers(ScoreCalibrator(rawPredictionCol="s").fit(good).scoreModel)
    skipping = ScoreCalibrator(rawPredictionCol="s", handleInvalid="skip").fit(mixed)
    keeping = ScoreCalibrator(rawPredictionCol="s", handleInvalid="keep").fit(mixed)
    assert fitted_numbers(skipping.scoreModel) == fitted_numbers(keeping.scoreModel) == expected
    assert skipping.transform(bad).count() == 1
    kept = keeping.transform(bad).collect()
    assert [row.probability is None for row in kept] == [True, True, True, False]
    assert [row.prediction is None for row in kept] == [True, True, True, False]
    with pytest.raises(
        SparkRuntimeException,
        match=r"the scores in 's' must be finite numbers; got \[(nan|inf)\]; set handle",
    ):
        skipping.setHandleInvalid("error").transform(bad).collect()


def test_unknown_labels_and_vectors_that_cannot_be_used(spark):
    rows = [([1.0, float(i % 5)], i % 2) for i in range(900)]
    frame = spark.createDataFrame(
        [*rows, ([1.0, 2.0], 7), (None, 1)], "rawPrediction array<double>, label int"
    )
    named = ScoreCalibrator(classes=[0, 1])
    with pytest.raises(
        DataError, match=r"must hold one of the classes 0, 1; got '7' in 1 rows; set handleInvalid"
    ):
        named.fit(frame)
    assert named.setHandleInvalid("keep").fit(frame).summary.n_rows == 900
    longer = spark.createDataFrame([*rows, ([1.0, 2.0, 3.0], 1)], ["rawPrediction", "label"])
    with pytest.raises(DataError, match=r"must hold vectors of one length; got lengths from 2 to 3"):
        ScoreCalibrator().fit(longer)
    model = ScoreCalibrator().fit(spark.createDataFrame(rows, ["rawPrediction", "label"]))
    three = spark.createDataFrame([([1.0, 2.0, 3.0],)], ["rawPrediction"])
    with pytest.raises(
        SparkRuntimeException, match=r"the model takes 1 scores per row; got 3 from 'rawPrediction'"
    ):
        model.transform(three).collect()
    negative = spark.createDataFrame([(1.0, 0, 1.0), (2.0, 1, -1.0)] * 300, ["s", "label", "w"])
    weighted = ScoreCalibrator(rawPredictionCol="s", weightCol="w")
    with pytest.raises(
        DataError, match=r"'w' of .* must hold weights that are not negative; got -1.0 in row"
    ):
        weighted.fit(negative)
    with pytest.raises(DataError, match=r"scores must have at least one row; got none"):
        weighted.setHandleInvalid("skip").setClasses(["a", "b"]).fit(negative)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rawPredictionCol": "z"}, r"the frame must have a column 'z'; it has s, label, name"),
        ({"rawPredictionCol": "s", "labelCol": "lable"}, r"a column 'lable'; .*; did you mean 'label'\?"),
        (
            {"rawPredictionCol": "name"},
            r"'name' must hold numbers, vectors or arrays of numbers; it holds string",
        ),
        ({"scoresCols": ["s", "name"]}, r"'name' must hold numbers; it holds string"),
        ({"scoresCols": ["s", "s"]}, r"scoresCols must name every column once; got s, s"),
        (
            {"scoresCols": ["s", "s2", "s3"], "labelCol": "name"},
            r"the columns s, s2, s3 must hold one score per class, 2 in all, or one .* of two classes; got 3",
        ),
        ({"rawPredictionCol": "s", "method": "plait"}, r"method must be one of .*; got 'plait'"),
        (
            {"rawPredictionCol": "s", "method": "accuracy_table"},
            r"takes one per class; pass a score for every class",
        ),
        ({"rawPredictionCol": "s", "rule": "parallel"}, r"cost must be given with a rule; got none"),
    ],
)
def test_wrong_settings(spark, given, message):
    frame = spark.createDataFrame([(1.0, 0, "a"), (2.0, 1, "b")], ["s", "label", "name"])
    if "s2" in given.get("scoresCols", ()):
        frame = frame.withColumn("s2", F.col("s")).withColumn("s3", F.col("s"))
    with pytest.raises((DataError, ParameterError), match=message):
        ScoreCalibrator(**given).fit(frame)


def test_no_rows_and_a_wrong_choice(spark):
    empty = spark.createDataFrame([], "s double, label double")
    with pytest.raises(DataError, match=r"the frame must have at least one row; it has none"):
        ScoreCalibrator(rawPredictionCol="s").fit(empty)
    with pytest.raises(ParameterError, match=r"handleInvalid must be .*; got 'drop'"):
        ScoreCalibrator(handleInvalid="drop")


def test_names_with_dots_and_columns_that_are_there_already(spark):
    rows = [(float(i % 9), i % 2, "kept") for i in range(500)]
    frame = spark.createDataFrame(rows, ["a.score", "b`label", "prediction"])
    model = ScoreCalibrator(rawPredictionCol="a.score", labelCol="b`label").fit(frame)
    judged = model.transform(frame)
    assert judged.columns == ["a.score", "b`label", "probability", "prediction"]
    assert judged.schema["prediction"].dataType.typeName() == "double"
    assert judged.schema["probability"].metadata == {"calibrant": {"classes": [0, 1]}}
