"""What sets groups apart, learned from more rows than are kept: every step of Newton's method is a pass."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.calibrators._group_fit import (
    Derivatives,
    GroupedRows,
    contrasts_of,
    modes,
    scale_of,
    with_prior,
)
from calibrant.calibrators._groups import GroupEffects, Grouping, logs_of
from calibrant.passes import Fold, Plan, Rows, Task, Totals, travels

#: Steps end when the next would gain less: the effects are then within 0.5% of their standard errors.
LEAST_STEP = 1e-5
#: Sums of so many numbers may be kept; with more, what the rows that are kept say must do.
MOST_SUMS = 1 << 24


def group_effects_plan(effects: GroupEffects, left_out: Fold, forecast: Any) -> Plan[GroupEffects]:
    """Learn the same from all rows that were left out: Newton's method, each of whose steps is a pass.

    Parameters
    ----------
    effects : GroupEffects
        Those of some of these rows, with their spreads, which are kept.
    left_out : Fold
        The fold that they are of; with others that are left out beside it.
    forecast : object
        What gives rows with their common probabilities in the place of scores: ``forecast.rows(rows)``.

    Returns
    -------
    GroupEffects
        The effects.
    """
    n_groups, k = effects.intercepts.shape
    if not any(effects.spreads) or n_groups * (k * k + k + 1) > MOST_SUMS:
        return effects
    contrasts, scale = contrasts_of(k), scale_of(effects.spreads, k)
    start = np.column_stack([effects.intercepts @ contrasts.T, effects.slopes])
    steps = modes(np.divide(start, scale, out=np.zeros_like(start), where=scale > 0), LEAST_STEP)
    try:
        here = next(steps)
        while True:
            sums: _SumsOfGroups = yield SumGroups(forecast, left_out, here * scale)
            here = steps.send(with_prior(sums.derivatives, here, scale))
    except StopIteration as end:
        found = end.value[0] * scale
    return replace(effects, intercepts=found[:, :-1] @ contrasts, slopes=found[:, -1])


@travels
@dataclass(frozen=True, eq=False)
class SumGroups(Task):
    """The log likelihood of every group at given effects, beside that of none; its slope and curvature.

    Parameters
    ----------
    forecast : object
        What gives rows with probabilities in the place of scores: of two classes those of the second.
    left_out : Fold
        The fold that the rows are of, or one of those that are left out beside it.
    effects : ndarray of shape (g, k)
        Of every group the contrasts of the intercepts, and the slope.
    """

    forecast: Any
    left_out: Fold
    effects: Float64Array

    def empty(self) -> "_SumsOfGroups":
        """Nothing yet."""
        n_groups, k = self.effects.shape
        return _SumsOfGroups(self, n_groups * (1 + k + k * k))


class _SumsOfGroups(Totals):
    """Sums over the rows of every group."""

    def update(self, rows: Rows) -> None:
        """Add rows."""
        rows = self.task.forecast.rows(rows.not_outside(self.task.left_out))
        assert rows.group is not None
        proba = np.column_stack([1.0 - rows.scores, rows.scores]) if rows.scores.ndim == 1 else rows.scores
        known = (rows.group >= 0) & ~np.isnan(proba).any(axis=1)
        if not known.any():
            return
        grouping = Grouping((), rows.group[known])
        weight = None if rows.weight is None else rows.weight[known]
        grouped = GroupedRows(logs_of(proba[known]), rows.truth[known], weight, grouping)
        for sums, new in zip(self.derivatives, grouped.derivatives(self.task.effects), strict=True):
            sums[grouped.there] += new

    @property
    def derivatives(self) -> Derivatives:
        """Log likelihoods, slopes and curvatures, whose memory is that of the sums."""
        n_groups, k = self.task.effects.shape
        ends = n_groups, n_groups * (1 + k)
        return (
            self.sums[: ends[0]],
            self.sums[ends[0] : ends[1]].reshape(n_groups, k),
            self.sums[ends[1] :].reshape(n_groups, k, k),
        )
