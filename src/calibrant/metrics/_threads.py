"""Work that is done side by side where that is worth it: NumPy lets others work while it sorts and adds."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: From so many rows on columns are looked at side by side, on at most so many processors.
THREADED_ROWS, MAX_THREADS = 50_000, 4


def side_by_side(work: Callable[[T], R], items: Iterable[T], n_rows: int) -> list[R]:
    """Do the work of every item, which has so many rows; the answers are in the order of the items."""
    items = list(items)
    n_threads = 1 if n_rows < THREADED_ROWS else min(len(items), MAX_THREADS, os.cpu_count() or 1)
    if n_threads < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, items))
