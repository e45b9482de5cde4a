"""Stages behave as those of pyspark.ml: parameters, copies, pipelines, cross-validation, files."""

import gc
import json
import warnings

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

from calibrant._core._errors import DataError
from calibrant.models import ModelFileError, ScoreModel, load, to_document
from calibrant.spark import (
    CalibrationEvaluator,
    CostDecider,
    CostRule,
    CostRuleModel,
    ScoreCalibrator,
    ScoreCalibratorModel,
    _engine,
)


@pytest.fixture
def flowers(spark):
    """Two features and a text label that follows from their sum, more or less."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(1500, 2))
    label = np.where(points.sum(axis=1) + rng.normal(size=1500) > 0, "rose", "lily")
    rows = [(float(a), float(b), str(name)) for (a, b), name in zip(points, label, strict=True)]
    return spark.createDataFrame(rows, ["a", "b", "name"]).repartition(2).cache()


SETTINGS = {
    ScoreCalibrator: {
        "labelCol": "y",
        "rawPredictionCol": "r",
        "scoresCols": ["s", "t"],
        "probabilityCol": "p",
        "predictionCol": "d",
        "weightCol": "w",
        "keyCol": "k",
        "handleInvalid": "keep",
        "method": "binning",
        "methodParams": {"n_bins": 7},
        "kind": "probability",
        "combine": "coupling",
        "code": [[1, -1], [-1, 1]],
        "classes": ["no", "yes"],
        "cost": {"no": {"no": 0.0, "yes": 2.0}, "yes": {"no": 1.0, "yes": 0.0}},
        "rule": "parallel",
        "numBins": 100,
        "maxRows": 200,
    },
    CostDecider: {
        "cost": [[0.0, 1.0], [2.0, 0.0]],
        "probabilityCol": "p",
        "predictionCol": "d",
        "classes": [3, 4],
        "handleInvalid": "skip",
    },
    CostRule: {
        "cost": {0: {0: 0.0, 1: 1.0}, 1: {0: 3.0, 1: 0.0}},
        "rule": "lachiche_flach",
        "probabilityCol": "p",
        "labelCol": "y",
        "weightCol": "w",
        "predictionCol": "d",
        "classes": [0, 1],
        "handleInvalid": "keep",
        "maxRows": 50,
        "seed": 3,
    },
    CalibrationEvaluator: {
        "metricName": "brierScore",
        "probabilityCol": "p",
        "labelCol": "y",
        "weightCol": "w",
        "classes": ["a", "b"],
    },
}


def values(stage, names):
    return {name: getattr(stage, f"get{name[0].upper()}{name[1:]}")() for name in names}


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_settings_by_keyword_by_setter_in_copies_and_in_files(spark, kind, tmp_path):
    given = SETTINGS[kind]
    stage = kind(**given)
    assert values(stage, given) == given
    by_setter = kind()
    for name, value in given.items():
        assert getattr(by_setter, f"set{name[0].upper()}{name[1:]}")(value) is by_setter
    assert values(by_setter, given) == given
    assert values(kind().setParams(**given), given) == given
    changed = stage.copy({stage.probabilityCol: "other"})
    assert (changed.getProbabilityCol(), stage.getProbabilityCol()) == ("other", "p")
    assert changed.uid == stage.uid
    stage.save(str(tmp_path / "stage"))
    again = kind.load(str(tmp_path / "stage"))
    assert values(again, given) == given
    assert again.uid == stage.uid
    with pytest.raises(TypeError, match="forces keyword arguments"):
        kind("label")


def test_no_name_of_a_private_file_is_saved(spark, tmp_path):
    CostDecider(cost=[[0, 1], [1, 0]]).save(str(tmp_path / "stage"))
    [text] = (tmp_path / "stage" / "metadata").glob("part-*")
    assert json.loads(text.read_text())["class"] == "calibrant.spark.CostDecider"
    with pytest.raises(
        DataError, match=r"must hold a calibrant\.spark\.CostRule; it holds a calibrant\.spark\.CostD"
    ):
        CostRule.load(str(tmp_path / "stage"))


def test_a_pipeline_is_fitted_saved_and_loaded(spark, flowers, tmp_path):
    pipeline = Pipeline(
        stages=[
            StringIndexer(inputCol="name", outputCol="label"),
            VectorAssembler(inputCols=["a", "b"], outputCol="features"),
            LogisticRegression(probabilityCol="p0", predictionCol="d0"),
            ScoreCalibrator(method="sigmoid"),
            CostDecider(cost=[[0, 9], [1, 0]], predictionCol="action"),
        ]
    )
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(flowers)
    model.write().overwrite().save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    columns = ("probability", "prediction", "action")
    expected = model.transform(flowers).select(*columns).collect()
    assert again.transform(flowers).select(*columns).collect() == expected
    assert {row.action for row in expected} == {0.0, 1.0}
    assert sum(row.action for row in expected) > sum(row.prediction for row in expected)


def test_a_saved_model_holds_the_file_of_any_other_model(spark, flowers, tmp_path):
    model = ScoreCalibrator(rawPredictionCol="a", labelCol="name").fit(flowers)
    model.save(str(tmp_path / "folder"))
    model.saveModel(tmp_path / "model.json")
    [text] = (tmp_path / "folder" / "model").glob("part-*")
    assert text.read_bytes() == (tmp_path / "model.json").read_bytes()
    assert to_document(load(tmp_path / "model.json")) == to_document(model.scoreModel)
    assert not list(tmp_path.rglob("*.pkl"))
    loaded = ScoreCalibratorModel.load(str(tmp_path / "folder"))
    assert (loaded.getRawPredictionCol(), loaded.uid, loaded.classes) == ("a", model.uid, ["lily", "rose"])
    text.write_text(text.read_text().replace('"classes"', '"klasses"'))
    (text.parent / f".{text.name}.crc").unlink()
    with pytest.raises(ModelFileError, match=r"folder/model"):
        ScoreCalibratorModel.load(str(tmp_path / "folder"))


def test_copies_of_models_keep_the_model(spark, flowers):
    model = ScoreCalibrator(rawPredictionCol="a", labelCol="name").fit(flowers)
    other = model.copy({model.probabilityCol: "p"})
    assert other.scoreModel is model.scoreModel
    assert other.transform(flowers).columns == ["a", "b", "name", "p", "prediction"]
    assert model.transform(flowers, {model.predictionCol: ""}).columns == ["a", "b", "name", "probability"]
    assert model.hasParam("rawPredictionCol")
    assert repr(model) == f"ScoreCalibratorModel: uid={model.uid}, numClasses=2"


def test_fit_takes_a_map_of_parameters(spark, flowers, monkeypatch):
    monkeypatch.setattr(_engine, "SAMPLE_ROWS", 10_000)
    calibrator = ScoreCalibrator(rawPredictionCol="a", labelCol="name")
    sigmoid, binning = calibrator.fit(
        flowers, [{calibrator.method: "sigmoid"}, {calibrator.method: "binning"}]
    )
    assert to_document(sigmoid.scoreModel)["calibrator"]["kind"] == "sigmoid"
    assert to_document(binning.scoreModel)["calibrator"]["kind"] == "binning"


def test_cross_validation_chooses_a_method(spark, flowers, monkeypatch, tmp_path):
    monkeypatch.setattr(_engine, "SAMPLE_ROWS", 10_000)
    calibrator = ScoreCalibrator(rawPredictionCol="a", labelCol="name")
    grid = ParamGridBuilder().baseOn({calibrator.method: "binning"})
    grid = grid.addGrid(calibrator.methodParams, [{"n_bins": 2}, {"n_bins": 20}]).build()
    evaluator = CalibrationEvaluator(labelCol="name")
    cross = CrossValidator(
        estimator=calibrator, estimatorParamMaps=grid, evaluator=evaluator, numFolds=3, seed=1, parallelism=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Spark leaves its threads to the collector
        fitted = cross.fit(flowers)
        gc.collect()
    assert fitted.avgMetrics[1] < fitted.avgMetrics[0]  # less is better
    assert fitted.bestModel.scoreModel.calibrator_.n_bins == 20
    fitted.save(str(tmp_path / "cross"))
    again = CrossValidatorModel.load(str(tmp_path / "cross"))
    assert again.avgMetrics == fitted.avgMetrics
    assert to_document(again.bestModel.scoreModel) == to_document(fitted.bestModel.scoreModel)


def test_a_learned_rule_is_saved(spark, tmp_path):
    rows = [([p / 20, 1 - p / 20], "a" if i % 20 < p else "b") for p in range(21) for i in range(20)]
    frame = spark.createDataFrame(rows, ["probability", "label"])
    costs = {"a": {"a": 0, "b": 1}, "b": {"a": 6, "b": 0}}
    model = CostRule(cost=costs, classes=["a", "b"]).fit(frame)
    model.save(str(tmp_path / "rule"))
    again = CostRuleModel.load(str(tmp_path / "rule"))
    assert again.classes == ["a", "b"]
    expected = model.transform(frame).select("prediction").collect()
    assert again.transform(frame).select("prediction").collect() == expected
    assert to_document(again.rule) == to_document(model.rule)


def test_a_model_without_a_model_says_so():
    with pytest.raises(ValueError, match="scoreModel must be given to make a model by hand; use fromModel"):
        _ = ScoreCalibratorModel().scoreModel
    with pytest.raises(ValueError, match="fit"):
        ScoreCalibratorModel.fromModel(ScoreModel())
