"""A real session for all tests of Spark, small enough for two cores."""

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "700",  # so that partitions have several batches
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("calibrant tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.config(
        "spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse"))
    ).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _passes_on_the_cluster(monkeypatch):
    """Frames of a few thousand rows are small enough for the driver; here the cluster has to work."""
    if find_spec("pyspark") is not None:
        from calibrant.spark import _engine

        monkeypatch.setattr(_engine, "SAMPLE_ROWS", 400)
        monkeypatch.setattr(_engine, "MOST_COMING", 0)


@pytest.fixture
def two_classes():
    """Scores, 0/1 labels; some scores come again and again."""
    rng = np.random.default_rng(5)
    scores = np.where(rng.random(4000) < 0.5, rng.normal(size=4000), rng.integers(-2, 3, 4000))
    return scores, (rng.random(4000) < 1 / (1 + np.exp(-scores))).astype(np.int64)


@pytest.fixture
def three_classes():
    """A score for each of three classes, and labels."""
    rng = np.random.default_rng(6)
    label = rng.integers(0, 3, 3000)
    scores = rng.normal(size=(3000, 3)).round(2)
    scores[np.arange(3000), label] += 1.0
    return scores, label
