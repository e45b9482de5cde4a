"""Decisions and learned rules beside the bare NumPy work that they cannot do without."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, peak_bytes, within
from calibrant.decisions import LachicheFlachRule, ParallelPartitionRule, decide, random_costs


def estimated(n: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities, labels drawn by them, and random costs."""
    rng = np.random.default_rng(0)
    proba = rng.standard_gamma(0.5, size=(n, k))
    proba /= proba.sum(axis=1, keepdims=True)
    y = (rng.random(n)[:, None] > proba.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return proba, y, random_costs(k, random_state=0)


def deciding() -> Iterator[Row]:
    """The least-cost decision: time beside one matrix product and one argmin."""
    for n, k, goal in ((1_000_000, 100, "<= 2"), (1_000_000, 10, ""), (1_000_000, 3, "")):
        proba, _, cost = estimated(n, k)
        yield within(
            f"decide, n = {n:,}, k = {k}",
            "proba @ cost.T and argmin",
            lambda proba=proba, cost=cost: decide(proba, cost),
            lambda proba=proba, cost=cost: (proba @ cost.T).argmin(axis=1),
            goal=goal,
        )


def learning() -> Iterator[Row]:
    """The learned rules: time of one sweep over all classes beside one sort of all columns."""
    n, k = 1_000_000, 10
    proba, y, cost = estimated(n, k)
    for rule in (ParallelPartitionRule(), LachicheFlachRule()):
        yield within(
            f"{type(rule).__name__} fit, n = {n:,}, k = {k}",
            "np.sort of the columns",
            lambda rule=rule: rule.fit(proba, y, cost),
            lambda: np.sort(proba, axis=0),
            goal="<= 8",
            repeats=3,
        )


def learning_memory() -> Iterator[Row]:
    """The learned rules: greatest extra memory of a fit, in multiples of the bytes of the probabilities."""
    n, k = 1_000_000, 10
    proba, y, cost = estimated(n, k)
    for rule in (ParallelPartitionRule(), LachicheFlachRule()):
        peak = peak_bytes(lambda rule=rule: rule.fit(proba, y, cost))
        case = f"{type(rule).__name__} fit, n = {n:,}, k = {k}, peak extra memory"
        yield Row(
            case, "the probabilities", peak / 1e6, proba.nbytes / 1e6, " MB", peak / proba.nbytes, "<= 3"
        )
