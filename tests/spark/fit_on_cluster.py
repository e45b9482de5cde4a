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
    from calibrant.spark import FrameRows, ScoreCalibrator

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "700m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.files.maxPartitionBytes": "200k",
        "spark.log.level": "ERROR",
        # A lost worker is noticed at once by its closed connection; this is for what that does not show.
        "spark.network.timeout": "30s",
        "spark.executor.heartbeatInterval": "5s",
    }
    builder = SparkSession.builder.master(master).appName("faults")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    passes = FrameRows.reduce

    def reduce_and_tell(self, task):
        if task.rows_needed is None and not Path(mark).exists():
            # Two seconds after the first pass has begun its tasks run; the fit goes on meanwhile.
            threading.Thread(target=lambda: (time.sleep(2), Path(mark).write_text("now")), daemon=True).start()
        return passes(self, task)

    FrameRows.reduce = reduce_and_tell
    frame = spark.read.parquet(folder)
    model = ScoreCalibrator(rawPredictionCol="s", method="sigmoid", weightCol="w").fit(frame)
    save(model.scoreModel, f"{out}.sigmoid")
    save(ScoreCalibrator(rawPredictionCol="s").fit(frame).scoreModel, out)
    lost = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    Path(f"{out}.executors").write_text(str(lost))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
