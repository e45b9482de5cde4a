"""What it costs to begin."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Row, in_turn


def startup() -> Iterator[Row]:
    """Import time beside NumPy's, and the time of --help beside that of bare Python."""

    # What pip installs is compiled once and for all; so is this after the first of the runs.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=kept)

    ours, numpy = in_turn(lambda: run("-c", "import calibrant"), lambda: run("-c", "import numpy"), 15)
    yield Row("import calibrant", "import numpy", ours, numpy, "s", ours / numpy, "<= 1")
    helped, bare = in_turn(lambda: run("-m", "calibrant", "--help"), lambda: run("-c", "pass"), 15)
    with tempfile.TemporaryDirectory() as folder:
        apply = _model_and_rows(Path(folder))
        yardstick = "import numpy, pyarrow.csv"
        case, peer = "calibrant apply, 1,000 rows of CSV", f"python -c '{yardstick}'"
        for clock, how in ((time.perf_counter, ""), (_processor_seconds, ", by processor time")):
            ours, theirs = in_turn(lambda: run(*apply), lambda: run("-c", yardstick), 15, clock)
            yield Row(case + how, peer, ours, theirs, "s", ours / theirs, "<= 1.6")
    yield Row("calibrant --help", "python -c pass", helped, bare, "s", statistics.fmean([helped / bare]), "")


def _processor_seconds() -> float:
    """What all processes that have ended took, whoever else was at work meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _model_and_rows(folder: Path) -> list[str]:
    """The arguments that apply a model of one score to a file."""
    import numpy as np

    from calibrant import ScoreModel, save

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    scores = y + rng.normal(size=1000)
    save(ScoreModel("sigmoid").fit(scores, y), folder / "model.json")
    lines = [f"{row},{score!r}" for row, score in enumerate(scores.tolist())]
    (folder / "scores.csv").write_text("\n".join(["id,score", *lines, ""]))
    files = [str(folder / name) for name in ("model.json", "scores.csv")]
    return ["-m", "calibrant", "apply", *files, "--out", str(folder / "out.csv")]
