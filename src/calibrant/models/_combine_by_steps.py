"""Combinations that are found by steps, in symbols: coupling, and least squares for any code.

One-vs-all and pairs have the solvers of `codes`, step by step. For all else both ways to combine minimise a
convex function over p >= 0, which is done by a primal-dual interior-point method: the library's own active
sets differ from row to row, which a graph cannot have.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.codes import Coupling, KLMinimiser, OneVsAllCoupling, PairwiseCoupling
from calibrant.maps import Tensor

#: Derivatives at some points: the slopes (n, k), and for every class a row (n, k) of the second derivatives.
Derivatives = Callable[[Any], tuple[Any, list[Any]]]
#: A point is as good as on the boundary when its mean distance from it, times its price, is so small.
CLOSE, MOST_STEPS = 1e-32, 100
#: How much of the way to the boundary a step goes, and by how much it means to close the gap.
NEARLY, SHARE = 0.99, 0.05
#: Full steps of pairs up to this range of log-probabilities, and pivots that can be trusted, as in `codes`.
FULL_STEP, FLOOR = 1.5, 1e-14


def couple(answers: Tensor, how: Coupling, code: Array, weights: Float64Array) -> Any:
    """Coupling, part by part as the library does."""
    target = answers.target
    clipped: Any = answers.at_least(how.eps).at_most(1.0 - how.eps)
    if how.algorithm == "published":
        return _published(clipped, how, code[:, weights > 0], weights, np.flatnonzero(weights > 0))
    whole, places, parts = KLMinimiser(code, weights), [], []
    for part in whole.parts:
        solver: Any = part.solver
        if solver is None:
            found: Any = target.spread(np.ones(1))
        else:
            mine = clipped.columns(part.columns)
            if part.mixing is not None:
                mine = mine.times(part.mixing.T) + part.offset.T
            found = _solved(mine, solver, how)
            shares = 1.0 / np.bincount(part.members)
            if len(shares) < len(part.classes):
                found = (found * shares).columns(part.members)
        places.append(part.classes)
        parts.append(found * (len(part.classes) / whole.n_classes))
    order = np.argsort(np.concatenate(places))
    return target.beside(parts).columns(order) if len(parts) > 1 else parts[0].columns(order)


def _solved(answers: Any, solver: Any, how: Coupling) -> Any:
    if isinstance(solver, OneVsAllCoupling):
        return _one_vs_all(answers, solver.weights / solver.weights.max(), how)
    if isinstance(solver, PairwiseCoupling):
        return _pairs(answers, solver, how)
    target = answers.target
    if solver.partial_weight:
        target.refuse(
            f"coupling must have one minimum to be written as {target.name}; got a code with zeros and "
            "several classes on a side, for which there may be more; use a code without zeros, or pairs"
        )
    return minimised(_divergence(answers, solver), answers, len(solver.code))


def _one_vs_all(answers: Any, weights: Float64Array, how: Coupling) -> Any:
    """Newton's method for the multiplier of the constraint, kept within a bracket."""
    k = len(weights)
    pull = answers * weights
    enough = max(0.01 * how.tol, 1e-15 * k)

    def classes_at(multiplier: Any) -> tuple[Any, Any]:
        size = multiplier.size()
        other = multiplier.is_above(0.0).choose(weights - pull, pull)
        root = ((weights - size) * (weights - size) + size * other * 4.0).sqrt()
        middle = multiplier + weights
        upper = middle.is_above(0.0)
        return upper.choose(pull * 2.0, root - middle) / upper.choose(middle + root, multiplier * -2.0), root

    def step(state: list[Any]) -> tuple[list[Any], Any]:
        multiplier, low, high, _ = state
        proba, root = classes_at(multiplier)
        excess = proba.row_sums() - 1.0
        above = excess.is_above(0.0)
        low, high = above.choose(multiplier, low), above.choose(high, multiplier)
        new = multiplier + excess / (proba * (1.0 - proba) / root).row_sums()
        inside = new.is_above(low).choose(
            (high - new).is_above(0.0).choose(new, (low + high) / 2.0), (low + high) / 2.0
        )
        return [inside, low, high, proba / (excess + 1.0)], excess.size().is_above(enough)

    zero = answers.columns([0]) * 0.0
    low = (pull - weights).row_sums() / (k - 1.0)
    return answers.target.iterated([zero, low, pull.row_sums(), answers * 0.0], step, how.max_iter)[3]


def _pairs(answers: Any, solver: PairwiseCoupling, how: Coupling) -> Any:
    """Newton's method in the log-probabilities, whose second derivatives are those of a graph."""
    k, n_columns = solver.code.shape
    weights = np.asarray(solver.weights / solver.weights.max())
    signs = (solver.code * weights).T  # (l, k)
    first, second = np.eye(k)[solver.first].T, np.eye(k)[solver.second].T  # (k, l)
    edges = np.zeros((n_columns, k, k))
    for column, (one, other) in enumerate(zip(solver.first, solver.second, strict=True)):
        edges[column, [one, other], [one, other]] = weights[column]
        edges[column, [one, other], [other, one]] = -weights[column]

    def potentials(mass: Any, pull: Any) -> Any:
        flat = mass.times(edges.reshape(n_columns, k * k))
        rows = [flat.columns(np.arange(row * k, row * k + k - 1)) for row in range(k - 1)]
        found = solve(rows, pull, FLOOR)
        return answers.target.beside([found, pull.columns([0]) * 0.0])

    def moved(logs: Any, proba: Any) -> Any:
        odds = (logs - logs.row_max()).exp() * proba
        return odds / odds.row_sums()

    def step(state: list[Any]) -> tuple[list[Any], Any]:
        (proba,) = state
        total = proba.times(first + second)
        ahead, behind = proba.times(first) / total, proba.times(second) / total
        move = potentials(ahead * behind, (answers - ahead).times(signs))
        reach = move.row_max() - move.row_min()
        kept = reach.at_least(FULL_STEP)
        long = reach.is_above(FULL_STEP)
        move = long.choose(move * ((kept + 1.0).log() / kept), move)
        after = moved(move, proba)
        change = (after - proba).size().row_max() * reach
        return [after], change.at_least(reach * how.tol).is_at_least(0.1 * how.tol)

    mass = answers * (1.0 - answers)
    start = potentials(mass, (mass * (answers / (1.0 - answers)).log()).times(signs))
    return answers.target.iterated([moved(start, 1.0)], step, how.max_iter)[0]


def _published(answers: Any, how: Coupling, code: Array, weights: Float64Array, kept: Array) -> Any:
    """The update as published, from the uniform start."""
    k = len(code)
    scale = weights[kept] / max(weights.max(), np.finfo(float).tiny)
    positive, negative = (code > 0).astype(np.float64), (code < 0).astype(np.float64)

    def summed(given: Any) -> Any:
        scaled = given * scale
        return scaled.times(positive.T) + (scale - scaled).times(negative.T)

    wanted = summed(answers.columns(kept))

    def step(state: list[Any]) -> tuple[list[Any], Any]:
        (proba,) = state
        ahead = proba.times(positive)
        total = ahead + proba.times(negative)
        some = total.is_above(0.0)
        had = summed(some.choose(ahead, 0.5) / some.choose(total, 1.0))
        used = had.is_above(0.0)
        after = proba * used.choose(wanted, 1.0) / used.choose(had, 1.0)
        after = after / after.row_sums()
        return [after], (after - proba).size().row_max().is_at_least(how.tol)

    start = wanted * 0.0 + 1.0 / k
    return answers.target.iterated([start], step, how.max_iter)[0]


def least_squares_of(answers: Any, code: Array, weights: Float64Array) -> Any:
    """Least squares for any code: a quadratic function over p >= 0, whose minimum is scaled to sum to one."""
    k, n_columns = code.shape
    weights = weights / max(weights.max(), np.finfo(float).tiny)
    positive, negative = (code > 0).astype(np.float64), (code < 0).astype(np.float64)
    both, none, across = (
        np.einsum("ib,jb->bij", one, other).reshape(n_columns, k * k)
        for one, other in ((positive, positive), (negative, negative), (positive, negative))
    )
    across = across + np.einsum("ib,jb->bij", negative, positive).reshape(n_columns, k * k)
    rest = 1.0 - answers
    flat = (rest * rest * weights).times(both) + (answers * answers * weights).times(none)
    flat = flat - (rest * answers * weights).times(across)
    flat = flat + flat.columns(np.arange(k) * (k + 1)).row_sums() / float(k)
    rows = [flat.columns(np.arange(row * k, row * k + k)) for row in range(k)]

    def derivatives(x: Any) -> tuple[Any, list[Any]]:
        slope = answers.target.beside([(row * x).row_sums() for row in rows]) - 1.0
        return slope, rows

    return minimised(derivatives, answers, k)


def _divergence(answers: Any, solver: Any) -> Derivatives:
    """The objective of coupling for a code without zeros; its minimum sums to one by itself."""
    k, n_columns = solver.code.shape
    weights = solver.weights[:, 0]
    positive, negative = solver.positive, solver.negative
    pull = answers * weights
    push = weights - pull
    ups, downs = (
        np.einsum("ib,jb->bij", sides, sides).reshape(n_columns, k * k) for sides in (positive, negative)
    )

    def derivatives(x: Any) -> tuple[Any, list[Any]]:
        ahead, behind = x.times(positive), x.times(negative)
        up, down = pull / ahead, push / behind
        slope = weights.sum() - (up.times(positive.T) + down.times(negative.T))
        flat = (up / ahead).times(ups) + (down / behind).times(downs)
        return slope, [flat.columns(np.arange(row * k, row * k + k)) for row in range(k)]

    return derivatives


def minimised(derivatives: Derivatives, like: Any, k: int) -> Any:
    """The minimum of a convex function over x >= 0, divided by its sum, for every row."""
    unit = np.eye(k)

    def step(state: list[Any]) -> tuple[list[Any], Any]:
        x, price = state
        slope, rows = derivatives(x)
        gap = (x * price).row_sums() / float(k)
        aim = gap * SHARE / x
        ratio = price / x
        system = [row + ratio * unit[place] for place, row in enumerate(rows)]
        move = solve(system, aim - slope, 0.0)
        change = aim - price - ratio * move
        taken = (0.0 - move / x).row_max().at_least((0.0 - change / price).row_max()).at_least(NEARLY)
        length = NEARLY / taken
        return [x + move * length, price + change * length], gap.is_above(CLOSE)

    x = like.target.spread(np.full(k, 1.0 / k)) + like.columns([0]) * 0.0
    slope, _ = derivatives(x)
    price = slope.at_least(slope.size().row_max() * 0.1 + 1e-3)
    found = like.target.iterated([x, price], step, MOST_STEPS)[0]
    return found / found.row_sums()


def solve(rows: list[Any], right: Any, floor: float) -> Any:
    """Solve a symmetric positive definite system of every row, by elimination.

    A pivot below `floor` times its diagonal entry is lifted to that, so that a step stays finite.
    """
    k, target = len(rows), right.target
    work = [target.beside([row, right.columns([place])]) for place, row in enumerate(rows)]
    for pivot in range(k):
        if floor:
            entry = rows[pivot].columns([pivot])
            found = work[pivot].columns([pivot])
            lifted = found.is_above(entry * floor).choose(found, entry)
            work[pivot] = work[pivot] + (lifted - found) * np.eye(k + 1)[pivot]
        for below in range(pivot + 1, k):
            share = work[below].columns([pivot]) / work[pivot].columns([pivot])
            work[below] = work[below] - work[pivot] * share
    solution: list[Any] = [None] * k
    for place in range(k - 1, -1, -1):
        left = work[place].columns([k])
        for other in range(place + 1, k):
            left = left - work[place].columns([other]) * solution[other]
        solution[place] = left / work[place].columns([place])
    return target.beside(solution)
