"""Probabilities that differ between groups: one correction per group, shrunk toward none.

On the logarithms L of the common probabilities, the probabilities of group g are

    softmax((1 + s_g) L + b_g),   b_g ~ N(0, tau_b^2) on the contrasts of the classes,   s_g ~ N(0, tau_s^2),

with the modes of b and s, and the tau of the greatest marginal likelihood (Laplace's approximation). A group
of few rows stays near the common probabilities; if the groups do not differ beyond chance, tau is 0 and all
have them.
"""

from collections.abc import Generator

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._estimator import clone
from calibrant._core._folds import stratified_folds
from calibrant.calibrators._base import Calibrator, fit_rows
from calibrant.calibrators._groups import GroupEffects, Grouping, logs_of, softmax
from calibrant.passes import Rows

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
    rows = GroupedRows(logs_of(proba), truth, weight, grouping)
    spreads = _spreads(rows)
    corrected = proba
    if any(spreads):
        corrected = proba.copy()
        if not fold.any():  # one fold, which would leave no rows to learn from
            fold = np.arange(len(fold)) % N_FOLDS
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


#: Of every group a logarithm, its slope and its curvature.
Derivatives = tuple[Float64Array, Float64Array, Float64Array]


class GroupedRows:
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
        self.there, self._starts, self._own = np.unique(number, return_index=True, return_inverse=True)
        self._logs, self._truth, self._weight = logs[order], truth[order], counts[order]
        self._places = np.arange(len(order)), self._truth
        self._contrasts = contrasts_of(logs.shape[1])
        eta = self._logs.copy()
        _, total = softmax(eta)
        self._before = self._sums(self._weight * (eta[self._places] - total))
        self._modes = np.zeros((len(self.there), logs.shape[1]))

    def outside(self, own: BoolArray) -> "GroupedRows":
        """The rows that are not among some."""
        logs, truth, weight, grouping = self._given
        kept = ~own
        return GroupedRows(
            logs[kept], truth[kept], None if weight is None else weight[kept], grouping.take(kept)
        )

    def effects(self, spreads: tuple[float, float]) -> GroupEffects:
        """The most probable effects of all groups; none for those without rows."""
        scale = scale_of(spreads, len(self._contrasts) + 1)
        found = np.zeros((len(self.names), len(scale)))
        if any(spreads):
            found[self.there] = self._most_probable(scale)[0] * scale
        return GroupEffects(self.names, found[:, :-1] @ self._contrasts, found[:, -1], spreads)

    def evidence(self, spreads: tuple[float, float]) -> float:
        """The logarithm of the marginal likelihood beside that of no effects, by Laplace's approximation."""
        self._modes, gain, curvature = self._most_probable(scale_of(spreads, len(self._contrasts) + 1))
        return float(np.sum(gain - np.linalg.slogdet(curvature)[1] / 2))

    def _most_probable(self, scale: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """The modes in units of their standard deviations, sought from where the last were."""
        steps = modes(self._modes, LEAST_STEP)
        try:
            here = next(steps)
            while True:
                here = steps.send(with_prior(self._at(here * scale), here, scale))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def derivatives(self, effects: Float64Array) -> Derivatives:
        """Of the groups that have rows, at effects of all groups."""
        return self._at(effects[self.there])

    def _at(self, scaled: Float64Array) -> Derivatives:
        """Of every group the log likelihood beside that of no effects; slope; curvature."""
        logs, weight, contrasts = self._logs, self._weight, self._contrasts
        eta = (1.0 + scaled[self._own, -1:]) * logs + (scaled[:, :-1] @ contrasts)[self._own]
        proba, total = softmax(eta)
        gain = self._sums(weight * (eta[self._places] - total)) - self._before
        weighted = proba * weight[:, np.newaxis]
        residual = -weighted
        residual[self._places] += weight
        mean = np.einsum("ij,ij->i", proba, logs)
        n_groups, k = scaled.shape
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
        return gain, slope, curvature

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


def contrasts_of(n_classes: int) -> Float64Array:
    """Orthonormal contrasts of the classes, one per row."""
    return np.asarray(late.linalg.helmert(n_classes))


def scale_of(spreads: tuple[float, float], n_classes: int) -> Float64Array:
    """The standard deviations of the effects of a group: of every contrast, and of the slope."""
    return np.append(np.full(n_classes - 1, spreads[0]), spreads[1])


def with_prior(likelihood: Derivatives, effects: Float64Array, scale: Float64Array) -> Derivatives:
    """The same of likelihood and prior, in effects that are in units of their standard deviations."""
    gain, slope, curvature = likelihood
    return (
        gain - (effects**2).sum(axis=1) / 2,
        slope * scale - effects,
        curvature * np.outer(scale, scale) + np.eye(len(scale)),
    )


def modes(
    start: Float64Array, least_step: float
) -> Generator[Float64Array, Derivatives, tuple[Float64Array, Float64Array, Float64Array]]:
    """The modes of all groups by Newton's method, which asks for derivatives; those there."""
    here = start
    gain, slope, curvature = yield here
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(curvature, slope[..., np.newaxis])[..., 0]
        promised = (slope * step).sum(axis=1)
        length = np.where(promised >= least_step, 1.0, 0.0)
        if not length.any():
            break
        while True:
            there = yield here + length[:, np.newaxis] * step
            too_far = (length > LEAST_LENGTH) & (there[0] < gain + 0.1 * length * promised)
            if not too_far.any():
                break
            length[too_far] /= 2
        here, (gain, slope, curvature) = here + length[:, np.newaxis] * step, there
    return here, gain, curvature


def _spreads(rows: GroupedRows) -> tuple[float, float]:
    """The spreads of the greatest marginal likelihood, each 0 unless it is needed."""
    none, (both, spreads) = (0.0, 0.0), _searched(rows, (0, 1), FIRST_SPREADS)
    alone = [_searched(rows, (place,), spreads) for place in (0, 1)]
    best, either = max(alone)
    if best <= LEAST_GAIN and both <= 2 * LEAST_GAIN:
        return none
    return spreads if both > best + LEAST_GAIN else either


def _searched(
    rows: GroupedRows, free: tuple[int, ...], start: tuple[float, float]
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
