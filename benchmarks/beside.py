"""This checkout beside an older one, case by case in turn: `python -m benchmarks.beside OLD [suite ...]`.

OLD is another checkout of the project, such as ``git worktree add ../old v1.0``. Both run the same cases in
processes of their own, one call here, one call there, so that a slow moment of the machine hits both; what is
compared is the median of the ratios. Peers are not timed. The suite "commands" is the command line on files:
seconds of processor time, of all cores together.
"""

import gc
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: Suites that time calls in their own process; the others start commands or measure memory.
SUITES = (
    "pav",
    "sigmoid",
    "coupling",
    "least_squares",
    "normalisation",
    "many_classes",
    "accuracy_table",
    "ranked_logistic",
    "deciding",
    "learning",
)
#: Calls of a case in either checkout, at least; and seconds after which a case has had enough.
LEAST_CALLS, ENOUGH = 5, 20.0


def on_demand(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """In the place of `measure.in_turn`: time a call of ours whenever a line comes in."""
    del theirs
    ours()
    print(f"case {repeats}", flush=True)
    while sys.stdin.readline().strip() == "go":
        gc.collect()
        begun = clock()
        ours()
        print(clock() - begun, flush=True)
    return 1.0, 1.0


def work(suite: str) -> None:
    """Run a suite: name every case, then time a call of it whenever a line comes in."""
    from benchmarks import measure
    from benchmarks.__main__ import SUITES as KNOWN

    measure.in_turn = on_demand
    for row in KNOWN[suite]():
        print(f"done {row.case}, beside {row.peer}", flush=True)
    print("end", flush=True)


class Worker:
    """A process that runs the cases of a checkout."""

    def __init__(self, checkout: Path, suite: str) -> None:
        path = f"{checkout / 'src'}{os.pathsep}{checkout}"
        command = [sys.executable, str(Path(__file__).resolve()), "--worker", suite]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def read(self) -> str:
        """What it says next."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def say(self, word: str) -> None:
        """Tell it to go, or to stop."""
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()


def compare(old: Path, suite: str) -> None:
    """Print a line for every case of a suite."""
    workers = Worker(old, suite), Worker(ROOT, suite)
    times: list[tuple[float, float]] = []
    while True:
        first, second = (worker.read() for worker in workers)
        if "end" in (first, second) or not (first and second):
            return  # a newer one may have more cases
        if first.startswith("case"):
            repeats = max(LEAST_CALLS, int(first.split()[1]))
            times = []
            while len(times) < repeats and (len(times) < LEAST_CALLS or sum(map(sum, times)) < ENOUGH):
                order = workers if len(times) % 2 else workers[::-1]
                took = {}
                for worker in order:
                    worker.say("go")
                    took[worker] = float(worker.read())
                times.append((took[workers[0]], took[workers[1]]))
            for worker in workers:
                worker.say("stop")
        elif times:
            before, after = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = statistics.median(new / old for old, new in times)
            print(f"| {second[5:]} | {before:.4g} | {after:.4g} | {ratio:.3f} |", flush=True)


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is done with files of 200,000 rows of three classes and of 2,000,000 of two."""
    from benchmarks.passes import scored_file

    three, two = scored_file(200_000, 3), scored_file(2_000_000)
    costs = folder / "costs.csv"
    costs.write_text(",0,1,2\n0,0,1,4\n1,2,0,1\n2,6,3,0\n")
    small, large = ["--label", "y", "--scores", "s*"], ["--label", "y", "--scores", "s"]
    forecasts = ["--label", "y", "--scores", "p_*"]
    pav = ["--method", "pav"]
    yield "fit", ["fit", str(three), *small, *pav, "--out", "three.json"]
    yield "fit in passes", ["fit", str(three), *small, *pav, "--in-passes", "--out", "three.json"]
    yield "fit of two classes", ["fit", str(two), *large, *pav, "--out", "two.json"]
    yield "fit of two classes in passes", ["fit", str(two), *large, *pav, "--in-passes", "--out", "two.json"]
    yield "apply", ["apply", "three.json", str(three), "--out", "p.parquet"]
    yield "apply to two classes", ["apply", "two.json", str(two), "--out", "p2.parquet"]
    yield "evaluate", ["evaluate", "p.parquet", *forecasts]
    yield "evaluate in passes", ["evaluate", "p.parquet", *forecasts, "--in-passes"]
    yield "evaluate of two classes in passes", ["evaluate", "p2.parquet", *forecasts, "--in-passes"]
    yield "decide", ["decide", "p.parquet", "--scores", "p_*", "--costs", str(costs), "--out", "d.parquet"]
    yield "report", ["report", "p.parquet", *forecasts, "--costs", str(costs), "--out", "r.html"]


def compare_commands(old: Path, repeats: int = 5) -> None:
    """Print a line for every command."""
    with tempfile.TemporaryDirectory() as made:
        folders = {checkout: Path(made) / name for name, checkout in (("old", old), ("new", ROOT))}
        for folder in folders.values():
            folder.mkdir()
        for name, arguments in commands(Path(made)):
            times = [
                [_processor_seconds(checkout, arguments, folder) for checkout, folder in folders.items()]
                for _ in range(repeats)
            ]
            before, after = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = statistics.median(new / old for old, new in times)
            print(f"| calibrant {name} | {before:.4g} | {after:.4g} | {ratio:.3f} |", flush=True)


def _processor_seconds(checkout: Path, arguments: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", "from calibrant.cli import main; main()", *arguments],
        check=True,
        capture_output=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(checkout / "src")},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str]) -> int:
    """Compare with the checkout that is named."""
    if len(arguments) == 2 and arguments[0] == "--worker":
        work(arguments[1])
        return 0
    if not arguments:
        print("python -m benchmarks.beside OLD_CHECKOUT [suite ...]", file=sys.stderr)
        return 2
    print("| case | old, s | new, s | new / old |\n|---|---|---|---|")
    old = Path(arguments[0]).resolve()
    for suite in arguments[1:] or (*SUITES, "commands"):
        if suite == "commands":
            compare_commands(old)
        else:
            compare(old, suite)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
