"""Class scores in descending order: which class comes first, which second, and so on.

Ranks are counted from 0 inside the library and from 1 wherever a user sees them. Of equal scores the
class with the lower number comes first.
"""

from collections.abc import Iterator

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, IntArray

#: Scores worked on at once: the working arrays of a block stay in the processor's cache.
BLOCK_SIZE = 1 << 15
#: Up to this many leading classes, or this share of all, are found one by one; for more, rows are sorted.
FEW, FEW_OF_ALL = 5, 1 / 8


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut the rows into blocks of about `BLOCK_SIZE` scores."""
    step = max(1, BLOCK_SIZE // n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def lead(scores: FloatArray, n_ranks: int) -> tuple[IntArray, Float64Array]:
    """The classes at the first ranks and their scores, both of shape (n_ranks, n)."""
    n_rows, n_classes = scores.shape
    leaders, leading = np.empty((n_ranks, n_rows), dtype=np.intp), np.empty((n_ranks, n_rows))
    for rows in row_blocks(n_rows, n_classes):
        if n_ranks <= max(FEW, FEW_OF_ALL * n_classes):
            _lead_one_by_one(scores[rows], leaders[:, rows], leading[:, rows])
        else:
            order = np.argsort(-scores[rows], axis=1, kind="stable")[:, :n_ranks]
            leaders[:, rows] = order.T
            leading[:, rows] = np.take_along_axis(scores[rows], order, axis=1).T
    return leaders, leading


def rank_truth(scores: FloatArray, position: IntArray) -> tuple[Float64Array, IntArray]:
    """The scores at all ranks, of shape (k, n), and for every row the rank of its true class.

    Sorting scores is several times faster than ranking classes.
    """
    n_rows, n_classes = scores.shape
    leading, rank = np.empty((n_classes, n_rows)), np.empty(n_rows, dtype=np.intp)
    for rows in row_blocks(n_rows, n_classes):
        block, true = scores[rows], position[rows]
        leading[:, rows] = np.sort(block, axis=1)[:, ::-1].T
        own = block[np.arange(len(block)), true, None]
        before, equal = block > own, block == own
        if equal.sum() > len(block):
            before |= equal & (np.arange(n_classes) < true[:, None])
        rank[rows] = before.sum(axis=1)
    return leading, rank


def _lead_one_by_one(scores: FloatArray, leaders: IntArray, leading: Float64Array) -> None:
    left = np.array(scores, dtype=np.float64, order="C")
    for rank, (classes, values) in enumerate(zip(leaders, leading, strict=True), start=1):
        left.argmax(axis=1, out=classes)  # of equal ones the first
        places = places_of(classes, scores.shape[1])
        left.take(places, out=values)
        if rank < len(leaders):
            left.put(places, -np.inf)


def places_of(classes: IntArray, n_classes: int) -> IntArray:
    """Where the scores of these classes, one per row, stand in a flattened matrix of scores."""
    return np.arange(0, len(classes) * n_classes, n_classes) + classes
