"""When to refit: what a refit with the rows since the change would gain, and how certain that is."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics import Estimate
from calibrant.monitor._ages import pooled_starts
from calibrant.monitor._learning import Parabola, unchanged
from calibrant.monitor._reliability import N_CELLS, N_SUMS

#: The normal deviate that 5% exceed, and the level of the interval that it gives.
DEVIATE, LEVEL = 1.6448536269514722, 0.9
#: More rows than this are not worth naming.
MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do.

    Attributes
    ----------
    action : {"refit", "collect", "nothing"}
        Recalibrate with the rows since the change; collect more labels first; or leave all as it is.
    n_rows : int
        Labelled rows since the change.
    since_row : int
        The number of the first of them.
    gain : Estimate
        By how much a refit with these rows is expected to lower the log loss of a row; the interval has 90%.
    more_rows : int or None
        How many more labelled rows would decide it, if it is not decided and they can.
    text : str
        In words.
    """

    action: str
    n_rows: int
    since_row: int
    gain: Estimate
    more_rows: int | None
    text: str


def gain_of(rows: Parabola, n_rows: float) -> tuple[Estimate, float, int]:
    """The expected gain of a refit per row, the noncentrality that it comes from, and its parameters."""
    k = rows.linear.shape[-1] - 1
    # The likelihood does not change if all shifts grow alike: there are as many parameters as classes.
    n_parameters = k
    gradient = rows.linear - rows.curvature @ unchanged(k + 1)
    matrix = np.asarray(np.linalg.pinv(rows.curvature, rcond=1e-10, hermitian=True), dtype=np.float64)
    statistic = max(float(gradient @ matrix @ gradient), 0.0)
    excess = statistic - n_parameters
    error = math.sqrt(2.0 * n_parameters + 4.0 * max(excess, 0.0))
    value, low, high = (
        (excess + each - n_parameters) / (2 * n_rows) for each in (0.0, -DEVIATE * error, DEVIATE * error)
    )
    return Estimate(value, low, high, error / (2 * n_rows), LEVEL), excess, n_parameters


def rows_needed(excess: float, n_parameters: int, n_rows: float) -> int | None:
    """How many rows in all would make the lower end of the interval positive, if nothing else changes."""
    if excess <= 0:
        return None
    # x - d > deviate * sqrt(2 d + 4 x) is a quadratic inequality in x, which grows with the rows.
    d, z2 = n_parameters, DEVIATE**2
    half = d + 2 * z2
    x = half + math.sqrt(half**2 - d**2 + 2 * z2 * d)
    rows = math.ceil(x / excess * n_rows)
    return rows if rows <= MOST_ROWS else None


def advise(rows: Parabola, n_rows: float, since_row: int, *, alarmed: bool, mended: bool) -> Advice:
    """Weigh what a refit would bring."""
    count = round(n_rows)
    if count == 0:
        return Advice(
            "nothing", 0, since_row, Estimate(0.0, 0.0, 0.0, 0.0, LEVEL), None, "no labelled rows yet"
        )
    gain, excess, n_parameters = gain_of(rows, n_rows)
    if gain.low > 0:
        text = f"recalibrate with the last {count:,} rows: the log loss of a row falls by about {gain:.2g}"
        return Advice("refit", count, since_row, gain, None, text)
    needed = rows_needed(excess, n_parameters, n_rows)
    more = None if needed is None else max(needed - count, 1)
    if not alarmed:
        why = "what was off seems to be over" if mended else "no change"
        return Advice("nothing", count, since_row, gain, more, f"{why}, and no gain that is certain enough")
    text = "collect more labels: what a refit would gain is not certain yet"
    if more is not None:
        text += f"; about {more:,} more rows would decide it"
    return Advice("collect", count, since_row, gain, more, text)


class History:
    """What rows say of the parameters, and what was forecast and came, by the time of the rows.

    Of long ago, more of them are together.

    Parameters
    ----------
    n_parameters : int
        Shifts of the classes, and the slope.
    """

    NAMES = ("began", "curvature", "linear", "cells")

    def __init__(self, n_parameters: int) -> None:
        self.most = max(8, min(64, 2**13 // n_parameters**2))
        #: Number of the first row, and the weight, of every part.
        self.began = np.empty((0, 2))
        self.curvature = np.empty((0, n_parameters, n_parameters))
        self.linear = np.empty((0, n_parameters))
        #: Sums of `cell_sums`.
        self.cells = np.empty((0, N_SUMS, N_CELLS))

    def add(self, first_row: float, weight: float, rows: Parabola, cells: Float64Array) -> None:
        """Add the rows of a block."""
        self.began = np.concatenate([self.began, [[first_row, weight]]])
        self.curvature = np.concatenate([self.curvature, rows.curvature[np.newaxis]])
        self.linear = np.concatenate([self.linear, rows.linear[np.newaxis]])
        self.cells = np.concatenate([self.cells, cells[np.newaxis]])
        if len(self.began) > self.most:
            ages = first_row + weight + 1.0 - self.began[:, 0]
            starts = pooled_starts(ages, max(self.most * 2 // 3, 2))
            began = self.began[starts]
            began[:, 1] = np.add.reduceat(self.began[:, 1], starts)
            self.began = began
            self.curvature = np.add.reduceat(self.curvature, starts, axis=0)
            self.linear = np.add.reduceat(self.linear, starts, axis=0)
            self.cells = np.add.reduceat(self.cells, starts, axis=0)

    def since(self, row: float) -> tuple[Parabola, float, int]:
        """What the parts say that begin from this row on, or with the part that it is in; their weight."""
        if not len(self.began):
            return Parabola(*(np.zeros(each.shape[1:]) for each in (self.curvature, self.linear))), 0.0, 0
        first = self._part(row)
        some = slice(first, None)
        summed = Parabola(self.curvature[some].sum(axis=0), self.linear[some].sum(axis=0))
        return summed, float(self.began[some, 1].sum()), int(self.began[first, 0])

    def split(self, row: float | None) -> tuple[Float64Array, Float64Array, int]:
        """What was forecast and came before a row and since, and the first row since; None for never."""
        first = len(self.began) if row is None or not len(self.began) else self._part(row)
        since = int(self.began[first, 0]) if first < len(self.began) else 0
        return self.cells[:first].sum(axis=0), self.cells[first:].sum(axis=0), since

    def _part(self, row: float) -> int:
        return min(int(np.searchsorted(self.began[:, 0], row)), len(self.began) - 1)
