"""What doctests need that a reader of them has: a Spark session, where pyspark is installed."""

import doctest
import os
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from calibrant._core._lazy import FILES

HAS_SPARK = find_spec("pyspark") is not None
collect_ignore_glob = [] if HAS_SPARK else ["calibrant/spark/*", "calibrant/cli/_fit_spark.py"]


_is_of = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _is_of_file(self: Any, module: Any, thing: Any) -> bool:
    """Examples of what says that it is of a room are collected with its file."""
    named = isinstance(thing, type) and thing in FILES
    return FILES[thing] == module.__name__ if named else bool(_is_of(self, module, thing))


doctest.DocTestFinder._from_module = _is_of_file  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _spark_for_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    if HAS_SPARK and "calibrant/spark" in request.node.path.as_posix():
        from pyspark.sql import SparkSession  # noqa: PLC0415

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        doctest_namespace["spark"] = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
