"""Groups on a cluster: the corrections are those that the same plan finds here."""

import datetime

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pandas as pd
import pyarrow as pa
from scipy.special import expit

from calibrant import ScoreModel
from calibrant._core._errors import DataError
from calibrant.files import fit, labelled
from calibrant.models import _plan
from calibrant.spark import ScoreCalibrator, ScoreCalibratorModel

N = 6000


@pytest.fixture(scope="module")
def rows():
    """Regions whose levels differ; some rows have none."""
    rng = np.random.default_rng(0)
    region = rng.integers(0, 9, N)
    score = 1.5 * rng.normal(size=N)
    came = rng.random(N) < expit(score + np.linspace(-1.2, 1.2, 9)[region])
    names = np.array([f"region {each}" for each in range(9)], dtype=object)[region]
    names[rng.random(N) < 0.02] = None
    return pd.DataFrame({"score": score, "label": came.astype(int), "region": names, "row": np.arange(N)})


def here(rows, **more):
    """The same plan in this process, with the same folds."""
    given = labelled(pa.Table.from_pandas(rows), scores="score", label="label", key="row", by="region")
    return fit(ScoreModel("sigmoid"), given, in_passes=True, **more)


def effects(model):
    """Corrections by the names of the groups."""
    kept = model.groups_
    order = np.argsort(kept.names)
    return np.column_stack([kept.intercepts, kept.slopes])[order], sorted(kept.names)


def on_spark(spark, rows, **more):
    frame = spark.createDataFrame(rows).repartition(3)
    given = {"rawPredictionCol": "score", "method": "sigmoid", "keyCol": "row", "groupCol": "region"}
    return frame, ScoreCalibrator(**(given | more)).fit(frame)


@pytest.mark.parametrize("beyond", [False, True], ids=["all rows are kept", "more rows than are kept"])
def test_the_corrections_are_those_of_the_same_plan_here(spark, rows, monkeypatch, beyond):
    if beyond:
        monkeypatch.setattr(_plan, "MANY_SCORES", 1000)
        monkeypatch.setattr(_plan, "MOST_HELD_OUT", 500)
    frame, model = on_spark(spark, rows)
    expected = here(rows)
    (ours, names), (theirs, known) = effects(model.scoreModel), effects(expected)
    assert names == known
    assert np.abs(theirs).max() > 0.3
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    assert model.scoreModel.groups_.column == "region"
    proba = np.array([row.probability.toArray() for row in model.transform(frame).orderBy("row").collect()])
    wanted = model.scoreModel.predict_proba(rows["score"], by=rows["region"].to_numpy())
    np.testing.assert_allclose(proba, wanted, rtol=0, atol=1e-12)


def test_a_model_with_groups_is_saved_and_used_with_another_name(spark, rows, tmp_path):
    frame, model = on_spark(spark, rows)
    model.write().overwrite().save(str(tmp_path / "stage"))
    again = ScoreCalibratorModel.load(str(tmp_path / "stage")).setGroupCol("land")
    renamed = frame.withColumnRenamed("region", "land")
    first = model.transform(frame).orderBy("row").first()
    assert again.transform(renamed).orderBy("row").first().probability == first.probability
    with pytest.raises(DataError, match="the frame must have a column 'land'"):
        again.transform(frame)
    model.saveModel(tmp_path / "m.json")
    loaded = ScoreCalibratorModel.fromFile(tmp_path / "m.json").setRawPredictionCol("score")
    assert loaded.transform(frame).orderBy("row").first().probability == first.probability


def test_groups_of_any_type_are_known_by_their_text(spark, rows):
    number = rows["region"].map(lambda name: None if name is None else int(name.split()[1]))
    kinds = {
        "long": ("bigint", number),
        "double": ("double", number.astype(float)),
        "date": ("date", number.map(lambda n: None if np.isnan(n) else datetime.date(2026, 1, 1 + int(n)))),
    }
    texts = {"long": "3", "double": "3", "date": "2026-01-04"}
    for kind, (type_, values) in kinds.items():
        plain = [None if pd.isna(each) else int(each) if kind == "long" else each for each in values]
        data = list(zip(rows["score"].tolist(), rows["label"].tolist(), plain, strict=True))
        frame = spark.createDataFrame(data, f"score double, label int, region {type_}")
        fitted = ScoreCalibrator(rawPredictionCol="score", method="sigmoid", groupCol="region").fit(frame)
        names = fitted.scoreModel.groups_.names
        assert len(names) == 9, kind
        assert texts[kind] in names
        answers = fitted.transform(frame.limit(50)).collect()
        by = [None if row.region is None else str(row.region).removesuffix(".0") for row in answers]
        wanted = fitted.scoreModel.predict_proba(
            [row.score for row in answers], by=np.array(by, dtype=object)
        )
        np.testing.assert_allclose([row.probability.toArray() for row in answers], wanted, atol=1e-12)


def test_what_is_refused(spark, rows):
    with pytest.raises(DataError, match="the column 'region' must name a group; got none"):
        on_spark(
            spark, rows.assign(region=pd.Series([None] * N, dtype="object")).astype({"region": "string"})
        )
    with pytest.raises(DataError, match="the frame must have a column 'regio'; it has .* did you mean"):
        on_spark(spark, rows, groupCol="regio")
    with pytest.raises(DataError, match="a column must have one use; got 'label' for two"):
        on_spark(spark, rows, groupCol="label")
