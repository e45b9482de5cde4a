"""What both methods for ranked scores share: one model per rank, and what it says of the classes by rank."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_number
from calibrant._core._place import Place
from calibrant.calibrators._combinations import Combination, RankPlan, plan_ranks
from calibrant.calibrators._method import RowCalibrator
from calibrant.calibrators._rank_fields import check_plan_of_file
from calibrant.calibrators._rank_problem import Ranks
from calibrant.calibrators._ranked_map import Ranked
from calibrant.calibrators._ranking import lead

if TYPE_CHECKING:
    from calibrant.passes import Learning


@dataclass(frozen=True, slots=True, eq=False)
class RankEstimates:
    """The classes of every row in the order of their scores, each with its own estimate.

    Attributes
    ----------
    label : ndarray of shape (n, m)
        The classes, the one with the highest score first.
    score : ndarray of shape (n, m)
        Their scores, in descending order.
    estimate : ndarray of shape (n, m)
        For each the probability of being the true class, as the model of its rank gives it: those of a
        row need not sum to one.
    """

    label: Array
    score: Float64Array
    estimate: Float64Array


class RankedCalibrator(RowCalibrator):
    """Base of the calibrators that look at several ranked scores at once.

    A subclass says how the models of all ranks are learned (`_learn_models`), and keeps them (`_keep`). Its
    parameters include `combination`, `max_rank` and `classes`.
    """

    combination: Combination
    max_rank: int | None
    classes: Sequence[object] | None
    map_: Ranked

    @abstractmethod
    def _learn_models(self, ranks: Ranks) -> "Learning[tuple[list[Any], Array]]":
        """Learn the models of the first ranks, and the shared one if there is one; and the weight of the rows
        whose true class was at every rank, of which those after the first may be together.
        """

    @abstractmethod
    def _keep(self, own: list[Any], shared: Any) -> None:
        """Set the attributes that tell of the models of the first ranks, and of the shared one, or None."""

    @abstractmethod
    def _kept(self) -> tuple[list[Any], Any]:
        """The models that belong to fitted numbers."""

    def _learn(self, n_classes: int) -> "Learning[Ranked]":
        plan = plan_ranks(self.combination, self.max_rank, n_classes)
        self._check_plan(plan)
        models, share = yield from self._learn_models(Ranks.of(self.combination, self.max_rank, n_classes))
        n_own = len(plan.own)
        own, shared = models[:n_own], None if plan.shared is None else models[n_own]
        self._keep(own, shared)
        self.rank_accuracy_ = share[:n_own] / share.sum()
        return Ranked(plan, tuple(own), shared, self.rank_accuracy_)

    def _restored(self, at: Place, n_classes: int) -> Ranked:
        own, shared = self._kept()
        plan = check_plan_of_file(self, own, shared, self.rank_accuracy_, at, n_classes)
        self._keep(own, shared)
        return Ranked(plan, tuple(own), shared, self.rank_accuracy_)

    def _check_plan(self, plan: RankPlan) -> None:
        """Refuse combinations of scores that the method cannot use."""

    def predict(self, scores: object) -> Array:
        """Give the class with the highest score, whatever its probability.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, columns in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of equal scores the first in `classes_`.
        """
        first = self._check_scores(scores).argmax(axis=1)
        return np.asarray(self.classes_[first])

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, columns in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n, k)
            The estimates of `predict_raw` divided by their sum, so that each row sums to one. A row whose
            estimates are all zero gets `rank_accuracy_`, the overall accuracy of the first ranks, and what
            that leaves is shared evenly among the other classes.
        """
        return self.proba_of(self._check_scores(scores))

    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probabilities for checked scores."""
        return self.map_(np.asarray(scores))

    def predict_raw(self, scores: object) -> Float64Array:
        """Give for every class the estimate that belongs to its rank.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, columns in the order of `classes_`.

        Returns
        -------
        ndarray of shape (n, k)
            Estimates in the order of `classes_`. Each is a probability of being right; those of a row need
            not sum to one.
        """
        matrix = self._check_scores(scores)
        raw = np.empty(matrix.shape)
        for rows, estimates in self.map_.estimates(matrix):
            raw[rows] = estimates
        return raw

    def predict_by_rank(self, scores: object, n_ranks: int | None = None) -> RankEstimates:
        """Give the classes by rank, each with the estimate that belongs to its rank.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, columns in the order of `classes_`.
        n_ranks : int, optional
            How many ranks to give; by default all.

        Returns
        -------
        RankEstimates
            Labels, scores and estimates, each of shape (n, n_ranks).
        """
        matrix = self._check_scores(scores)
        n_ranks = check_n_ranks("n_ranks", n_ranks, matrix.shape[1])
        leaders, leading = lead(matrix, max(n_ranks, self.map_.plan.n_leading))
        if n_ranks <= len(self.map_.own):
            estimate = np.stack(self.map_.own_estimates(leading, n_ranks), axis=1)
        else:
            estimate = np.empty((len(matrix), n_ranks))
            for rows, estimates in self.map_.estimates(matrix):
                estimate[rows] = np.take_along_axis(estimates, leaders[:n_ranks, rows].T, axis=1)
        return RankEstimates(self.classes_[leaders[:n_ranks].T], leading[:n_ranks].T.copy(), estimate)


def check_n_ranks(name: str, value: object, n_classes: int) -> int:
    """A number of ranks; None stands for all."""
    if value is None:
        return n_classes
    must = f"a whole number from 1 to {n_classes}, the number of classes"
    return int(check_number(name, value, must, lambda number: number in range(1, n_classes + 1)))
