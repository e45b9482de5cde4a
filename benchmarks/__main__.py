"""Run the benchmarks: `python -m benchmarks [name ...]`. Tables go to benchmarks/results and the README."""

import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.calibrators import memory, pav, sigmoid, sigmoid_error
from benchmarks.codes import coupling, coupling_error, least_squares, libsvm_coupling, normalisation
from benchmarks.command import command
from benchmarks.decisions import deciding, learning, learning_memory
from benchmarks.many_classes import many_classes
from benchmarks.many_scores import accuracy_table, ranked_logistic
from benchmarks.measure import Row
from benchmarks.monitor import monitor
from benchmarks.passes import billion, passes, passes_many_classes
from benchmarks.probing import probing
from benchmarks.report import report
from benchmarks.serve import serve
from benchmarks.startup import startup
from benchmarks.tables import RESULTS, markdown, update_readme

SUITES: dict[str, Callable[[], Iterator[Row]]] = {
    "pav": pav,
    "memory": memory,
    "sigmoid": sigmoid,
    "sigmoid_error": sigmoid_error,
    "startup": startup,
    "serve": serve,
    "command": command,
    "coupling": coupling,
    "libsvm_coupling": libsvm_coupling,
    "coupling_error": coupling_error,
    "least_squares": least_squares,
    "normalisation": normalisation,
    "many_classes": many_classes,
    "accuracy_table": accuracy_table,
    "ranked_logistic": ranked_logistic,
    "deciding": deciding,
    "learning": learning,
    "learning_memory": learning_memory,
    "probing": probing,
    "passes": passes,
    "passes_many_classes": passes_many_classes,
    "report": report,
}
#: Run when they are named, and not with all the others.
BY_NAME_ONLY: dict[str, Callable[[], Iterator[Row]]] = {"billion": billion, "monitor": monitor}


def main(names: list[str]) -> int:
    """Run the named suites, or all of them."""
    known = SUITES | BY_NAME_ONLY
    unknown = set(names) - set(known)
    if unknown:
        print(
            f"no such benchmark: {', '.join(sorted(unknown))}; there are: {', '.join(known)}",
            file=sys.stderr,
        )
        return 2
    for name in names or SUITES:
        rows = []
        for row in known[name]():
            rows.append(row)
            print(f"{row.case:<55} {row.ratio:8.2f}  goal {row.goal or '-':<6} {row.holds}", flush=True)
        write(name, rows)
    update_readme()
    return 0


def write(name: str, rows: list[Row]) -> None:
    """Keep the rows with what made them."""
    made_by = _made_by(f"make bench  (python -m benchmarks {name})")
    _write(name, {"made_by": made_by, "rows": [asdict(row) | {"holds": row.holds} for row in rows]})


def keep_row(name: str, row: Row, command: str) -> None:
    """Keep a row beside the others of its suite, of which it replaces the one of the same case and peer."""
    path = RESULTS / f"{name}.json"
    old = json.loads(path.read_text())["rows"] if path.exists() else []
    new = asdict(row) | {"holds": row.holds, "command": command}
    about = row.case.split(":")[0], row.peer
    kept = [each for each in old if (each["case"].split(":")[0], each["peer"]) != about]
    _write(name, {"made_by": _made_by(f"python -m benchmarks.{name}"), "rows": [*kept, new]})


def _made_by(command: str) -> dict[str, str]:
    packages = {package: version(package) for package in ("numpy", "scipy", "scikit-learn")}
    return {"command": command, "python": platform.python_version(), **packages}


def _write(name: str, content: dict[str, object]) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    Path(RESULTS / f"{name}.md").write_text(markdown([name]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
