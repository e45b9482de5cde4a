"""How far chance alone carries the calibration and refinement of a column, and its binned errors.

Both follow the rows that they were found in: a fit, or a frequency, is further from the forecasts than what
it estimates. How much further, and how much that varies, is found by drawing rows anew from forecasters like
this one: what comes is drawn from frequencies between the forecasts and their fit, at the distance that is
left if what chance adds is taken off the one that was found.
"""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.metrics._isotonic import pooled_blocks
from calibrant.metrics._points import Points

#: Draws of a column.
N_DRAWS = 200
#: Groups of rows that are drawn together: in a column, at least, and in all columns.
MOST_GROUPS, LEAST_GROUPS, ALL_GROUPS = 1000, 100, 20_000
#: Draws of binned errors.
N_BINNED = 1000
#: The shares of the draws below the ends of an interval.
ENDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a column's Brier score.

    Attributes
    ----------
    calibration, refinement : float
        As they were found.
    starts : ndarray of shape (b,)
        The point at which each block of the fit begins.
    frequency : ndarray of shape (b,)
        The frequencies of the blocks.
    """

    calibration: float
    refinement: float
    starts: IntArray
    frequency: Float64Array

    def fitted(self, n_points: int) -> Float64Array:
        """The fit at every point."""
        return np.repeat(self.frequency, np.diff(np.append(self.starts, n_points)))


@dataclass(frozen=True, slots=True)
class Chance:
    """How an estimate deviates from what it estimates.

    Attributes
    ----------
    bias, spread : float
        Mean and standard deviation of the deviation.
    low, high : float
        What 2.5% and 97.5% of the deviations do not exceed.
    """

    bias: float
    spread: float
    low: float
    high: float

    @classmethod
    def of(cls, deviations: Float64Array) -> "Chance":
        """From deviations that were drawn."""
        low, high = np.quantile(deviations, ENDS)
        return cls(float(deviations.mean()), float(deviations.std(ddof=1)), float(low), float(high))


def split_points(points: Points, brier: float) -> Parts:
    """Split the Brier score of a column."""
    starts, frequency, weight = pooled_blocks(points.pos, points.weight)
    refinement = float(weight @ (frequency * (1 - frequency)) / weight.sum())
    return Parts(max(brier - refinement, 0.0), refinement, starts, frequency)


def chance_of_parts(
    points: Points, parts: Parts, rng: np.random.Generator, n_columns: int
) -> tuple[Chance, Chance]:
    """How calibration and refinement deviate from those of all possible rows."""
    n_groups = min(MOST_GROUPS, max(LEAST_GROUPS, ALL_GROUPS // n_columns))
    p, fit, weight, rows = _groups(points, parts.fitted(len(points)), n_groups)
    share = weight / weight.sum()
    distance = float(share @ (fit - p) ** 2)
    by_chance = float(np.mean(_draw(p, p, weight, rows, rng)[0]))
    left = max(parts.calibration - by_chance, 0.0)
    world = p + min(np.sqrt(left / distance), 1.0) * (fit - p) if distance > 0 else p
    calibration, refinement = _draw(p, world, weight, rows, rng)
    return (
        Chance.of(calibration - float(share @ (world - p) ** 2)),
        Chance.of(refinement - float(share @ (world * (1 - world)))),
    )


def _groups(points: Points, fit: Float64Array, most: int) -> tuple[Float64Array, ...]:
    """Neighbours together, fewer towards both ends: mean forecast and fit, weight, rows that it is worth."""
    weight, squares = points.weight, points.pos2 + points.neg2
    starts = np.arange(len(points))
    if len(points) > most:
        reached = np.cumsum(weight) - weight
        edges = weight.sum() * np.sin(np.linspace(0, np.pi / 2, most + 1)[:-1]) ** 2
        starts = np.unique(np.searchsorted(reached, edges * (1 - 1e-12)))
        starts = starts[starts < len(points)]
    p, fit, weight, squares = (
        np.add.reduceat(each, starts) for each in (weight * points.p, weight * fit, weight, squares)
    )
    return np.clip(p / weight, 0.0, 1.0), np.clip(fit / weight, 0.0, 1.0), weight, weight**2 / squares


def _draw(
    p: Float64Array, chance: Float64Array, weight: Float64Array, rows: Float64Array, rng: np.random.Generator
) -> tuple[Float64Array, Float64Array]:
    """Calibration and refinement of rows drawn anew, both how many there are in a group and what came."""
    size = (N_DRAWS, len(p))
    unit = weight / rows
    pos = rng.poisson(rows * chance, size) * unit
    neg = rng.poisson(rows * (1 - chance), size) * unit
    mass = pos + neg
    total = mass.sum(axis=1)
    brier = (pos @ (1 - p) ** 2 + neg @ p**2) / np.maximum(total, 1e-300)
    # All draws are fitted as one: each is lifted above the one before, so that no block reaches across.
    filled = np.flatnonzero(mass)
    number = filled // len(p)
    pos, mass = pos.ravel()[filled], mass.ravel()[filled]
    starts, frequency, weights = pooled_blocks(pos + 2.0 * number * mass, mass)
    of_draw = number[starts]
    frequency = _frequencies(pos, mass, starts)
    lost = np.bincount(of_draw, weights * frequency * (1 - frequency), N_DRAWS)
    refinement = lost / np.maximum(total, 1e-300)
    return np.maximum(brier - refinement, 0.0), refinement


def _frequencies(pos: Float64Array, mass: Float64Array, starts: IntArray) -> Float64Array:
    return np.asarray(np.add.reduceat(pos, starts) / np.add.reduceat(mass, starts))


def chance_of_bins(gap: Float64Array, variance: Float64Array, rng: np.random.Generator) -> Chance:
    """How the sum of distances deviates from that of all possible rows, in the same bins."""
    found = float(gap @ gap)
    kept = np.sqrt(max(0.0, 1 - float(variance.sum()) / found)) if found > 0 else 0.0
    world = kept * gap
    drawn = world + np.sqrt(variance) * rng.standard_normal((N_BINNED, len(gap)))
    return Chance.of(np.abs(drawn).sum(axis=1) - float(np.abs(world).sum()))
