"""Data sets, cut into rows to train on, to calibrate on, and to test on.

The papers' sets are read from the folder that CALIBRANT_DATA names, two come with scikit-learn. Left out are
the two newsgroup collections, which are text, what has labels alone, and sets of fewer than 130 rows. Rows of
a class that has fewer than ten of them are left out, too.
"""

from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from calibrant.experiments._data_columns import BINARY, MULTICLASS
from calibrant.experiments._datasets import read_table

#: Sets that are too small for a calibration part of 40 rows.
TOO_SMALL = {"lenses", "zoo"}
FROM_SCIKIT_LEARN = {"digits": load_digits, "wdbc": load_breast_cancer}
NAMES = [*(name for name in (BINARY | MULTICLASS) if name not in TOO_SMALL), *FROM_SCIKIT_LEARN]
#: Some sets of each kind, which take little time.
QUICK = ["diabetes", "sick", "tic-tac-toe", "glass", "car", "vowel"]
#: Rows of a class that a set must have for the class to take part.
LEAST_OF_CLASS = 10
#: Shares of the rows to test on and to calibrate on, and the most rows of each part.
SHARE, MOST_TRAIN, MOST = 0.3, 4_000, 20_000
#: Calibration parts have so many rows, or all that there are.
SIZES = (40, 200, 1_000, 5_000, 20_000)


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set: features, numbers of the classes, which features are names, and what must stay together."""

    X: np.ndarray
    y: np.ndarray
    nominal: np.ndarray
    block: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1


@dataclass(frozen=True, eq=False)
class Parts:
    """Places of the rows of every part."""

    train: np.ndarray
    calibrate: np.ndarray
    test: np.ndarray


@cache
def problem_named(name: str) -> Problem:
    """Read a data set."""
    if name in FROM_SCIKIT_LEARN:
        X, label = FROM_SCIKIT_LEARN[name](return_X_y=True)
        nominal, block = np.zeros(X.shape[1], dtype=bool), None
    else:
        table = read_table(name)
        X, label, nominal, block = table.X, table.y, table.nominal, table.block
        if table.positive is not None:
            label = table.is_positive
    _, y, count = np.unique(label, return_inverse=True, return_counts=True)
    kept = count[y] >= LEAST_OF_CLASS
    number = np.cumsum(count >= LEAST_OF_CLASS) - 1
    return Problem(X[kept], number[y[kept]], nominal, None if block is None else block[kept])


def split(name: str, seed: int, *, inner: bool) -> Parts:
    """Cut a data set; an inner cut divides the calibration part, and leaves the test rows alone."""
    problem = problem_named(name)
    random = np.random.default_rng([crc32(name.encode()), seed])
    share = max(SHARE, 40 / len(problem.y) + 0.01)
    train, calibrate, test = _cut(problem, np.arange(len(problem.y)), (share, SHARE), random)
    if inner:
        _, calibrate, test = _cut(problem, calibrate, (2 / 3, 1 / 3), random)
    return Parts(
        train[draw(problem.y[train], MOST_TRAIN, random)],
        random.permutation(calibrate)[:MOST],
        random.permutation(test)[:MOST],
    )


def _cut(problem: Problem, rows: np.ndarray, shares: tuple[float, float], random) -> list[np.ndarray]:
    """What is left, the first share and the second, class by class; or block by block."""
    groups = problem.y if problem.block is None else np.zeros(len(problem.y), dtype=int)
    parts: list[list[np.ndarray]] = [[], [], []]
    for group in np.unique(groups[rows]):
        members = rows[groups[rows] == group]
        units = members if problem.block is None else np.unique(problem.block[members])
        units = random.permutation(units)
        first = round(shares[0] * len(units))
        second = min(len(units), first + round(shares[1] * len(units)))
        for part, some in zip(parts, (units[second:], units[:first], units[first:second]), strict=True):
            part.append(some if problem.block is None else members[np.isin(problem.block[members], some)])
    return [np.concatenate(part) for part in parts]


def sizes_of(n_rows: int, n_classes: int) -> list[int]:
    """The sizes of calibration parts for so many rows of so many classes: the last is all of them."""
    smaller = [size for size in SIZES if 4 * n_classes <= size < 0.9 * n_rows]
    return [*smaller, n_rows]


def draw(y: np.ndarray, size: int, random) -> np.ndarray:
    """Some rows, one of every class at least."""
    if size >= len(y):
        return np.arange(len(y))
    order = random.permutation(len(y))
    _, first = np.unique(y[order], return_index=True)
    others = np.delete(order, first)
    return np.concatenate([order[first], others[: size - len(first)]])
