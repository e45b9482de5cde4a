"""Watching on a cluster gives the state of the same rows in memory; a stream does, batch by batch."""

import json
import os
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pandas as pd
from pyspark.errors import PythonException
from pyspark.sql import functions as F

from calibrant import CalibrationMonitor
from calibrant._core._errors import DataError, ParameterError
from calibrant.spark import MonitorBatches, monitor

N = 3000


@pytest.fixture(scope="module")
def log():
    """Rows in time order: the third class comes too often from the middle on; some labels are missing."""
    rng = np.random.default_rng(4)
    proba = rng.dirichlet(np.ones(3), N)
    true = proba.copy()
    true[N // 2 :, 2] *= 3
    truth = (true.cumsum(axis=1) / true.sum(axis=1, keepdims=True) > rng.random((N, 1))).argmax(axis=1)
    label = np.array(["a", "b", "c"], dtype=object)[truth]
    label[::50] = None
    first = datetime(2026, 1, 1, tzinfo=UTC)
    return pd.DataFrame(
        {
            "when": [first + timedelta(minutes=each) for each in range(N)],
            "probability": proba.tolist(),
            "label": label,
            "model": rng.choice(["new", "old"], N),
            "region": rng.choice(["north", "south"], N),
        }
    )


def in_memory(rows, **parameters):
    watching = CalibrationMonitor(classes=["a", "b", "c"], **parameters)
    times = rows["when"].dt.tz_localize(None).to_numpy()
    groups = {"region": rows["region"].to_numpy()}
    return watching.update(np.array(rows["probability"].tolist()), rows["label"].to_numpy(), times, groups)


OPTIONS = {"timeCol": "when", "groupCols": ["region"], "classes": ["a", "b", "c"]}


@pytest.fixture(scope="module")
def frame(spark, log):
    return spark.createDataFrame(log.sample(frac=1, random_state=0)).repartition(3).cache()


def test_the_state_is_that_of_the_rows_in_memory(frame, log):
    found = monitor(frame, **OPTIONS, window=500)
    assert found.to_json() == in_memory(log, window=500).to_json()
    assert found.alarms[0].label == "c"


def test_streams_are_watched_side_by_side(frame, log):
    found = monitor(frame, **OPTIONS, by="model")
    assert list(found) == ["new", "old"]
    for name, each in found.items():
        assert each.to_json() == in_memory(log[log["model"] == name]).to_json()


def test_what_is_wrong_is_named(frame):
    with pytest.raises(DataError, match="must have a column 'wehn'.*did you mean 'when'"):
        monitor(frame, timeCol="wehn")
    with pytest.raises(ParameterError, match="by must not come with start"):
        monitor(frame, by="model", start=CalibrationMonitor(classes=["a", "b", "c"]))
    with pytest.raises(PythonException, match="must hold one of the classes a, b, d"):
        monitor(frame, **OPTIONS | {"classes": ["a", "b", "d"]})
    assert monitor(frame.limit(0), **OPTIONS).n_rows == 0


def test_a_stream_is_watched_batch_by_batch_and_resumed(spark, log, tmp_path):
    source, state = tmp_path / "log", tmp_path / "state.json"
    source.mkdir()
    schema = spark.createDataFrame(log).schema
    heard = []

    def run(*cuts):
        """Write some rows as files, one for every batch, and let the stream come to its end."""
        for low, high in cuts:
            rows = [
                json.dumps(each | {"when": each["when"].isoformat()})
                for each in log.iloc[low:high].to_dict("records")
            ]
            path = source / f"{low:05}.json"
            path.write_text("\n".join(rows))
            os.utime(path, (1e9 + low, 1e9 + low))  # Spark takes the oldest file first
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(source))
        watch = MonitorBatches(state, on_alarm=lambda _, alarm: heard.append(alarm), **OPTIONS, window=500)
        query = stream.writeStream.foreachBatch(watch).option("checkpointLocation", str(tmp_path / "points"))
        query.trigger(availableNow=True).start().awaitTermination()

    run((0, 700), (700, 1600))
    known = CalibrationMonitor.from_json(state.read_text())
    assert known.to_json() == in_memory(log[:1600], window=500).to_json()
    run((1600, N))
    whole = in_memory(log, window=500)
    assert CalibrationMonitor.from_json(state.read_text()).to_json() == whole.to_json()
    assert heard == list(whole.alarms)
    assert json.loads(state.read_text())["batch"] == 2


def test_a_batch_that_is_given_again_counts_once_and_late_rows_can_be_left_out(frame, log, tmp_path):
    watch = MonitorBatches(tmp_path / "state.json", **OPTIONS, handleInvalid="skip")
    half = log["when"].iloc[N // 2]
    late, early = frame.filter(F.col("when") >= half), frame.filter(F.col("when") < half)
    watch(late, 0)
    watch(late, 0)
    assert watch.monitor.n_rows == N - N // 2
    watch(early, 1)
    assert watch.monitor.n_rows == N - N // 2
    again = MonitorBatches(tmp_path / "state.json", **OPTIONS)
    with pytest.raises(PythonException, match="times must not go back"):
        again(early, 2)
