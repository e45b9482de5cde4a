"""What follows from probabilities: the most probable class, and logarithms."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array


class PredictsScores:
    """What everything has that gives probabilities for scores."""

    classes_: Array

    def predict(self, scores: object) -> Array:
        """Give the most probable class of every row.

        Parameters
        ----------
        scores : array-like
            Scores as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of equally probable ones the first in `classes_`.
        """
        proba: Float64Array = self.predict_proba(scores)  # type: ignore[attr-defined]
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def predict_log_proba(self, scores: object) -> Float64Array:
        """Give the logarithm of the probability of every class.

        Parameters
        ----------
        scores : array-like
            Scores as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            Natural logarithms, in the order of `classes_`; of zero minus infinity.
        """
        return log_of(self.predict_proba(scores))  # type: ignore[attr-defined]


class PredictsLogs:
    """What every classifier has that gives probabilities for rows."""

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Give the logarithm of the probability of every class.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            Natural logarithms, in the order of `classes_`; of zero minus infinity.
        """
        return log_of(self.predict_proba(X))  # type: ignore[attr-defined]


def log_of(proba: Float64Array) -> Float64Array:
    """Natural logarithms, without a word about zeros."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(proba))
