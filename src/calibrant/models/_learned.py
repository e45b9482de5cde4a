"""What a model learns of its rows: the calibrator, the rule, and how good both are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.calibrators import (
    Calibrator,
    GroupEffects,
    Grouping,
    fit_group_effects,
    group_effects_plan,
)
from calibrant.models._costs import Costs
from calibrant.models._plan import Answers, Predictions, folds_for, judged_by
from calibrant.models._summary import TrainingSummary, measure
from calibrant.passes import Fold, Plan

#: The names of groups, which are all known when all rows have been read.
GroupNames = Callable[[], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Learned:
    """The fitted parts of a model.

    Attributes
    ----------
    calibrator : object
        Fitted to all rows.
    rule : object or None
        Fitted to `predictions`.
    summary : TrainingSummary
        What is remembered of the rows.
    predictions : Predictions
        Of rows by calibrators that were not fitted to them.
    groups : GroupEffects or None
        What sets groups of rows apart.
    """

    calibrator: Calibrator
    rule: Any
    summary: TrainingSummary
    predictions: Predictions
    groups: GroupEffects | None = None


def learn(
    calibrator: Calibrator, costs: Costs | None, rule: Any, rows: Answers, by: GroupNames | None = None
) -> Plan[Learned]:
    """Fit to all rows, and beside it to parts of them; measure, and learn to decide, on the others."""
    folds = folds_for(rows.n_rows, rows.n_scores)
    parts: list[Plan[Any]] = [rows.count(), rows.fit(calibrator), rows.judge(calibrator, folds)]
    mass, fitted, judged = yield from rows.together(parts)
    if not folds:
        judged = yield from judged_by(fitted, rows)
    judged = judged.with_estimates()
    groups = None
    if by is not None:
        groups, judged = yield from _by_group(judged, by(), rows, folds)
    metrics = measure(judged, costs, rule)
    learned = None
    if rule is not None and costs is not None and len(judged):
        learned = rule.fit(judged.proba, judged.rows.truth, costs.matrix, judged.rows.weight, **costs.allowed)
    summary = _summary(rows.n_rows, mass, judged, metrics)
    return Learned(fitted, learned, summary, judged, groups)


def _by_group(
    judged: Predictions, names: tuple[str, ...], rows: Answers, folds: Sequence[Fold]
) -> Plan[tuple[GroupEffects, Predictions]]:
    """What sets groups apart in rows that were left out, all of them or a part; none of too few."""
    kept = judged.rows
    if not judged.n_folds or not len(kept):
        return GroupEffects.none(names, judged.proba.shape[1]), judged
    assert kept.group is not None
    grouping = Grouping(names, kept.group)
    groups, proba = fit_group_effects(judged.proba, kept.truth, kept.weight, grouping, judged.fold)
    if judged.calibrator is not None and folds[0].leaves_more_out:
        groups = yield from rows.ask(judged.calibrator, partial(group_effects_plan, groups, folds[0]))
    return groups, replace(judged, proba=proba)


def _summary(n_rows: int, mass: Float64Array, judged: Predictions, metrics: Any) -> TrainingSummary:
    total = float(np.sum(mass))
    return TrainingSummary(
        n_rows=n_rows,
        weight=total,
        base_rates=mass / total,
        n_folds=judged.n_folds,
        n_measured=len(judged),
        metrics=metrics,
    )
