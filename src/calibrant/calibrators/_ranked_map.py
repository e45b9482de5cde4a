"""The map of ranked scores: a model for the class at every rank, and the way back to the classes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray, IntArray
from calibrant.calibrators._combinations import RankPlan, SharedScore
from calibrant.calibrators._ranking import lead, places_of, row_blocks
from calibrant.maps import Map, Operations, Target, Tensor


class RankModel(Protocol):
    """What the class at a rank is worth, given some of the ranked scores."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the scores that it uses."""

    @property
    def takes_probabilities(self) -> bool:
        """Whether these must lie in [0, 1]."""

    def estimate(self, scores: Sequence[Float64Array]) -> Float64Array:
        """Probability of being right. A score may be broadcast to the shape of the next."""

    @staticmethod
    def in_symbols(models: Sequence[Any], scores: Sequence[Tensor]) -> Tensor:
        """The same of several models side by side, each given its column of every score.

        A model that uses fewer scores than others is given some more, without influence. A single model may
        be given matrices of any width. Scores of one column are broadcast.
        """


@dataclass(frozen=True, eq=False)
class Ranked(Map):
    """Estimates by rank, divided by their sum.

    Parameters
    ----------
    plan : RankPlan
        Which scores the models use.
    own : tuple of RankModel
        Those of the first ranks.
    shared : RankModel or None
        That of the ranks after these.
    accuracy : ndarray
        How often the true class was at each of the first ranks: what a row gets whose estimates are all zero;
        what that leaves is shared evenly among the other classes.
    """

    plan: RankPlan
    own: tuple[RankModel, ...]
    shared: RankModel | None
    accuracy: Float64Array

    @property
    def takes_probabilities(self) -> bool:
        """Whether the models of the ranks do."""
        return bool(self.own[0].takes_probabilities)

    def formula(self, scores: Any, ops: Operations) -> Any:
        """Ranks are found by sorting, which NumPy does in blocks, in a way of its own."""
        del ops
        return self._in_symbols(scores) if isinstance(scores, Tensor) else self._proba(scores)

    def _proba(self, matrix: FloatArray) -> Float64Array:
        proba = np.empty(matrix.shape)
        for rows, estimates in self.estimates(matrix):
            total = np.einsum("ij->i", estimates)  # faster than sum for short rows
            nothing = np.flatnonzero(total == 0)
            if len(nothing):
                estimates[nothing], total[nothing] = self._overall(matrix[rows][nothing]), 1.0
            np.divide(estimates, total[:, None], out=proba[rows])
        return proba

    def estimates(self, matrix: FloatArray) -> Iterator[tuple[slice, Float64Array]]:
        """Blocks of rows and their estimates, in the order of the classes."""
        n_classes = matrix.shape[1]
        for part in row_blocks(len(matrix), 1):
            leaders, leading = lead(matrix[part], self.plan.n_leading)
            own = self.own_estimates(leading, len(self.own))
            for some in row_blocks(part.stop - part.start, n_classes):
                rows = slice(part.start + some.start, part.start + some.stop)
                block = np.ascontiguousarray(matrix[rows], dtype=np.float64)
                estimates = self._shared_estimates(block, leaders[:, some], leading[:, some])
                for guess, estimate in zip(leaders, own, strict=False):
                    estimates.put(places_of(guess[some], n_classes), estimate[some])
                yield rows, estimates

    def own_estimates(self, leading: Float64Array, n_ranks: int) -> list[Float64Array]:
        """Estimates of the first ranks, from their models."""
        plan = zip(self.own[:n_ranks], self.plan.own[:n_ranks], strict=True)
        return [model.estimate([leading[rank] for rank in used]) for model, used in plan]

    def _shared_estimates(
        self, block: Float64Array, leaders: IntArray, leading: Float64Array
    ) -> Float64Array:
        """Estimates of the later ranks, from their model, at all classes; of any value if there is none."""
        if self.shared is None:
            return np.empty(block.shape)
        used = [each.of(block, leaders, leading) for each in self.plan.shared or ()]
        estimates: Float64Array = self.shared.estimate(used)
        if estimates.shape != block.shape:
            estimates = np.repeat(estimates, block.shape[1], axis=1)
        return estimates

    def _overall(self, block: FloatArray) -> Float64Array:
        """The overall accuracy of the first ranks, the rest shared evenly among the other classes."""
        n_own, n_classes = len(self.accuracy), block.shape[1]
        left = (1.0 - self.accuracy.sum()) / max(n_classes - n_own, 1)
        overall = np.full(block.shape, left)
        np.put_along_axis(overall, lead(block, n_own)[0].T, self.accuracy[None], axis=1)
        return overall

    def _in_symbols(self, scores: Tensor) -> Tensor:
        target, plan, own = scores.target, self.plan, self.own
        k = target.n_columns
        ranks = _Ranks.of(scores, plan.n_leading)
        estimates = _own_in_symbols(ranks, own, plan.own)
        if plan.shared is None or self.shared is None:
            by_rank = estimates.divided_by_sum(self.accuracy)
            return target.spread(np.zeros(k)).scattered(ranks.leaders, by_rank)
        later = self.shared.in_symbols([self.shared], [ranks.shared(each) for each in plan.shared])
        if all(each.fixed for each in plan.shared):
            later = later * target.spread(np.ones(k))
        places = ranks.leaders.columns(range(len(own)))
        left = (1.0 - self.accuracy.sum()) / (k - len(own))
        overall = target.spread(np.full(k, left)).scattered(places, target.spread(self.accuracy))
        return later.scattered(places, estimates).divided_by_sum(overall)


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The classes at the leading ranks and their scores; of equal scores the lower number comes first."""

    target: Target
    scores: Tensor
    leaders: Tensor
    leading: Tensor

    @classmethod
    def of(cls, scores: Tensor, n_leading: int) -> "_Ranks":
        leading, leaders = scores.ranked(n_leading)
        return cls(scores.target, scores, leaders, leading)

    def at(self, ranks: IntArray) -> Tensor:
        """The scores at these ranks; one column, to be broadcast, if the ranks are all the same."""
        return self.leading.columns(ranks[:1] if (ranks == ranks[0]).all() else ranks)

    def shared(self, score: SharedScore) -> Tensor:
        """A score that the model of the later ranks uses, for every class or, if fixed, for all at once."""
        if score.fixed:
            return self.leading.columns([score.rank])
        if score.rank == 0:
            return self.scores
        last = self.target.n_columns - 1
        moved = self.leading.columns(np.clip(np.arange(last + 1) + score.rank, 0, last))
        return self.target.spread(np.zeros(last + 1)).scattered(self.leaders, moved)


def _own_in_symbols(ranks: _Ranks, models: Sequence[Any], used: Sequence[Sequence[int]]) -> Tensor:
    """The estimates of all ranks with a model of their own, side by side."""
    most = max(map(len, used))
    padded = np.array([[*each, *[0] * (most - len(each))] for each in used])
    estimates: Tensor = type(models[0]).in_symbols(
        models, [ranks.at(padded[:, place]) for place in range(most)]
    )
    return estimates
