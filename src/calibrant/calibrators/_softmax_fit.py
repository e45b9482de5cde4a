"""The one solver of the penalised softmax maps, and what they say of a row that they have not seen.

The scores of the classes are ``eta_j = (1 + v_j) u_j + b_j + sum_q t_jq g_q(j) + sum_l M_jl phi_l``: u_j the
logarithm of the start, g_q(j) shapes of the class's own score, phi features of the whole row. The log loss of
the softmax, in rows, plus a penalty of all squares, is least from 0, that is from the start. It is found by
L-BFGS in the metric of the curvature that every class has for itself: 3 to 30 steps instead of 30 to 300. Two
classes share one curve, and Newton's method takes 3 to 6.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Array, Float64Array, FloatArray, IntArray

#: Steps at most; when to end, in a pool and on its own; the penalty of what all classes share of a shape.
MOST_STEPS, ROUGH, FINE, SHARED = 60, 1e-5, 1e-11, 0.1
#: The metric is found by so many rows, or as many as make it cost a few steps; scores worked on at once.
METRIC_ROWS, STEPS_WORTH, BLOCK, SHORTEST_BLOCK = 2000, 16, 1 << 17, 1024
#: All penalties are greater by this many rows over those that there are.
HARDER = 30.0
#: A row's own part of its prediction is taken to be no greater than this.
MOST_OWN = 0.95
#: After a step of Newton's method that gains less than this, the next would gain less than rounding.
SURE = 1e-6
#: How often the diagonal of a curvature may grow fourfold until it has a root.
MOST_REPAIRS = 12
#: What a loss may grow by rounding alone; the shortest part of a step.
ROUNDING, SHORTEST = 1e-12, 1e-6


@dataclass(frozen=True, eq=False)
class Penalty:
    """What the squares of the numbers of a map cost.

    Parameters
    ----------
    bias, slope, shape, matrix : float
        Of b, v, t and M.
    of_class : float
        That of M is greater by this many rows over those that a class has in the mean.
    """

    bias: float
    slope: float
    shape: float = 0.0
    matrix: float = 0.0
    of_class: float = 0.0

    def of_columns(self, n_shapes: int, n_features: int, n_classes: int, weight: float) -> Float64Array:
        """One for every number that a class has."""
        matrix = self.matrix * (1 + self.of_class * n_classes / weight)
        each = np.repeat([self.bias, self.slope, self.shape, matrix], (1, 1, n_shapes, n_features))
        return np.asarray(each * (1 + HARDER / weight))


@dataclass(frozen=True, eq=False)
class Design:
    """What a map is linear in: for class j the columns 1, u_j, g_1(j), ..., phi_1, phi_2, ...

    Classes come first and rows second, since NumPy is slow along short rows.

    Parameters
    ----------
    log_start : ndarray of shape (k, n)
        The logarithms u.
    shapes : list of ndarray of shape (k, n)
        The shapes g.
    block : ndarray of shape (f, n) or None
        The features phi, perhaps in single precision.
    """

    log_start: Float64Array
    shapes: list[Float64Array]
    block: FloatArray | None

    @property
    def real(self) -> Any:
        """The precision of products."""
        return np.float64 if self.block is None else self.block.dtype

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return 0 if self.block is None else len(self.block)

    @property
    def n_columns(self) -> int:
        """How many numbers a class has."""
        return 2 + len(self.shapes) + self.n_features

    def some(self, rows: IntArray | slice | None) -> "Design":
        """Some of the rows; None for all."""
        if rows is None:
            return self
        block = None if self.block is None else self.block[:, rows]
        return Design(self.log_start[:, rows], [each[:, rows] for each in self.shapes], block)

    def scores(self, numbers: Float64Array) -> Float64Array:
        """The scores eta of the classes."""
        found = self.log_start * (1 + numbers[:, 1:2])
        found += numbers[:, :1]
        for place, shape in enumerate(self.shapes, start=2):
            found += shape * numbers[:, place : place + 1]
        if self.block is not None:
            found += numbers[:, 2 + len(self.shapes) :].astype(self.real) @ self.block
        return found

    def slopes(self, errors: Float64Array) -> Float64Array:
        """The sums of errors times columns, for every class."""
        found = np.empty((len(errors), self.n_columns))
        found[:, 0] = errors.sum(axis=1)
        for place, column in enumerate(self._own, start=1):
            found[:, place] = np.einsum("ij,ij->i", errors, column)
        if self.block is not None:
            found[:, 2 + len(self.shapes) :] = errors.astype(self.real) @ self.block.T
        return found

    def both_classes(self) -> Any:
        """What either of two classes sees alone, turned round for the first, and then what both see."""
        own: list[Any] = [sign * each[number] for number, sign in ((0, -1), (1, 1)) for each in self._own]
        shared: list[Any] = [np.ones((1, self.log_start.shape[1]))]
        if self.block is not None:
            shared.append(self.block)
        return np.concatenate([own, *shared], dtype=self.real)

    @property
    def _own(self) -> list[Float64Array]:
        """What a class sees of its own."""
        return [self.log_start, *self.shapes]

    def classes(self) -> Any:
        """The columns of one class after the other, in the same array."""
        k, n = self.log_start.shape
        columns = np.ones((self.n_columns, n), self.real)
        if self.block is not None:
            columns[2 + len(self.shapes) :] = self.block
        for number in range(k):
            for place, column in enumerate(self._own, start=1):
                columns[place] = column[number]
            yield columns


def softmax_in_place(scores: Float64Array) -> Float64Array:
    """Probabilities in the place of scores, classes first."""
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return scores


def _pairs(n_classes: int) -> float:
    """Two classes mirror each other: their joint curvature is twice that of one."""
    return 2.0 if n_classes == 2 else 1.0


def _squared(part: FloatArray) -> Float64Array:
    """The product with itself, and so much more that rounding leaves no direction level or falling."""
    found = (part @ part.T).astype(np.float64)
    found.ravel()[:: len(found) + 1] += np.finfo(part.dtype).eps * np.trace(found)
    return found


def _root(curvature: Float64Array) -> Float64Array:
    """L with L L' the curvature, and more on its diagonal where rounding in single precision took more."""
    more = float(np.finfo(np.float32).eps) * float(np.trace(curvature))
    for _ in range(MOST_REPAIRS):
        try:
            return np.asarray(np.linalg.cholesky(curvature))
        except np.linalg.LinAlgError:
            curvature = curvature + more * np.eye(len(curvature))
            more *= 4
    return np.asarray(np.linalg.cholesky(curvature))


def _curvatures(
    design: Design, proba: Float64Array, weight: Float64Array, penalty: Float64Array
) -> Iterator[tuple[Any, Float64Array]]:
    """For every class its columns, and L with L L' its own curvature."""
    spread = np.sqrt(proba * (1 - proba) * (weight * _pairs(len(proba)))).astype(design.real)
    for own, columns in zip(spread, design.classes(), strict=True):
        yield columns, _root(_squared(columns * own) + np.diag(2 * penalty))


def _metric(design: Design, weight: Float64Array, penalty: Float64Array) -> Float64Array:
    """For every class R with R R' the inverse of its curvature at the start, by rows at even distances."""
    most = max(METRIC_ROWS, STEPS_WORTH * len(weight) // design.n_columns)
    if len(weight) > most:
        mass = np.cumsum(weight)
        even = (np.arange(most) + 0.5) / most
        chosen, count = np.unique(np.searchsorted(mass, even * mass[-1]), return_counts=True)
        design, weight = design.some(chosen), count * (mass[-1] / most)
    proba = softmax_in_place(design.log_start.copy())
    found = _curvatures(design, proba, weight, penalty)
    return np.array([late.lapack.dtrtri(lower, lower=1)[0].T for _, lower in found], design.real)


@dataclass(frozen=True, eq=False)
class SoftmaxFit:
    """The numbers of a map, a row of them for every class: b, v, t, M.

    Attributes
    ----------
    numbers : ndarray of shape (k, d)
        The numbers.
    penalty : ndarray of shape (d,)
        What their squares cost.
    value : float
        The log loss of all rows, and the penalty.
    """

    numbers: Float64Array
    penalty: Float64Array
    value: float

    @property
    def loss(self) -> float:
        """The log loss of all rows; of maps without shapes."""
        return self.value - float((self.penalty * self.numbers * self.numbers).sum())

    def left_out(self, design: Design, y: IntArray, weight: Float64Array, scale: float) -> Float64Array:
        """Probabilities, classes first, of every row without one unit of its weight.

        They come from a Newton step by the curvature that every class has for itself. The rows may stand for
        others, too: the whole has `scale` times their weight.
        """
        scores = design.scores(self.numbers)
        proba = softmax_in_place(scores.copy())
        own = np.empty_like(proba)
        solve = late.blas.dtrsm if design.real == np.float64 else late.blas.strsm
        curvatures = _curvatures(design, proba, weight * scale, self.penalty)
        for number, (columns, lower) in enumerate(curvatures):
            part = solve(1.0, lower, columns.T, side=1, lower=1, trans_a=1)  # L^-1 columns, transposed
            own[number] = np.einsum("ij,ij->i", part, part)
        unit = np.minimum(weight, 1.0)
        curve = proba * (1 - proba) * ((scale * weight - weight + unit) * _pairs(len(proba)))
        left = np.maximum(1 - own * curve, 1 - MOST_OWN)
        proba[y, np.arange(len(y))] -= 1
        return softmax_in_place(scores + unit * own * proba / left)


def _fit_two(
    design: Design, y: IntArray, weight: Float64Array, prices: Float64Array, precision: float
) -> tuple[float, Float64Array]:
    """The least value, and the numbers, of two classes, who share one curve: by Newton's method.

    They cost ``numbers @ prices @ numbers / 2`` beside the log loss. Of what both see only the difference of
    their numbers matters, and half of it is the cheapest for either; so there is one number for both.
    """
    numbers_of = _mirrored(design)
    prices = numbers_of.T @ prices @ numbers_of
    side = np.where(y == 0, 1.0, -1.0)  # of the odds against the true class
    n_rows = max(BLOCK // (4 * len(prices)), SHORTEST_BLOCK)  # steps have as many again
    blocks = []
    for start in range(0, len(y), n_rows):
        rows = slice(start, start + n_rows)
        part = design.some(rows)
        columns = part.both_classes() * side[rows].astype(design.real)
        blocks.append((columns, side[rows] * (part.log_start[1] - part.log_start[0]), weight[rows]))

    def at(numbers: Float64Array) -> tuple[float, Float64Array, Float64Array]:
        slope, curvature = prices @ numbers, prices.copy()
        value = numbers @ slope / 2
        for columns, apart, mass in blocks:
            odds = apart + numbers.astype(design.real) @ columns
            small = np.exp(-np.abs(odds))
            more = 1 + small
            value += mass @ (np.maximum(odds, 0.0) + np.log(more))
            slope += columns @ (mass * np.where(odds > 0, 1.0, small) / more).astype(design.real)
            curvature += _squared(columns * (np.sqrt(mass * small) / more).astype(design.real))
        return float(value), slope, curvature

    numbers = np.zeros(len(prices))
    value, slope, curvature = at(numbers)
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(curvature, -slope)
        gain, length, before = -float(slope @ step) / 2, 1.0, value
        if gain <= SURE * min(before, 1.0):
            return before - gain, (numbers_of @ (numbers + step)).reshape(2, -1)
        while True:
            value, slope, curvature = at(numbers + length * step)
            if value <= before * (1 + ROUNDING) or length < SHORTEST:
                break
            length /= 2
        numbers += length * step
        if gain <= precision * max(before, 1.0):
            break
    return value, (numbers_of @ numbers).reshape(2, -1)


def _mirrored(design: Design) -> Float64Array:
    """What makes the numbers of two classes of one for every column of their own, and every shared one."""
    d, n_own = design.n_columns, 1 + len(design.shapes)
    found, place = np.zeros((2, d, d + n_own)), np.arange(d + n_own)
    own = np.arange(1, 1 + n_own)
    found[0, own, place[:n_own]] = found[1, own, place[n_own : 2 * n_own]] = 1.0
    found[:, np.delete(np.arange(d), own), place[2 * n_own :]] = [[-0.5], [0.5]]
    return found.reshape(2 * d, -1)


def fit_softmax(
    design: Design,
    y: IntArray,
    weight: Float64Array,
    penalty: Penalty,
    *,
    rising: bool = False,
    precision: float = ROUGH,
) -> SoftmaxFit:
    """Find the map of least loss and penalty.

    Parameters
    ----------
    design : Design
        What it is linear in.
    y : ndarray of shape (n,)
        The numbers of the classes.
    weight : ndarray of shape (n,)
        The weights of the rows.
    penalty : Penalty
        What departures from the start cost.
    rising : bool, default=False
        Whether no slope 1 + v may be negative.
    precision : float, default=1e-5
        The relative change of the loss at which the search ends.

    Returns
    -------
    SoftmaxFit
        The map.
    """
    k, total = len(design.log_start), weight.sum()
    shapes = slice(2, 2 + len(design.shapes))
    cost = penalty.of_columns(len(design.shapes), design.n_features, k, total)
    kappa = penalty.shape / (SHARED + k * penalty.shape)
    if k == 2 and not rising:
        prices = np.diag(np.tile(2 * cost, 2))
        shared = np.tile(np.eye(design.n_columns)[shapes], 2)
        prices -= 2 * penalty.shape * kappa * shared.T @ shared
        value, numbers = _fit_two(design, y, weight, prices, precision)
        return SoftmaxFit(numbers, cost, value)
    alike = np.tile(np.eye(design.n_columns), (k, 1, 1))  # bounds are those of the numbers themselves
    roots = alike if rising else _metric(design, weight, cost)
    back = np.ascontiguousarray(roots.transpose(0, 2, 1))

    step = max(BLOCK // k, 1)
    blocks = [slice(start, start + step) for start in range(0, len(y), step)]
    parts = [(design.some(rows), y[rows], weight[rows]) for rows in blocks]

    def times(matrices: Any, numbers: Array) -> Float64Array:
        return np.asarray(
            np.matmul(matrices, numbers[:, :, None].astype(matrices.dtype))[:, :, 0], np.float64
        )

    def numbers_of(found: Array) -> Float64Array:
        return times(roots, found.reshape(k, -1))

    def loss(found: Array) -> tuple[float, Array]:
        numbers = numbers_of(found)
        value, slope = (cost * numbers * numbers).sum(), 2 * cost * numbers
        for part, of_part, mass in parts:
            odds = part.scores(numbers)
            odds -= odds.max(axis=0)
            places = np.arange(len(mass))
            own = odds[of_part, places]
            np.exp(odds, out=odds)
            sums = odds.sum(axis=0)
            value += mass @ (np.log(sums) - own)
            odds *= mass / sums
            odds[of_part, places] -= mass
            slope += part.slopes(odds)
        if design.shapes:  # what all classes share is nearly free
            shared = numbers[:, shapes].sum(axis=0)
            price = penalty.shape * kappa
            value -= price * (shared * shared).sum()
            slope[:, shapes] -= 2 * price * shared
        return float(value), times(back, slope).ravel()

    # L-BFGS begins with a step of length 1. In the metric the slope itself is nearly Newton's step.
    zero = np.zeros(k * design.n_columns)
    begun = loss(zero)
    unit = 1.0 if rising else float(np.linalg.norm(begun[1])) or 1.0

    def in_units(found: Array) -> tuple[float, Array]:
        value, slope = loss(unit * found) if found.any() else begun
        return value, unit * slope

    bounds = None
    if rising:
        bounds = [(None, None), (-1.0, None), *[(None, None)] * (design.n_columns - 2)] * k
    fine = precision <= FINE
    found = late.optimize.minimize(
        in_units,
        zero,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={
            "maxiter": 50 * MOST_STEPS if fine or rising else MOST_STEPS,
            "maxcor": 20,
            "ftol": precision,
            "gtol": 1e-7 if fine else 1e-4,
        },
    )
    return SoftmaxFit(numbers_of(unit * found.x), cost, float(found.fun))
