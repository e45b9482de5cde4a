"""Sums as a table that travels: rows of several such tables, in any order, are the table of all of them."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.metrics._points import Column, Points, joined

#: What a row of the table is about.
SUM, POINT, CELL, SAMPLED = range(4)
N_VALUES = 7

#: Hash, then truth, weight and probabilities of rows.
Sample = tuple[Array, Float64Array]


def as_table(sums: Mapping[str, Float64Array], columns: Sequence[Column], sample: Sample) -> dict[str, Array]:
    """Write sums, points and a sample of rows."""
    flat = np.concatenate([each.ravel() for each in sums.values()])
    blocks = [_block(SUM, np.arange(len(flat)), None, flat)]
    for place, column in enumerate(columns):
        points = column.points()
        kind = CELL if column.pooled else POINT
        blocks.append(_block(kind, np.full(len(points), place), None, *points.arrays()))
    hashes, rows = sample
    for place in range(rows.shape[1] - 2 if len(rows) else 0):
        where = np.full(len(rows), place)
        blocks.append(_block(SAMPLED, where, hashes, rows[:, 0], rows[:, 1], rows[:, 2 + place]))
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


class Table:
    """Such a table, or several, one after the other."""

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self.kind, self.place = np.asarray(columns["kind"]), np.asarray(columns["place"])
        self.hashes = np.asarray(columns["hash"]).view(np.uint64)
        self.values = [np.asarray(columns[f"value{number}"]) for number in range(N_VALUES)]

    def sums(self, like: Mapping[str, Float64Array]) -> dict[str, Float64Array]:
        """The sums, by names and shapes that are known."""
        chosen = self.kind == SUM
        sizes = [each.size for each in like.values()]
        flat: Float64Array = np.bincount(self.place[chosen], self.values[0][chosen], sum(sizes)).astype(float)
        parts = np.split(flat, np.cumsum(sizes)[:-1])
        return {name: part.reshape(like[name].shape) for name, part in zip(like, parts, strict=True)}

    def points(self, place: int) -> Iterator[tuple[Points, bool]]:
        """The points of a column, and whether these are pooled."""
        for kind in (POINT, CELL):
            rows = np.flatnonzero((self.kind == kind) & (self.place == place))
            if len(rows):
                yield _points([each[rows] for each in self.values]), kind == CELL

    def sample(self, n_classes: int) -> Sample:
        """The rows that were kept."""
        kept = np.flatnonzero(self.kind == SAMPLED)
        rows = kept[np.lexsort((self.place[kept], self.hashes[kept]))].reshape(-1, n_classes)
        truth, weight, proba = (each[rows] for each in self.values[:3])
        return self.hashes[rows[:, 0]], np.column_stack([truth[:, 0], weight[:, 0], proba])


def _block(kind: int, place: IntArray, hashes: Array | None, *values: Float64Array) -> dict[str, Array]:
    n = len(place)
    filled = [*values, *[np.zeros(n)] * (N_VALUES - len(values))]
    return {
        "kind": np.full(n, kind, dtype=np.int64),
        "place": place.astype(np.int64),
        "hash": np.zeros(n, dtype=np.int64) if hashes is None else hashes.view(np.int64),
        **{f"value{number}": each for number, each in enumerate(filled)},
    }


def _points(values: list[Float64Array]) -> Points:
    """Points in any order, of several summaries."""
    order = np.argsort(values[1], kind="stable")
    p, low, high, *sums = (each[order] for each in values)
    exact = bool(np.array_equal(low, high))
    return joined([Points(low, low, low, *sums) if exact else Points(p, low, high, *sums)])
