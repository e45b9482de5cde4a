"""A worker is lost in the middle of a fit, on a real cluster of a master and two workers."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pyarrow as pa
import pyarrow.parquet as pq

from spark.cluster import Cluster, end_with_children

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A folder of files, enough for several tasks per worker and pass."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(13)
    for number in range(12):
        scores = rng.normal(size=5_000)
        label = (rng.random(5_000) < 1 / (1 + np.exp(-scores))).astype(np.int64)
        table = pa.table({"s": scores, "label": label, "w": rng.random(5_000)})
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def start_fit(cluster, rows, out):
    mark = out.with_suffix(".mark")
    command = [sys.executable, HERE / "fit_on_cluster.py", cluster.url, rows, out, mark]
    with out.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    return process, mark


def finish(process, out):
    try:
        assert process.wait(timeout=300) == 0, out.with_suffix(".log").read_text()[-4000:]
    finally:
        end_with_children(process)


def test_a_lost_worker_changes_nothing(rows, tmp_path):
    with Cluster(tmp_path) as cluster:
        process, _ = start_fit(cluster, rows, tmp_path / "whole.json")
        finish(process, tmp_path / "whole.json")
        process, mark = start_fit(cluster, rows, tmp_path / "lost.json")
        try:
            while not mark.exists() and process.poll() is None:
                time.sleep(0.05)
            assert process.poll() is None, "the fit has ended before the worker could be lost"
            end_with_children(cluster.workers[0])
        finally:
            finish(process, tmp_path / "lost.json")
    assert (tmp_path / "whole.json.executors").read_text() == "2"
    assert (tmp_path / "lost.json.executors").read_text() == "1"
    for name in ("json", "json.weighted"):  # weights are added in the same order too
        assert (tmp_path / f"lost.{name}").read_bytes() == (tmp_path / f"whole.{name}").read_bytes()
