"""The two promises: how seldom calibrated forecasts raise an alarm."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array

#: Terms that are added one by one before a formula takes over.
_ONE_BY_ONE = 64


@dataclass(frozen=True, slots=True)
class RunLength:
    """Rows between false alarms are at least so many on average (Shiryaev-Roberts).

    Attributes
    ----------
    threshold : float
        The mean number of rows, and the value at which there is an alarm.
    """

    threshold: float

    def entering(self, first: int, n: int) -> Float64Array:  # noqa: ARG002
        """Weight of a change that begins at every one of n rows."""
        return np.ones(n)

    def coming(self, passed: int) -> float:  # noqa: ARG002
        """Weight of changes that have not begun after so many rows."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Ever:
    """The chance that calibrated forecasts ever raise an alarm is at most alpha (Ville).

    Attributes
    ----------
    threshold : float
        One by alpha, and the value at which there is an alarm.
    """

    threshold: float

    def entering(self, first: int, n: int) -> Float64Array:
        """Weight of a change that begins at every one of n rows; the first has this number, from 1."""
        return _term(np.arange(first, first + n, dtype=np.float64)) / _TOTAL

    def coming(self, passed: int) -> float:
        """Weight of changes that have not begun after so many rows."""
        return _rest(passed) / _TOTAL


Bound = RunLength | Ever


def _term(row: Float64Array) -> Float64Array:
    """Terms whose sum converges, though barely."""
    x = row + 2.0
    return np.asarray(1.0 / (x * np.log(x) ** 2))


def _rest(passed: int) -> float:
    """The sum of all terms of later rows: some one by one, the others by Euler and Maclaurin."""
    start = max(passed, _ONE_BY_ONE)
    x = start + 3.0
    log = math.log(x)
    term = 1.0 / (x * log**2)
    slope = -term * (1.0 + 2.0 / log) / x
    late = 1.0 / log + term / 2 - slope / 12
    return late + float(_term(np.arange(passed + 1, start + 1, dtype=np.float64)).sum())


_TOTAL = _rest(0)
