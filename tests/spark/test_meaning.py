"""Frames mean what they say: labels keep their type, columns have one use, errors are one line."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

from pyspark.errors import SparkRuntimeException
from pyspark.sql.types import DoubleType

from calibrant import ScoreDirectionWarning
from calibrant._core._errors import DataError
from calibrant.models import ScoreModel, load
from calibrant.spark import CostDecider, ScoreCalibrator, ScoreCalibratorModel, compare
from calibrant.spark._persistence import StageWriter

ROWS = [(float(i % 7 + 3 * (i % 2)), i % 2) for i in range(500)]


@pytest.mark.parametrize(
    ("column", "classes"),
    [
        ("cast(y + 1 as double)", [1.0, 2.0]),
        ("cast(y as float)", [0.0, 1.0]),
        ("cast(2 * y - 1 as double)", [-1.0, 1.0]),
        ("cast(y + 1 as int)", [1, 2]),
        ("cast(y as bigint)", [0, 1]),
        ("cast(y as decimal(4, 1))", [0, 1]),
        ("y = 1", [False, True]),
        ("cast(y as string)", ["0", "1"]),
    ],
)
def test_labels_have_the_type_of_their_column(spark, column, classes, tmp_path):
    frame = spark.createDataFrame(ROWS, ["s", "y"]).selectExpr("s", f"{column} as label")
    model = ScoreCalibrator(rawPredictionCol="s", method="sigmoid").fit(frame)
    model.saveModel(tmp_path / "model.json")
    for found in (model.classes, load(tmp_path / "model.json").classes_.tolist()):
        assert [(value, type(value)) for value in found] == [(value, type(value)) for value in classes]
    judged = model.transform(frame)
    assert {row.prediction for row in judged.collect()} == set(classes)
    if isinstance(classes[0], float):
        assert judged.schema["prediction"].dataType == DoubleType()
        assert judged.schema["probability"].metadata["calibrant"]["classes"] == classes


def test_vectors_count_the_classes_in_the_type_of_the_labels(spark):
    rows = [([1.0, 0.0, float(i % 3)], float(i % 2 * 2)) for i in range(900)]
    model = ScoreCalibrator(rawPredictionCol="r").fit(spark.createDataFrame(rows, ["r", "label"]))
    assert [(value, type(value)) for value in model.classes] == [(0.0, float), (1.0, float), (2.0, float)]


def message_of(frame):
    with pytest.raises(SparkRuntimeException) as caught:
        frame.collect()
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert "Traceback" not in text
    return text


def test_errors_at_apply_are_one_line_that_names_the_column(spark):
    scores, y = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0, 1, 0, 1, 0, 1]
    alone = ScoreCalibratorModel.fromModel(ScoreModel("sigmoid").fit(scores, y)).setRawPredictionCol("s")
    for bad in (float("nan"), float("inf"), None):
        frame = spark.createDataFrame([(1.0,), (bad,), (2.0,)], "s double")
        assert "the scores in 's' must be finite numbers; got [" in message_of(alone.transform(frame))
    matrix = np.stack([scores, scores[::-1]], axis=1)
    several = ScoreCalibratorModel.fromModel(ScoreModel("sigmoid").fit(matrix, y)).setScoresCols(["a", "b"])
    frame = spark.createDataFrame([(1.0, 2.0), (1.0, None)], "a double, b double")
    assert "the scores in 'b' must be finite numbers; got nan" in message_of(several.transform(frame))
    ragged = spark.createDataFrame([([1.0, 2.0],), ([1.0, 2.0, 3.0],)], "s array<double>").coalesce(1)
    assert "the model takes 1 scores per row; got 3 from 's'" in message_of(alone.transform(ragged))
    taken = ScoreModel("identity").fit([0.2, 0.4, 0.7, 0.9], [0, 1, 0, 1])
    margins = spark.createDataFrame([(3.5,)], ["s"])
    text = message_of(ScoreCalibratorModel.fromModel(taken).setRawPredictionCol("s").transform(margins))
    assert "must lie in [0, 1]; got 3.5" in text
    assert "'s'" in text
    above = spark.createDataFrame([([0.2, 1.8],)], ["probability"])
    decided = CostDecider(cost=[[0, 1], [1, 0]]).transform(above)
    assert "probability must lie in [0, 1]; got 1.8" in message_of(decided)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rawPredictionCol": "label"}, "'label' for two"),
        ({"rawPredictionCol": "s", "weightCol": "s"}, "'s' for two"),
        ({"rawPredictionCol": "s", "weightCol": "label"}, "'label' for two"),
        ({"scoresCols": ["s", "label"]}, "'label' for two"),
        ({"rawPredictionCol": "s", "keyCol": "label"}, "'label' for two"),
        # An identifier among the scores is no class that never occurs.
        ({"scoresCols": ["s", "t", "id"]}, "s, t, id must hold one score per class, 2 in all"),
    ],
)
def test_a_column_has_one_use_and_a_score_column_a_class(spark, given, message):
    rows = [(s, -s, float(i), y) for i, (s, y) in enumerate(ROWS)]
    frame = spark.createDataFrame(rows, ["s", "t", "id", "label"])
    with pytest.raises(DataError, match=message):
        ScoreCalibrator(**given).fit(frame)


def test_a_class_that_is_named_may_have_no_rows(spark):
    rows = [(-s, s, 0.0, y) for s, y in ROWS]
    frame = spark.createDataFrame(rows, ["s", "t", "u", "label"])
    model = ScoreCalibrator(scoresCols=["s", "t", "u"], classes=[0, 1, 2]).fit(frame)
    assert model.classes == [0, 1, 2]


def test_scores_that_point_the_wrong_way_warn_once(spark):
    frame = spark.createDataFrame([(-s, ["current", "default"][y]) for s, y in ROWS], ["s", "label"])
    for fit in (
        ScoreCalibrator(rawPredictionCol="s", method="pav").fit,
        lambda frame: compare(frame, rawPredictionCol="s", cv=2),
    ):
        with pytest.warns(
            ScoreDirectionWarning, match="rank 'default' above 'current'.*increasing=False"
        ) as seen:
            fit(frame)
        assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScoreCalibrator(rawPredictionCol="s", method="sigmoid").fit(frame)
        ScoreCalibrator(rawPredictionCol="s").fit(frame)  # the stack makes use of them
        ScoreCalibrator(rawPredictionCol="s", classes=["default", "current"], method="pav").fit(frame)


class StoppedError(Exception):
    """Somebody has pulled the plug."""


@pytest.mark.parametrize("damages", [False, True])
def test_whoever_overwrites_may_be_stopped_anywhere(spark, tmp_path, monkeypatch, damages):
    """Before each write, or when it has removed the old files: the old model is there, or the new one."""
    old, new = (
        ScoreCalibratorModel.fromModel(ScoreModel("sigmoid").fit([-2.0, -1, 1, 2], labels))
        for labels in (["a", "b", "a", "b"], ["c", "d", "c", "d"])
    )
    write, found = StageWriter._write, []
    for n_writes in range(5):
        folder, left = tmp_path / f"{n_writes}", [n_writes]

        def stops(self, path, lines, left=left):
            left[0] -= 1
            if left[0] < 0:
                if damages:
                    write(self, path, [])
                raise StoppedError
            write(self, path, lines)

        old.save(str(folder))
        with monkeypatch.context() as patched:
            patched.setattr(StageWriter, "_write", stops)
            with suppress(StoppedError):
                new.write().overwrite().save(str(folder))
        found.append(ScoreCalibratorModel.load(str(folder)).classes)
        new.write().overwrite().save(str(folder))
        assert ScoreCalibratorModel.load(str(folder)).classes == ["c", "d"]
    assert found == [["a", "b"]] + [["c", "d"]] * 4


def test_a_stage_is_not_written_over_another_unasked(spark, tmp_path):
    stage = CostDecider(cost=[[0, 1], [1, 0]])
    stage.save(str(tmp_path / "stage"))
    with pytest.raises(Exception, match="exists"):
        stage.setPredictionCol("other").save(str(tmp_path / "stage"))
    assert CostDecider.load(str(tmp_path / "stage")).getPredictionCol() == "prediction"
