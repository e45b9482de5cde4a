"""What both methods for ranked scores share: one model per rank, and the way back to the classes."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._core._arrays import (
    Array,
    BoolArray,
    Float64Array,
    FloatArray,
    IntArray,
)
from calibrant._core._checks import (
    check_class_labels,
    check_not_empty,
    check_number,
    check_same_length,
    check_score_matrix,
    check_weights,
    labels_of_columns,
)
from calibrant._core._errors import DataError
from calibrant._core._fitted import check_fitted
from calibrant._core._names import NamedColumns
from calibrant.calibrators._combinations import Combination, RankPlan, plan_ranks
from calibrant.calibrators._rank_rows import RankRows, rows_by_rank
from calibrant.calibrators._ranking import lead, places_of, row_blocks


class RankModel(Protocol):
    """What the class at a rank is worth, given some of the ranked scores."""

    def estimate(self, scores: Sequence[Float64Array]) -> Float64Array:
        """Probability of being right. A score may be broadcast to the shape of the next."""


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


class RankedCalibrator(NamedColumns, BaseEstimator, ABC):
    """Base of the calibrators that look at several ranked scores at once.

    A subclass says how the model of one rank is learned (`_fit_rank`). Its parameters include
    `combination`, `max_rank` and `classes`.
    """

    combination: Combination
    max_rank: int | None
    classes: Sequence[object] | None

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn how often the class at every rank is right.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, from a model that was not trained on these rows. The columns
            of a frame are taken by label where they are named like the classes; their names are remembered,
            and new frames may have them in any order.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        matrix = check_score_matrix(scores)
        check_not_empty(len(matrix))
        classes = labels_of_columns(self.classes, y, matrix.shape[1])
        position = check_class_labels(y, matrix.shape[1], classes)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        matrix = self._learn_columns(scores, matrix, classes)
        return self.fit_positions(matrix, position, weights, classes)

    def fit_positions(
        self,
        scores: FloatArray,
        position: IntArray,
        weights: Float64Array | None,
        classes: Array,
        known: BoolArray | None = None,
    ) -> Self:
        """Learn from checked rows, without those that lack a score and so cannot be ranked.

        Parameters
        ----------
        scores : ndarray of shape (n, k)
            The scores.
        position : ndarray of shape (n,)
            The number of every row's class.
        weights : ndarray of shape (n,) or None
            Weights of the rows.
        classes : ndarray of shape (k,)
            The labels of the columns.
        known : ndarray of shape (n, k), optional
            False where a row has no score of a class, because the class was missing when it was scored.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        plan = self.plan_for(len(classes))
        present = _present(len(scores), weights, known)
        if present is not None:
            scores, position = scores[present], position[present]
            weights = None if weights is None else weights[present]
        self._check_values(scores)
        rank, own_rows, shared_rows = rows_by_rank(plan, scores, position, weights)
        shared = None if shared_rows is None else self._fit_rank(shared_rows)
        own = [self._fit_rank(rows) for rows in own_rows]
        share = np.bincount(rank, weights, minlength=len(plan.own))
        return self.take_models(plan, own, shared, share, classes)

    def take_models(self, plan: RankPlan, own: list[Any], shared: Any, share: Array, classes: Array) -> Self:
        """Take the models of the ranks, however they were learned.

        Parameters
        ----------
        plan : RankPlan
            Which scores they use.
        own : list
            The models of the first ranks.
        shared : object or None
            That of the ranks after these.
        share : ndarray
            How often, or with what weight, the true class was at every rank; those after the first may be
            together in one.
        classes : ndarray of shape (k,)
            The labels of the columns.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self._keep(own, shared)
        self._plan, self._own, self._shared = plan, own, shared
        self.rank_accuracy_ = share[: len(plan.own)] / share.sum()
        self.classes_ = classes
        return self

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
        matrix = self._check_scores(scores)
        proba = np.empty(matrix.shape)
        for rows, estimates in self._estimates(matrix):
            total = np.einsum("ij->i", estimates)  # faster than sum for short rows
            nothing = np.flatnonzero(total == 0)
            if len(nothing):
                estimates[nothing], total[nothing] = self._overall(matrix[rows][nothing]), 1.0
            np.divide(estimates, total[:, None], out=proba[rows])
        return proba

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
        for rows, estimates in self._estimates(matrix):
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
        leaders, leading = lead(matrix, max(n_ranks, self._plan.n_leading))
        if n_ranks <= len(self._own):
            estimate = np.stack(self._own_estimates(leading, n_ranks), axis=1)
        else:
            estimate = np.empty((len(matrix), n_ranks))
            for rows, estimates in self._estimates(matrix):
                estimate[rows] = np.take_along_axis(estimates, leaders[:n_ranks, rows].T, axis=1)
        return RankEstimates(self.classes_[leaders[:n_ranks].T], leading[:n_ranks].T.copy(), estimate)

    @abstractmethod
    def _fit_rank(self, rows: RankRows) -> RankModel:
        """Learn the model of a rank, or of several."""

    @abstractmethod
    def _keep(self, own: list[Any], shared: Any) -> None:
        """Set the attributes that tell of the models of the first ranks, and of the shared one, or None."""

    def plan_for(self, n_classes: int) -> RankPlan:
        """Check the parameters, and say which scores are used for every rank.

        Parameters
        ----------
        n_classes : int
            Number of classes.

        Returns
        -------
        RankPlan
            The scores used.
        """
        self._check_parameters()
        plan = plan_ranks(self.combination, self.max_rank, n_classes)
        self._check_plan(plan)
        return plan

    def _check_parameters(self) -> None:
        """Refuse options that cannot be."""

    def _check_values(self, scores: FloatArray) -> None:
        """Refuse scores that the options do not allow."""

    def _check_plan(self, plan: RankPlan) -> None:
        """Refuse combinations of scores that the method cannot use."""

    def _check_scores(self, scores: object) -> FloatArray:
        check_fitted(self, "classes_")
        n_classes = len(self.classes_)
        matrix = check_score_matrix(self._in_order(scores, self.classes_, n_classes), n_classes)
        self._check_values(matrix)
        return matrix

    def _estimates(self, matrix: FloatArray) -> Iterator[tuple[slice, Float64Array]]:
        """Blocks of rows and their estimates, in the order of the classes."""
        n_classes = matrix.shape[1]
        for part in row_blocks(len(matrix), 1):
            leaders, leading = lead(matrix[part], self._plan.n_leading)
            own = self._own_estimates(leading, len(self._own))
            for some in row_blocks(part.stop - part.start, n_classes):
                rows = slice(part.start + some.start, part.start + some.stop)
                block = np.ascontiguousarray(matrix[rows], dtype=np.float64)
                estimates = self._shared_estimates(block, leaders[:, some], leading[:, some])
                for guess, estimate in zip(leaders, own, strict=False):
                    estimates.put(places_of(guess[some], n_classes), estimate[some])
                yield rows, estimates

    def _own_estimates(self, leading: Float64Array, n_ranks: int) -> list[Float64Array]:
        """Estimates of the first ranks, from their models."""
        plan = zip(self._own[:n_ranks], self._plan.own[:n_ranks], strict=True)
        return [model.estimate([leading[rank] for rank in used]) for model, used in plan]

    def _shared_estimates(
        self, block: Float64Array, leaders: IntArray, leading: Float64Array
    ) -> Float64Array:
        """Estimates of the later ranks, from their model, at all classes; of any value if there is none."""
        if self._shared is None:
            return np.empty(block.shape)
        used = [each.of(block, leaders, leading) for each in self._plan.shared or ()]
        estimates: Float64Array = self._shared.estimate(used)
        if estimates.shape != block.shape:
            estimates = np.repeat(estimates, block.shape[1], axis=1)
        return estimates

    def _overall(self, block: FloatArray) -> Float64Array:
        """The overall accuracy of the first ranks, the rest shared evenly among the other classes."""
        n_own, n_classes = len(self.rank_accuracy_), block.shape[1]
        left = (1.0 - self.rank_accuracy_.sum()) / max(n_classes - n_own, 1)
        overall = np.full(block.shape, left)
        np.put_along_axis(overall, lead(block, n_own)[0].T, self.rank_accuracy_[None], axis=1)
        return overall


def check_n_ranks(name: str, value: object, n_classes: int) -> int:
    """A number of ranks; None stands for all."""
    if value is None:
        return n_classes
    must = f"a whole number from 1 to {n_classes}, the number of classes"
    return int(check_number(name, value, must, lambda number: number in range(1, n_classes + 1)))


def _present(n_rows: int, weights: Float64Array | None, known: BoolArray | None) -> BoolArray | None:
    """Which rows have a weight and all scores; None if all have."""
    present = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    if known is not None:
        present &= known.all(axis=1)
    if not present.any():
        raise DataError(
            f"scores must rank all classes in at least one row; got {n_rows} rows, each without the score "
            "of some class; use folds whose training parts hold every class"
        )
    return None if present.all() else present
