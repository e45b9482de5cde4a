"""A thousand classes: one-vs-all calibration of a score matrix beside scikit-learn's."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from benchmarks.measure import Row, faster, peak_bytes
from calibrant import OneVsAllCalibrator


class GivenScores(ClassifierMixin, BaseEstimator):
    """A trained classifier whose scores are its input."""

    def fit(self, X, y):  # noqa: ARG002
        """Know the classes."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Give the class of the greatest score."""
        return self.classes_[np.argmax(X, axis=1)]

    def decision_function(self, X):
        """Give the scores."""
        return X


def class_scores(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of classes that can be told apart, and the classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += 3
    return scores, y


def many_classes(n: int = 100_000, k: int = 1000) -> Iterator[Row]:
    """Time and memory of calibrating and normalising n rows of k scores."""
    scores, y = class_scores(n, k)

    def ours():
        return OneVsAllCalibrator("pav").fit(scores, y).predict_proba(scores)

    def theirs():
        frozen = FrozenEstimator(GivenScores().fit(None, y))
        return CalibratedClassifierCV(frozen, method="isotonic").fit(scores, y).predict_proba(scores)

    case = f"one-vs-all PAV and normalisation, {n:,} x {k:,}"
    yield faster(case, "scikit-learn isotonic, frozen estimator", ours, theirs, goal=">= 4", repeats=1)
    peak = peak_bytes(ours) / scores.nbytes
    yield Row(f"{case}, peak memory", "the matrix itself", peak, 1.0, "x", peak, "<= 3")
