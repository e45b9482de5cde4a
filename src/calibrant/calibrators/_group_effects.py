"""Probabilities that differ between groups: one correction per group, shrunk toward none.

On the logarithms L of the common probabilities, the probabilities of group g are

    softmax((1 + s_g) L + b_g),   b_g ~ N(0, tau_b^2) on the contrasts of the classes,   s_g ~ N(0, tau_s^2),

with the modes of b and s, and the tau of the greatest marginal likelihood (Laplace's approximation). A group
of few rows stays near the common probabilities; if the groups do not differ beyond chance, tau is 0 and all
have them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray, as_array
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._estimator import clone
from calibrant._core._folds import stratified_folds
from calibrant._core._names import label_text
from calibrant.calibrators._base import Calibrator, fit_rows
from calibrant.passes import Rows

#: Probabilities count as at least this, as for all maps of log-odds.
LEAST = 1e-12
#: The search for the spreads begins here, for intercepts and slopes.
FIRST_SPREADS = (0.3, 0.1)
#: Groups differ beyond chance if that raises the logarithm of the marginal likelihood by more than this: the
#: likelihood-ratio test of a variance at 5%, which is estimated as 0 half of the time (Self & Liang 1987).
LEAST_GAIN = 1.353
#: Folds whose rows are left out in turn.
N_FOLDS = 5
#: The logarithm of the greatest spread.
MOST_SPREAD = 3.0
#: Newton's steps end when the next would gain less than this, and after so many; they are not cut below this.
LEAST_STEP, MOST_STEPS, LEAST_LENGTH = 1e-9, 100, 1e-6


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
        if values.dtype.kind in "OmM":
            texts = [_text(each) for each in values.tolist()]
            names = tuple(dict.fromkeys(text for text in texts if text is not None))
            place = {name: number for number, name in enumerate(names)} | {None: -1}
            return cls(names, np.array([place[text] for text in texts], dtype=np.intp))
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
        group, logs = number[rows], _logs(proba[rows])
        corrected[rows] = _softmax((1.0 + self.slopes[group, np.newaxis]) * logs + self.intercepts[group])[0]
        return corrected


def in_groups(proba: Float64Array, groups: GroupEffects | None, by: object) -> Float64Array:
    """Probabilities of rows in groups, or without groups the common ones."""
    if by is None:
        return proba
    if groups is None:
        raise ParameterError("by must be None: the model was fitted without groups; fit it with by=...")
    return groups.apply(proba, by)


def fit_group_effects(
    proba: Float64Array,
    truth: IntArray,
    weight: Float64Array | None,
    grouping: Grouping,
    fold: IntArray,
) -> tuple[GroupEffects, Float64Array]:
    """Learn what sets groups apart, from probabilities of rows that were not fitted to them.

    Parameters
    ----------
    proba : ndarray of shape (n, k)
        The common probabilities.
    truth : ndarray of shape (n,)
        The numbers of the true classes.
    weight : ndarray of shape (n,), optional
        The weights of the rows.
    grouping : Grouping
        Their groups.
    fold : ndarray of shape (n,)
        The folds that rows are in.

    Returns
    -------
    effects : GroupEffects
        Those of all rows.
    corrected : ndarray of shape (n, k)
        The probabilities of every row by effects that were not fitted to its fold, with the same spreads.
    """
    if not (grouping.number >= 0).any():
        return GroupEffects.none(grouping.names, proba.shape[1]), proba
    rows = _GroupedRows(_logs(proba), truth, weight, grouping)
    spreads = _spreads(rows)
    corrected = proba
    if any(spreads):
        corrected = proba.copy()
        for number in np.unique(fold):
            own = fold == number
            part = rows.outside(own).effects(spreads)
            corrected[own] = part.of_numbers(proba[own], grouping.number[own])
    return rows.effects(spreads), corrected


def cross_fitted_effects(
    calibrator: Calibrator, rows: Rows, classes: Array, grouping: Grouping, known: BoolArray | None = None
) -> GroupEffects:
    """Learn what sets groups apart beside what a calibrator learns: from fits that leave out their rows."""
    if known is not None and not known.all():
        whole = np.flatnonzero(known.all(axis=1))
        rows, grouping = rows.take(whole), grouping.take(whole)
    n_folds = min(N_FOLDS, len(rows))
    if n_folds < 2:
        return GroupEffects.none(grouping.names, len(classes))
    fold = stratified_folds(rows.truth, n_folds, 0)
    proba = np.empty((len(rows), len(classes)))
    for number in range(n_folds):
        own = fold == number
        fitted = fit_rows(clone(calibrator), rows.take(~own), classes)
        proba[own] = fitted.predict_proba(rows.scores[own])
    return fit_group_effects(proba, rows.truth, rows.weight, grouping, fold)[0]


def _logs(proba: Float64Array) -> Float64Array:
    return np.asarray(np.log(np.maximum(proba, LEAST)))


def _softmax(eta: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Probabilities, and the logarithms of the sums they were divided by; the argument loses its maxima."""
    eta -= eta.max(axis=1, keepdims=True)
    proba = np.exp(eta)
    total = proba.sum(axis=1, keepdims=True)
    proba /= total
    return proba, np.log(total[:, 0])


class _GroupedRows:
    """Rows in the order of their groups, and how probable effects make them; all groups at once."""

    def __init__(
        self, logs: Float64Array, truth: IntArray, weight: Float64Array | None, grouping: Grouping
    ) -> None:
        self._given = logs, truth, weight, grouping
        counts = np.ones(len(truth)) if weight is None else weight
        order = np.argsort(grouping.number, kind="stable")
        order = order[np.searchsorted(grouping.number[order], 0) :]
        self.names, number = grouping.names, grouping.number[order]
        #: The groups that have rows, the first row of each, and which of them every row is in.
        self._there, self._starts, self._own = np.unique(number, return_index=True, return_inverse=True)
        self._logs, self._truth, self._weight = logs[order], truth[order], counts[order]
        self._places = np.arange(len(order)), self._truth
        #: Orthonormal contrasts of the classes, one per row.
        self._contrasts: Float64Array = late.linalg.helmert(logs.shape[1])
        eta = self._logs.copy()
        _, total = _softmax(eta)
        self._before = self._sums(self._weight * (eta[self._places] - total))
        self._modes = np.zeros((len(self._there), logs.shape[1]))

    def outside(self, own: BoolArray) -> "_GroupedRows":
        """The rows that are not among some."""
        logs, truth, weight, grouping = self._given
        kept = ~own
        return _GroupedRows(
            logs[kept], truth[kept], None if weight is None else weight[kept], grouping.take(kept)
        )

    def effects(self, spreads: tuple[float, float]) -> GroupEffects:
        """The most probable effects of all groups; none for those without rows."""
        scale = self._scale(spreads)
        found = np.zeros((len(self.names), len(scale)))
        if any(spreads):
            found[self._there] = self._most_probable(scale)[0] * scale
        return GroupEffects(self.names, found[:, :-1] @ self._contrasts, found[:, -1], spreads)

    def evidence(self, spreads: tuple[float, float]) -> float:
        """The logarithm of the marginal likelihood beside that of no effects, by Laplace's approximation."""
        self._modes, gain, curvature = self._most_probable(self._scale(spreads))
        return float(np.sum(gain - np.linalg.slogdet(curvature)[1] / 2))

    def _scale(self, spreads: tuple[float, float]) -> Float64Array:
        """The standard deviations of the effects of a group: of every contrast, and of the slope."""
        return np.append(np.full(len(self._contrasts), spreads[0]), spreads[1])

    def _most_probable(self, scale: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """The modes in units of their standard deviations, by Newton's method from where the last were."""
        here = self._modes
        gain, slope, curvature = self._at(here, scale)
        for _ in range(MOST_STEPS):
            step = np.linalg.solve(curvature, slope[..., np.newaxis])[..., 0]
            promised = (slope * step).sum(axis=1)
            length = np.where(promised >= LEAST_STEP, 1.0, 0.0)
            if not length.any():
                break
            while True:
                there = self._at(here + length[:, np.newaxis] * step, scale)
                too_far = (length > LEAST_LENGTH) & (there[0] < gain + 0.1 * length * promised)
                if not too_far.any():
                    break
                length[too_far] /= 2
            here, (gain, slope, curvature) = here + length[:, np.newaxis] * step, there
        return here, gain, curvature

    def _at(
        self, effects: Float64Array, scale: Float64Array
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Of every group likelihood and prior beside those of no effects, as logarithm; slope; curvature."""
        logs, weight, contrasts = self._logs, self._weight, self._contrasts
        scaled = effects * scale
        eta = (1.0 + scaled[self._own, -1:]) * logs + (scaled[:, :-1] @ contrasts)[self._own]
        proba, total = _softmax(eta)
        gain = self._sums(weight * (eta[self._places] - total)) - self._before - (effects**2).sum(axis=1) / 2
        weighted = proba * weight[:, np.newaxis]
        residual = -weighted
        residual[self._places] += weight
        mean = np.einsum("ij,ij->i", proba, logs)
        n_groups, k = effects.shape
        slope = np.empty((n_groups, k))
        slope[:, :-1] = self._sums(residual) @ contrasts.T
        slope[:, -1] = self._sums(np.einsum("ij,ij->i", residual, logs))
        spread = self._products(proba, weighted)
        spread *= -1.0
        spread[:, np.arange(k), np.arange(k)] += self._sums(weighted)
        mixed = self._sums(weighted * (logs - mean[:, np.newaxis]))
        curvature = np.empty((n_groups, k, k))
        curvature[:, :-1, :-1] = contrasts @ spread @ contrasts.T
        curvature[:, :-1, -1] = curvature[:, -1, :-1] = mixed @ contrasts.T
        curvature[:, -1, -1] = self._sums(np.einsum("ij,ij,ij->i", weighted, logs, logs) - weight * mean**2)
        return gain, slope * scale - effects, curvature * np.outer(scale, scale) + np.eye(k)

    def _sums(self, values: Float64Array) -> Float64Array:
        """Sums over the rows of every group."""
        return np.asarray(np.add.reduceat(values, self._starts, axis=0))

    def _products(self, one: Float64Array, other: Float64Array) -> Float64Array:
        """For every group the sums of the products of all pairs of columns."""
        ends = np.append(self._starts[1:], len(one))
        found = np.empty((len(ends), one.shape[1], one.shape[1]))
        for group, (start, end) in enumerate(zip(self._starts.tolist(), ends.tolist(), strict=True)):
            np.matmul(one[start:end].T, other[start:end], out=found[group])
        return found


def _spreads(rows: _GroupedRows) -> tuple[float, float]:
    """The spreads of the greatest marginal likelihood, each 0 unless it is needed."""
    none, (both, spreads) = (0.0, 0.0), _searched(rows, (0, 1), FIRST_SPREADS)
    alone = [_searched(rows, (place,), spreads) for place in (0, 1)]
    best, either = max(alone)
    if best <= LEAST_GAIN and both <= 2 * LEAST_GAIN:
        return none
    return spreads if both > best + LEAST_GAIN else either


def _searched(
    rows: _GroupedRows, free: tuple[int, ...], start: tuple[float, float]
) -> tuple[float, tuple[float, float]]:
    """The greatest evidence over some of the spreads, the other being 0, and where it is."""

    def spreads_of(logs: Float64Array) -> tuple[float, float]:
        spreads = [0.0, 0.0]
        for place, value in zip(free, logs, strict=True):
            spreads[place] = float(np.exp(min(value, MOST_SPREAD)))
        return spreads[0], spreads[1]

    first = np.log([max(start[place], 1e-3) for place in free])
    corners = np.vstack([first, first + np.eye(len(free))])
    found = late.optimize.minimize(
        lambda logs: -rows.evidence(spreads_of(logs)),
        first,
        method="Nelder-Mead",
        options={"xatol": 0.1, "fatol": 0.02, "initial_simplex": corners},
    )
    return -float(found.fun), spreads_of(found.x)
