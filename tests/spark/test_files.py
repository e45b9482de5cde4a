"""Folders of Parquet: a damaged file, and a thousand small ones."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pyarrow as pa
import pyarrow.parquet as pq

from calibrant.models import ScoreModel, to_document
from calibrant.spark import ScoreCalibrator, _engine


def write_folder(folder, scores, label, n_files):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(label)), n_files)):
        table = pa.table({"s": scores[rows], "label": label[rows]})
        pq.write_table(table, folder / f"part-{number:04}.parquet")


def test_a_damaged_file_is_named_and_nothing_is_written(spark, two_classes, tmp_path):
    write_folder(tmp_path / "rows", *two_classes, 5)
    damaged = tmp_path / "rows" / "part-0003.parquet"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 3] + bytes(len(whole) // 3) + whole[2 * len(whole) // 3 :])
    frame = spark.read.schema("s double, label long").parquet(str(tmp_path / "rows"))
    with pytest.raises(Exception, match=r"part-0003\.parquet"):
        ScoreCalibrator(rawPredictionCol="s").fit(frame).saveModel(tmp_path / "model.json")
    good = spark.createDataFrame([(0.0, 0), (1.0, 1)] * 300, ["s", "label"])
    model = ScoreCalibrator(rawPredictionCol="s").fit(good)
    with pytest.raises(Exception, match=r"part-0003\.parquet"):
        model.transform(frame).write.parquet(str(tmp_path / "judged"))
    assert not list(tmp_path.glob("judged/part-*"))
    assert not (tmp_path / "judged" / "_SUCCESS").exists()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "judged") == ["rows"]


def test_a_million_rows_in_a_thousand_files(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(_engine, "SAMPLE_ROWS", 1 << 17)
    rng = np.random.default_rng(12)
    scores = rng.normal(size=1_000_000).astype(np.float32).astype(np.float64)
    label = (rng.random(1_000_000) < 1 / (1 + np.exp(-scores))).astype(np.int64)
    write_folder(tmp_path / "rows", scores, label, 1000)
    frame = spark.read.parquet(str(tmp_path / "rows"))
    model = ScoreCalibrator(rawPredictionCol="s", method="pav").fit(frame)
    expected = ScoreModel("pav").fit(scores, label)
    ours, theirs = (to_document(each.calibrator_)["fitted"] for each in (model.scoreModel, expected))
    assert ours == theirs
    assert model.summary.n_rows == 1_000_000
