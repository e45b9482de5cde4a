"""What the methods for ranked scores ask: cells, and logistic maps, of every rank."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import ParameterError
from calibrant.calibrators._cell_choice import assign_folds
from calibrant.calibrators._cell_sizes import CellSizes
from calibrant.calibrators._rank_pass import CellCounts, CellTable, CountCells, FindRanks, RankRanges
from calibrant.calibrators._rank_problem import RankProblem, Ranks
from calibrant.calibrators._table import Counted
from calibrant.maps import features_of
from calibrant.passes import (
    MOST_FOR_SURE,
    MOST_STEPS,
    Cases,
    Featured,
    LogisticFit,
    NoRowsError,
    Plan,
    Question,
    RowsInPasses,
    class_totals,
    fit_fast,
    flat_fit,
    platt_targets,
    search,
    standardise,
    targets,
)


@dataclass(frozen=True, eq=False)
class CountedCells:
    """For every model the counts in cells of every size; and the weight of the rows by their true rank."""

    by_size: list[dict[Any, Counted]]
    share: Array


@dataclass(frozen=True, eq=False)
class CellsByRank(Question[CountedCells]):
    """Rows counted in cells of the ranked scores, for every rank.

    Parameters
    ----------
    ranks : Ranks
        The models.
    sizes : CellSizes
        The sizes of the cells.
    folds : tuple or None
        The number of folds in which rows are counted apart, and how they are drawn; None for no folds.
    refusal : str
        What to say where there are folds, and rows do not fit into memory.
    """

    ranks: Ranks
    sizes: CellSizes
    folds: tuple[int, object] | None
    refusal: str

    def of_cases(self, cases: Cases) -> CountedCells:
        """Count."""
        rank, models = self.ranks.by_rank(cases)
        by_size = []
        for rows in models:
            ranges = rows.ranges()
            folds = None if self.folds is None else assign_folds(rows.any_right(), *self.folds)
            by_size.append(
                {size: Counted.of(rows, self.sizes.axes(size, ranges), folds) for size in self.sizes.sizes}
            )
        return CountedCells(by_size, np.bincount(rank, cases.weight, minlength=len(self.ranks.plan.own)))

    def in_passes(self, rows: RowsInPasses) -> Plan[CountedCells]:
        """Find the ranges in one pass, and count in another."""
        if self.folds is not None:
            raise ParameterError(self.refusal)
        ranks = replace(self.ranks, left_out=rows.problem.left_out)
        found: RankRanges = yield FindRanks(ranks)
        if found.share.sum() == 0:
            raise NoRowsError
        tables: dict[tuple[int, Any], CellTable] = {}
        for model in range(ranks.n_models):
            ranges = found.ranges(model)
            for size in self.sizes.sizes:
                axes = [(axis.origin, axis.width) for axis in self.sizes.axes(size, ranges)]
                tables[model, size] = CellTable(model, np.array(axes), np.array(ranges))
        counts: CellCounts = yield CountCells(ranks, tuple(tables.values()))
        by_size: list[dict[Any, Counted]] = [{} for _ in range(ranks.n_models)]
        for number, ((model, size), table) in enumerate(tables.items()):
            by_size[model][size] = Counted(table.grid, counts.cells(number), None)
        return CountedCells(by_size, found.share)


@dataclass(frozen=True, eq=False)
class TrueRanks(Question[Array]):
    """Weight of the rows whose true class is at every rank; ranks that share a model may be together."""

    ranks: Ranks

    def of_cases(self, cases: Cases) -> Array:
        """Count."""
        rank, _ = cases.once(self.ranks, lambda: self.ranks.by_rank(cases))
        return np.bincount(rank, cases.weight, minlength=len(self.ranks.plan.own))

    def in_passes(self, rows: RowsInPasses) -> Plan[Array]:
        """Count in one pass."""
        found: RankRanges = yield FindRanks(replace(self.ranks, left_out=rows.problem.left_out))
        return found.share


@dataclass(frozen=True, eq=False)
class RankLogistic(Question[tuple[LogisticFit, bool]]):
    """The logistic map of one rank, or of those that share it; and whether its targets were Platt's.

    Where 0 and 1 as targets admit no optimum, they are.

    Parameters
    ----------
    ranks : Ranks
        All models.
    model : int
        Which of them.
    features : str
        What of the scores is used.
    smooth : bool
        Whether the targets are Platt's in any case.
    """

    ranks: Ranks
    model: int
    features: str
    smooth: bool

    def of_cases(self, cases: Cases) -> tuple[LogisticFit, bool]:
        """Fit in memory."""
        _, models = cases.once(self.ranks, lambda: self.ranks.by_rank(cases))
        scores, right, weight = models[self.model].cases()
        totals = class_totals(right, weight)
        if min(totals) == 0:
            return _one_sided(totals, len(scores)), True
        (features,) = features_of(scores, self.features)
        fit = fit_fast(features, targets(right, totals, smooth=self.smooth), weight)
        if fit.converged:
            return fit, self.smooth
        return fit_fast(features, targets(right, totals, smooth=True), weight), True

    def in_passes(self, rows: RowsInPasses) -> Plan[tuple[LogisticFit, bool]]:
        """Fit by the same steps, each of which is a pass."""
        ranks = replace(self.ranks, left_out=rows.problem.left_out)
        problem = Featured(RankProblem(ranks, self.model), self.features)
        standard = yield from standardise(problem, rows.sample)
        totals = standard.moments.totals
        wanted = platt_targets(*totals, smooth=self.smooth)
        if min(totals) == 0:
            return _one_sided(totals, len(standard.shift)), True
        if standard.directions.shape[1] == 0:
            mean = (totals[0] * wanted[0] + totals[1] * wanted[1]) / sum(totals)
            intercept = float(np.log((1 - mean) / mean))
            return LogisticFit(np.zeros(len(standard.shift)), intercept, 0, True), self.smooth
        most = MOST_FOR_SURE if self.smooth else MOST_STEPS
        fit = yield from search(
            problem, standard, wanted, rows.sample, max_iter=most, until_told_apart=not self.smooth
        )
        smoothed = self.smooth
        if not fit.converged:
            wanted, smoothed = platt_targets(*totals, smooth=True), True
            fit = yield from search(problem, standard, wanted, rows.sample, max_iter=MOST_FOR_SURE)
        return fit.checked(), smoothed


def _one_sided(totals: tuple[float, float], n_scores: int) -> LogisticFit:
    """The flat map of a rank whose class was always right, or always wrong."""
    high, low = platt_targets(*totals, smooth=True)
    return flat_fit(high if totals[0] else low, n_scores)
