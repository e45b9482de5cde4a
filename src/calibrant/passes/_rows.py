"""Rows as the algorithms see them: scores, the number of the class, a weight, a key; checked already."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._mix import Hashes
from calibrant.passes._hashing import fold_of, hash_integers
from calibrant.passes._travel import travels

T = TypeVar("T")


@travels
@dataclass(frozen=True)
class Fold:
    """One of several parts of the rows, by the hashes of their keys.

    Parameters
    ----------
    number : int
        Which part, from 0.
    n_folds : int
        How many parts there are.
    n_others : int, optional
        How many of the other parts, those that follow, stand for the rest of the rows; by default all.
    """

    number: int
    n_folds: int
    n_others: int | None = None

    @property
    def leaves_more_out(self) -> bool:
        """Whether other parts are left out beside it."""
        return bool(self.others().sum() < self.n_folds - 1)

    def others(self) -> BoolArray:
        """Which of the parts stand for the rest of the rows."""
        after = (np.arange(self.n_folds) - self.number - 1) % self.n_folds
        return np.asarray(after < min(self.n_others or self.n_folds, self.n_folds - 1))


@dataclass(frozen=True, eq=False)
class Rows:
    """A batch of rows.

    Attributes
    ----------
    scores : ndarray of float64 of shape (n,) or (n, l)
        Finite scores.
    truth : ndarray of intp of shape (n,)
        The number of every row's class.
    weight : ndarray of float64 of shape (n,) or None
        Weights, not negative; None where every row counts once.
    key : ndarray of uint64 of shape (n,) or None
        Hashes that put every row into a fold; None to number the rows instead.
    classes : ndarray of shape (k,) or None
        The labels that the numbers stand for, where they are known.
    first : int
        Number of the first row, counted from 0 over all batches.
    group : ndarray of intp of shape (n,) or None
        The number of every row's group, -1 for none; None where there are no groups.
    """

    scores: Any
    truth: IntArray
    weight: Float64Array | None = None
    key: Hashes | None = None
    classes: Any = None
    first: int = 0
    group: IntArray | None = None
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, rows: Array) -> "Rows":
        """Give some of the rows, in any order.

        Parameters
        ----------
        rows : ndarray
            Their numbers in this batch, or whether each is meant.

        Returns
        -------
        Rows
            These rows.
        """
        weight = None if self.weight is None else self.weight[rows]
        group = None if self.group is None else self.group[rows]
        return Rows(self.scores[rows], self.truth[rows], weight, self.keys()[rows], self.classes, group=group)

    @staticmethod
    def joined(batches: "Sequence[Rows]") -> "Rows":
        """Put batches one after the other.

        Parameters
        ----------
        batches : sequence of Rows
            One batch or more, in the order of the rows if these have no keys.

        Returns
        -------
        Rows
            Their rows.
        """
        if len(batches) == 1:
            return batches[0]
        unkeyed = all(batch.key is None for batch in batches)
        weighted = any(batch.weight is not None for batch in batches)
        weights = [np.ones(len(batch)) if batch.weight is None else batch.weight for batch in batches]
        return Rows(
            np.concatenate([batch.scores for batch in batches]),
            np.concatenate([batch.truth for batch in batches]),
            np.concatenate(weights) if weighted else None,
            None if unkeyed else np.concatenate([batch.keys() for batch in batches]),
            batches[0].classes,
            batches[0].first,
            None if batches[0].group is None else np.concatenate([batch.group for batch in batches]),
        )

    def present(self) -> "Rows":
        """Give the rows of a weight above zero: the others are absent.

        Returns
        -------
        Rows
            These rows.
        """
        if self.weight is None or self.weight.all():
            return self
        return self.take(self.weight > 0)

    def keys(self) -> Hashes:
        """Give the hashes of the keys, or of the numbers of the rows.

        Returns
        -------
        ndarray of uint64 of shape (n,)
            The hashes.
        """
        if self.key is not None:
            return self.key
        return self.once("keys", lambda: hash_integers(np.arange(self.first, self.first + len(self))))

    def outside(self, fold: Fold | None) -> "Rows":
        """Give the rows of all folds but one, or of those that stand for them.

        Parameters
        ----------
        fold : Fold or None
            The fold to leave out; None for none.

        Returns
        -------
        Rows
            These rows.
        """
        if fold is None:
            return self
        return self.once(("outside", fold), lambda: self.take(fold.others().take(self.folds(fold.n_folds))))

    def not_outside(self, fold: Fold) -> "Rows":
        """Give the rows that are not `outside` of a fold: its own, and those that do not stand for the rest.

        Parameters
        ----------
        fold : Fold
            The fold.

        Returns
        -------
        Rows
            These rows.
        """
        others = fold.others()
        return self.once(
            ("not outside", fold), lambda: self.take(np.logical_not(others.take(self.folds(fold.n_folds))))
        )

    def inside(self, fold: Fold | None) -> "Rows":
        """Give the rows of one fold.

        Parameters
        ----------
        fold : Fold or None
            The fold; None for all rows.

        Returns
        -------
        Rows
            These rows.
        """
        if fold is None:
            return self
        return self.once(("inside", fold), lambda: self.take(self.folds(fold.n_folds) == fold.number))

    def folds(self, n_folds: int) -> IntArray:
        """Give the number of every row's fold.

        Parameters
        ----------
        n_folds : int
            Number of folds.

        Returns
        -------
        ndarray of intp of shape (n,)
            Numbers from 0.
        """
        return self.once(("folds", n_folds), lambda: fold_of(self.keys(), n_folds))

    def once(self, name: object, make: Callable[[], T]) -> T:
        """Make something of these rows that several summaries need, once for all of them.

        Parameters
        ----------
        name : object
            What it is called.
        make : callable
            Makes it.

        Returns
        -------
        object
            What was made, now or before.
        """
        if name not in self._known:
            self._known[name] = make()
        return cast("T", self._known[name])

    def column(self, number: int) -> Float64Array:
        """Give the scores of one column.

        Parameters
        ----------
        number : int
            Which column; scores of shape (n,) have but one.

        Returns
        -------
        ndarray of shape (n,)
            The scores.
        """
        if self.scores.ndim == 1:
            return np.asarray(self.scores)
        return self.once(("column", number), lambda: np.ascontiguousarray(self.scores[:, number]))
