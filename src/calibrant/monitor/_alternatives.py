"""Ways in which forecasts may be wrong, each a forecast q made of the forecast p: what is bet on.

A row's ratio q(y) / p(y) has mean at most 1 if y is drawn from p. Every q is a tilt, proportional to
``p ** slope * exp(shift of a class)``. The last alternative is the learned one, whose ratios come from
elsewhere (`_learning.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._names import label_text

#: By how much the level of a class goes up or down, in log-odds.
SHIFTS = (0.25, 0.5, 1.0, 2.0)
#: The same for groups, of which there are many, so that their state stays small.
GROUP_SHIFTS = (0.5, 1.0)
#: Exponents of the forecasts: below 1 these are too sure, above it too timid.
SLOPES = (0.5, 0.7, 1.4, 2.0)
#: How the weight is shared by kinds of alternatives.
LEVEL, SHARPNESS, LEARNING = 0.6, 0.3, 0.1
#: More classes than this share the weight of levels by the square roots of their base rates.
MANY_CLASSES = 10
#: Forecasts below this count as this in a ratio.
LEAST = 1e-12
#: Every tilt but those of levels is mixed with so much of the forecast, so that no ratio is less.
SAFETY = 2.0**-10
#: No ratio counts for more; less is always allowed.
MOST = 2.0**20


@dataclass(frozen=True, slots=True)
class Change:
    """What an alternative says.

    Attributes
    ----------
    kind : str
        "level", "sharpness" or "learned".
    label : object
        The class whose level changes, as its column number; None for other kinds.
    size : float
        Shift of the log-odds, or slope; 0 if learned.
    """

    kind: str
    label: int | None
    size: float

    @property
    def strength(self) -> float:
        """How great it is, on the scale of log-odds."""
        return abs(math.log(self.size)) if self.kind == "sharpness" else abs(self.size)

    @property
    def family(self) -> tuple[str, int | None, bool]:
        """What it has in common with changes of other sizes."""
        return self.kind, self.label, self.size > (1.0 if self.kind == "sharpness" else 0.0)


class Alternatives:
    """The fixed alternatives and their weights.

    Parameters
    ----------
    base_rates : ndarray of shape (k,)
        How often every class comes.
    shifts : sequence of float
        Sizes of changes of level.
    learned : bool
        Whether there is a learned alternative too, the last one.
    """

    def __init__(
        self, base_rates: Float64Array, shifts: Sequence[float] = SHIFTS, *, learned: bool = True
    ) -> None:
        k = len(base_rates)
        #: Of two classes one is enough: the level of the other goes down when this one goes up.
        self.columns = [1] if k == 2 else list(range(k))
        self.sizes = np.array([sign * shift for shift in shifts for sign in (1, -1)])
        self.factors = np.exp(self.sizes)
        self._excess = np.repeat(self.factors - 1.0, len(self.columns))
        self.changes = [Change("level", j, float(size)) for size in self.sizes for j in self.columns]
        self.changes += [Change("sharpness", None, slope) for slope in SLOPES]
        share = np.ones(len(self.columns))
        if k > MANY_CLASSES:
            share = np.sqrt(np.maximum(base_rates, 1e-6))
        #: How the classes share the weight of levels.
        self.shares: Float64Array = share / share.sum()
        level = np.tile(LEVEL * self.shares / len(self.sizes), len(self.sizes))
        weights = np.concatenate([level, np.full(len(SLOPES), SHARPNESS / len(SLOPES))])
        if learned:
            weights = np.append(weights, LEARNING)
            self.changes.append(Change("learned", None, 0.0))
        self.weights: Float64Array = weights / weights.sum()

    def ratios(self, proba: Float64Array, truth: IntArray, out: Float64Array) -> None:
        """Write the ratios of all fixed alternatives, in the order of the changes.

        Parameters
        ----------
        proba : ndarray of shape (n, k)
            The forecasts.
        truth : ndarray of int of shape (n,)
            What came.
        out : ndarray of shape (n, a)
            Where the ratios are written to; further columns are left alone.
        """
        n, n_levels = len(truth), len(self.sizes) * len(self.columns)
        level = np.empty((n, len(self.sizes), len(self.columns)))
        level[:] = proba[:, np.newaxis, self.columns[0] :]
        flat = level.reshape(n, n_levels)
        flat *= self._excess
        flat += 1.0
        np.divide(1.0, flat, out=flat)
        if len(self.columns) == 1:
            level[np.flatnonzero(truth == 1), :, 0] *= self.factors
        else:
            level[np.arange(n), :, truth] *= self.factors
        out[:, :n_levels] = flat
        self._sharpness(proba, truth, out[:, n_levels : n_levels + len(SLOPES)])

    @staticmethod
    def _sharpness(proba: Float64Array, truth: IntArray, out: Float64Array) -> None:
        floored = np.maximum(proba, LEAST)
        gentle = np.exp(0.7 * np.log(floored))
        rows = np.arange(len(truth))
        powers = np.stack([np.sqrt(floored), gentle, gentle * gentle, floored * floored])
        came = powers[:, rows, truth] / floored[rows, truth]
        out[:] = tempered(came / np.add.reduce(powers, axis=2)).T


def tempered(ratios: Float64Array) -> Float64Array:
    """Ratios that are neither too small nor too great to be multiplied."""
    return np.minimum((1.0 - SAFETY) * ratios + SAFETY, MOST)


def words(change: Change, labels: Array) -> str:
    """Say what an alternative says."""
    if change.kind == "level":
        assert change.label is not None
        label, more = label_text(labels[change.label]), change.size > 0
        return f"class {label} comes {'more' if more else 'less'} often than forecast"
    if change.kind == "sharpness":
        return f"forecasts are too {'sure' if change.size < 1 else 'timid'}"
    return "forecasts are off in several ways at once"
