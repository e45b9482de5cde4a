"""Calibration on Spark beside MLlib's isotonic regression: `python -m benchmarks.spark [rows ...]`.

It needs pyspark, which wants another pandas than the rest: run it in the environment that `make spark` makes.
Starting the session, making the rows and one warm-up fit of each are not counted.
"""

import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from benchmarks.measure import Row, in_turn, seconds
from benchmarks.tables import RESULTS, markdown

#: Cores and memory of the session: small, as the other benchmarks run on two cores too.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "3g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "OFF",
}
N_CLASSES = 10
#: From so many rows on there is more to gain; below, the overhead of Spark weighs more.
MANY = 10_000_000


def spark(sizes: tuple[int, ...] = (1_000_000,)) -> Iterator[Row]:
    """Isotonic calibration of the same cached frame, by us and by MLlib; ten classes beside one; applying."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        for n in sizes:
            yield from _one_score(session, n)
            yield from _ten_classes(session, n)
    finally:
        session.stop()


def _one_score(session: Any, n: int) -> Iterator[Row]:
    from pyspark.ml.regression import IsotonicRegression
    from pyspark.sql import functions as F  # noqa: N812

    from calibrant.spark import ScoreCalibrator

    rows = session.range(n, numPartitions=4).select(F.randn(1).alias("score"), F.rand(2).alias("chance"))
    happened = F.col("chance") < 1 / (1 + F.exp(-F.col("score")))
    frame = rows.select("score", happened.cast("double").alias("label")).cache()
    frame.count()
    repeats = 3
    ours = ScoreCalibrator(rawPredictionCol="score", method="pav")
    theirs = IsotonicRegression(featuresCol="score")
    mine, other = in_turn(lambda: ours.fit(frame), lambda: theirs.fit(frame), repeats)
    peer = "MLlib IsotonicRegression"
    goal = ">= 3" if n >= MANY else ">= 2"
    yield Row(f"Spark local[2]: PAV fit, n = {n:,}", peer, mine, other, "s", other / mine, goal)
    model, isotonic = ours.fit(frame), theirs.fit(frame)

    def judged(stage: Any) -> None:
        stage.transform(frame).write.format("noop").mode("overwrite").save()

    mine, other = in_turn(lambda: judged(model), lambda: judged(isotonic), 3 * repeats)
    yield Row(f"Spark local[2]: apply, n = {n:,}", peer, mine, other, "s", mine / other, "<= 3")
    frame.unpersist()


def _ten_classes(session: Any, n: int) -> Iterator[Row]:
    from pyspark.sql import functions as F  # noqa: N812

    from calibrant.spark import ScoreCalibrator

    rows = session.range(n, numPartitions=4).select(F.floor(F.rand(3) * N_CLASSES).alias("label"), "id")
    scores = [
        (F.randn(10 + place) + (F.col("label") == place).cast("double")).alias(f"s_{place}")
        for place in range(N_CLASSES)
    ]
    frame = rows.select("label", *scores).cache()
    frame.count()
    ten = ScoreCalibrator(scoresCols=[f"s_{place}" for place in range(N_CLASSES)], method="pav")
    one = ScoreCalibrator(rawPredictionCol="s_0", labelCol="first", method="pav")
    single = frame.select("s_0", (F.col("label") == 0).cast("double").alias("first"))
    one.fit(single), ten.fit(frame)
    repeats = range(3)
    mine = sorted(seconds(lambda: ten.fit(frame)) for _ in repeats)[len(repeats) // 2]
    other = sorted(seconds(lambda: one.fit(single)) for _ in repeats)[len(repeats) // 2]
    case = f"Spark local[2]: PAV fit of {N_CLASSES} classes, n = {n:,}"
    yield Row(case, "one class", mine, other, "s", mine / other, "<= 5")
    frame.unpersist()


def main(sizes: list[str]) -> int:
    """Run for some numbers of rows, and keep the table."""
    if find_spec("pyspark") is None:
        print("the Spark benchmark is skipped; run: pip install 'calibrant[spark]'", file=sys.stderr)
        return 0
    rows = []
    for row in spark(tuple(int(float(size)) for size in sizes) or (1_000_000,)):
        rows.append(row)
        amounts = f"{row.ours:8.2f} s {row.theirs:8.2f} s  ratio {row.ratio:6.2f}"
        print(f"{row.case:<55} {amounts}  goal {row.goal or '-':<6} {row.holds}", flush=True)
    _write(rows, sizes)
    return 0


def _write(rows: list[Row], sizes: list[str]) -> None:
    """Keep the rows with what made them."""
    made_by = {
        "command": " ".join(["build/spark/bin/python -m benchmarks.spark", *sizes]),
        "python": platform.python_version(),
        **{package: version(package) for package in ("pyspark", "pyarrow", "numpy", "scipy", "scikit-learn")},
    }
    RESULTS.mkdir(exist_ok=True)
    content = {"made_by": made_by, "rows": [asdict(row) | {"holds": row.holds} for row in rows]}
    (RESULTS / "spark.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "spark.md").write_text(markdown(["spark"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
