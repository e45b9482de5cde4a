"""Fits in passes over Parquet beside scikit-learn's isotonic regression of the same rows in memory."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Row, seconds

#: Made when they are missing, and kept out of the repository.
DATA = Path(__file__).parent.parent / "build" / "benchmarks"
SIZES = (1_000_000, 10_000_000, 100_000_000)
PEER_ROWS, AIMED_AT = 10_000_000, (10_000_000, 100_000_000)
GIB = 1 << 30

_FIT = """
import json, sys, time
from calibrant import PAVCalibrator
from calibrant.files import apply, fit, labelled

path, n_classes, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
PAVCalibrator().fit([1, 2], [0, 1])  # what is imported late
scores = "s" if n_classes == 2 else [f"s{k}" for k in range(n_classes)]
rows = labelled(path, scores=scores, label="y", classes=list(range(n_classes)))
if n_classes > 2:
    from calibrant import OneVsAllCalibrator
    model = OneVsAllCalibrator("pav")
else:
    model = PAVCalibrator()
fits, applies = [], []
for _ in range(repeats):
    start = time.perf_counter()
    fitted = fit(model, rows, in_passes=True)
    fits.append(time.perf_counter() - start)
    start = time.perf_counter()
    n_rows = sum(batch.num_rows for batch in apply(fitted, path, scores=scores))
    applies.append(time.perf_counter() - start)
with open("/proc/self/status") as status:  # getrusage would tell of the process that started this one
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
print(json.dumps({"rows": n_rows, "fit": min(fits), "apply": min(applies), "peak": peak}))
"""


def scored_file(n: int, n_classes: int = 2) -> Path:
    """Parquet with scores whose log-odds they are, and labels drawn with these odds."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / f"scored-{n}-{n_classes}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    unfinished = path.with_suffix(".part")
    writer = None
    for start in range(0, n, 1 << 20):
        size = min(1 << 20, n - start)
        if n_classes == 2:
            score = rng.normal(size=size)
            label = rng.random(size) < 1 / (1 + np.exp(-score))
            table = pa.table({"s": score, "y": label.astype(np.int8)})
        else:
            score = rng.normal(size=(size, n_classes))
            label = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
            columns = {f"s{k}": column for k, column in enumerate(score.T)}
            table = pa.table(columns | {"y": label.astype(np.int8)})
        writer = writer or pq.ParquetWriter(unfinished, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    unfinished.rename(path)
    return path


def in_passes(n: int, n_classes: int = 2, repeats: int = 2) -> dict[str, float]:
    """Least seconds to fit and to apply, and the greatest memory, of a process of its own."""
    path = scored_file(n, n_classes)
    command = [sys.executable, "-c", _FIT, str(path), str(n_classes), str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def peer_rate(n: int = PEER_ROWS) -> float:
    """Rows per second of scikit-learn's isotonic fit, the rows being in memory already."""
    from sklearn.isotonic import IsotonicRegression

    table = pq.read_table(scored_file(n))
    scores, label = table["s"].to_numpy(), table["y"].to_numpy().astype(np.float64)
    return n / min(seconds(lambda: IsotonicRegression().fit(scores, label)) for _ in range(2))  # as ours


def passes(sizes: Sequence[int] = SIZES, peer_rows: int = PEER_ROWS, repeats: int = 2) -> Iterator[Row]:
    """Isotonic calibration in passes over Parquet: rows per second, and the greatest memory."""
    peer, theirs = f"scikit-learn in memory, n = {peer_rows:,}", peer_rate(peer_rows)
    for n in sizes:
        found = in_passes(n, repeats=repeats)
        rate = n / found["fit"]
        goal = ">= 4" if n in AIMED_AT else ""
        yield Row(f"PAV fit from Parquet, n = {n:,}", peer, rate, theirs, " rows/s", rate / theirs, goal)
        rate = n / found["apply"]
        goal = ">= 1" if n >= 10_000_000 else ""
        yield Row(f"PAV apply, n = {n:,}", "3e6 rows/s", rate, 3e6, " rows/s", rate / 3e6, goal)
        gib = found["peak"] / GIB
        goal = "<= 1" if n >= 100_000_000 else ""
        yield Row(f"PAV fit and apply, n = {n:,}, memory", "2 GiB", gib, 2.0, " GiB", gib / 2, goal)


def passes_many_classes(n: int = 2_000_000) -> Iterator[Row]:
    """Ten classes in the same passes beside one."""
    one, ten = in_passes(n), in_passes(n, 10)
    case = f"PAV fit from Parquet, n = {n:,}, ten classes"
    yield Row(case, "one class", ten["fit"], one["fit"], "s", ten["fit"] / one["fit"], "<= 12")


def billion() -> Iterator[Row]:
    """A billion rows, once: run by name only, as it takes ten minutes and 9 GB of disk."""
    yield from passes((1_000_000_000,), repeats=1)
