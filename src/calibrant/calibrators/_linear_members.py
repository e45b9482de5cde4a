"""The softmax maps of all scores of a row: what each of them sees, and what its departures cost."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core import _late as late
from calibrant._core._arrays import Float64Array, FloatArray, IntArray
from calibrant.calibrators._joint_rows import JointRows
from calibrant.calibrators._softmax_fit import (
    FINE,
    Design,
    Penalty,
    SoftmaxFit,
    fit_softmax,
    softmax_in_place,
)
from calibrant.calibrators._start import fit_start
from calibrant.maps import NUMPY, Basis, Linear, Pool, Row, Start

#: Rows of different scores, and scores, that a single map is fitted to at most; and rows that are always.
MOST_ROWS, MOST_ENTRIES, LEAST_ROWS = 200_000, 4_000_000, 20_000
#: Scores by which features are found; principal axes, landmarks and knots at most.
BASIS_ENTRIES, AXES, LANDMARKS, KNOTS = 500_000, 16, 300, 33
#: Landmarks times classes, but for so many; and per square of the number of axes.
LANDMARKS_OF_CLASSES, LEAST_LANDMARKS, LANDMARKS_OF_AXES = 4000, 20, 16
#: Of more classes than this a matrix acts on so many principal axes.
WIDE, WIDE_AXES = 64, 32
#: Axes that say less than this share of all are left out; so are landmarks of whose kernel so little is new.
SMALL, NEW, TILT = 1e-6, 1e-4, 1e-9
#: The kernel's features are as large as this; normal scores stay within these shares; the least spread.
KERNEL_SIZE, SHARES, FLAT = 5.0, (0.002, 0.998), 1e-9
#: Of the answers of n rows this over n + 1 is spread evenly.
SHARE = 0.15
#: Classes are taken to lie so far apart at least, and at most; the least curvature.
CLOSEST, FARTHEST, LEVEL = 0.1, 2.0, 1e-12


@dataclass(frozen=True)
class Kind:
    """What a map sees, and what its departures cost.

    Where it `adapts`, the biases and slopes of three classes or more cost what is found for these rows.
    """

    penalty: Penalty
    block: str = "none"
    shaped: bool = False
    adapts: bool = False


LINEAR = {
    "vector": Kind(Penalty(1.0, 1.0)),
    "shape": Kind(Penalty(0.5, 0.5, 0.5), shaped=True, adapts=True),
    "matrix": Kind(Penalty(0.5, 0.5, matrix=2.0), "inputs"),
    "square": Kind(Penalty(0.5, 0.5, matrix=5.0), "squares", adapts=True),
    "near": Kind(Penalty(0.5, 0.5, matrix=0.03, of_class=300.0), "kernel", adapts=True),
}


#: Those that see more of a row than its start.
SEEING = {name for name, each in LINEAR.items() if each.shaped or each.block != "none"}


def most_rows(n_classes: int) -> int:
    """How many rows of different scores a single map is fitted to."""
    return min(MOST_ROWS, max(MOST_ENTRIES // n_classes, LEAST_ROWS))


def alone(name: str, rows: JointRows, features: "Features") -> Pool:
    """The pool of a single map, fitted as precisely as it can be."""
    row = features.row(rows)
    design = features.design(row, name, np.float64)
    fit = fit_softmax(design, rows.y, rows.weight, features.penalty(name), precision=FINE)
    return Pool(
        rows.entry,
        features.start,
        features.basis,
        [features.linear(name, fit)],
        None,
        [name],
        np.ones(1),
        np.array([fit.loss / rows.weight.sum()]),
        1.0,
        SHARE / (rows.total + 1),
    )


@dataclass(frozen=True, eq=False)
class Features:
    """What the maps see, fitted once for all of them.

    Parameters
    ----------
    entry, start, basis : Entry, Start, Basis or None
        How a row is made.
    root : ndarray of shape (m, m) or None
        What makes features of the kernel's landmarks that are as large as each other; upper triangular.
    wide : ndarray or None
        The principal axes that a matrix acts on, where there are too many inputs.
    seen : Row or None
        The rows by which all this was found.
    """

    rows: JointRows
    start: Start
    basis: Basis | None
    root: Float64Array | None = None
    wide: Float64Array | None = None
    seen: Row | None = None

    @classmethod
    def of_rows(cls, rows: JointRows, members: Collection[str], *, biased: bool = True) -> "Features":
        """Find what some maps need."""
        start = fit_start(rows, biased=biased)
        if not SEEING & set(members):
            return cls(rows, start, None)
        some = rows.some(rows.thinned(BASIS_ENTRIES))
        row = Row(rows.entry, start, None, some.scores, NUMPY)
        centre, spread = _standard(row.raw_inputs, some.weight)
        knots: list[Any] = [[], []]
        if "shape" in members:
            own = zip(row.own.T, range(rows.entry.n_classes), strict=True)
            knots = list(zip(*(_knots(x, some.y == number, some.weight) for x, number in own), strict=True))
        basis = Basis(centre, spread, np.zeros((len(centre), 1)), None, *map(list, knots))
        inputs = basis.inputs(row.raw_inputs, NUMPY)
        axes = _axes(inputs, some.weight)
        wide = axes[:, :WIDE_AXES] if "matrix" in members and axes.shape[0] > WIDE else None
        basis = replace(basis, axes=axes[:, :AXES])
        root = None
        if "near" in members:
            places = basis.places(inputs, NUMPY)
            basis, root = _with_landmarks(basis, _landmarks(places, rows.entry.n_classes))
        return cls(rows, start, basis, root, wide, row)

    def basis_of(self, members: Collection[str]) -> Basis | None:
        """What some maps need of the basis."""
        if self.basis is None or not SEEING & set(members):
            return None
        basis = self.basis if "near" in members else replace(self.basis, landmarks=None)
        return basis if "shape" in members else replace(basis, knots=[], heights=[])

    def row(self, rows: JointRows) -> Row:
        """Some rows as the maps see them."""
        if self.seen is not None and self.seen.scores is rows.scores:
            return self.seen.on(self.basis)
        return Row(rows.entry, self.start, self.basis, rows.scores, NUMPY)

    @cached_property
    def _found(self) -> tuple[float, float]:
        """What biases and slopes cost whose classes lie as far apart as a first step from the start says."""
        log_start = self.row(self.rows).log_start.T
        return _prices(np.ascontiguousarray(log_start), self.rows.y, self.rows.weight)

    def penalty(self, name: str) -> Penalty:
        """What the departures of a map cost."""
        kind = LINEAR[name]
        if not kind.adapts or self.rows.entry.n_classes == 2:
            return kind.penalty
        bias, slope = self._found
        return replace(kind.penalty, bias=bias, slope=slope)

    def design(self, row: Row, name: str, real: Any = np.float32) -> Design:
        """What a map is linear in."""
        kind = LINEAR[name]
        shapes = [row.log_rest.T, row.heights.T, (row.heights * row.heights).T] if kind.shaped else []
        return Design(row.log_start.T, shapes, self._block(row, kind.block, real))

    def _block(self, row: Row, name: str, real: Any) -> FloatArray | None:
        if name == "none" or self.basis is None:
            return None
        if name == "inputs":
            inputs = row.inputs if self.wide is None else row.inputs @ self.wide
            return np.ascontiguousarray(inputs.T, dtype=real)
        places = row.places.astype(real)
        if name == "squares":
            return np.vstack([places.T, self.basis.squares(places, places.shape[1], NUMPY).T])
        assert self.root is not None
        assert self.basis.landmarks is not None
        basis = replace(self.basis, landmarks=self.basis.landmarks.astype(real))
        times = late.blas.dtrmm if real == np.float64 else late.blas.strmm
        near = times(1.0, self.root, basis.kernel(places, NUMPY), side=1, overwrite_b=1)
        return np.concatenate([places.T, near.T])

    def linear(self, name: str, fit: SoftmaxFit) -> Linear:
        """The map with its numbers, by which it predicts."""
        kind, numbers = LINEAR[name], fit.numbers
        n_shapes = 3 if kind.shaped else 0
        shapes = np.ascontiguousarray(numbers[:, 2 : 2 + n_shapes].T) if n_shapes else None
        matrix: Any = np.ascontiguousarray(numbers[:, 2 + n_shapes :].T)
        if kind.block == "none":
            matrix = None
        elif kind.block == "inputs" and self.wide is not None:
            matrix = self.wide @ matrix
        elif kind.block == "kernel":
            assert self.root is not None
            n_axes = len(matrix) - len(self.root)
            matrix = np.vstack([matrix[:n_axes], self.root @ matrix[n_axes:]])
        return Linear(name, 1 + numbers[:, 1], numbers[:, 0].copy(), shapes, kind.block, matrix)


def _prices(log_start: Float64Array, y: IntArray, weight: Float64Array) -> tuple[float, float]:
    """What the squares of biases, and of slopes, cost by a normal prior of the variance among the classes.

    Every class has a step of Newton's method for itself from the start. How far these lie apart, beyond what
    chance does, is found by the method of moments of DerSimonian and Laird.
    """
    errors = softmax_in_place(log_start.copy())
    curve = errors * (1 - errors) * weight
    errors[y, np.arange(len(y))] -= 1
    errors *= weight

    def price(column: Any) -> float:
        slope = (errors * column).sum(axis=1)
        curvature = np.maximum((curve * column * column).sum(axis=1), LEVEL)
        excess = (slope * slope / curvature).sum() - (len(slope) - 1)
        effective = curvature.sum() - (curvature * curvature).sum() / curvature.sum()
        return float(0.5 / np.clip(excess / max(effective, LEVEL), CLOSEST**2, FARTHEST**2))

    return price(1.0), price(log_start)


def _standard(inputs: Float64Array, weight: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Means and standard deviations; 1 for what is nearly constant."""
    unit = np.abs(inputs).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    scaled, total = inputs / unit, weight.sum()
    mean = weight @ scaled / total
    spread = np.sqrt(weight @ (scaled - mean) ** 2 / total)
    return mean * unit, np.where(spread > FLAT, spread * unit, 1.0)


def _axes(inputs: Float64Array, weight: Float64Array) -> Float64Array:
    """The whitened principal axes, those that say most first; one at least."""
    values, axes = np.linalg.eigh((inputs * weight[:, None]).T @ inputs / weight.sum())
    values, axes = values[::-1], axes[:, ::-1]
    rank = int((values > SMALL * values.sum()).sum())
    if rank == 0:
        return np.zeros((len(values), 1))
    return np.asarray((axes / np.sqrt(np.maximum(values, 1e-12)))[:, :rank])


def _landmarks(places: Float64Array, n_classes: int) -> Float64Array:
    """Rows at even distances."""
    n, n_axes = places.shape
    most = max(LANDMARKS_OF_CLASSES // n_classes, LEAST_LANDMARKS)
    number = max(min(n // 2, 100 + n // 25, LANDMARKS, most, LANDMARKS_OF_AXES * n_axes**2), 2)
    chosen: IntArray = np.unique(np.linspace(0, n - 1, number).astype(int))
    return np.unique(places[chosen], axis=0)


def _with_landmarks(basis: Basis, landmarks: Float64Array) -> tuple[Basis, Float64Array]:
    """Those of some landmarks that the others do not determine, and a root of the inverse of their kernel.

    They are taken by how much is new of them, equal ones in their order: rounding, which is not that of all
    processors, must not choose.
    """
    kernel = replace(basis, landmarks=landmarks).kernel(landmarks, NUMPY)
    kernel[np.diag_indices_from(kernel)] -= TILT * np.arange(len(kernel))
    lower, order, rank, _ = late.lapack.dpstrf(kernel, lower=1, tol=NEW)
    inverse, _ = late.lapack.dtrtri(lower[:rank, :rank], lower=1)
    return replace(basis, landmarks=landmarks[order[:rank] - 1]), KERNEL_SIZE * np.tril(inverse).T


def _knots(scores: Float64Array, is_own: Any, weight: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Knots of a score, and their normal scores where a class and the rest weigh the same."""
    own, rest = weight[is_own].sum(), weight[~is_own].sum()
    each = np.where(is_own, weight / max(own, 1e-12), weight / max(rest, 1e-12))
    values, place = np.unique(scores, return_inverse=True)
    mass = np.bincount(place, each)
    share = (np.cumsum(mass) - mass / 2) / mass.sum()
    if len(values) > KNOTS:
        even = np.interp(np.linspace(0, 1, KNOTS), share, np.arange(len(values)))
        chosen = np.unique(np.round(even).astype(int))
        values, share = values[chosen], share[chosen]
    return values, np.asarray(late.special.ndtri(np.clip(share, *SHARES)))
