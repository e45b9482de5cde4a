"""What the models of ranked scores learn from, cut out of rows in memory or of batches."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._core._arrays import IntArray
from calibrant.calibrators._combinations import RankPlan, plan_ranks
from calibrant.calibrators._rank_rows import RankRows, rows_by_rank
from calibrant.passes import Cases, Fold, Rows, travels


@travels
@dataclass(frozen=True, eq=False)
class Ranks:
    """Which ranks have models, and which scores these use.

    Parameters
    ----------
    combination : str or tuple
        As the calibrators of ranked scores take it, with tuples in the place of lists.
    max_rank : int or None
        How many ranks have a model of their own.
    n_classes : int
        Number of classes.
    left_out : Fold, optional
        The fold whose rows take no part.
    """

    combination: Any
    max_rank: int | None
    n_classes: int
    left_out: Fold | None = None

    @classmethod
    def of(cls, combination: Any, max_rank: int | None, n_classes: int) -> "Ranks":
        """The same in plain data, which can travel."""
        if not isinstance(combination, str):
            nested = any(map(np.iterable, combination))
            combination = tuple(
                tuple(int(rank) for rank in each) if nested else int(each) for each in combination
            )
        return cls(combination, None if max_rank is None else int(max_rank), n_classes)

    @cached_property
    def plan(self) -> RankPlan:
        """Which scores are used."""
        return plan_ranks(self.combination, self.max_rank, self.n_classes)

    @property
    def n_models(self) -> int:
        """Number of models; the last is the shared one, if there is one."""
        return len(self.plan.own) + (self.plan.shared is not None)

    def axes(self, model: int) -> tuple[str, ...]:
        """Names of the scores that a model uses."""
        if model < len(self.plan.own):
            return tuple(f"f{rank + 1}" for rank in self.plan.own[model])
        return tuple(each.name for each in self.plan.shared or ())

    def rows(self, rows: Rows) -> tuple[IntArray, list[RankRows]]:
        """The same of a batch, without the fold that is left out."""
        rows = rows.outside(self.left_out)
        name = ("ranks", self.combination, self.max_rank)
        return rows.once(name, lambda: self.by_rank(Cases(rows.scores, rows.truth, rows.weight)))

    def by_rank(self, cases: Cases) -> tuple[IntArray, list[RankRows]]:
        """The rank of every row's true class, and what every model learns from the rows."""
        rank, own, shared = rows_by_rank(self.plan, cases.scores, cases.truth, cases.weight)
        return rank, [*own, *([] if shared is None else [shared])]

    def some(self, rows: Rows) -> bool:
        """Whether there are rows at all."""
        return len(rows.outside(self.left_out)) > 0


@travels
@dataclass(frozen=True, eq=False)
class RankProblem:
    """The cases of one model.

    Parameters
    ----------
    ranks : Ranks
        All models.
    model : int
        Which of them.
    """

    ranks: Ranks
    model: int

    def cases(self, rows: Rows) -> Cases:
        """Scores of shape (r, n), whether the class of each case is right, and weights."""
        return Cases(*self.ranks.rows(rows)[1][self.model].cases())
