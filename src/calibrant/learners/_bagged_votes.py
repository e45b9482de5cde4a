"""Bagging whose probabilities are the votes of the models."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._core._arrays import Float64Array
from calibrant._core._checks import check_option


def _averages_margins(model: "BaggedVotesClassifier") -> bool:
    """Votes have no margins: those of the learners may well contradict them."""
    return model.aggregate == "mean" and hasattr(super(BaggedVotesClassifier, model), "decision_function")


class BaggedVotesClassifier(BaggingClassifier):
    """Train copies of a learner on bootstrap samples, and take the share of them that vote for a class.

    Parameters
    ----------
    estimator : object, optional
        The learner; by default a decision tree.
    n_estimators : int, default=100
        The number of bootstrap samples.
    aggregate : {"vote", "mean"}, default="vote"
        The share of votes, as the text of LZ05 says; or the mean of the learners' own probabilities, which
        is what Weka does, and what the finite cross entropies in the paper's tables imply.
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors.
    random_state : int, RandomState instance or None, default=None
        Decides the samples.

    See Also
    --------
    ProbingClassifier : As many fits, with a bound on the error.

    Notes
    -----
    The attributes are those of scikit-learn's ``BaggingClassifier``, which does the work and which itself
    averages probabilities where the learner has them. Votes need only `predict`. A class without any vote has
    probability 0, and if it is the true one the log loss is infinite.

    Examples
    --------
    >>> from calibrant.learners import BaggedVotesClassifier
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> bagged = BaggedVotesClassifier(Perceptron(), n_estimators=10, random_state=0).fit(X, y)
    >>> votes = sum(model.predict(X[70:71]) == 1 for model in bagged.estimators_)
    >>> bool(bagged.predict_proba(X[70:71])[0, 1] == votes[0] / 10)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        aggregate: Literal["vote", "mean"] = "vote",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator=estimator, n_estimators=n_estimators, n_jobs=n_jobs, random_state=random_state
        )
        self.aggregate = aggregate

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Train the models.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, with which they are drawn.
        **fit_params : dict
            Passed to the learner's `fit` by metadata routing.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_option("aggregate", self.aggregate, ("vote", "mean"))
        super().fit(X, y, sample_weight=sample_weight, **fit_params)
        return self

    def predict_proba(self, X: Any, **params: Any) -> Float64Array:
        """Give the share of votes, or the mean probability, of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        **params : dict
            Passed to the learner's `predict_proba` by metadata routing, where probabilities are averaged.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_is_fitted(self)
        if self.aggregate == "mean":
            return np.asarray(super().predict_proba(X, **params))
        X = validate_data(
            self, X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False
        )
        votes = np.zeros((X.shape[0], self.n_classes_))
        for model in self.estimators_:
            # The models know the classes by their numbers.
            votes[np.arange(len(votes)), model.predict(X).astype(np.intp)] += 1
        return np.asarray(votes / len(self.estimators_))

    def predict_log_proba(self, X: Any, **params: Any) -> Float64Array:
        """Give the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The rows.
        **params : dict
            Passed to the learner by metadata routing, where probabilities are averaged.

        Returns
        -------
        ndarray of shape (n, k)
            Natural logarithms, in the order of `classes_`; minus infinity for a class without votes.
        """
        if self.aggregate == "mean":
            return np.asarray(super().predict_log_proba(X, **params))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(_averages_margins)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, **params: Any) -> Float64Array:
        """Give the mean of the learners' margins, where probabilities are averaged too."""
        return np.asarray(super().decision_function(X, **params))
