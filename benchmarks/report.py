"""A report on a million rows: how long it takes to summarise them, and how large the page is."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, within
from calibrant.metrics import evaluate
from calibrant.report import summarize

N_ROWS, N_CLASSES = 1_000_000, 10
#: What a page may take.
LARGEST = 1_000_000


def report() -> Iterator[Row]:
    """Summarise beside one sort of the same matrix, each row of it or each column."""
    random = np.random.default_rng(0)
    margin = random.normal(size=(N_ROWS, N_CLASSES))
    y = random.integers(N_CLASSES, size=N_ROWS)
    margin[np.arange(N_ROWS), y] += 2
    proba = np.exp(margin)
    proba /= proba.sum(axis=1, keepdims=True)
    case = "summarize, 1e6 rows of 10 classes"
    yield within(
        case,
        "np.sort of the rows",
        lambda: summarize(y, proba),
        lambda: np.sort(proba),
        goal="<= 15",
        repeats=11,
    )
    yield within(
        case, "np.sort of the columns", lambda: summarize(y, proba), lambda: np.sort(proba, axis=0), repeats=3
    )
    yield within(
        "evaluate, the same rows",
        "np.sort of the rows",
        lambda: evaluate(y, proba),
        lambda: np.sort(proba),
        repeats=11,
    )
    size = len(summarize(y, proba).to_html().encode())
    yield Row("its page", "the largest allowed", size, LARGEST, " B", size / LARGEST, "<= 1")
