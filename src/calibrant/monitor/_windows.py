"""Estimates per window of rows or of the calendar, from sums that are small however many rows there are.

What is summed is rounded to multiples of a power of two, so that sums are exact, and the same however rows
are cut into batches.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant.decisions import least_risk
from calibrant.metrics import (
    N_MOMENTS,
    Estimate,
    Points,
    fit_cox,
    log_odds,
    mean_estimate,
    moments_of,
    most_probable,
    normal_estimate,
    pooled_blocks,
    share_estimate,
    squared_errors,
)
from calibrant.monitor._alternatives import LEAST

#: Cells of the log-odds: of this width, from minus to plus the limit, and one beyond either.
CELL, LIMIT = 0.25, 10.0
N_CELLS = 2 * round(LIMIT / CELL) + 2
#: What is summed is a multiple of the first; factors of products are multiples of the second.
UNIT, FACTOR = 2.0**-20, 2.0**-12
#: What rows lose, or are promised to lose.
LOSSES = ("log_loss", "brier_score", "error_rate", "cost")


@dataclass(frozen=True, slots=True)
class Window:
    """What is known of the rows of a window.

    Attributes
    ----------
    first_row, last_row : int
        Numbers of its first and last row.
    began, ended : float
        Their times; row numbers if there are none, microseconds since 1970 if they are dates.
    n_rows, n_labelled : int
        Rows, and those of them whose label is known.
    promised_log_loss, promised_brier_score, promised_error_rate : Estimate or None
        What the forecasts of all rows say about themselves, labels or not. True only as far as they are
        calibrated.
    promised_cost : Estimate or None
        What decisions would cost by the forecasts, if costs are known.
    log_loss, brier_score, error_rate, cost : Estimate or None
        What rows with labels lost; None without such rows. Forecasts of 0 count as 1e-12.
    calibration, refinement : float or None
        The parts of the Brier score, by isotonic regression in cells of the log-odds.
    mean_forecast, frequency : tuple of Estimate
        How often every class was expected among rows with labels, and how often it came.
    slope : Estimate or None
        Slope of the regression of the truth on the log-odds: 1 is right, below 1 forecasts are too sure. None
        where it cannot be told.
    intercept : tuple of Estimate
        The intercepts of that regression: of the positive of two classes, or of every class.
    """

    first_row: int
    last_row: int
    began: float
    ended: float
    n_rows: int
    n_labelled: int
    promised_log_loss: Estimate | None = None
    promised_brier_score: Estimate | None = None
    promised_error_rate: Estimate | None = None
    promised_cost: Estimate | None = None
    log_loss: Estimate | None = None
    brier_score: Estimate | None = None
    error_rate: Estimate | None = None
    cost: Estimate | None = None
    calibration: float | None = None
    refinement: float | None = None
    mean_forecast: tuple[Estimate, ...] = ()
    frequency: tuple[Estimate, ...] = ()
    slope: Estimate | None = None
    intercept: tuple[Estimate, ...] = ()


def period_of(times: Float64Array, numbers: Float64Array, window: int | str) -> IntArray:
    """The number of the window of every row: of so many rows, or of the calendar."""
    if isinstance(window, int):
        return np.asarray(numbers // window, dtype=np.int64)
    dates = times.astype(np.int64).astype("datetime64[us]")
    if window == "week":  # weeks begin with Mondays, and 1970 with a Thursday
        return (dates.astype("datetime64[D]").astype(np.int64) + 3) // 7
    unit = {"hour": "h", "day": "D", "month": "M", "year": "Y"}[window]
    return dates.astype(f"datetime64[{unit}]").astype(np.int64)


class PromisedSums:
    """Sums over all rows of a window: what the forecasts say about themselves."""

    NAMES = ("place", "sums", "unlike")

    def __init__(self, cost: Float64Array | None) -> None:
        self.cost = cost
        #: First and last row and their times, and the number of rows.
        self.place = np.zeros(5)
        self.sums = np.zeros((len(LOSSES), N_MOMENTS))
        self.unlike = 0

    def add(self, proba: Float64Array, weights: Float64Array, rows: Float64Array) -> None:
        """Add rows."""
        _extend(self.place, rows)
        counted = _counted(weights)
        self.unlike += 0 if counted is None else int((weights != 1.0).sum())
        for place, each in enumerate(self._losses(proba)):
            self.sums[place] += _power_sums(each, counted)

    def _losses(self, proba: Float64Array) -> list[Float64Array]:
        squares = np.einsum("ij,ij->i", proba, proba)
        entropy = -(proba * np.log(np.maximum(proba, LEAST))).sum(axis=1)
        brier = (1.0 - squares) * (0.5 if proba.shape[1] == 2 else 1.0)
        found = [entropy, np.maximum(brier, 0.0), 1.0 - proba.max(axis=1)]
        return found if self.cost is None else [*found, (proba @ self.cost.T).min(axis=1)]

    def estimates(self) -> dict[str, Any]:
        """What is promised, under the names of a window."""
        if not self.place[4]:
            return {}
        found = _means(self.sums, self.cost, whole=not self.unlike)
        return {f"promised_{name}": each for name, each in found.items()}


class LabelledSums:
    """Sums over the rows of a window whose labels are known."""

    NAMES = ("place", "sums", "unlike", "classes", "cells", "scores", "meat")

    def __init__(self, n_classes: int, cost: Float64Array | None) -> None:
        self.cost = cost
        self.columns = [1] if n_classes == 2 else list(range(n_classes))
        self.place = np.zeros(5)
        self.sums = np.zeros((len(LOSSES), N_MOMENTS))
        self.unlike = 0
        #: Of every class sums of w y, w p, w² p, w² p²; then of w and w².
        self.classes = np.zeros((6, n_classes))
        #: Of every cell the weight of what came and of what did not, both squared, and the sum of w p.
        self.cells = np.zeros((5, len(self.columns) * N_CELLS))
        #: Sums of the derivatives of the regression's likelihood at slope 1, and of their products.
        self.scores = np.zeros(len(self.columns) + 1)
        self.meat = np.zeros((len(self.columns) + 1, len(self.columns) + 1))

    def add(self, proba: Float64Array, truth: IntArray, weights: Float64Array, rows: Float64Array) -> None:
        """Add rows."""
        _extend(self.place, rows)
        counted = _counted(weights)
        self.unlike += 0 if counted is None else int((weights != 1.0).sum())
        losses = [
            -np.log(np.maximum(proba[np.arange(len(truth)), truth], LEAST)),
            squared_errors(truth, proba),
            (most_probable(proba)[0] != truth).astype(np.float64),
        ]
        if self.cost is not None:
            losses.append(self.cost[least_risk(proba, self.cost), truth])
        for place, each in enumerate(losses):
            self.sums[place] += _power_sums(each, counted)
        mass, square = rounded(weights), rounded(weights * weights)
        k = proba.shape[1]
        self.classes[0] += np.bincount(truth, mass, k)
        for place, each in enumerate(
            (_times(proba, counted), _times(proba, counted, 2), _times(proba * proba, counted, 2)), start=1
        ):
            self.classes[place] += rounded(each).sum(axis=0)
        self.classes[4] += mass.sum()
        self.classes[5] += square.sum()
        happened = truth[:, np.newaxis] == self.columns
        self._add_regression(np.ascontiguousarray(proba[:, self.columns]), happened, counted)

    def _add_regression(self, p: Float64Array, happened: Any, counted: Float64Array | None) -> None:
        x = log_odds(p)
        cell = np.clip(np.floor((x + LIMIT) / CELL), -1, N_CELLS - 2).astype(np.intp) + 1
        cell += N_CELLS * np.arange(p.shape[1])
        n_cells = self.cells.shape[1]
        came = cell[happened]
        if counted is None:
            pos = np.bincount(came, minlength=n_cells)
            neg = np.bincount(cell.ravel(), minlength=n_cells) - pos
            new = [pos, neg, pos, neg]
        else:
            by_cell = np.repeat(rounded(counted), p.shape[1]).reshape(p.shape)
            new = []
            for mass in (by_cell, rounded(by_cell * by_cell)):
                pos = np.bincount(came, mass[happened], n_cells)
                new += [pos, np.bincount(cell.ravel(), mass.ravel(), n_cells) - pos]
        new.append(np.bincount(cell.ravel(), rounded(_times(p, counted)).ravel(), n_cells))
        self.cells += np.stack(new)
        residual = _times(happened - p, counted)
        derivative = rounded(np.column_stack([(residual * x).sum(axis=1), residual]), FACTOR)
        self.scores += derivative.sum(axis=0)
        self.meat += derivative.T @ derivative

    def estimates(self) -> dict[str, Any]:
        """What was found, under the names of a window."""
        if not self.place[4]:
            return {}
        found: dict[str, Any] = _means(self.sums, self.cost, whole=not self.unlike)
        weight, square = self.classes[4, 0], self.classes[5, 0]
        worth = weight**2 / square
        frequency, forecast = self.classes[0] / weight, self.classes[1] / weight
        found["frequency"] = tuple(share_estimate(float(each), float(worth)) for each in frequency)
        second = self.classes[3] - 2 * forecast * self.classes[2] + forecast**2 * square
        errors = np.sqrt(np.maximum(second, 0.0)) / weight
        found["mean_forecast"] = tuple(
            _within(normal_estimate(float(each), float(error)), 0.0, 1.0)
            for each, error in zip(forecast, errors, strict=True)
        )
        columns = [self._points(c) for c in range(len(self.columns))]
        found["refinement"] = sum(_refinement(points) for points in columns) / float(weight)
        found["calibration"] = max(float(found["brier_score"]) - found["refinement"], 0.0)
        return found | self._regression(columns)

    def _points(self, column: int) -> Points:
        some = self.cells[:, column * N_CELLS : (column + 1) * N_CELLS]
        some = some[:, some[0] + some[1] > 0]
        pos, neg, pos2, neg2, total = some
        p = np.clip(total / (pos + neg), 0.0, 1.0)
        return Points(p, p, p, pos, neg, pos2, neg2)

    def _regression(self, columns: list[Points]) -> dict[str, Any]:
        """Slope and intercepts; the derivatives of rows vary as at the forecasts."""
        fit = fit_cox(columns)
        if fit.bread is None:
            return {}
        weight, square = self.classes[4, 0], self.classes[5, 0]
        centred = self.meat - np.outer(self.scores, self.scores) * (square / weight**2)
        errors = np.sqrt(np.maximum(np.diag(fit.bread @ centred @ fit.bread), 0.0))
        found = [
            normal_estimate(float(value), float(error))
            for value, error in zip((fit.slope, *fit.intercepts), errors, strict=True)
        ]
        return {"slope": found[0], "intercept": tuple(found[1:])}


def window_of(promised: PromisedSums | None, labelled: LabelledSums | None) -> Window:
    """All that is known of a window."""
    parts = [each for each in (promised, labelled) if each is not None and each.place[4]]
    places = np.stack([each.place for each in parts])
    return Window(
        first_row=int(places[:, 0].min()),
        last_row=int(places[:, 1].max()),
        began=float(places[:, 2].min()),
        ended=float(places[:, 3].max()),
        n_rows=int(places[:, 4].max()),
        n_labelled=int(labelled.place[4]) if labelled is not None else 0,
        **({} if promised is None else promised.estimates()),
        **({} if labelled is None else labelled.estimates()),
    )


def _extend(place: Float64Array, rows: Float64Array) -> None:
    if not place[4]:
        place[0], place[2] = rows[0]
    place[1], place[3] = rows[-1]
    place[4] += len(rows)


def _counted(weights: Float64Array) -> Float64Array | None:
    """Weights, or None if all are one."""
    return None if bool((weights == 1.0).all()) else weights


def rounded(values: Float64Array, unit: float = UNIT) -> Float64Array:
    """The nearest multiples of a unit."""
    return np.asarray(np.rint(values * (1.0 / unit)) * unit)


def _times(values: Float64Array, weights: Float64Array | None, power: int = 1) -> Float64Array:
    """Every row times a power of its weight."""
    return values if weights is None else values * (weights**power)[:, np.newaxis]


def _power_sums(values: Float64Array, weights: Float64Array | None) -> Float64Array:
    """Sums as `power_sums` gives them, of rounded products."""
    powers = [np.ones_like(values), values, values * values, values * values * values]
    if weights is None:
        found = [float(rounded(each).sum()) for each in powers]
        return np.array([*found, *found[:3], *found])
    wanted = [(1, powers), (2, powers[:3]), (3, powers)]
    return np.array([rounded(weights**power * each).sum() for power, some in wanted for each in some])


def _means(sums: Float64Array, cost: Float64Array | None, *, whole: bool) -> dict[str, Estimate]:
    """Means of losses with their intervals, which stay within what is possible."""
    limits = [(0.0, -math.log(LEAST)), (0.0, 2.0), (0.0, 1.0)]
    if cost is not None:
        limits.append((float(cost.min()), float(cost.max())))
    found = {}
    for name, each, (least, most) in zip(LOSSES, sums, limits, strict=False):
        moments = moments_of(each, whole=whole)
        found[name] = _within(mean_estimate(moments, least=least, most=most), least, most)
    return found


def _within(found: Estimate, least: float, most: float) -> Estimate:
    """An estimate whose ends and error are numbers, and possible ones."""
    value = float(min(max(found, least), most))
    low, high = max(min(found.low, value), least), min(max(found.high, value), most)
    return Estimate(value, low, high, found.error if math.isfinite(found.error) else most - least)


def _refinement(points: Points) -> float:
    """What the best rising function of the forecasts would still lose, times the weight."""
    _, frequency, weight = pooled_blocks(points.pos, points.weight)
    return float(weight @ (frequency * (1.0 - frequency)))
