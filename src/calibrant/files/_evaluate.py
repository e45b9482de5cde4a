"""How good are probabilities that do not fit into memory? Exactly the metrics of the rows in memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.files._checked_rows import checked_rows
from calibrant.files._fit import _labels
from calibrant.files._forecast import ForecastProblem, GivenForecast, GroupForecast
from calibrant.files._metric_pass import MetricSums, SumMetrics
from calibrant.metrics import BIN_WIDTH, BrierDecomposition, ReliabilityBins
from calibrant.passes import (
    NoRowsError,
    PassOptions,
    Plan,
    Points,
    Problem,
    Progress,
    Rows,
    RowsOfPass,
    Sample,
    TakeSample,
    gather,
    grid_from_sample,
    open_points,
    pool_points,
    run_plan,
    together,
)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """How good the probabilities of many rows are.

    Attributes
    ----------
    n_rows : int
        Number of rows with a weight.
    weight : float
        Their total weight.
    log_loss : float
        Mean negative logarithm of the probability of the true class; infinite if that was 0 for some row.
    impossible : int
        Number of rows whose true class had probability 0.
    error_rate : float
        Share of rows whose most probable class is not the true one.
    brier : BrierDecomposition
        The Brier score and its parts by isotonic regression: of the positive class where there is one column
        of probabilities, summed over the classes where there are more.
    confusion : ndarray of shape (k, k)
        Weight of the rows that were called the class of the row and are of the class of the column.
    reliability : tuple of ReliabilityBins
        A reliability diagram for every column of probabilities.
    auc : tuple of tuple of float
        For every column bounds between which the area under its ROC curve lies. They are apart by no more
        than what rows of almost equal probabilities, of the same bin, contribute.
    columns : tuple of BrierDecomposition
        The Brier score of every column, and its parts.
    groups : tuple of Evaluation
        The same for every group of rows.
    """

    n_rows: int
    weight: float
    log_loss: float
    impossible: int
    error_rate: float
    brier: BrierDecomposition
    confusion: Float64Array
    reliability: tuple[ReliabilityBins, ...]
    auc: tuple[tuple[float, float], ...]
    columns: tuple[BrierDecomposition, ...]
    groups: "tuple[Evaluation, ...]" = ()


def evaluate_in_passes(
    rows_of_pass: RowsOfPass,
    *,
    classes: object = None,
    width: float = BIN_WIDTH,
    n_groups: int = 0,
    n_rows: int | None = None,
    options: PassOptions | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Measure probabilities of rows that are read in passes.

    Parameters
    ----------
    rows_of_pass : callable
        Gives an iterable of all rows in batches (`Rows`), whenever it is called; see `rows_of`. Their scores
        are probabilities: of the second of two classes, or one per class.
    classes : array-like of shape (k,), optional
        The labels; by default those of `rows_of_pass`.
    width : float, default=0.1
        Width of the bins of the reliability diagrams.
    n_groups : int, default=0
        Number of groups to measure each for itself too, in the same passes. The key of a row is then the
        number of its group, from 0; rows of other numbers count only among all. No group may be empty.
    n_rows : int, optional
        About how many rows there are; by default what `rows_of_pass` knows.
    options : PassOptions, optional
        How much memory may be used.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    Evaluation
        What was measured; the same as `calibrant.metrics` of all rows at once, but for the area under the ROC
        curve, of which bounds are given.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.files import Rows, evaluate_in_passes
    >>> rows = Rows(np.array([0.2, 0.7, 0.7, 0.9]), np.array([0, 0, 1, 1]))
    >>> found = evaluate_in_passes(lambda: [rows], classes=["no", "yes"])
    >>> found.error_rate, round(found.brier.brier, 4), found.auc
    (0.25, 0.1575, ((0.875, 0.875),))
    """
    labels = _labels(classes, rows_of_pass, None)
    known = getattr(rows_of_pass, "n_rows", None) if n_rows is None else n_rows
    filled = PassOptions() if options is None else options
    plan = evaluation_plan(len(labels), width, filled, known, n_groups)
    return run_plan(plan, checked_rows(rows_of_pass, len(labels)), progress)


def evaluation_plan(
    n_classes: int, width: float, options: PassOptions, n_rows: int | None, n_groups: int = 0
) -> Plan[Evaluation]:
    """The plan of an evaluation."""
    taken: Sample = yield TakeSample()
    sample = taken.rows()
    if len(sample) == 0:
        raise NoRowsError
    n_columns = sample.scores.shape[1]
    filled = options.for_problems(n_columns * (1 + n_groups), n_rows)
    forecasts = [GivenForecast(), *(GroupForecast(number) for number in range(n_groups))]
    parts = [
        _evaluate_some(forecast, n_classes, n_columns, width, sample, filled, n_rows)
        for forecast in forecasts
    ]
    overall, *groups = yield from together(parts)
    return replace(overall, groups=tuple(groups))


def _evaluate_some(
    forecast: Any,
    n_classes: int,
    n_columns: int,
    width: float,
    sample: Rows,
    options: PassOptions,
    n_rows: int | None,
) -> Plan[Evaluation]:
    """Measure the rows of a forecast."""
    splits = split_plans(forecast, n_classes, n_columns, sample, options, n_rows, GivenForecast())
    plans: list[Plan[Any]] = [_sum(SumMetrics(forecast, n_classes, n_columns, width)), *splits]
    sums, *points = yield from together(plans)
    return Evaluation(
        n_rows=sums.n_rows,
        weight=sums.weight,
        log_loss=sums.log_loss,
        impossible=sums.impossible,
        error_rate=sums.error_rate,
        brier=decomposition(sums, points),
        confusion=sums.confusion,
        reliability=tuple(sums.diagram(column) for column in range(n_columns)),
        auc=tuple(auc_bounds(each) for each in points),
        columns=tuple(_decomposition([parts]) for parts in _parts(sums, points)),
    )


def _sum(task: SumMetrics) -> Plan[MetricSums]:
    sums: MetricSums = yield task
    return sums


def split_plans(
    forecast: Any,
    n_classes: int,
    n_columns: int,
    sample: Rows,
    options: PassOptions,
    n_rows: int | None,
    sampled: Any = None,
) -> list[Plan[Points]]:
    """Plans that gather the rows of every column as finely as isotonic regression needs them."""
    plans = []
    filled = options.for_problems(n_columns, n_rows)
    for column in range(n_columns):
        sides = np.full(n_classes, -1, dtype=np.int8)
        sides[column if n_columns > 1 else 1] = 1
        problem: Any = ForecastProblem(forecast, Problem(column, sides))
        seen = problem if sampled is None else ForecastProblem(sampled, problem.problem)
        grid = grid_from_sample(seen.cases(sample).scores, filled.n_bins or 1, filled.edges)
        plans.append(gather(problem, grid, open_points, filled))
    return plans


def decomposition(sums: MetricSums, points: list[Points]) -> BrierDecomposition:
    """The parts of the Brier score, added over the columns."""
    return _decomposition(_parts(sums, points))


def _parts(sums: MetricSums, points: list[Points]) -> list[tuple[float, float, float, float]]:
    return [_isotonic_parts(float(brier), each) for brier, each in zip(sums.brier, points, strict=True)]


def _decomposition(parts: list[tuple[float, float, float, float]]) -> BrierDecomposition:
    brier, refinement, resolution, uncertainty = map(sum, zip(*parts, strict=True))
    calibration = sum(max(part[0] - part[1], 0.0) for part in parts)
    return BrierDecomposition(brier, calibration, refinement, resolution, uncertainty, 0.0, 0.0)


def _isotonic_parts(brier: float, points: Points) -> tuple[float, float, float, float]:
    """Score, refinement, resolution and uncertainty of one column."""
    blocks = pool_points(points.lo, points.hi, points.positive, points.negative)
    share = blocks.weight / blocks.weight.sum()
    overall = float(points.positive.sum() / points.weight.sum())
    return (
        brier,
        float(share @ (blocks.value * (1 - blocks.value))),
        float(share @ (blocks.value - overall) ** 2),
        overall * (1 - overall),
    )


def auc_bounds(points: Points) -> tuple[float, float]:
    """Bounds of the chance that a random positive is above a random negative; ties count one half."""
    positive, negative = points.positive, points.negative
    if not (positive.any() and negative.any()):
        return math.nan, math.nan
    below = np.append(0.0, np.cumsum(negative)[:-1])
    tied = points.lo == points.hi
    total = positive.sum() * negative.sum()
    low = positive @ (below + np.where(tied, negative / 2, 0.0)) / total
    high = positive @ (below + np.where(tied, negative / 2, negative)) / total
    return float(low), float(high)
