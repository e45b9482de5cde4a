"""Run the arena: `python -m benchmarks.arena [--quick] [--sets ...] [--methods ...] [--inner]`.

Whoever chooses something, a setting or a method, does so with `--inner`: then calibration parts are divided
once more, and the test rows are not read. Only a full run writes to benchmarks/results, and it is noted there
that the test rows were looked at; all other runs write to build/arena-part, or to `--out`.
"""

import argparse
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.arena import learners, pages, problems, truths
from benchmarks.arena.bars import bars, slopes
from benchmarks.arena.contestants import PEERS, contestants
from benchmarks.arena.measures import measured
from benchmarks.arena.standing import by_size, standings
from benchmarks.tables import HERE

ROOT = HERE.parent
CACHE = ROOT / "build" / "arena-cache"
PART = ROOT / "build" / "arena-part"
#: Draws from every truth.
N_DRAWS = 5
DISTRIBUTIONS = {"sklearn": "scikit-learn", "venn_abers": "venn-abers"}


def fingerprint(method: str) -> str:
    """What an answer depends on: our code, or the release of a peer."""
    if method in PEERS:
        package = PEERS[method][0]
        return version(DISTRIBUTIONS.get(package, package))
    return _our_code()


def _our_code() -> str:
    found = hashlib.sha256()
    for room in ("maps", "passes", "codes", "calibrators"):
        for path in sorted((ROOT / "src" / "calibrant" / room).glob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Kept:
    """Results of earlier runs, in a file for every problem."""

    def __init__(self, name: str) -> None:
        self._path = CACHE / "cells" / f"{name}.json"
        self._cells = json.loads(self._path.read_text()) if self._path.exists() else {}

    def get(self, key: str, make: Any) -> dict[str, Any]:
        """What is known, or else is found out."""
        if key not in self._cells:
            self._cells[key] = make()
        return self._cells[key]

    def write(self) -> None:
        """Keep them for the next run."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(self._cells))
        draft.replace(self._path)


def answered(name: str, calibrate: Any, y: np.ndarray, test: Any) -> tuple[np.ndarray, dict[str, float]]:
    """Probabilities of the test rows, and the seconds that they took."""
    begun = time.perf_counter()
    answer = contestants()[name](calibrate, y)
    fitted = time.perf_counter()
    proba = answer(test)
    times = {"fit_seconds": fitted - begun, "predict_seconds": time.perf_counter() - fitted}
    return proba, times


def compete(work: tuple[str, str, int, bool, list[str]]) -> list[dict[str, Any]]:
    """All methods on the scores of a model, for every size of the calibration part."""
    name, learner, seed, inner, methods = work
    warnings.simplefilter("ignore")
    problem, parts = problems.problem_named(name), problems.split(name, seed, inner=inner)
    calibrate, test = learners.scores_of(name, learner, seed, inner=inner, cache=CACHE / "scores")
    y, truth = problem.y[parts.calibrate], problem.y[parts.test]
    kept = Kept(f"{name}-{learner.replace(' ', '_')}-{seed}-{'inner' if inner else 'outer'}")
    found = []
    for size in problems.sizes_of(len(y), problem.n_classes):
        rows = problems.draw(y, size, np.random.default_rng([size, seed]))
        some, labels = calibrate.take(rows), y[rows]
        counts = np.bincount(labels, minlength=problem.n_classes)

        def cell(method: str, some=some, labels=labels, counts=counts) -> dict[str, Any]:
            try:
                proba, times = answered(method, some, labels, test)
                costs = np.random.default_rng([crc32(name.encode()), 1])
                return measured(truth, proba, len(labels), counts, costs) | times
            except Exception as error:  # a peer may fail in its own way; that is a result, too
                return {"failed": f"{type(error).__name__}: {error}"[:200]}

        for method in methods:
            result = kept.get(f"{size} {method} {fingerprint(method)}", lambda method=method: cell(method))
            about = {"set": name, "learner": learner, "seed": seed, "method": method}
            sizes = {"n_classes": problem.n_classes, "n_calibrate": len(labels), "n_test": len(truth)}
            found.append(about | sizes | result)
    kept.write()
    return found


def approach(work: tuple[str, int, int, list[str]]) -> list[dict[str, Any]]:
    """How far all methods are from a known truth, after so many rows."""
    name, size, draw, methods = work
    warnings.simplefilter("ignore")
    seed = [crc32(name.encode()), size, draw]
    random = np.random.default_rng(seed)
    scores, chance = truths.TRUTHS[name](size, random)
    y = truths.drawn(chance, random)
    y[: chance.shape[1]] = np.arange(chance.shape[1])  # every class is there
    test, truth = truths.TRUTHS[name](truths.N_TEST, np.random.default_rng([*seed, 1]))
    kept = Kept(f"truth-{crc32(name.encode())}-{size}-{draw}")
    found = []
    for method in methods:

        def distance(method: str = method) -> dict[str, Any]:
            try:
                proba, _ = answered(method, scores, y, test)
                return {"distance": truths.distance(truth, proba)}
            except Exception as error:
                return {"failed": f"{type(error).__name__}: {error}"[:200]}

        result = kept.get(f"{method} {fingerprint(method)}", distance)
        found.append({"truth": name, "n_calibrate": size, "draw": draw, "method": method} | result)
    kept.write()
    return found


def warm_up(methods: list[str]) -> None:
    """Call everyone once, so that imports and compilers are not what is timed."""
    warnings.simplefilter("ignore")
    for name in ("two classes, too sure", "five classes, too sure"):
        random = np.random.default_rng(0)
        scores, chance = truths.TRUTHS[name](60, random)
        y = np.arange(60) % chance.shape[1]
        for method in methods:
            try:
                answered(method, scores, y, scores)
            except Exception as error:
                print(f"{method} fails on {name}: {error}", file=sys.stderr)


def in_parts(work: list[Any], what: Any, title: str, jobs: int, methods: list[str]) -> Iterator[Any]:
    """Do all of the work, with a bar, in this process or in several."""
    console = Console(stderr=True)
    if jobs == 1:
        warm_up(methods)
        for each in track(work, title, console=console):
            yield from what(each)
        return
    with ProcessPoolExecutor(jobs, initializer=warm_up, initargs=(methods,)) as processes:
        for part in track(processes.map(what, work), title, total=len(work), console=console):
            yield from part


def arguments(given: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.arena", description=(__doc__ or "").split("\n\n")[1]
    )
    parser.add_argument("--quick", action="store_true", help="a few sets, models and truths: minutes")
    parser.add_argument("--sets", nargs="+", choices=problems.NAMES, metavar="SET", help="these sets alone")
    parser.add_argument("--learners", nargs="+", choices=list(learners.LEARNERS), metavar="MODEL")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="parts of the names of methods")
    parser.add_argument("--inner", action="store_true", help="divide calibration parts; read no test row")
    parser.add_argument("--splits", type=int, default=1, help="how often every set is cut anew")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the tables go")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--data", type=Path, help="the folder of the data (or CALIBRANT_DATA, or ../shared/data)"
    )
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Run the arena."""
    asked = arguments(given)
    if asked.data is not None:
        os.environ["CALIBRANT_DATA"] = str(asked.data.resolve())
    methods = list(contestants())
    if asked.methods:
        wanted = [name for name in methods if any(part in name for part in asked.methods)]
        methods = list(dict.fromkeys(["scikit-learn isotonic", *wanted]))
    sets = asked.sets or (problems.QUICK if asked.quick else problems.NAMES)
    models = asked.learners or (learners.QUICK if asked.quick else list(learners.LEARNERS))
    full = not (asked.quick or asked.sets or asked.learners or asked.methods or asked.inner)
    n_draws = N_DRAWS if full or asked.out is not None else 1
    work = [
        (name, learner, seed, asked.inner, methods)
        for name in sets
        for learner in models
        for seed in range(asked.splits)
    ]
    cells = list(in_parts(work, compete, "problems", asked.jobs, methods))
    draws = [
        (name, size, draw, methods)
        for name in truths.TRUTHS
        for size in truths.SIZES
        for draw in range(n_draws)
    ]
    distances = list(in_parts(draws, approach, "truths", asked.jobs, methods))
    failed = [cell for cell in (*cells, *distances) if "failed" in cell]
    for cell in failed[:20]:
        print(f"failed: {cell}", file=sys.stderr)
    found = {
        "n_sets": len(sets),
        "n_learners": len(models),
        "n_cases": len({(c["set"], c["learner"], c["seed"], c["n_calibrate"]) for c in cells}),
        "n_methods": len(methods),
        "n_failed": len(failed),
        "n_looks": pages.n_looks() + full,
        "inner": asked.inner,
        "standings": standings(cells),
        "by_size": by_size(cells),
        "bars": bars(cells),
        "truths": (means := mean_distances(distances)),
        "slopes": slopes(means),
    }
    command = " ".join(["python -m benchmarks.arena", *without_folders(given)])
    if full:
        pages.look(command, found, f"{datetime.now(UTC):%Y-%m-%d}")
    pages.write(found, command, asked.out or (pages.RESULTS if full else PART))
    print(pages.markdown(found))
    return 0


def without_folders(given: list[str]) -> list[str]:
    """What was asked for, wherever data and tables are."""
    folders = [place for place, each in enumerate(given) if each in ("--data", "--out")]
    return [each for place, each in enumerate(given) if place not in folders and place - 1 not in folders]


def mean_distances(distances: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean over the draws."""
    by: dict[tuple[str, str, int], list[float]] = {}
    for each in distances:
        if "failed" not in each:
            by.setdefault((each["truth"], each["method"], each["n_calibrate"]), []).append(each["distance"])
    return [
        {"truth": truth, "method": method, "n_calibrate": size, "distance": float(f"{np.mean(found):.4g}")}
        for (truth, method, size), found in by.items()
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
