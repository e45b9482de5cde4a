"""Tests that look in one direction: they find what is off a little everywhere though no point stands out.

Each compares a sum over the rows with what it would be if the forecasts were right. Mean, variance and
skewness of such a sum follow from the forecasts; its tail is that of the gamma distribution with these
three (Pearson's third type), which rare events need and the normal distribution gets wrong.
"""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics import Draws, dot, side_by_side
from calibrant.report._column import Column
from calibrant.report._rows import Rows

#: Rows beyond so many probabilities are left out of the surprise: the others tell all that matters.
MAX_ENTRIES = 1_000_000
#: Probabilities that are looked at together.
BLOCK_ENTRIES = 1 << 16
#: Less than this no forecast is taken to mean: files have four decimals, and a 0 there is not "never".
LEAST = 1e-4
#: Differences of at most this size are rounding.
ROUNDING = 1e-7
#: With less variance than this a sum of rows stays what it is.
NO_VARIANCE = 1e-30
#: Below this skewness the gamma distribution is the normal one.
SYMMETRIC = 1e-4


def two_sided(value: float, variance: float, third: float, step: float = 0.0) -> float:
    """The chance that a sum of mean zero is as far from it, given its second and third moment.

    Sums that can only be multiples of `step` are taken half a step nearer to zero.
    """
    from scipy.special import gammainc, gammaincc, ndtr  # noqa: PLC0415

    distance = max(abs(value) - step / 2, 0.0)
    if variance <= NO_VARIANCE:
        return 0.0 if distance > 0 else 1.0
    z = distance / math.sqrt(variance)
    skewness = math.copysign(1.0, value) * third / variance**1.5
    if abs(skewness) < SYMMETRIC:
        tail = ndtr(-z)
    else:
        shape = 4 / skewness**2
        if skewness > 0:
            tail = gammaincc(shape, shape + z * math.sqrt(shape))
        else:
            tail = gammainc(shape, max(shape - z * math.sqrt(shape), 0.0))
    return min(2 * float(tail), 1.0)


@dataclass(frozen=True, slots=True)
class MeanTest:
    """By how much all forecasts of a column are off together, beside chance.

    Attributes
    ----------
    bias : float
        Share of the hits minus the mean forecast.
    variance : float
        That of `bias` if the forecasts are right.
    growth : float
        How fast the variance can grow with a gap: from nothing, where forecasts are certain.
    p_value : float
        The chance that right forecasts are off as far.
    """

    bias: float
    variance: float
    growth: float
    p_value: float

    @classmethod
    def of(cls, column: Column, draws: Draws) -> "MeanTest":
        """Test the mean of a column, given the groups that it is drawn in."""
        total = float(draws.weight.sum())
        difference = float(column.hits[-1]) - dot(draws.weight, draws.forecast)
        squares, cubes, step = power_sums(draws)
        chance = draws.forecast * (1 - draws.forecast)
        variance, third = dot(squares, chance), dot(cubes, chance * (1 - 2 * draws.forecast))
        is_off = abs(difference) > ROUNDING * total
        return cls(
            bias=difference / total,
            variance=variance / total**2,
            growth=dot(squares, np.abs(1 - 2 * draws.forecast)) / total**2,
            p_value=two_sided(difference, variance, third, step) if is_off else 1.0,
        )


def power_sums(draws: Draws) -> tuple[Float64Array, Float64Array, float]:
    """Squared and cubed weights of the rows in every group, and the least weight of one row."""
    whole = draws.whole.astype(np.float64)
    if draws.part is None or draws.part_weight is None or not draws.part.any():
        return whole, whole, 1.0
    squares, cubes = (whole + draws.part * draws.part_weight**power for power in (2, 3))
    return squares, cubes, float(draws.part_weight[draws.part > 0].min())


@dataclass(frozen=True, slots=True)
class Surprise:
    """By how much the log loss differs from what the forecasts promise, their entropy, beside chance.

    Attributes
    ----------
    excess : float
        What the log loss is above the promise: positive if forecasts are too sure, negative if not sure
        enough; infinite if what they called impossible came.
    p_value : float
        The chance that right forecasts are as far from what they promise.
    """

    excess: float
    p_value: float


def measure_surprise(rows: Rows, seed: int) -> Surprise:
    """Compare the log loss with the promised one: the score test of one temperature for all classes."""
    most, chosen = max(MAX_ENTRIES // rows.n_classes, 1), np.arange(len(rows))
    if len(rows) > most:
        chosen = np.random.default_rng(seed).choice(len(rows), most, replace=False, shuffle=False)
    step = max(BLOCK_ENTRIES // rows.n_classes, 1)
    blocks = [chosen[first : first + step] for first in range(0, len(chosen), step)]
    sums = side_by_side(lambda block: _surprises(rows.take(block)), blocks, len(rows))
    excess, value, variance, third = np.sum(sums, axis=0).tolist()
    total = float(rows.weight[chosen].sum())
    # A few classes of small chance may be all there is to the skewness; the gamma distribution would then
    # end too soon on the other side, where the normal one is on the safe side.
    return Surprise(excess / total, two_sided(value, variance, third if value * third > 0 else 0.0))


def _surprises(rows: Rows) -> tuple[float, float, float, float]:
    """What rows add to the log loss beyond the promised one; and what they do if none is below a floor.

    The second is minus that, and has the moments of a test, which one row that was called impossible would
    decide alone.
    """
    from scipy.special import entr  # noqa: PLC0415

    row = np.arange(len(rows))
    with np.errstate(divide="ignore"):
        excess = entr(rows.proba).sum(axis=1) + np.log(rows.proba[row, rows.truth])
    log = np.log(np.maximum(rows.proba, LEAST))
    log -= (np.einsum("ij,ij->i", rows.proba, log) / rows.proba.sum(axis=1))[:, np.newaxis]
    log[np.abs(log) <= ROUNDING] = 0.0
    squares = rows.proba * log
    squares *= log
    whole = np.floor(rows.weight)
    rest = rows.weight - whole
    return (
        -dot(rows.weight, excess),
        dot(rows.weight, log[row, rows.truth]),
        dot(whole + rest**2, squares.sum(axis=1)),
        dot(whole + rest**3, np.einsum("ij,ij->i", squares, log)),
    )
