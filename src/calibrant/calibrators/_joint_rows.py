"""The rows of a fit of all scores together, equal ones as one, in an order of their own."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.maps import NUMPY, Entry

if TYPE_CHECKING:
    from calibrant.passes import KeptRows, Learning


@dataclass(frozen=True, eq=False)
class JointRows:
    """The rows of a fit, equal ones as one, in an order that neither rows nor labels came in.

    Attributes
    ----------
    entry : Entry
        How their scores come in, and the order of the classes.
    scores : ndarray of shape (n, c)
        Their scores, as they came.
    y : ndarray of shape (n,)
        The numbers of their classes, in the order of the entry.
    weight : ndarray of shape (n,)
        Their weights.
    total : float
        The weight of all rows, also of those that were left out.
    """

    entry: Entry
    scores: Float64Array
    y: IntArray
    weight: Float64Array
    total: float

    def some(self, rows: IntArray | None) -> "JointRows":
        """Some of the rows; None for all."""
        if rows is None:
            return self
        return replace(self, scores=self.scores.take(rows, axis=0), y=self.y[rows], weight=self.weight[rows])

    def thinned(self, entries: int, least: int = 1000) -> IntArray | None:
        """So many scores, evenly by class and the score of the true class; None for all."""
        most = max(entries // len(self.entry.order), least)
        if len(self.y) <= most:
            return None
        even = np.linspace(0, len(self.y) - 1, most).astype(int)
        return np.sort(self._by_class[np.unique(even)])

    @cached_property
    def _by_class(self) -> IntArray:
        """The rows by class and the score of the true class; by class they stand already."""
        ends = np.searchsorted(self.y, np.arange(self.entry.n_classes + 1)).tolist()
        spans = enumerate(pairwise(ends))
        own = ((begin, self.given[begin:end, number]) for number, (begin, end) in spans)
        return np.concatenate([begin + np.argsort(scores, kind="stable") for begin, scores in own])

    @cached_property
    def given(self) -> Float64Array:
        """The probability, above zero, or the margin of every class."""
        given: Float64Array = self.entry.of_classes(self.scores, NUMPY)
        return given


def joint_rows(most: int, kind: str, n_classes: int, code: Float64Array | None) -> "Learning[JointRows]":
    """Ask for the rows, at most so many different ones, and put them in order."""
    rows: KeptRows = yield passes.DistinctRows(most)
    single = code is None and rows.scores.shape[1] == 1
    entry = Entry(kind, np.arange(n_classes), single, code)
    entry = replace(entry, order=_class_order(rows, entry))
    y = np.argsort(entry.order)[rows.truth]
    columns = rows.scores if code is not None else entry.of_classes(rows.scores, NUMPY)
    order, apart = _canonical(rows.weight, columns, y)
    y, weight = y[order], rows.weight[order]
    if apart:
        mass = weight * rows.count[order] * rows.part[order]
        total = float(mass.sum()) if rows.total is None else rows.total
        return JointRows(entry, rows.scores.take(order, axis=0), y, mass, total)
    columns = columns.T.take(order, axis=1)
    of_weight = _starts(y, weight, *columns)  # copies are counted, so that none adds up otherwise
    mass = weight[of_weight] * np.add.reduceat(rows.count[order], of_weight)
    y, columns, order = y[of_weight], columns.take(of_weight, axis=1), order[of_weight]
    starts = _starts(y, *columns)
    mass = np.add.reduceat(mass, starts) * rows.part[order[starts]]
    total = float(mass.sum()) if rows.total is None else rows.total
    return JointRows(entry, rows.scores.take(order[starts], axis=0), y[starts], mass, total)


def _canonical(weight: Float64Array, columns: Float64Array, y: IntArray) -> tuple[IntArray, bool]:
    """The order by class, scores and weight; and whether the last score tells all rows of a class apart."""
    last = columns[:, -1]
    order = np.argsort(last)
    order = order[
        np.argsort(y[order].astype(np.min_scalar_type(y.max())), kind="stable")
    ]  # small ones sort fast
    if len(_starts(y[order], last[order])) == len(y):
        return order, True
    return np.lexsort((weight, *columns.T, y)), False


def _starts(*columns: Array) -> IntArray:
    """Where rows begin that are not the one before."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _class_order(rows: "KeptRows", entry: Entry) -> IntArray:
    """An order of the classes that their labels have no part in: by weight, then by their scores."""
    k, mass = entry.n_classes, rows.weight * rows.count
    weight: Float64Array = np.bincount(rows.truth, mass, k).astype(np.float64)
    if (mass != np.floor(mass)).any():  # whole numbers add up to the same in any order
        weight = np.array([math.fsum(mass[rows.truth == number]) for number in range(k)])
    if len(np.unique(weight)) == k:
        return np.argsort(weight)
    given, own, whole = entry.of_classes(rows.scores, NUMPY), np.zeros(k), np.zeros(k)
    for number in _tied(weight):
        own[number] = math.fsum(np.unique(given[rows.truth == number, number]))
    for number in _tied(weight, own):
        whole[number] = math.fsum(np.unique(given[:, number]))
    return np.lexsort((whole, own, weight))


def _tied(*numbers: Float64Array) -> IntArray:
    """The classes that have the same numbers as others."""
    _, place, count = np.unique(np.array(numbers), axis=1, return_inverse=True, return_counts=True)
    return np.flatnonzero(count[place.ravel()] > 1)
