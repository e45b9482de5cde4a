"""What is asked of the default, put to the test: the stack beside the best of the peers."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.arena.contestants import PEERS, REFERENCE
from benchmarks.arena.standing import GROUPS, by_case, interval, ratio, short

OURS = "calibrant stack"
MANY, TWO = "probmetrics logistic-mix", ("venn-abers", "betacal", "probmetrics quadratic-mix")
#: Calibration parts of fewer rows are small.
FEW = 150

Cases = dict[tuple, dict[str, dict[str, Any]]]


def bars(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every bar: what is compared, with whom, the ratio of the losses with its interval, and the limit."""
    good = [cell for cell in cells if "failed" not in cell]
    found = []
    for group, belongs in GROUPS.items():
        cases = by_case(cell for cell in good if belongs(cell))
        many = group == "many classes"
        peers = [MANY] if many else list(TWO)
        for parts, some in (("all parts", cases), ("whole parts", _whole(cases))):
            for measure in ("log_loss", "brier"):
                limit = {"log_loss": 0.89, "brier": 0.90}[measure] if many else 0.98
                found += _against(some, group, measure, parts, _best(some, peers, measure), limit)
            if many:
                for measure in ("random_cost", "rarity_cost"):
                    found += _against(some, group, measure, parts, MANY, 0.91)
        few = {key: case for key, case in cases.items() if key[3] < FEW}
        others = [name for name in PEERS if name != REFERENCE]
        for measure in ("log_loss", "brier"):
            peer = _best(few, others, measure)
            found += _against(few, group, measure, f"below {FEW} rows", peer, 1.05)
        own = sorted({name for case in cases.values() for name in case if name.startswith("calibrant")})
        for measure in ("log_loss", "brier"):
            single = _best(cases, [name for name in own if name != OURS], measure)
            found += _against(cases, group, measure, "all parts", single, 1.02)
    return found


def _whole(cases: Cases) -> Cases:
    """The greatest calibration part of every set and model."""
    most: dict[tuple, int] = {}
    for *place, size in cases:
        most[tuple(place)] = max(size, most.get(tuple(place), 0))
    return {key: case for key, case in cases.items() if key[3] == most[key[:3]]}


def _best(cases: Cases, methods: Iterable[str], measure: str) -> str | None:
    """The method of least loss in the mean over the sets."""
    means = {name: _mean(cases, name, REFERENCE, measure) for name in methods}
    known = {name: np.mean(each) for name, each in means.items() if len(each)}
    return min(known, key=known.__getitem__) if known else None


def _mean(cases: Cases, method: str, other: str, measure: str) -> np.ndarray:
    """Mean logarithms of the ratios of the losses on every set."""
    logs = defaultdict(list)
    for (name, *_), case in cases.items():
        if method in case and other in case:
            logs[name].append(np.log(ratio(case[method], case[other], measure)))
    return np.array([np.mean(each) for each in logs.values()])


def _against(
    cases: Cases, group: str, measure: str, parts: str, peer: str | None, limit: float
) -> list[dict[str, Any]]:
    if peer is None:
        return []
    means = _mean(cases, OURS, peer, measure)
    if not len(means):
        return []
    low, high = interval(means)
    value = float(np.exp(means.mean()))
    row = {"group": group, "measure": measure, "parts": parts, "peer": peer, "n_sets": len(means)}
    numbers = {"ratio": short(value), "low": short(low), "high": short(high), "limit": limit}
    return [row | numbers | {"holds": value <= limit}]


def slopes(distances: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """How the distance of the stack from every truth falls with the rows: the slope on logarithmic axes."""
    found = []
    by = defaultdict(list)
    for each in distances:
        if each["method"] == OURS:
            by[each["truth"]].append((each["n_calibrate"], each["distance"]))
    for truth, points in by.items():
        rows, distance = np.array(sorted(points)).T
        slope = np.polyfit(np.log(rows), np.log(distance), 1)[0]
        found.append({"truth": truth, "slope": short(slope)})
    return found
