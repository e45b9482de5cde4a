"""Many streams of forecasts and truths at once, and the processes of `calibrant.monitor` on all of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant.monitor._alternatives import Alternatives
from calibrant.monitor._bound import Bound
from calibrant.monitor._detector import BLOCK, STEP, Scan
from calibrant.monitor._learning import FADING, Parabola, best, learned, no_rows, ridge

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """How forecasts are drawn, and the truth from them.

    `tilt` gives the true probabilities of changed rows; without a change they are the forecasts.
    """

    name: str
    centre: tuple[float, ...]
    spread: float = 1.0
    dependent: bool = False
    tilt: Callable[[Numbers], Numbers] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.centre)

    def base_rates(self) -> Numbers:
        """How often the classes come, roughly."""
        return _normal(np.exp(np.array(self.centre)))


def tilted(proba: Numbers, label: int, factor: float) -> Numbers:
    """One class with its odds multiplied."""
    proba = proba.copy()
    proba[..., label] *= factor
    return _normal(proba)


def sharpened(proba: Numbers, slope: float) -> Numbers:
    """Forecasts with another slope."""
    return _normal(proba**slope)


def _normal(proba: Numbers) -> Numbers:
    return np.asarray(proba / proba.sum(axis=-1, keepdims=True))


class Source:
    """Rows of many streams, block by block."""

    def __init__(self, case: Case, n_streams: int, seed: int) -> None:
        self.case, self.n = case, n_streams
        self.random = np.random.default_rng([seed, n_streams])
        self.state = self.random.normal(size=(n_streams, case.n_classes)) * case.spread

    def keep(self, some: NDArray[np.bool_]) -> None:
        """Go on with some of the streams."""
        self.state = self.state[some]
        self.n = len(self.state)

    def block(self, changed: bool) -> tuple[Numbers, NDArray[np.intp], Numbers]:
        """Forecasts, truths, and true probabilities, of shapes (BLOCK, n, k), (BLOCK, n), (BLOCK, n, k)."""
        case = self.case
        if case.dependent:
            return self._dependent()
        logits = case.spread * self.random.normal(size=(BLOCK, self.n, case.n_classes)) + case.centre
        proba = _normal(np.exp(logits - logits.max(axis=-1, keepdims=True)))
        true = case.tilt(proba) if changed and case.tilt is not None else proba
        return proba, self._draw(true), true

    def _draw(self, true: Numbers) -> NDArray[np.intp]:
        chance = self.random.random((*true.shape[:-1], 1))
        return np.asarray((chance > true.cumsum(axis=-1)[..., :-1]).sum(axis=-1))

    def _dependent(self) -> tuple[Numbers, NDArray[np.intp], Numbers]:
        """Forecasts that follow themselves and what came before."""
        proba = np.empty((BLOCK, self.n, self.case.n_classes))
        truth = np.empty((BLOCK, self.n), dtype=np.intp)
        for row in range(BLOCK):
            logits = self.state + self.case.centre
            proba[row] = _normal(np.exp(logits - logits.max(axis=-1, keepdims=True)))
            truth[row] = self._draw(proba[row])
            came = truth[row][:, np.newaxis] == np.arange(self.case.n_classes)
            noise = self.random.normal(size=self.state.shape)
            self.state = 0.9 * self.state + 0.5 * (came - proba[row]) + 0.4 * self.case.spread * noise
        return proba, truth, proba


class Panel:
    """The mixture of `calibrant.monitor` on many streams."""

    def __init__(self, base_rates: Numbers, n_streams: int, bound: Bound) -> None:
        self.bound, self.alternatives, self.penalty = bound, Alternatives(base_rates), ridge(base_rates)
        k, a = len(base_rates), len(self.alternatives.weights)
        self.values = np.zeros((n_streams, a))
        self.past = no_rows((n_streams, k + 1))
        self.theta = best(self.past, self.penalty)
        self.n_rows = 0
        self.scan = Scan((STEP, BLOCK // STEP, n_streams, a))

    def keep(self, some: NDArray[np.bool_]) -> None:
        """Go on with some of the streams."""
        self.values, self.theta = self.values[some], self.theta[some]
        self.past = Parabola(self.past.curvature[some], self.past.linear[some])
        self.scan = Scan((STEP, BLOCK // STEP, *self.values.shape))

    def take(self, proba: Numbers, truth: NDArray[np.intp]) -> Numbers:
        """The mixture after every row, of shape (BLOCK, n)."""
        n, k = self.values.shape[0], proba.shape[-1]
        ratios = np.empty((BLOCK, n, self.values.shape[1]))
        self.alternatives.ratios(proba.reshape(-1, k), truth.ravel(), ratios.reshape(BLOCK * n, -1))
        by_stream = np.ascontiguousarray(proba.swapaxes(0, 1)), np.ascontiguousarray(truth.T)
        found, parabola = learned(*by_stream, None, self.theta)
        ratios[..., -1] = found.T
        self.past = FADING * self.past + parabola
        self.theta = best(self.past, self.penalty)
        entering = self.bound.entering(self.n_rows + 1, BLOCK)
        mixture = scanned(self.scan, ratios, entering, self.values) @ self.alternatives.weights
        self.values = self.scan.values[-1, -1].copy()
        coming = np.array([self.bound.coming(self.n_rows + row) for row in range(1, BLOCK + 1)])
        self.n_rows += BLOCK
        return np.asarray(mixture.swapaxes(0, 1).reshape(BLOCK, n) + coming[:, np.newaxis])


def scanned(scan: Scan, ratios: Numbers, entering: Numbers, carried: Numbers) -> Numbers:
    """Values after every row, steps side by side; what has crossed the bound may be beyond all numbers."""
    shape = (BLOCK // STEP, STEP, *ratios.shape[1:])
    scan.ratios[:] = ratios.reshape(shape).swapaxes(0, 1)
    spread = entering.reshape(BLOCK // STEP, STEP).T.reshape(STEP, -1, *[1] * (ratios.ndim - 1))
    with np.errstate(over="ignore"):
        scan.run(spread, np.minimum(carried, 1e290))
    return scan.values


class Known:
    """CUSUM and Shiryaev-Roberts with the likelihood ratio of the true change, on many streams."""

    def __init__(self, n_streams: int) -> None:
        self.cusum, self.roberts = np.zeros(n_streams), np.zeros(n_streams)

    def take(
        self, proba: Numbers, truth: NDArray[np.intp], tilt: Callable[[Numbers], Numbers]
    ) -> Iterator[Numbers]:
        """Both after every row, of shape (BLOCK, n)."""
        place = truth[..., np.newaxis]
        ratio = np.take_along_axis(tilt(proba) / proba, place, axis=-1)[..., 0]
        cusum, roberts = np.empty_like(ratio), np.empty_like(ratio)
        for row, each in enumerate(ratio):
            self.cusum = np.minimum(np.maximum(self.cusum, 1.0) * each, 1e200)
            self.roberts = np.minimum((self.roberts + 1.0) * each, 1e200)
            cusum[row], roberts[row] = self.cusum, self.roberts
        yield cusum
        yield roberts
