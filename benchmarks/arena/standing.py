"""Ratios to scikit-learn's isotonic regression with intervals over data sets, and ranks."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.arena.contestants import REFERENCE
from benchmarks.arena.measures import MEASURES

#: Resamples of the data sets for an interval.
N_RESAMPLES = 2000
GROUPS = {
    "two classes": lambda cell: cell["n_classes"] == 2,
    "many classes": lambda cell: cell["n_classes"] > 2,
}
#: Rows of a calibration part, from and below.
SIZE_GROUPS = {
    "40": (1, 100),
    "200": (100, 500),
    "1,000": (500, 2_500),
    "5,000": (2_500, 10_000),
    "20,000": (10_000, np.inf),
}


def ratio(cell: dict[str, Any], reference: dict[str, Any], measure: str) -> float:
    """A loss relative to that of the reference; half a test row is added to both, as either may be zero."""
    half = 0.5 / cell["n_test"]
    return (cell[measure] + half) / (reference[measure] + half)


def standings(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for every group of problems and every method.

    A ratio is the geometric mean over the data sets of the geometric means over their models and sizes; its
    interval is that of resampled data sets. A rank is that among all methods on the same scores.
    """
    found = []
    cells = [cell for cell in cells if "failed" not in cell]
    for group, belongs in GROUPS.items():
        here = by_case(cell for cell in cells if belongs(cell))
        methods = sorted({method for case in here.values() for method in case})
        found += [{"group": group, "method": method, **_standing(here, method)} for method in methods]
    return found


def by_case(cells: Iterable[dict[str, Any]]) -> dict[tuple, dict[str, dict[str, Any]]]:
    """Cells by what they share, data set, model, split and size, and in it by method."""
    found: dict[tuple, dict[str, dict[str, Any]]] = defaultdict(dict)
    for cell in cells:
        found[cell["set"], cell["learner"], cell["seed"], cell["n_calibrate"]][cell["method"]] = cell
    return {key: case for key, case in found.items() if REFERENCE in case}


def _standing(cases: dict[tuple, dict[str, dict[str, Any]]], method: str) -> dict[str, Any]:
    mine = {key: case for key, case in cases.items() if method in case}
    row: dict[str, Any] = {"n_sets": len({key[0] for key in mine}), "n_cases": len(mine)}
    for measure in MEASURES:
        logs, ranks = defaultdict(list), []
        for (name, *_), case in mine.items():
            logs[name].append(np.log(ratio(case[method], case[REFERENCE], measure)))
            order = rankdata([each[measure] for each in case.values()])
            ranks.append(order[list(case).index(method)])
        means = np.array([np.mean(each) for each in logs.values()])
        low, high = interval(means)
        row[measure] = {
            "ratio": short(np.exp(means.mean())),
            "low": short(low),
            "high": short(high),
            "rank": short(np.mean(ranks)),
            "better": int((means < 0).sum()),
            "worse": int((means > 0).sum()),
        }
    for time in ("fit", "predict"):
        row[f"{time}_ms"] = short(
            1000 * np.median([case[method][f"{time}_seconds"] for case in mine.values()])
        )
    return row


def interval(means: np.ndarray) -> tuple[float, float]:
    random = np.random.default_rng(0)
    resampled = means[random.integers(0, len(means), (N_RESAMPLES, len(means)))].mean(axis=1)
    low, high = np.exp(np.quantile(resampled, [0.025, 0.975]))
    return float(low), float(high)


def by_size(cells: Iterable[dict[str, Any]], measure: str = "log_loss") -> list[dict[str, Any]]:
    """The same ratios for every size of the calibration part."""
    found = []
    cells = [cell for cell in cells if "failed" not in cell]
    for group, belongs in GROUPS.items():
        for size, (least, below) in SIZE_GROUPS.items():
            some = [cell for cell in cells if belongs(cell) and least <= cell["n_calibrate"] < below]
            cases = by_case(some)
            for method in sorted({method for case in cases.values() for method in case}):
                row = _standing(cases, method)
                interval = {each: row[measure][each] for each in ("ratio", "low", "high")}
                found.append(
                    {"group": group, "size": size, "method": method, "n_sets": row["n_sets"], **interval}
                )
    return found


def short(number: float) -> float:
    return float(f"{number:.4g}")
