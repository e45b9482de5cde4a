"""Which ranked scores tell how likely the class at a rank is to be right.

======  ==============  =====================  ================
name    first rank      rank r                 last rank K
======  ==============  =====================  ================
single  f_1             f_r                    f_K
A       f_1, f_2        f_1, f_r               f_1, f_K
B       f_1             f_1, ..., f_r          f_1, ..., f_K
C       f_1, f_2        f_(r-1), f_r, f_(r+1)  f_(K-1), f_K
======  ==============  =====================  ================

The bodies of these definitions are cut off in the paper's text and are reconstructed from its prose and
its results; that the first rank takes (f_1, f_2) under A is fixed by the paper's section 7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._checks import check_number, not_among
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import ListOf
from calibrant._core._fields import Choice, Either, Whole

#: A name, the ranks of the scores to use for every class, or a list of these for each rank.
Combination = str | Sequence[int] | Sequence[Sequence[int]]
#: The same in a model file.
RANK = Whole(1)
COMBINATION = Either(
    Choice("single", "A", "B", "C"), ListOf(RANK, least=1), ListOf(ListOf(RANK, least=1), least=1)
)


class SharedScore(NamedTuple):
    """A score that a shared model uses: at a fixed rank, or so many ranks after that of the class."""

    fixed: bool
    rank: int

    @property
    def name(self) -> str:
        """The score in the paper's notation."""
        return f"f{self.rank + 1}" if self.fixed else "fr" + (f"{self.rank:+d}" if self.rank else "")

    def of(self, block: Float64Array, leaders: IntArray, leading: Float64Array) -> Float64Array:
        """This score for every class, of shape (n, k), or (n, 1) if it is the same for all.

        `block` holds the scores of the classes, of shape (n, k); `leaders` and `leading` the classes at the
        leading ranks and their scores, of shape (l, n).
        """
        if self.fixed:
            return np.asarray(leading[self.rank, :, None])
        if self.rank == 0:
            return block
        ranks = np.clip(np.arange(block.shape[1]) + self.rank, 0, block.shape[1] - 1)
        score = np.empty_like(block)
        np.put_along_axis(score, leaders.T, leading[ranks].T, axis=1)
        return score


@dataclass(frozen=True, slots=True)
class RankPlan:
    """Which scores the model of every rank uses, counted from 0.

    `own` has one tuple for each rank that has a model of its own. The ranks after these share a model,
    which uses `shared`; None if there are no such ranks. `n_leading` is how many leading ranks must be
    known: all of them, unless the ranks after `own` use only leading scores and that of the class itself.
    """

    own: tuple[tuple[int, ...], ...]
    shared: tuple[SharedScore, ...] | None
    n_leading: int

    @classmethod
    def of(
        cls, own: tuple[tuple[int, ...], ...], shared: tuple[SharedScore, ...], n_classes: int
    ) -> "RankPlan":
        """Leave out the shared model where no rank is left for it."""
        if len(own) == n_classes:
            return cls(own, None, n_classes)
        if any(rank for fixed, rank in shared if not fixed):
            return cls(own, shared, n_classes)
        used = [rank for ranks in own for rank in ranks] + [rank for fixed, rank in shared if fixed]
        return cls(own, shared, max(len(own), *used) + 1)


def _at(rank: int) -> SharedScore:
    return SharedScore(fixed=True, rank=rank)


_BEFORE, _SELF, _AFTER = (SharedScore(fixed=False, rank=step) for step in (-1, 0, 1))

_OWN: dict[str, Callable[[int, int], tuple[int, ...]]] = {
    "single": lambda rank, n_classes: (rank,),  # noqa: ARG005
    "A": lambda rank, n_classes: (0, max(rank, 1)),  # noqa: ARG005
    "B": lambda rank, n_classes: tuple(range(rank + 1)),  # noqa: ARG005
    "C": lambda rank, n_classes: tuple(range(max(rank - 1, 0), min(rank + 2, n_classes))),
}
_SHARED: dict[str, Callable[[int], tuple[SharedScore, ...]]] = {
    "single": lambda n_own: (_SELF,),  # noqa: ARG005
    "A": lambda n_own: (_at(0), _SELF),  # noqa: ARG005
    "B": lambda n_own: (*map(_at, range(n_own)), _SELF),
    "C": lambda n_own: (_BEFORE, _SELF, _AFTER),  # noqa: ARG005
}


def plan_ranks(combination: object, max_rank: int | None, n_classes: int) -> RankPlan:
    """Say which scores are used for every rank.

    Notes
    -----
    A shared model needs the same number of scores at all its ranks. So those after `max_rank` use
    f_1, ..., f_max_rank and f_r under B, and under C the last of them takes its own score also for the
    next one, which does not exist.
    """
    if max_rank is not None:
        check_number("max_rank", max_rank, "None or a whole number from 1", _is_whole_from_1)
    n_own = n_classes if max_rank is None else min(int(max_rank), n_classes)
    if isinstance(combination, str):
        if combination not in _OWN:
            raise not_among("combination", combination, _OWN, otherwise=", or lists of ranks")
        own = tuple(_OWN[combination](rank, n_classes) for rank in range(n_own))
        shared = _SHARED[combination](n_own)
    else:
        lists = _check_lists(combination, n_classes)
        own = tuple(lists[min(rank, len(lists) - 1)] for rank in range(n_own))
        if n_own + 1 < min(len(lists), n_classes):
            raise ParameterError(
                "combination must have one list for all ranks after max_rank, which share a model; got "
                f"{len(lists) - n_own} for those after {n_own}; raise max_rank"
            )
        shared = tuple(map(_at, lists[min(n_own, len(lists) - 1)]))
    return RankPlan.of(own, shared, n_classes)


def _check_lists(combination: Any, n_classes: int) -> list[tuple[int, ...]]:
    """The user's lists of ranks, counted from 0."""
    given = list(combination) if np.iterable(combination) else []
    nested = given if any(map(np.iterable, given)) else [given]
    lists = [list(each) if np.iterable(each) else [] for each in nested]
    for ranks in lists:
        if not ranks or not all(isinstance(rank, Integral) for rank in ranks):
            raise ParameterError(
                f"combination must be a name, a list of ranks, or one such list per rank; got {combination!r}"
            )
        if len(set(ranks)) < len(ranks) or not 1 <= min(ranks) <= max(ranks) <= n_classes:
            raise ParameterError(
                f"combination must name different ranks from 1 to {n_classes}, the number of classes; got "
                f"{ranks!r}; leave out what does not exist"
            )
    return [tuple(int(rank) - 1 for rank in ranks) for ranks in lists]


def _is_whole_from_1(number: float) -> bool:
    return number >= 1 and number == int(number)
