"""One event at a time: its forecasts against whether it came, tested and drawn."""

import math
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.metrics import Draws, Estimate, IsotonicReliability, ReliabilityBins
from calibrant.report._chance import ChanceTest, fit_and_test
from calibrant.report._column import Column, evenly, fill_bins, roc_curve
from calibrant.report._directed import MeanTest
from calibrant.report._drawn import Band, Bin, Curve, Reliability

#: Points of a curve; of a step function it takes two per step.
MAX_POINTS = 101
MAX_CORNERS = 241


@dataclass(frozen=True, slots=True, eq=False)
class Examined:
    """What was found about one event.

    Attributes
    ----------
    reliability : Reliability
        What was forecast against what came, not yet judged.
    test : ChanceTest
        How far it is off, beside chance.
    roc : Curve
        How well it is told apart.
    """

    reliability: Reliability
    test: ChanceTest
    roc: Curve


def examine_mean(column: Column) -> MeanTest:
    """Only by how much the forecasts of an event are off together."""
    return MeanTest.of(column, Draws.of(column.rows))


def examine_column(name: str, column: Column, rng: np.random.Generator) -> Examined:
    """Test and draw a sorted column."""
    fit, test = fit_and_test(column, rng)
    return Examined(
        reliability=_reliability(name, column, fit, fill_bins(column), test),
        test=test,
        roc=curve(*roc_curve(column, MAX_POINTS)),
    )


def curve(x: Float64Array, y: Float64Array) -> Curve:
    """Points as plain numbers."""
    return Curve(_floats(x), _floats(y))


def _reliability(
    name: str, column: Column, fit: IsotonicReliability, bins: ReliabilityBins, test: ChanceTest
) -> Reliability:
    kept = evenly(fit.score + fit.frequency, MAX_CORNERS)
    return Reliability(
        name=name,
        fit=curve(fit.score[kept], fit.frequency[kept]),
        band=Band(_floats(fit.band_score), _floats(fit.lower), _floats(fit.upper), fit.level),
        bins=tuple(
            Bin(float(left), float(right), int(count), float(mean_score), Estimate(frac_pos, low, high))
            for left, right, count, mean_score, frac_pos, low, high in zip(
                bins.left,
                bins.right,
                bins.count,
                bins.mean_score,
                bins.frac_pos,
                *bins.intervals(),
                strict=True,
            )
        ),
        outside=_share_outside(column, fit),
        gap=test.gap,
        p_value=math.nan,
        bound=test.bound,
    )


def _share_outside(column: Column, fit: IsotonicReliability) -> float:
    """Share of the rows whose forecasts lie where the fit has left the band."""
    at_band = np.interp(fit.band_score, fit.score, fit.frequency)
    outside = (at_band < fit.lower) | (at_band > fit.upper)
    # Every forecast belongs to the point of the band that is nearest.
    between = (fit.band_score[1:] + fit.band_score[:-1]) / 2
    ends = np.searchsorted(column.rows.forecast, between)
    at = np.searchsorted(column.bounds, np.concatenate([[0], ends, [len(column.rows.forecast)]]))
    return float(column.between(at)[0] @ outside) / column.total


def _floats(values: Float64Array) -> tuple[float, ...]:
    return tuple(values.tolist())
