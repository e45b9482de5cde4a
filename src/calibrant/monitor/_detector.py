"""An e-process per alternative, mixed; alarms, and when the change began.

Of every alternative the value after row t is R[t] = L[t] * (R[t - 1] + g[t]), with the ratio L and the weight
g of a change that begins with the row: the sum over all beginnings of the products of ratios since. Rows come
in blocks of a fixed size, on a grid of the stream, so that any cutting into batches does the same operations
on the same numbers.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant._core._arrays import Float64Array
from calibrant.monitor._ages import pooled_starts
from calibrant.monitor._bound import Bound

#: Rows that are taken together; the last ones wait for the others, and are looked at as if these had ratio 1.
BLOCK = 256
#: Rows whose ratios can be multiplied without leaving the range of floating point.
STEP = 32
#: Beginnings are remembered in at most so many bins.
MOST_BINS = 72
#: A value beyond this is shown as this: it may be beyond all numbers.
MOST = 1e300
#: No product of ratios from the best row on is less.
LEAST = 1e-300
#: The chance that a change began outside of its interval.
OUTSIDE = 0.05


Float32Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Crossing:
    """An alarm of a detector.

    Attributes
    ----------
    place : int
        The row within the block.
    value : float
        The value of the mixture.
    shares : ndarray of shape (a,)
        What every alternative has of it.
    leader : int
        The alternative that has most.
    against : ndarray of shape (a,)
        How much rows have spoken against every alternative, see `Detector.against`.
    began, earliest, latest : tuple of int and float
        Number and time of the row with which the change began, and the ends of an interval.
    """

    place: int
    value: float
    shares: Float64Array
    leader: int
    against: Float64Array
    began: tuple[int, float]
    earliest: tuple[int, float]
    latest: tuple[int, float]


class Scan:
    """Room for the computation of R[t] = L[t] * (R[t - 1] + g[t]), which is used again and again.

    Parameters
    ----------
    shape : tuple of int
        Shape of the ratios, (STEP, steps, ...): rows of all steps are multiplied side by side, as only within
        a step do products stay numbers.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.ratios, self.products, self.inverse, self.values = (np.ones(shape) for _ in range(4))
        self._multiply = list(zip(self.products, self.ratios[1:], self.products[1:], strict=False))
        self._add = list(zip(self.values, self.values[1:], self.values[1:], strict=False))

    def __deepcopy__(self, memo: object) -> "Scan":
        return self  # nothing in it lasts

    def run(self, entering: Float64Array, carried: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Compute values after every row from the ratios and what was carried into the first step.

        Gives the products of the ratios of every step, and what began in it. `inverse` has the inverses of
        the products before every row.
        """
        products, inverse, sums = self.products, self.inverse, self.values
        products[0] = self.ratios[0]
        for before, ratio, after in self._multiply:
            np.multiply(before, ratio, out=after)
        np.divide(1.0, products[:-1], out=inverse[1:])
        inverse[0] = 1.0
        np.multiply(inverse, entering, out=sums)
        for before, new, after in self._add:
            np.add(before, new, out=after)
        ends, begun = products[-1].copy(), sums[-1].copy()
        start = np.empty_like(ends)
        for step, end in enumerate(ends):
            start[step] = carried
            carried = end * (carried + begun[step])
        sums += start
        sums *= products
        begun *= ends
        return ends, begun


class Detector:
    """The mixture over alternatives and beginnings.

    Parameters
    ----------
    weights : ndarray of shape (a,)
        Weights of the alternatives, which sum to one.
    bound : RunLength or Ever
        The promise.
    """

    NAMES = (*("values", "n_rows", "scale", "log_products", "cusum", "cusum_began", "bins", "bin_began"),)

    def __init__(self, weights: Float64Array, bound: Bound) -> None:
        self.weights, self.bound = weights, bound
        self._scan = Scan((STEP, BLOCK // STEP, len(weights)))
        self.restart()

    def restart(self) -> None:
        """Forget all."""
        n = len(self.weights)
        self.values = np.zeros(n)
        self.n_rows = 0
        #: Weight of changes that begin from here on: less than one after a merge.
        self.scale = 1.0
        self.log_products = np.zeros(n)
        self.cusum = np.zeros(n)
        self.cusum_began = np.zeros((n, 2))
        self.bins: Float32Array = np.zeros((0, n), dtype=np.float32)
        self.bin_began = np.zeros((0, 2))

    def value(self) -> float:
        """The mixture after the last row."""
        return self._mixed(self.weights * self.values, self.n_rows)

    def _mixed(self, shares: Float64Array, n_rows: int) -> float:
        """The mixture of what has begun and of what may begin yet."""
        return min(math.fsum(shares) + self.scale * self.bound.coming(n_rows), MOST)

    def advance(
        self, ratios: Float64Array, rows: Float64Array, n: int
    ) -> tuple[list[Crossing], Float64Array]:
        """Take a block of rows.

        Parameters
        ----------
        ratios : ndarray of shape (BLOCK, a)
            Ratios, which are changed.
        rows : ndarray of shape (BLOCK, 2)
            Number and time of every row.
        n : int
            How many of them are rows.

        Returns
        -------
        crossings : list of Crossing
            The alarms.
        mixture : ndarray of shape (n,)
            The value after every row.
        """
        ratios[n:] = 1.0
        crossings: list[Crossing] = []
        mixture = np.empty(BLOCK)
        first = 0
        while True:
            entering = np.zeros(BLOCK)
            entering[first:n] = self.scale * self.bound.entering(self.n_rows + 1, n - first)
            with np.errstate(over="ignore"):  # what is beyond all numbers has crossed the bound before
                self._scan.ratios[:] = _steps(ratios)
                ends, begun = self._scan.run(_steps(entering[:, np.newaxis]), self.values)
                values, inverse = self._scan.values, self._scan.inverse
                mixture[first:] = (values @ self.weights).T.ravel()[first:]
            place = self._crossed(values, mixture, first, n)
            if place is None:
                break
            shares = self.weights * values[place % STEP, place // STEP]
            crossings.append(self._crossing(place, first, shares, ratios, entering, rows))
            self.restart()
            first = place + 1
            ratios[:first] = 1.0
        if n > first:
            for row in range(first):
                inverse[row % STEP, row // STEP] = 0.0
            self._keep(values, ends, begun, inverse, rows, n)
            self.n_rows += n - first
        return crossings, np.minimum(mixture[:n], MOST)

    def _crossed(self, values: Float64Array, mixture: Float64Array, first: int, n: int) -> int | None:
        """The first row after which the mixture, added up exactly, reaches the bound."""
        near = self.bound.threshold * (1 - 1e-9) - self.scale * self.bound.coming(self.n_rows)
        for place in first + np.flatnonzero(mixture[first:n] >= near):
            there = values[place % STEP, place // STEP]
            n_rows = self.n_rows + int(place) + 1 - first
            if self._mixed(self.weights * there, n_rows) >= self.bound.threshold:
                return int(place)
        return None

    def _crossing(
        self,
        place: int,
        first: int,
        shares: Float64Array,
        ratios: Float64Array,
        entering: Float64Array,
        rows: Float64Array,
    ) -> Crossing:
        """The alarm, with the beginning of the change under the alternative that leads."""
        leader = int(shares.argmax())
        # Of every alternative the inverse of the product before every row of the block.
        inverse = np.zeros((place + 1, len(shares)))
        np.cumsum(-np.log(ratios[:place]), axis=0, out=inverse[1:])
        since = inverse[first:, leader]
        here = rows[first : place + 1]
        best, old = int(since.argmax()), self.cusum[leader]
        began = here[best] if old <= 0 or since[best] >= math.log(old) else self.cusum_began[leader]
        top = float(since.max())
        mass = entering[first : place + 1] * np.exp(np.maximum(since - top, -700.0))
        old_mass = self.bins[:, leader].astype(np.float64) * math.exp(-max(min(top, 700.0), -700.0))
        earliest, latest = _interval(np.concatenate([old_mass, mass]), np.concatenate([self.bin_began, here]))
        return Crossing(
            place,
            self._mixed(shares, self.n_rows + place + 1 - first),
            shares,
            leader,
            np.maximum(self.against(), inverse[first:].max(axis=0) - self.log_products),
            _pair(began),
            min(earliest, _pair(began)),
            max(latest, _pair(began)),
        )

    def against(self) -> Float64Array:
        """How much the rows since the start have spoken against every alternative, at their most.

        It is the logarithm of the greatest inverse of a product of ratios from the start on. If the rows are
        those of the alternative, the chance that it ever reaches x is at most exp(-x) (Ville).
        """
        return np.maximum(np.log(np.maximum(self.cusum, LEAST)) - self.log_products, 0.0)

    def overdue(self) -> Crossing | None:
        """The alarm after the last row, if there is one; then all is forgotten."""
        value, shares = self.value(), self.weights * self.values
        if value < self.bound.threshold:
            return None
        leader = int(shares.argmax())
        began, against = _pair(self.cusum_began[leader]), self.against()
        earliest, latest = _interval(self.bins[:, leader].astype(np.float64), self.bin_began)
        self.restart()
        return Crossing(0, value, shares, leader, against, began, min(earliest, began), max(latest, began))

    def _keep(
        self,
        values: Float64Array,
        ends: Float64Array,
        begun: Float64Array,
        inverse: Float64Array,
        rows: Float64Array,
        n: int,
    ) -> None:
        """Remember the values after the block, and how much of them began when."""
        self.values = values[-1, -1].copy()
        used = -(-n // STEP)
        ends = ends[:used]
        self.log_products += np.log(ends).sum(axis=0)
        since = ends.copy()  # products of ratios from every step to the end
        for step in range(used - 2, -1, -1):
            since[step] *= since[step + 1]
        with np.errstate(under="ignore"):
            bins = np.concatenate([self.bins * since[0], begun[:used] * (since / ends)])
            self.bins = bins.astype(np.float32)
        self.bin_began = np.concatenate([self.bin_began, rows[: used * STEP : STEP]])
        self._follow_cusum(inverse[:, :used], since, rows)
        if len(self.bins) > MOST_BINS:
            starts = pooled_starts(rows[n - 1, 0] + 1.0 - self.bin_began[:, 0], MOST_BINS * 2 // 3)
            self.bins = np.add.reduceat(self.bins, starts, axis=0)
            self.bin_began = self.bin_began[starts]

    def _follow_cusum(self, inverse: Float64Array, since: Float64Array, rows: Float64Array) -> None:
        """The greatest product of ratios up to now, over all rows with which it may begin."""
        alternatives = np.arange(len(self.weights))
        reached = inverse.max(axis=0) * since
        step = reached.argmax(axis=0)
        row = inverse[:, step, alternatives].argmax(axis=0) + STEP * step
        here, old = reached[step, alternatives], self.cusum * since[0]
        self.cusum = np.maximum(here, old)
        self.cusum_began = np.where((here >= old)[:, np.newaxis], rows[row], self.cusum_began)

    def follow(self, later: "Detector", *, restarted: bool) -> None:
        """Take over what a detector of later rows knows, which began anew with these."""
        if restarted:
            for name in vars(self):
                setattr(self, name, getattr(later, name))
            return
        left = self.bound.coming(self.n_rows) if self.bound.coming(0) else 1.0
        factor = np.exp(np.clip(later.log_products, -700.0, 650.0))
        self.values = self.values * factor + left * later.values
        bins = np.concatenate([self.bins * factor, left * later.bins])[-MOST_BINS:]
        self.bins = bins.astype(np.float32)
        self.bin_began = np.concatenate([self.bin_began, later.bin_began])[-MOST_BINS:]
        carried = self.cusum * factor > later.cusum
        self.cusum = np.where(carried, self.cusum * factor, later.cusum)
        self.cusum_began = np.where(carried[:, np.newaxis], self.cusum_began, later.cusum_began)
        self.log_products = self.log_products + later.log_products
        self.scale, self.n_rows = self.scale * left, later.n_rows


def _steps(rows: Float64Array) -> Float64Array:
    """Rows of a block as rows of steps, side by side."""
    return rows.reshape(BLOCK // STEP, STEP, -1).swapaxes(0, 1)


def _interval(mass: Float64Array, began: Float64Array) -> tuple[tuple[int, float], tuple[int, float]]:
    """Between which rows a change began, by the mass of every bin of beginnings."""
    reached = np.cumsum(mass) / mass.sum()
    low, high = (
        min(int(np.searchsorted(reached, share)), len(mass) - 1) for share in (OUTSIDE / 2, 1 - OUTSIDE / 2)
    )
    return _pair(began[low]), _pair(began[min(high + 1, len(mass) - 1)])


def _pair(row: Float64Array) -> tuple[int, float]:
    return int(row[0]), float(row[1])
