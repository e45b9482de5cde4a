"""What it costs to begin."""

import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Row, in_turn


def startup() -> Iterator[Row]:
    """Import time beside NumPy's, and the time of --help beside that of bare Python."""

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    ours, numpy = in_turn(lambda: run("-c", "import calibrant"), lambda: run("-c", "import numpy"), 15)
    yield Row("import calibrant", "import numpy", ours, numpy, "s", ours / numpy, "<= 1")
    helped, bare = in_turn(lambda: run("-m", "calibrant.cli", "--help"), lambda: run("-c", "pass"), 15)
    yield Row("calibrant --help", "python -c pass", helped, bare, "s", statistics.fmean([helped / bare]), "")
