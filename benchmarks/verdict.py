"""How often the report's verdict errs: `python -m benchmarks.verdict [simulations]`.

Logits are independent normal, true probabilities their softmax, and the truth is drawn from them. What is
said is the truth, or it is off by so many points in one of two ways:

- too sure: logits are multiplied by a number above one, by which the mean confidence exceeds the share of
  right predictions by so much;
- one class too high: the logit of the first class is raised, by which its mean forecast exceeds its share by
  so much.

Both are set on a large population, so that a sample is off by so much on average. The typical gap, which the
bound must cover, is that of the population: root mean square distance of the forecasts of the lead column
(the positive of two classes, else the most probable class) from what they should have been; the mean gap is
that of the mean confidence from the share of right predictions.
"""

import json
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.optimize import brentq
from scipy.special import softmax

from benchmarks.tables import HERE, RESULTS
from calibrant.report import summarize

SIZES = (200, 1_000, 10_000)
#: Standard deviation of the logits for so many classes: half of the rows are right, of two classes more.
SPREADS = {2: 1.5, 10: 2.0, 30: 2.5}
POINTS = (0.02, 0.05, 0.10)
LEVELS = ("believable", "nearly", "not", "unknown")
SIMULATIONS = 400
N_POPULATION, N_BINS = 100_000, 200
#: Simulations that are done at once.
PORTION = 20
PROCESSES = 2
GUIDE = HERE.parent / "docs" / "guide" / "report.md"

Matrix = NDArray[np.float64]
Distortion = Callable[[Matrix, float], Matrix]


def _hotter(logits: Matrix, amount: float) -> Matrix:
    return softmax(logits * (1 + amount), axis=1)


def _raised(logits: Matrix, amount: float) -> Matrix:
    raised = logits.copy()
    raised[:, 0] += amount
    return softmax(raised, axis=1)


DISTORTIONS: dict[str, Distortion] = {"right": _hotter, "too sure": _hotter, "one class too high": _raised}


@dataclass(frozen=True)
class Case:
    """Forecasts that are judged: in what way, and by how much they are off.

    `amount` is what the distortion needs for that; `gap` and `mean_gap` are what the bounds must cover.
    """

    off: str
    points: float
    n_classes: int
    n_rows: int
    amount: float
    gap: float
    mean_gap: float

    def judge(self, seed: int) -> tuple[str, float, float]:
        """The level and the bounds of one sample."""
        random = np.random.default_rng([seed, self.n_classes, self.n_rows, round(1000 * self.points)])
        logits = SPREADS[self.n_classes] * random.normal(size=(self.n_rows, self.n_classes))
        below = softmax(logits, axis=1).cumsum(axis=1)[:, :-1]
        truth = (random.random(self.n_rows)[:, np.newaxis] > below).sum(axis=1)
        said = DISTORTIONS[self.off](logits, self.amount)
        verdict = summarize(truth, said, classes=range(self.n_classes), random_state=seed).verdict
        return verdict.level, verdict.bound, verdict.mean_bound


@dataclass(frozen=True)
class Rates:
    """What was found in one case: how often each level was given, median bounds, and how often they held."""

    off: str
    points: float
    n_classes: int
    n_rows: int
    simulations: int
    levels: dict[str, float]
    gap: float
    bound: float
    covered: float
    mean_gap: float
    mean_bound: float
    mean_covered: float


def cases() -> Iterator[Case]:
    """Every way to be off, amount, number of classes and number of rows."""
    for n_classes, spread in SPREADS.items():
        logits = spread * np.random.default_rng(0).normal(size=(N_POPULATION, n_classes))
        for off, points in [("right", 0.0), *product(list(DISTORTIONS)[1:], POINTS)]:
            amount = _amount(logits, off, points) if points else 0.0
            gaps = _gaps(softmax(logits, axis=1), DISTORTIONS[off](logits, amount))
            for n_rows in SIZES:
                yield Case(off, points, n_classes, n_rows, amount, *gaps)


def _amount(logits: Matrix, off: str, points: float) -> float:
    """By how much to distort."""
    true = softmax(logits, axis=1)

    def excess(amount: float) -> float:
        said = DISTORTIONS[off](logits, amount)
        column = logits.argmax(axis=1) if off == "too sure" else np.zeros(len(logits), dtype=int)
        rows = np.arange(len(logits))
        return float(np.mean(said[rows, column] - true[rows, column])) - points

    return float(brentq(excess, 0.0, 10.0))


def _gaps(true: Matrix, said: Matrix) -> tuple[float, float]:
    """The typical gap of the lead column, and the gap of the mean confidence."""
    top, rows = said.argmax(axis=1), np.arange(len(said))
    confidence = said[rows, top]
    gaps = confidence - true[rows, top]
    mean_gap = abs(float(gaps.mean()))
    if true.shape[1] == 2:
        return float(np.sqrt(np.mean((said[:, 1] - true[:, 1]) ** 2))), mean_gap
    # What should be said of a confidence is the mean over all rows that have it, or nearly so.
    by_confidence = gaps[np.argsort(confidence)].reshape(N_BINS, -1).mean(axis=1)
    return float(np.sqrt(np.mean(by_confidence**2))), mean_gap


def simulate(case: Case, first: int, last: int) -> list[tuple[str, float, float]]:
    """Judge so many samples."""
    return [case.judge(seed) for seed in range(first, last)]


def run(simulations: int) -> list[Rates]:
    """All cases, side by side; right forecasts more often, as errors are rare there, and large ones less."""
    portions = []
    for case in cases():
        often = simulations * (2 if case.off == "right" else 1) // (4 if case.n_rows > 1000 else 1)
        portions += [(case, first, min(first + PORTION, often)) for first in range(0, often, PORTION)]
    found: dict[Case, list[tuple[str, float, float]]] = {}
    with ProcessPoolExecutor(PROCESSES) as processes:
        results = processes.map(simulate, *zip(*portions, strict=True))
        bar = track(results, "verdicts", total=len(portions), console=Console(stderr=True))
        for (case, *_), result in zip(portions, bar, strict=True):
            found.setdefault(case, []).extend(result)
    return [_rates(case, result) for case, result in found.items()]


def _rates(case: Case, found: list[tuple[str, float, float]]) -> Rates:
    said, *limits = zip(*found, strict=True)
    levels, (bounds, mean_bounds) = Counter(said), np.array(limits, dtype=np.float64)
    return Rates(
        case.off,
        case.points,
        case.n_classes,
        case.n_rows,
        simulations=len(found),
        levels={level: levels[level] / len(found) for level in LEVELS},
        gap=case.gap,
        bound=float(np.median(bounds)),
        covered=float(np.mean(bounds >= case.gap)),
        mean_gap=case.mean_gap,
        mean_bound=float(np.median(mean_bounds)),
        mean_covered=float(np.mean(mean_bounds >= case.mean_gap)),
    )


def tables(rows: list[Rates]) -> dict[str, str]:
    """Two tables: how often each level was given, and how wide the bounds were and how often they held."""
    columns = [f"{n_classes} classes" for n_classes in SPREADS]
    head = [f"| forecasts | rows | {' | '.join(columns)} |", "|---|---:|" + "---:|" * len(columns)]
    said, bounds = list(head), list(head)
    for case, n_rows in product(dict.fromkeys((row.off, row.points) for row in rows), SIZES):
        here = [row for row in rows if (row.off, row.points) == case and row.n_rows == n_rows]
        name = case[0] + (f" by {100 * case[1]:.0f} points" if case[1] else "")
        levels = (" / ".join(f"{100 * row.levels[level]:.3g}" for level in LEVELS) for row in here)
        limits = (
            f"{100 * row.bound:.1f} / {100 * row.mean_bound:.1f} "
            f"({100 * row.covered:.3g}% / {100 * row.mean_covered:.3g}%)"
            for row in here
        )
        said.append(f"| {name} | {n_rows:,} | {' | '.join(levels)} |")
        bounds.append(f"| {name} | {n_rows:,} | {' | '.join(limits)} |")
    return {"levels": "\n".join(said) + "\n", "bounds": "\n".join(bounds) + "\n"}


def guide(text: str, rows: list[Rates]) -> str:
    """The guide with these tables between its marks."""
    for name, table in tables(rows).items():
        begin, end = (f"<!-- verdict {name}: {where} -->\n" for where in ("begin", "end"))
        before, rest = text.split(begin)
        text = f"{before}{begin}{table}{end}{rest.split(end)[1]}"
    return text


def kept() -> list[Rates]:
    """What the last run found."""
    return [Rates(**row) for row in json.loads((RESULTS / "verdict.json").read_text())["rows"]]


def main(simulations: int) -> None:
    """Simulate, and keep the results."""
    rows = run(simulations)
    made_by = {
        "command": f"python -m benchmarks.verdict {simulations}",
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "scipy")},
    }
    content = {"made_by": made_by, "rows": [asdict(row) for row in rows]}
    (RESULTS / "verdict.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "verdict.md").write_text("\n".join(tables(rows).values()))
    GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print((RESULTS / "verdict.md").read_text())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS)
