"""Naive Bayes on categories, with weights, skipping values that were never seen."""

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.validation import check_is_fitted

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_number, check_weights
from calibrant._core._foreign import errors_as_ours, read_table, read_training_table


class CategoricalNaiveBayes(ClassifierMixin, BaseEstimator):
    r"""Naive Bayes for features that are categories.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to every count of a value; 1 is Laplace's correction.
    prior_alpha : float, default=0.0
        What is added to every count of a class.
    categories : "auto" or list of array-like, default="auto"
        The values that each feature can take, sorted where they are numbers; by default those of training.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    categories_ : list of ndarray
        The values of every feature.
    class_log_prior_ : ndarray of shape (k,)
        Logarithms of the prior probabilities.
    feature_log_prob_ : list of ndarray of shape (k, n_values)
        For every feature the logarithms of P(value | class).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    EqualWidthQuantizer : Makes categories of numbers.
    BoostedNaiveBayes : Several of these, each minding the errors of those before.

    Notes
    -----
    With N_kfv the weight of the rows of class k whose feature f has value v, and V_f the number of its
    values,

    .. math::
        P(v | k) = \frac{N_{kfv} + \alpha}{N_k + \alpha V_f}, \qquad
        P(k) = \frac{N_k + \alpha_0}{N + \alpha_0 K} .

    A value that is not among the categories says nothing: its feature is left out for that row.
    Scikit-learn's ``CategoricalNB`` takes only numbers 0, 1, ... and refuses unseen ones.

    Examples
    --------
    A feature that is there twice counts twice, which squares its odds: this is why naive Bayes is
    over-confident.

    >>> from calibrant.learners import CategoricalNaiveBayes
    >>> X, y = [["low"], ["low"], ["high"], ["high"], ["high"]], [0, 1, 0, 1, 1]
    >>> once = CategoricalNaiveBayes().fit(X, y).predict_proba([["low"]])[0]
    >>> twice = CategoricalNaiveBayes().fit([row * 2 for row in X], y).predict_proba([["low", "low"]])[0]
    >>> prior = 2 / 3
    >>> odds = once[0] / once[1] / prior
    >>> bool(abs(twice[0] / twice[1] - prior * odds**2) < 1e-9)
    True

    What was never seen says nothing, and the prior remains:

    >>> CategoricalNaiveBayes().fit(X, y).predict_proba([["medium"]])
    array([[0.4, 0.6]])
    """

    def __init__(self, alpha: float = 1.0, prior_alpha: float = 0.0, categories: Any = "auto") -> None:
        self.alpha = alpha
        self.prior_alpha = prior_alpha
        self.categories = categories

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; values of any type that can be sorted, none missing.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_number("alpha", self.alpha, "a number above 0", lambda alpha: alpha > 0)
        check_number("prior_alpha", self.prior_alpha, "a number, not negative", lambda alpha: alpha >= 0)
        X, y = read_training_table(self, X, y)
        weights = check_weights(sample_weight, len(y))
        if weights is not None and not weights.all():
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, position = np.unique(y, return_inverse=True)
        self._encoder = OrdinalEncoder(
            categories=self.categories, handle_unknown="use_encoded_value", unknown_value=-1, dtype=np.intp
        )
        with errors_as_ours():
            codes = self._encoder.fit_transform(X)
        self.categories_ = self._encoder.categories_
        self.feature_log_prob_ = [
            self._log_prob(code, position, weights, len(values))
            for code, values in zip(codes.T, self.categories_, strict=True)
        ]
        totals = np.bincount(position, weights) + self.prior_alpha
        self.class_log_prior_ = np.log(totals / totals.sum())
        return self

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Give the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            Natural logarithms, in the order of `classes_`.
        """
        check_is_fitted(self, "classes_")
        X = read_table(self, X)
        joint = np.tile(self.class_log_prior_, (len(X), 1))
        for code, log_prob in zip(self._encoder.transform(X).T, self.feature_log_prob_, strict=True):
            # An unseen value has the code -1 and finds the column of zeros at the end.
            joint += np.pad(log_prob, ((0, 0), (0, 1)))[:, code].T
        return np.asarray(log_softmax(joint, axis=1))

    def predict_proba(self, X: Any) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> Array:
        """Give the most probable class of every row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of equally probable ones the first in `classes_`.
        """
        best = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _log_prob(
        self, code: IntArray, position: IntArray, weights: Float64Array | None, n_values: int
    ) -> Float64Array:
        """Logarithms of P(value | class) of one feature; what is outside the categories is skipped."""
        known = code >= 0
        cells = position[known] * n_values + code[known]
        of_known = None if weights is None else weights[known]
        counts = np.bincount(cells, of_known, len(self.classes_) * n_values) + self.alpha
        by_class = counts.reshape(-1, n_values)
        return np.asarray(np.log(by_class / by_class.sum(axis=1, keepdims=True)))
