"""Plans of the calibrators of ranked scores."""

from typing import Any

import numpy as np
from scipy.special import logit

from calibrant._core._arrays import Array
from calibrant._core._errors import ParameterError
from calibrant.calibrators import AccuracyTableCalibrator, RankedLogisticCalibrator, RankMap
from calibrant.calibrators._logistic import LogisticFit
from calibrant.calibrators._sigmoid import platt_targets
from calibrant.calibrators._table import Counted
from calibrant.engines._logistic_plan import MOST_STEPS, search, standardise
from calibrant.engines._rank_pass import CellCounts, CellTable, CountCells, FindRanks, RankRanges
from calibrant.engines._rank_problem import RankProblem, Ranks
from calibrant.engines._rows import Fold, Rows
from calibrant.engines._summary import NoRowsError, Plan
from calibrant.engines._together import together


def fit_ranked(calibrator: Any, classes: Array, sample: Rows, left_out: Fold | None = None) -> Plan[Any]:
    """Fit an accuracy table or ranked logistic regression.

    Parameters
    ----------
    calibrator : AccuracyTableCalibrator or RankedLogisticCalibrator
        The calibrator, fitted in place.
    classes : ndarray of shape (k,)
        The labels of the columns.
    sample : Rows
        Some of the rows.
    left_out : Fold, optional
        The fold whose rows take no part.

    Returns
    -------
    object
        The calibrator.
    """
    plan = calibrator.plan_for(len(classes))
    combination = calibrator.combination
    if not isinstance(combination, str):
        nested = any(map(np.iterable, combination))
        combination = tuple(
            tuple(int(rank) for rank in each) if nested else int(each) for each in combination
        )
    max_rank = None if calibrator.max_rank is None else int(calibrator.max_rank)
    ranks = Ranks(combination, max_rank, len(classes), left_out)
    if isinstance(calibrator, AccuracyTableCalibrator):
        models, share = yield from _fit_tables(calibrator, ranks)
    else:
        models, share = yield from _fit_maps(calibrator, ranks, sample)
    n_own = len(plan.own)
    shared = models[n_own] if plan.shared is not None else None
    return calibrator.take_models(plan, models[:n_own], shared, share, classes)


def _fit_tables(calibrator: AccuracyTableCalibrator, ranks: Ranks) -> Plan[tuple[list[Any], Array]]:
    sizes = calibrator.cell_sizes()
    if sizes.criterion == "cv" or (calibrator.smoothing, calibrator.lam) == ("lidstone", "cv"):
        name = "lam" if sizes.criterion != "cv" else "width" if sizes.is_width else "n_cells"
        must = "a number" if name == "lam" else "a number, or chosen by aic or bic,"
        raise ParameterError(
            f"{name} must be {must} where rows come in passes; got 'cv'; choose one on a sample in memory"
        )
    found: RankRanges = yield FindRanks(ranks)
    if found.share.sum() == 0:
        raise NoRowsError
    tables = {}
    for model in range(ranks.n_models):
        ranges = found.ranges(model)
        for size in sizes.sizes:
            axes = [(axis.origin, axis.width) for axis in sizes.axes(size, ranges)]
            tables[model, size] = CellTable(model, np.array(axes), np.array(ranges))
    counts: CellCounts = yield CountCells(ranks, tuple(tables.values()))
    place = {name: number for number, name in enumerate(tables)}

    def fit_table(model: int) -> Any:
        def count(size: object) -> Counted:
            return Counted(tables[model, size].grid, counts.cells(place[model, size]), None)

        return calibrator.table_model(count, ranks.axes(model))

    return [fit_table(model) for model in range(ranks.n_models)], found.share


def _fit_maps(
    calibrator: RankedLogisticCalibrator, ranks: Ranks, sample: Rows
) -> Plan[tuple[list[Any], Array]]:
    plans: list[Plan[Any]] = [_count_ranks(ranks)]
    plans += [_fit_map(calibrator, ranks, model, sample) for model in range(ranks.n_models)]
    share, *models = yield from together(plans)
    return models, share


def _count_ranks(ranks: Ranks) -> Plan[Array]:
    found: RankRanges = yield FindRanks(ranks)
    return found.share


def _fit_map(calibrator: RankedLogisticCalibrator, ranks: Ranks, model: int, sample: Rows) -> Plan[RankMap]:
    problem = RankProblem(ranks, model)
    transform = calibrator.transform
    standard = yield from standardise(problem, transform, sample)
    totals = standard.moments.totals
    n_scores, smoothed = problem.n_features, bool(calibrator.smooth)
    targets = platt_targets(*totals, smooth=smoothed)
    if min(totals) == 0:
        high, low = platt_targets(*totals, smooth=True)
        fit, smoothed = (
            LogisticFit(np.zeros(n_scores), float(-logit(high if totals[0] else low)), 0, True),
            True,
        )
    elif standard.directions.shape[1] == 0:
        mean = (totals[0] * targets[0] + totals[1] * targets[1]) / sum(totals)
        fit = LogisticFit(np.zeros(n_scores), float(np.log((1 - mean) / mean)), 0, True)
    else:
        fit = yield from search(
            problem, transform, standard, targets, sample, max_iter=MOST_STEPS, until_told_apart=not smoothed
        )
        if not fit.converged:
            targets, smoothed = platt_targets(*totals, smooth=True), True
            fit = yield from search(problem, transform, standard, targets, sample, max_iter=MOST_STEPS)
    fit = fit.checked()
    return RankMap(
        ranks.axes(model), fit.slope, fit.intercept, fit.n_iter, fit.converged, smoothed, transform
    )
