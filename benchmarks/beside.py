"""This checkout beside an older one, case by case in turn: `python -m benchmarks.beside OLD [suite ...]`.

OLD is another checkout of the project, such as ``git worktree add ../old v1.0``. Both run the same cases in
processes of their own, one call here, one call there, so that a slow moment of the machine hits both; what is
compared is the median of the ratios. Peers are not timed.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
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
    "passes",
    "passes_many_classes",
)
#: Calls of a case in either checkout, at least; and seconds after which a case has had enough.
LEAST_CALLS, ENOUGH = 5, 20.0


def work(suite: str) -> None:
    """Run a suite: name every case, then time a call of it whenever a line comes in."""
    from benchmarks import measure
    from benchmarks.__main__ import SUITES as KNOWN

    def in_turn(
        ours: Callable[[], object], theirs: Callable[[], object], repeats: int
    ) -> tuple[float, float]:
        del theirs
        ours()
        print(f"case {repeats}", flush=True)
        while sys.stdin.readline().strip() == "go":
            print(measure.seconds(ours), flush=True)
        return 1.0, 1.0

    measure.in_turn = in_turn
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
        if first == second == "end" or not (first and second):
            return
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


def main(arguments: list[str]) -> int:
    """Compare with the checkout that is named."""
    if len(arguments) == 2 and arguments[0] == "--worker":
        work(arguments[1])
        return 0
    if not arguments:
        print("python -m benchmarks.beside OLD_CHECKOUT [suite ...]", file=sys.stderr)
        return 2
    print("| case | old, s | new, s | new / old |\n|---|---|---|---|")
    for suite in arguments[1:] or SUITES:
        compare(Path(arguments[0]).resolve(), suite)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
