"""Groups of rows, and what sets them apart from all rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray, as_array
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text

#: Probabilities count as at least this, as for all maps of log-odds.
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group every row is in.

    Attributes
    ----------
    names : tuple of str
        The groups.
    number : ndarray of shape (n,)
        The number of the group of every row; -1 for none.
    """

    names: tuple[str, ...]
    number: IntArray

    @classmethod
    def read(cls, by: object, n_rows: int) -> "Grouping":
        """Read what a user gives: a label per row, of which None and NaN mean no group."""
        values = as_array(by, "by")
        if values.shape != (n_rows,):
            raise DataError(f"by must have one group per row, shape ({n_rows},); got shape {values.shape}")
        found: Any = values
        inverse: Any = slice(None)
        if values.dtype.kind not in "OmM":  # labels of several types have no order
            found, inverse = np.unique(values, return_inverse=True)
        texts = [_text(each) for each in found.tolist()]
        names = tuple(dict.fromkeys(text for text in texts if text is not None))
        place = {name: number for number, name in enumerate(names)} | {None: -1}
        return cls(names, np.array([place[text] for text in texts], dtype=np.intp)[inverse])

    def take(self, rows: IntArray | BoolArray) -> "Grouping":
        """Some of the rows."""
        return Grouping(self.names, self.number[rows])

    def named(self, names: tuple[str, ...]) -> "Grouping":
        """The same rows in some of the groups, and the others in none."""
        return Grouping(names, self.among(names))

    def among(self, names: Iterable[str]) -> IntArray:
        """The number of every row's group among other names; -1 for a group that is none of them."""
        place = {name: number for number, name in enumerate(names)}
        known = np.array([*(place.get(name, -1) for name in self.names), -1], dtype=np.intp)
        return known[self.number]


def _text(label: Any) -> str | None:
    return None if label is None or label != label else str(label_text(label))  # noqa: PLR0124  (NaN)


@dataclass(frozen=True, eq=False)
class GroupEffects:
    """What sets groups of rows apart from all rows.

    Attributes
    ----------
    names : tuple of str
        The groups.
    intercepts : ndarray of shape (g, k)
        What is added to the logarithms of the probabilities of every class; each row sums to zero.
    slopes : ndarray of shape (g,)
        What these logarithms are multiplied by, less one.
    spreads : tuple of float
        The standard deviations of intercepts and of slopes over the groups; 0 if they do not differ.
    column : str or None
        The column that the groups came from.
    """

    names: tuple[str, ...]
    intercepts: Float64Array
    slopes: Float64Array
    spreads: tuple[float, float]
    column: str | None = None

    @classmethod
    def none(cls, names: tuple[str, ...], n_classes: int) -> "GroupEffects":
        """Make groups that are not set apart.

        Parameters
        ----------
        names : tuple of str
            The groups.
        n_classes : int
            Number of classes.

        Returns
        -------
        GroupEffects
            No effects.
        """
        return cls(names, np.zeros((len(names), n_classes)), np.zeros(len(names)), (0.0, 0.0))

    def apply(self, proba: Float64Array, by: object) -> Float64Array:
        """Correct probabilities; those of rows without a group, or of an unknown one, stay as they are.

        Parameters
        ----------
        proba : ndarray of shape (n, k)
            The common probabilities.
        by : array-like of shape (n,)
            The groups of the rows.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities of the rows in their groups.
        """
        return self.of_numbers(proba, Grouping.read(by, len(proba)).among(self.names))

    def of_numbers(self, proba: Float64Array, number: IntArray) -> Float64Array:
        """Correct probabilities of rows whose group is known by its number.

        Parameters
        ----------
        proba : ndarray of shape (n, k)
            The common probabilities.
        number : ndarray of shape (n,)
            The numbers of their groups in `names`; -1 for none.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities of the rows in their groups.
        """
        changes = np.append((self.slopes != 0) | (self.intercepts != 0).any(axis=1), False)
        rows = np.flatnonzero(changes[number] & ~np.isnan(proba).any(axis=1))
        if len(rows) == 0:
            return proba
        corrected = proba.copy()
        group, logs = number[rows], logs_of(proba[rows])
        corrected[rows] = softmax((1.0 + self.slopes[group, np.newaxis]) * logs + self.intercepts[group])[0]
        return corrected


def in_groups(proba: Float64Array, groups: GroupEffects | None, by: object) -> Float64Array:
    """Probabilities of rows in groups, or without groups the common ones."""
    if by is None:
        return proba
    if groups is None:
        raise ParameterError("by must be None: the model was fitted without groups; fit it with by=...")
    return groups.apply(proba, by)


def logs_of(proba: Float64Array) -> Float64Array:
    return np.asarray(np.log(np.maximum(proba, LEAST)))


def softmax(eta: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Probabilities, and the logarithms of the sums they were divided by; the argument loses its maxima."""
    eta -= eta.max(axis=1, keepdims=True)
    proba = np.exp(eta)
    total = proba.sum(axis=1, keepdims=True)
    proba /= total
    return proba, np.log(total[:, 0])
