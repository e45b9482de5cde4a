"""Isotonic steps of every class's own score, as a member of the stack."""

from dataclasses import dataclass

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.calibrators._joint_rows import JointRows
from calibrant.maps import Row, Stairs

#: Folds of up to so many rows, and of more.
FEW_ROWS, FEW_FOLDS, MANY_FOLDS = 1000, 10, 5
#: What a share of weight may be by rounding alone.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SortedScores:
    """The different own scores of a class, which of them every row has, and which rows are of the class."""

    values: Float64Array
    place: IntArray
    is_own: BoolArray


def sort_scores(row: Row, y: IntArray) -> list[SortedScores]:
    """Sort once for all folds; of two classes the second says it all."""
    k = row.n_classes
    found = []
    for number in [1] if k == 2 else range(k):
        values, place = np.unique(np.ascontiguousarray(row.own[:, number]), return_inverse=True)
        found.append(SortedScores(values, place, y == number))
    return found


def stairs_of(classes: list[SortedScores], weight: Float64Array, n_classes: int) -> Stairs:
    """Steps of the rows of positive weight, each drawn to a prior: ``(s + min(2 rate, 1))/(w + 2)``."""
    knots, values = [], []
    for each in classes:
        at = np.bincount(each.place, weight, len(each.values))
        own = np.bincount(each.place, weight * each.is_own, len(each.values))
        there = at > 0
        scores, at, own = (
            (each.values, at, own) if there.all() else (each.values[there], at[there], own[there])
        )
        blocks = late.optimize.isotonic_regression(own / at, weights=at).blocks
        first, last = blocks[:-1], blocks[1:] - 1
        mass, right = np.add.reduceat(at, first), np.add.reduceat(own, first)
        prior = 1.0 if n_classes == 2 else min(2 * own.sum() / at.sum(), 1.0)
        steps = late.optimize.isotonic_regression((right + prior) / (mass + 2), weights=mass).x
        ends = np.column_stack([scores[first], scores[last]]).ravel()
        wide = np.append(True, ends[1:] != ends[:-1])  # a step of one score has but one knot
        knots.append(ends[wide])
        values.append(np.repeat(steps, 2)[wide])
    return Stairs(knots, values)


def left_out_stairs(row: Row, rows: JointRows, total: float) -> Float64Array:
    """Probabilities, classes first, from the steps of other folds; of a row in several folds the mean."""
    k, n_folds = row.n_classes, FEW_FOLDS if total <= FEW_ROWS else MANY_FOLDS
    shares = dealt_out(rows.y, rows.weight, n_folds)
    classes, own, fitted = sort_scores(row, rows.y), row.own, []
    for fold in shares:
        rest = rows.weight - fold
        rest = np.where(rest > ROUNDING * rows.weight, rest, 0.0)
        if fold.any() and rest.any():
            fitted.append((fold, stairs_of(classes, rest, k)))
    found = np.zeros((k, len(rows.y)))
    for fold, stairs in fitted:
        inside = np.flatnonzero(fold > 0)
        answers = stairs.of_own(own[inside], k, row.ops)
        found[:, inside] += fold[inside] / rows.weight[inside] * answers.T
    return found


def dealt_out(y: IntArray, weight: Float64Array, n_folds: int) -> Float64Array:
    """The weight of every row in every fold: units of weight, by class and then by chance, in turn.

    A row of weight 3 is three copies, which go to three folds, as those of three rows would.
    """
    chance = np.random.default_rng(0).permutation(len(y))
    order = np.lexsort((chance, y))
    of_class, mass = y[order], weight[order]
    end = np.cumsum(mass)
    first = np.append(True, of_class[1:] != of_class[:-1])
    before = (end - mass)[first][np.cumsum(first) - 1]
    low, high = end - mass - before + of_class, end - before + of_class
    shares = np.empty((n_folds, len(y)))
    for number in range(n_folds):
        shares[number, order] = _dealt(high, number, n_folds) - _dealt(low, number, n_folds)
    return np.where(shares > ROUNDING * weight, shares, 0.0)


def _dealt(units: Float64Array, number: int, n_folds: int) -> Float64Array:
    """How much of so many units, dealt out in turn, a fold has got."""
    return np.asarray(np.floor(units / n_folds) + np.clip(units % n_folds - number, 0.0, 1.0))
