"""Boosted naive Bayes (Elkan 1997): AdaBoost with hypotheses that are probabilities."""

from typing import Any, Self

import numpy as np
from scipy.special import expit, log_expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from calibrant._core._arrays import Array, BoolArray, Float64Array
from calibrant._core._checks import check_number, check_weights
from calibrant._core._errors import DataError
from calibrant._core._foreign import read_table, read_training_table
from calibrant.learners._categorical_nb import CategoricalNaiveBayes

#: A round without errors would have an infinite say.
LEAST_BETA = 1e-10


class BoostedNaiveBayes(ClassifierMixin, BaseEstimator):
    r"""Boost naive Bayes, or another two-class learner with probabilities.

    Parameters
    ----------
    estimator : object, optional
        A two-class classifier with `predict_proba` whose `fit` takes `sample_weight`; by default
        `CategoricalNaiveBayes`.
    n_rounds : int, default=10
        The greatest number of rounds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    estimators_ : list
        The fitted learner of every round.
    log_inverse_betas_ : ndarray
        The say of every round, log(1/beta).
    base_rate_ : float
        The share of the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    CategoricalNaiveBayes : One of them alone.

    Notes
    -----
    From uniform weights D, every round trains a learner h with values in [0, 1], measures
    :math:`e = \sum_i D_i |h(x_i) - y_i|`, stops if e is 1/2 or more, and otherwise multiplies D_i by
    :math:`\beta^{1 - |h(x_i) - y_i|}` with :math:`\beta = e / (1 - e)`. At last

    .. math::
        r(x) = \frac{\sum_t \ln(1/\beta_t) \, h_t(x)}{\sum_t \ln(1/\beta_t)}, \qquad
        P(x) = \frac{1}{1 + \prod_t \beta_t^{2 r(x) - 1}} .

    If the first round is no better than guessing, the answer is the base rate. Weights of the rows take the
    place of the uniform start. ZE02 does not say how many rounds it used.

    References
    ----------
    C. Elkan, "Boosting and naive Bayesian learning", University of California, San Diego, 1997.

    Examples
    --------
    Either feature alone makes a row positive. Boosting is surer than naive Bayes that a row with neither is
    not:

    >>> from calibrant.learners import BoostedNaiveBayes, CategoricalNaiveBayes
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> y = [0, 1, 1, 1] * 5
    >>> single, boosted = CategoricalNaiveBayes().fit(X, y), BoostedNaiveBayes().fit(X, y)
    >>> bool(single.predict_proba([[0, 0]])[0, 0] < boosted.predict_proba([[0, 0]])[0, 0])
    True
    """

    def __init__(self, estimator: Any = None, n_rounds: int = 10) -> None:
        self.estimator = estimator
        self.n_rounds = n_rounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one learner after the other.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels, two in all.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_number("n_rounds", self.n_rounds, "a whole number, 0 or more", lambda n: n >= 0 and n == int(n))
        X, y = read_training_table(self, X, y)
        weights = check_weights(sample_weight, len(y))
        weights = np.ones(len(y)) if weights is None else weights
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_ = np.unique(y)
        if len(self.classes_) > 2:
            raise DataError(
                f"Only binary classification is supported; got {len(self.classes_)} classes; wrap "
                "BoostedNaiveBayes in CalibratedClassifier with a code, or in OneVsRestClassifier"
            )
        positive = y == self.classes_[-1]
        self.base_rate_ = float(np.average(positive, weights=weights))
        self.estimators_, betas = self._boost(X, positive, weights) if len(self.classes_) == 2 else ([], [])
        self.log_inverse_betas_ = -np.log(np.array(betas, dtype=np.float64))
        return self

    def predict_proba(self, X: Any) -> Float64Array:
        """Give the probabilities of both classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        log_odds = self._log_odds(X)
        if len(self.classes_) == 1:
            return np.ones((len(log_odds), 1))
        positive = expit(log_odds) if len(self.estimators_) else np.full(len(log_odds), self.base_rate_)
        return np.column_stack([1 - positive, positive])

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Give the logarithms of the probabilities, also where these round to 0 or 1.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n, 2)
            Natural logarithms, in the order of `classes_`.
        """
        log_odds = self._log_odds(X)
        if len(self.classes_) == 1:
            return np.zeros((len(log_odds), 1))
        return np.asarray(log_expit(np.column_stack([-log_odds, log_odds])))

    def _log_odds(self, X: Any) -> Float64Array:
        """The log-odds of the positive class."""
        check_is_fitted(self, "classes_")
        X = read_table(self, X)
        if not self.estimators_:
            return np.full(len(X), logit(self.base_rate_))
        answers = [learner.predict_proba(X)[:, 1] for learner in self.estimators_]
        # The exponent of the formula, sum(say) * (2 r - 1).
        return np.asarray(2 * np.dot(self.log_inverse_betas_, answers) - self.log_inverse_betas_.sum())

    def predict(self, X: Any) -> Array:
        """Give the more probable class of every row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels; at one half the first in `classes_`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self._learner()).input_tags
        return tags

    def _learner(self) -> Any:
        return CategoricalNaiveBayes() if self.estimator is None else self.estimator

    def _boost(self, X: Array, positive: BoolArray, weights: Float64Array) -> tuple[list[Any], list[float]]:
        """The learners of all accepted rounds, and their betas."""
        total = weights.sum()
        focus = weights / total
        learners, betas = [], []
        for _ in range(self.n_rounds):
            learner = clone(self._learner()).fit(X, positive.astype(int), sample_weight=focus * total)
            error = np.abs(learner.predict_proba(X)[:, 1] - positive)
            mean_error = float(np.dot(focus, error))
            if mean_error >= 0.5:
                break
            beta = max(mean_error / (1 - mean_error), LEAST_BETA)
            learners.append(learner)
            betas.append(beta)
            # A row never vanishes altogether, as its class might with it.
            focus = np.maximum(focus * beta ** (1 - error), np.finfo(np.float64).tiny)
            focus /= focus.sum()
        return learners, betas
