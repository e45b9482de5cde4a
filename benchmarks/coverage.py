"""How often intervals cover what they are for: `python -m benchmarks.coverage [simulations]`.

Logits are normal, true probabilities their softmax (classes are not equally frequent), and the truth is drawn
from them. What is said is the truth, or it is off in one of two ways: logits are multiplied by 1.5, so that
forecasts are too sure; or those of the first class are raised by 0.7. The second forecaster of a difference
says what the first says of logits to which noise was added.

What an interval must cover is the value that all possible rows have: it is computed from a large sample
without drawing the truth, each row counting for every class with its true probability.
"""

import json
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from itertools import product

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.optimize import brentq, isotonic_regression, minimize
from scipy.special import expit, logit, softmax

from benchmarks.tables import HERE, RESULTS
from calibrant.metrics import Estimate, evaluate, evaluate_difference

SIZES = (200, 2_000)
#: Standard deviation of the logits for so many classes.
SPREADS = {2: 1.5, 10: 2.0}
SIMULATIONS = 2_000
N_POPULATION = 400_000
N_BINS = 15
PORTION = 10
PROCESSES = 2
GUIDE = HERE.parent / "docs" / "guide" / "intervals.md"
BEGIN, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"

Matrix = NDArray[np.float64]
#: Measures whose intervals must cover in 93 to 97% of cases; of the others at least in 90%.
MEANS = (
    "log_loss",
    "brier_score",
    "error_rate",
    "confidence",
    "auc",
    "difference of log_loss",
    "difference of brier_score",
    "difference of error_rate",
    "difference of auc",
)
PARTS = (
    "calibration",
    "refinement",
    "uncertainty",
    "expected_calibration_error",
    "top_label_frequency",
    "classwise_width",
    "classwise_frequency",
    "calibration_slope",
    "calibration_intercept",
)
BY_CLASS = (
    "share",
    "mean_probability",
    "brier_score",
    "calibration",
    "refinement",
    "auc",
    "calibration_slope",
    "calibration_intercept",
)


def _said(logits: Matrix, off: str) -> Matrix:
    if off == "too sure":
        return softmax(1.5 * logits, axis=1)
    if off == "one class too high":
        return softmax(logits + 0.7 * np.eye(logits.shape[1])[0], axis=1)
    return softmax(logits, axis=1)


FORECASTS = ("right", "too sure", "one class too high")


def _draw(
    n_rows: int, n_classes: int, off: str, random: np.random.Generator
) -> tuple[Matrix, Matrix, Matrix]:
    """What is true, what is said, and what the second forecaster says."""
    logits = SPREADS[n_classes] * random.normal(size=(n_rows, n_classes)) + np.linspace(-1, 1, n_classes)
    noise = 0.7 * random.normal(size=logits.shape)
    return softmax(logits, axis=1), _said(logits, off), _said(logits + noise, off)


@cache
def population(n_classes: int, off: str) -> dict[str, float]:
    """What all possible rows have, under the names of the measures."""
    true, said, other = _draw(N_POPULATION, n_classes, off, np.random.default_rng(0))
    first, second = _means(true, said), _means(true, other)
    columns = range(1, 2) if n_classes == 2 else range(n_classes)
    by_class = [_column(true[:, c], said[:, c]) for c in range(n_classes)]
    share = true.mean(axis=0)
    top, rows = said.argmax(axis=1), np.arange(len(said))
    lead = (true[:, 1], said[:, 1]) if n_classes == 2 else (true[rows, top], said[rows, top])
    found = first | {
        "calibration": sum(by_class[c]["calibration"] for c in columns),
        "refinement": sum(by_class[c]["refinement"] for c in columns),
        "uncertainty": sum(share[c] * (1 - share[c]) for c in columns),
        "auc": float(np.mean([by_class[c]["auc"] for c in columns])),
        "expected_calibration_error": _ece(*lead, even=False),
        "top_label_frequency": _ece(true[rows, top], said[rows, top], even=True),
        "classwise_width": float(
            np.mean([_ece(t, s, even=False) for t, s in zip(true.T, said.T, strict=True)])
        ),
        "classwise_frequency": float(
            np.mean([_ece(t, s, even=True) for t, s in zip(true.T, said.T, strict=True)])
        ),
    }
    slope, intercepts = _cox([(true[:, c], said[:, c]) for c in columns])
    found |= {"calibration_slope": slope, "calibration_intercept": intercepts[0]}
    found |= {f"difference of {name}": first[name] - second[name] for name in second if name != "confidence"}
    areas = [_area(true[:, c], other[:, c]) for c in columns]
    found["difference of auc"] = found["auc"] - float(np.mean(areas))
    for c, each in enumerate(by_class):
        found |= {f"{c} {name}": value for name, value in each.items()}
    return found


def _means(true: Matrix, said: Matrix) -> dict[str, float]:
    top, rows = said.argmax(axis=1), np.arange(len(said))
    squares = true * ((1 - said) ** 2 - said**2) + said**2
    return {
        "log_loss": float(-(true * np.log(said)).sum(axis=1).mean()),
        "brier_score": float((squares[:, 1] if said.shape[1] == 2 else squares.sum(axis=1)).mean()),
        "error_rate": float(1 - true[rows, top].mean()),
        "confidence": float(said[rows, top].mean()),
    }


def _column(true: Matrix, said: Matrix) -> dict[str, float]:
    order = np.argsort(said)
    fit = isotonic_regression(true[order]).x
    slope, intercepts = _cox([(true, said)])
    return {
        "share": float(true.mean()),
        "mean_probability": float(said.mean()),
        "brier_score": float((true * (1 - 2 * said) + said**2).mean()),
        "calibration": float(np.mean((said[order] - fit) ** 2)),
        "refinement": float(np.mean(fit * (1 - fit))),
        "auc": _area(true, said),
        "calibration_slope": slope,
        "calibration_intercept": intercepts[0],
    }


def _area(true: Matrix, said: Matrix) -> float:
    true = true[np.argsort(said)]
    below = np.cumsum(1 - true) - (1 - true) / 2
    return float(true @ below / true.sum() / (1 - true).sum())


def _ece(true: Matrix, said: Matrix, *, even: bool) -> float:
    if even:
        bins = np.argsort(np.argsort(said)) * N_BINS // len(said)
    else:
        bins = np.minimum((said * N_BINS).astype(int), N_BINS - 1)
    return float(np.abs(np.bincount(bins, said - true, N_BINS)).sum() / len(said))


def _cox(columns: list[tuple[Matrix, Matrix]]) -> tuple[float, list[float]]:
    """One slope, and an intercept for every column: the intercepts are found for any slope, and then this."""
    data = [(true, logit(said)) for true, said in columns]

    def intercept(slope: float, true: Matrix, x: Matrix) -> float:
        mean = true.mean()
        return float(brentq(lambda b: expit(slope * x + b).mean() - mean, -30, 30, xtol=1e-10))

    def loss(slope: float) -> float:
        total = 0.0
        for true, x in data:
            z = slope * x + intercept(slope, true, x)
            total += float(np.mean(np.logaddexp(0, z) - true * z))
        return total

    best = minimize(lambda a: loss(float(a[0])), [1.0], method="Nelder-Mead", options={"xatol": 1e-4})
    slope = float(best.x[0])
    return slope, [intercept(slope, true, x) for true, x in data]


@dataclass(frozen=True)
class Case:
    """Forecasts that are measured."""

    off: str
    n_classes: int
    n_rows: int

    def measure(self, seed: int) -> dict[str, tuple[float, float, float]]:
        """Value and interval of every measure of one sample."""
        random = np.random.default_rng([seed, self.n_classes, self.n_rows, FORECASTS.index(self.off)])
        true, said, other = _draw(self.n_rows, self.n_classes, self.off, random)
        y = (random.random(self.n_rows)[:, np.newaxis] > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
        found = evaluate(y, said, classes=range(self.n_classes), random_state=seed)
        estimates: dict[str, Estimate] = {}
        for name in (*MEANS[:5], *PARTS):
            holder = found if hasattr(found, name) else found.calibration_errors
            value = getattr(holder, name)
            estimates[name] = value[0] if isinstance(value, tuple) else value
        for c, each in enumerate(found.by_class):
            estimates |= {f"{c} {name}": getattr(each, name) for name in BY_CLASS}
        difference = evaluate_difference(y, said, other, classes=range(self.n_classes))
        for name in ("log_loss", "brier_score", "error_rate", "auc"):
            estimates[f"difference of {name}"] = getattr(difference, name)
        return {name: (float(each), each.low, each.high) for name, each in estimates.items()}


@dataclass(frozen=True)
class Coverage:
    """How often the intervals of a measure covered, were too low, were too high; and their size."""

    off: str
    n_classes: int
    n_rows: int
    measure: str
    simulations: int
    truth: float
    covered: float
    below: float
    above: float
    mean: float
    half_width: float


def cases() -> Iterator[Case]:
    """Every way to be off, number of classes and number of rows."""
    for n_classes, off, n_rows in product(SPREADS, FORECASTS, SIZES):
        yield Case(off, n_classes, n_rows)


def simulate(case: Case, first: int, last: int) -> list[dict[str, tuple[float, float, float]]]:
    """Measure so many samples."""
    return [case.measure(seed) for seed in range(first, last)]


def run(simulations: int) -> list[Coverage]:
    """All cases, side by side."""
    starts = range(0, simulations, PORTION)
    portions = [(case, first, min(first + PORTION, simulations)) for case in cases() for first in starts]
    found: dict[Case, list[dict[str, tuple[float, float, float]]]] = {}
    with ProcessPoolExecutor(PROCESSES) as processes:
        results = processes.map(simulate, *zip(*portions, strict=True))
        bar = track(results, "intervals", total=len(portions), console=Console(stderr=True))
        for (case, *_), result in zip(portions, bar, strict=True):
            found.setdefault(case, []).extend(result)
    return [each for case, results in found.items() for each in coverage(case, results)]


def coverage(case: Case, found: list[dict[str, tuple[float, float, float]]]) -> Iterator[Coverage]:
    """What the samples of one case say; those of classes are put together."""
    truths = population(case.n_classes, case.off)
    kinds: dict[str, list[str]] = {}
    for name in found[0]:
        kinds.setdefault(f"class {name.split(' ')[1]}" if name[0].isdigit() else name, []).append(name)
    for kind, names in kinds.items():
        numbers = np.array([[sample[name] for name in names] for sample in found])
        value, low, high = np.moveaxis(numbers, -1, 0)
        truth = np.array([truths[name] for name in names])
        usual = np.isfinite(low) & np.isfinite(high)
        below, above = (high < truth)[usual], (low > truth)[usual]
        yield Coverage(
            case.off,
            case.n_classes,
            case.n_rows,
            kind,
            len(found),
            truth=float(truth.mean()),
            covered=float(1 - np.mean(below | above)),
            below=float(below.mean()),
            above=float(above.mean()),
            mean=float(value[usual].mean()),
            half_width=float(np.mean(high - low, where=usual) / 2),
        )


def table(rows: list[Coverage]) -> str:
    """Percentages of cases in which intervals covered, by measure."""
    columns = list(product(SPREADS, SIZES))
    titles = [f"{k} classes, {n:,} rows" for k, n in columns]
    lines = [f"{min(row.simulations for row in rows):,} samples in each case.", ""]
    lines += [f"| measure | {' | '.join(titles)} |", "|---|" + "---:|" * len(columns)]
    for name in dict.fromkeys(row.measure for row in rows):
        cells = []
        for k, n in columns:
            here = [row for row in rows if (row.measure, row.n_classes, row.n_rows) == (name, k, n)]
            cells.append(" / ".join(f"{100 * row.covered:.1f}" for row in here))
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def guide(text: str, rows: list[Coverage]) -> str:
    """The guide with the table between its marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{table(rows)}{END}{rest.split(END)[1]}"


def kept() -> list[Coverage]:
    """What the last run found."""
    return [Coverage(**row) for row in json.loads((RESULTS / "coverage.json").read_text())["rows"]]


def main(simulations: int) -> None:
    """Simulate, and keep the results."""
    rows = run(simulations)
    made_by = {
        "command": f"python -m benchmarks.coverage {simulations}",
        "python": platform.python_version(),
        **{package: version(package) for package in ("numpy", "scipy")},
    }
    content = {"made_by": made_by, "rows": [asdict(row) for row in rows]}
    (RESULTS / "coverage.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "coverage.md").write_text(table(rows))
    if GUIDE.exists():
        GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS)
