"""Random code matrices: the best of many draws (Allwein, Schapire & Singer 2000; docs/methods/codes.md)."""

import math
from collections.abc import Iterator

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._chance import Seed, generator
from calibrant._core._checks import (
    is_whole,
    shown,
)
from calibrant._core._errors import ParameterError
from calibrant.codes._matrices import CodeMatrix, check_class_count
from calibrant.codes._validation import linked_classes

#: What `random_state` may be.

#: Entries drawn at a time; keeps the memory bounded whatever k.
_BATCH = 2_000_000


def random_dense(
    k: int, random_state: Seed = None, *, n_columns: int | None = None, n_draws: int = 10_000
) -> CodeMatrix:
    """Draw matrices of +1 and -1, and keep the one whose rows lie farthest apart.

    Parameters
    ----------
    k : int
        The number of classes, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        The source of randomness; the same whole number gives the same matrix.
    n_columns : int, optional
        The number of columns, by default 10 log2(k) rounded up.
    n_draws : int, default=10000
        The number of matrices drawn.

    Returns
    -------
    ndarray of shape (k, n_columns) and type int8
        The valid matrix of largest minimum distance; the first one drawn among equals.

    Raises
    ------
    CalibrantError
        When no matrix drawn is valid, which takes too few columns to tell k classes apart.

    Notes
    -----
    Entries are +1 or -1 with probability 1/2. A matrix is valid when `code_findings` finds nothing in it
    but duplicate or complementary columns. Columns with one sign are drawn again one by one, which gives
    the same distribution as drawing whole matrices until all columns have both, only faster.

    Examples
    --------
    >>> from calibrant.codes import min_distance, random_dense
    >>> code = random_dense(10, random_state=0)
    >>> code.shape, min_distance(code)
    ((10, 34), 14.0)
    """
    return _best_draw(k, random_state, [-1, 1], 10, n_columns, n_draws)


def random_sparse(
    k: int, random_state: Seed = None, *, n_columns: int | None = None, n_draws: int = 10_000
) -> CodeMatrix:
    """Draw matrices of +1, 0 and -1, and keep the one whose rows lie farthest apart.

    Parameters
    ----------
    k : int
        The number of classes, at least 2.
    random_state : int, Generator, RandomState or None, default=None
        The source of randomness; the same whole number gives the same matrix.
    n_columns : int, optional
        The number of columns, by default 15 log2(k) rounded up.
    n_draws : int, default=10000
        The number of matrices drawn.

    Returns
    -------
    ndarray of shape (k, n_columns) and type int8
        The valid matrix of largest minimum distance; the first one drawn among equals.

    Raises
    ------
    CalibrantError
        When no matrix drawn is valid, which takes too few columns to tell k classes apart.

    Notes
    -----
    Entries are 0 with probability 1/2, and +1 or -1 with probability 1/4 each. See `random_dense` for
    what is valid and how it is drawn.

    Examples
    --------
    >>> from calibrant.codes import min_distance, random_sparse
    >>> code = random_sparse(10, random_state=0)
    >>> code.shape, min_distance(code)
    ((10, 50), 24.0)
    """
    return _best_draw(k, random_state, [-1, 0, 0, 1], 15, n_columns, n_draws)


def _best_draw(
    k: int, random_state: Seed, entries: list[int], factor: int, n_columns: int | None, n_draws: int
) -> CodeMatrix:
    k = check_class_count(k)
    n_columns = math.ceil(factor * math.log2(k)) if n_columns is None else n_columns
    for name, value in (("n_columns", n_columns), ("n_draws", n_draws)):
        if not is_whole(value, 1):
            raise ParameterError(f"{name} must be a whole number, at least 1; got {shown(value)}")
    best, distance = None, -math.inf
    for codes in _draws(generator(random_state), np.array(entries, dtype=np.int8), k, n_columns, n_draws):
        distances = _distances_of_valid(codes)
        while distances.max() > distance:
            first = int(np.argmax(distances))
            if len(linked_classes(codes[first])) == 1:
                best, distance = codes[first], distances[first]
            else:
                distances[first] = -math.inf
    if best is None:
        raise ParameterError(
            f"{n_columns} random columns must tell {k} classes apart; got no such matrix in {n_draws} draws; "
            "raise n_columns or n_draws"
        )
    return np.ascontiguousarray(best)


def _draws(
    rng: np.random.Generator, entries: CodeMatrix, k: int, n_columns: int, n_draws: int
) -> Iterator[CodeMatrix]:
    """Matrices whose columns all have both signs, in batches of shape (batch, k, n_columns)."""
    batch = max(1, _BATCH // (k * n_columns))
    for start in range(0, n_draws, batch):
        size = min(batch, n_draws - start)
        columns = rng.choice(entries, (size * n_columns, k))
        bad = np.flatnonzero(_one_sided(columns))
        while len(bad):
            columns[bad] = rng.choice(entries, (len(bad), k))
            bad = bad[_one_sided(columns[bad])]
        yield columns.reshape(size, n_columns, k).transpose(0, 2, 1)


def _one_sided(columns: CodeMatrix) -> BoolArray:
    return np.asarray((columns.max(axis=1) < 1) | (columns.min(axis=1) > -1))


def _distances_of_valid(codes: CodeMatrix) -> Float64Array:
    """Minimum distance of every matrix; minus infinity for those with a zero row or identical rows."""
    entries = codes.astype(np.float32)  # whole numbers, so that single precision is exact
    products = entries @ entries.transpose(0, 2, 1)
    k, n_columns = codes.shape[1:]
    used = np.einsum("mii->mi", products).copy()
    np.einsum("mii->mi", products)[:] = -np.inf
    upper, lower = np.triu_indices(k, 1)
    pairs = products[:, upper, lower]
    identical = (pairs == used[:, upper]) & (pairs == used[:, lower])
    distances = (n_columns - pairs.max(axis=1).astype(np.float64)) / 2
    distances[identical.any(axis=1) | (used == 0).any(axis=1)] = -math.inf
    return np.asarray(distances)
