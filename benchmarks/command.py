"""The command as a process: how long it takes to begin, and how fast and how small it is on a long file."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import Row, in_turn

N_ROWS = 10_000_000
#: What `calibrant apply` imports, without doing anything.
IMPORTS = "import calibrant.cli._apply_run, calibrant.cli._score_columns, calibrant.models"
#: Rows per second that apply must reach, and bytes that it may take.
RATE, MEMORY = 2e6, 1 << 30


def run(*arguments: str, cwd: str | None = None) -> None:
    """Run Python, and wait for it."""
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=cwd)


def measured(*arguments: str, cwd: str) -> tuple[float, int]:
    """Seconds and greatest memory of one process."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, cwd=cwd)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def command() -> Iterator[Row]:
    """Start-up, a short file, and a long one."""
    helped, bare = in_turn(lambda: run("-m", "calibrant", "--help"), lambda: run("-c", "pass"), 9)
    yield Row("calibrant --help, seconds", "python -c pass", helped, bare, "s", helped, "<= 0.3")
    with TemporaryDirectory() as folder:
        _write(Path(folder), N_ROWS)
        yield _short(folder)
        yield from _long(folder)


def _short(folder: str) -> Row:
    """A thousand rows of CSV: what is left beside the imports."""
    applied, imported = in_turn(
        lambda: run("-m", "calibrant", "apply", "model.json", "short.csv", "--out", "out.csv", cwd=folder),
        lambda: run("-c", IMPORTS),
        7,
    )
    case = "calibrant apply, 1,000 rows of CSV, seconds beyond the imports"
    return Row(case, "its imports alone", applied, imported, "s", applied - imported, "<= 1.5")


def _long(folder: str) -> Iterator[Row]:
    """Ten million rows of Parquet with one score: time beyond the imports, and memory."""
    arguments = ("-m", "calibrant", "apply", "model.json", "long.parquet", "--out", "out.parquet")
    measured(*arguments, cwd=folder)
    runs = [(measured(*arguments, cwd=folder), measured("-c", IMPORTS, cwd=folder)) for _ in range(5)]
    seconds = statistics.median(applied[0] - imported[0] for applied, imported in runs)
    size = max(applied[1] for applied, _ in runs)
    case = f"calibrant apply, {N_ROWS:,} rows of Parquet, one score"
    yield Row(
        case, f"{RATE:,.0f} rows a second", seconds, N_ROWS / RATE, "s", N_ROWS / RATE / seconds, ">= 1"
    )
    yield Row(f"{case}, greatest memory", "1 GiB", size / MEMORY, 1.0, " GiB", size / MEMORY, "<= 1")


def _write(folder: Path, n_rows: int) -> None:
    """A model of one score, a short file and a long one."""
    import pyarrow as pa
    import pyarrow.parquet as pa_parquet

    from calibrant.models import ScoreModel, save

    random = np.random.default_rng(0)
    score = random.normal(size=n_rows)
    few = score[:100_000]
    save(ScoreModel().fit(few, random.random(len(few)) < 1 / (1 + np.exp(-few))), folder / "model.json")
    pa_parquet.write_table(pa.table({"score": score}), folder / "long.parquet")
    lines = "".join(f"{number},{value}\n" for number, value in enumerate(score[:1000].tolist()))
    (folder / "short.csv").write_text(f"id,score\n{lines}")
