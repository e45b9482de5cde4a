"""The driver of the test of faults: fits on a cluster, and says when a pass has begun.

Usage: python fit_on_cluster.py MASTER FOLDER MODEL MARK
"""

import os
import sys
import threading
import time
from pathlib import Path


def main(master, folder, out, mark):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from calibrant.models import save
    from calibrant.spark import FrameRows, ScoreCalibrator, _engine

    _engine.SAMPLE_ROWS = 4000
    _engine.MOST_COMING = 0

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "700m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.files.maxPartitionBytes": "100k",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(master).appName("faults")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    tracker, passes = spark.sparkContext.statusTracker(), FrameRows.reduce

    def tell_when_half_done():
        while not Path(mark).exists():
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            if any(stage and 2 <= stage.numCompletedTasks <= stage.numTasks - 3 for stage in stages):
                Path(mark).write_text("now")
            time.sleep(0.02)

    def reduce_and_tell(self, task):
        if task.rows_needed is None and not watcher.ident:
            watcher.start()
        return passes(self, task)

    watcher = threading.Thread(target=tell_when_half_done, daemon=True)
    FrameRows.reduce = reduce_and_tell
    frame = spark.read.parquet(folder)
    save(ScoreCalibrator(rawPredictionCol="s").fit(frame).scoreModel, out)
    weighted = ScoreCalibrator(rawPredictionCol="s", method="binning", weightCol="w")
    save(weighted.fit(frame).scoreModel, f"{out}.weighted")
    left = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    Path(f"{out}.executors").write_text(str(left))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
