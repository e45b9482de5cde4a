"""What all two-class calibrators share: one score per row in, probabilities of both classes out."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._core._arrays import Float64Array, FloatArray, Target
from calibrant._core._checks import (
    check_binary_labels,
    check_not_empty,
    check_same_length,
    check_scores,
    check_weights,
)
from calibrant._core._fitted import check_fitted
from calibrant._core._names import NamedColumns
from calibrant.calibrators._direction import warn_of_direction

#: Rows worked on at once: the working arrays of a block stay in the processor's cache.
BLOCK = 1 << 15


class BinaryCalibrator(NamedColumns, BaseEstimator, ABC):
    """Base of the two-class calibrators: checks at the border, a map learned inside.

    A subclass says how the map is learned (`_fit`) and what it answers (`_positive`).
    """

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map from scores to probabilities.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            One finite score per row; more of it means more of the positive class.
        y : array-like of shape (n,)
            The labels, any two values; the greater is the positive class. Numbers strictly between
            0 and 1 are taken as shares of the positive class.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self.learn(scores, y, sample_weight)
        warn_of_direction(self)
        return self

    def learn(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Do what `fit` does, and leave it to the caller to warn, who may have many such maps.

        Parameters
        ----------
        scores, y, sample_weight : array-like
            As in `fit`.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self._check_parameters()
        column = check_scores(scores)
        check_not_empty(len(column))
        classes, target = check_binary_labels(y, fractions=True)
        check_same_length(scores=column, labels=target)
        weights = check_weights(sample_weight, len(column))
        column = self._learn_columns(scores, column, classes)
        if weights is not None and not weights.all():
            present = weights > 0
            column, target, weights = column[present], target[present], weights[present]
        self._fit(column, target, weights)
        self.classes_ = classes
        return self

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probabilities of both classes.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            One finite score per row.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_fitted(self, "classes_")
        scores = check_scores(self._in_order(scores, self.classes_, 1))
        proba = np.empty((len(scores), 2))
        for start in range(0, len(scores), BLOCK):
            rows = slice(start, start + BLOCK)
            positive = self._positive(scores[rows].astype(np.float64, copy=False))
            proba[rows, 1] = positive
            np.subtract(1.0, positive, out=proba[rows, 0])
        return proba

    def _check_parameters(self) -> None:
        """Refuse options that cannot be."""

    @abstractmethod
    def _fit(self, scores: FloatArray, target: Target, weights: Float64Array | None) -> None:
        """Learn from checked rows; weights are positive, or None where every row counts once."""

    @abstractmethod
    def _positive(self, scores: Float64Array) -> Float64Array:
        """Probability of the positive class for a block of rows."""


def learn_map(calibrator: Any, scores: object, y: object, sample_weight: object) -> Any:
    """Fit a calibrator of one score, of ours or not, without a warning of the direction of the scores."""
    learn = calibrator.learn if isinstance(calibrator, BinaryCalibrator) else calibrator.fit
    return learn(scores, y, sample_weight)


def class_totals(target: Target, weights: Float64Array | None) -> tuple[float, float]:
    """Total weight of the positive and of the negative class."""
    against = ~target if target.dtype == bool else 1.0 - target
    if weights is None:
        return float(np.sum(target)), float(np.sum(against))
    return float(np.dot(target, weights)), float(np.dot(against, weights))
