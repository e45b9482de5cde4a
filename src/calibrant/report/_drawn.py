"""What a report draws: curves, bands and bins as plain numbers, of bounded size."""

import math
from dataclasses import dataclass

from calibrant.metrics import Estimate

Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points.

    Attributes
    ----------
    x, y : tuple of float
        The points.
    """

    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class Band:
    """The band in which believable probabilities would stay.

    Attributes
    ----------
    x, lower, upper : tuple of float
        Forecasts, and the ends of the band there.
    level : float
        The share of believable forecasters in it, at any one forecast.
    """

    x: Floats
    lower: Floats
    upper: Floats
    level: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The rows whose forecasts lie between two edges, as in `calibrant.metrics.ReliabilityBins`.

    Attributes
    ----------
    left, right : float
        The edges.
    count : int
        Number of rows.
    mean_score : float
        Their mean forecast.
    frac_pos : Estimate
        How often what was forecast came.
    """

    left: float
    right: float
    count: int
    mean_score: float
    frac_pos: Estimate


@dataclass(frozen=True, slots=True)
class Reliability:
    """What was forecast against what came.

    Attributes
    ----------
    name : str
        The class, or "most probable class".
    fit : Curve
        The isotonic fit: how often the event came, rising with the forecast.
    band : Band
        What chance would leave the fit in.
    bins : tuple of Bin
        The same in bins of width 0.1.
    outside : float
        Share of the rows whose forecasts lie where the fit is outside the band.
    gap, p_value : float
        By how much the forecasts are off beyond chance, root mean square, and the chance that believable ones
        look as bad.
    bound : float
        How far off they could be, root mean square, with a confidence of 95%.
    """

    name: str
    fit: Curve
    band: Band
    bins: tuple[Bin, ...]
    outside: float
    gap: float
    p_value: float
    bound: float = math.nan


@dataclass(frozen=True, slots=True)
class Roc:
    """How well the forecasts of a class put its rows first.

    Attributes
    ----------
    name : str
        The class.
    curve : Curve
        False positive rates and true positive rates, at most 101 points.
    auc : Estimate
        The area under the curve, from all rows.
    """

    name: str
    curve: Curve
    auc: Estimate
