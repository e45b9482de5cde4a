"""Gaussian classes whose covariances are regularised only as far as they need it."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_number, check_weights, shown
from calibrant._core._errors import ParameterError
from calibrant._core._foreign import read_table, read_training_table

#: The amounts of regularisation that are tried in turn.
SCHEDULE = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class RegularizedQDA(ClassifierMixin, BaseEstimator):
    r"""Quadratic discriminant analysis, regularised class by class until it is well conditioned.

    Parameters
    ----------
    schedule : sequence of float, default=(0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, ..., 1)
        The amounts of regularisation to try, ascending; a class takes the first that will do.
    max_condition : float, default=1e6
        What a condition number must be below.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    priors_ : ndarray of shape (k,)
        The shares of the classes.
    means_ : ndarray of shape (k, d)
        The means of the classes.
    covariances_ : ndarray of shape (k, d, d)
        The regularised covariances.
    regularization_ : ndarray of shape (k,)
        The amount that each class took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    Notes
    -----
    Friedman's regularisation pulls a class's maximum-likelihood covariance S_k towards the pooled one, and
    that towards a ball:

    .. math::
        C_k = (1 - \lambda) S_k + \lambda S, \qquad
        \Sigma_k = (1 - \gamma) C_k + \gamma \frac{\mathrm{tr}\, C_k}{d} I .

    O'Brien, Gupta and Gray raise both from zero until the condition number is below 1e6, and do not say in
    which steps; here they are equal and follow the schedule. If even the last step gives the zero matrix,
    the identity is taken.

    References
    ----------
    J. H. Friedman, "Regularized discriminant analysis", Journal of the American Statistical Association 84,
    1989.

    Examples
    --------
    The second class lies on a line, so its covariance has no inverse; a trace of the pooled one is enough:

    >>> import numpy as np
    >>> from calibrant.learners import RegularizedQDA
    >>> X = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [4, 4], [5, 5], [6, 6]])
    >>> model = RegularizedQDA().fit(X, [0, 0, 0, 0, 1, 1, 1])
    >>> model.regularization_
    array([0.e+00, 1.e-05])
    >>> model.predict([[0, 1], [5, 5]])
    array([0, 1])
    """

    def __init__(self, schedule: Sequence[float] = SCHEDULE, max_condition: float = 1e6) -> None:
        self.schedule = schedule
        self.max_condition = max_condition

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate means and covariances.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_number("max_condition", self.max_condition, "a number above 1", lambda bound: bound > 1)
        schedule = list(self.schedule) if np.iterable(self.schedule) else []
        if not schedule or not all(_is_share(amount) for amount in schedule):
            raise ParameterError(
                f"schedule must hold at least one number, all from 0 to 1; got {shown(schedule)}"
            )
        schedule = [float(amount) for amount in schedule]
        X, y = read_training_table(self, X, y, np.float64)
        weights = check_weights(sample_weight, len(y))
        weights = np.ones(len(y)) if weights is None else weights
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, position = np.unique(y, return_inverse=True)
        totals = np.bincount(position, weights)
        self.priors_ = totals / totals.sum()
        moments = [_mean_and_covariance(X[position == k], weights[position == k]) for k in range(len(totals))]
        self.means_ = np.array([mean for mean, _ in moments])
        raw = np.array([covariance for _, covariance in moments])
        pooled = np.tensordot(self.priors_, raw, axes=1)
        settled = [
            first_well_conditioned(covariance, pooled, schedule, self.max_condition) for covariance in raw
        ]
        self.regularization_ = np.array([amount for amount, _ in settled])
        self.covariances_ = np.array([covariance for _, covariance in settled])
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
        X = read_table(self, X, dtype=np.float64)
        joint = np.tile(np.log(self.priors_), (len(X), 1))
        for k, (mean, covariance) in enumerate(zip(self.means_, self.covariances_, strict=True)):
            root = np.linalg.cholesky(covariance)
            whitened = solve_triangular(root, (X - mean).T, lower=True)
            joint[:, k] -= 0.5 * np.sum(whitened**2, axis=0) + np.log(np.diag(root)).sum()
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


def _is_share(amount: object) -> bool:
    if not isinstance(amount, Real) or isinstance(amount, np.timedelta64):
        return False
    return bool(amount <= 1) and not amount < 0


def _mean_and_covariance(X: Float64Array, weights: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Maximum-likelihood moments: the covariance is divided by the weight, not by the weight less one."""
    mean = np.average(X, axis=0, weights=weights)
    centred = X - mean
    return mean, (centred * weights[:, np.newaxis]).T @ centred / weights.sum()


def regularized_covariance(
    covariance: Float64Array, pooled: Float64Array, towards_pooled: float, towards_ball: float
) -> Float64Array:
    """Pull a covariance towards the pooled one, and the result towards a ball (Friedman 1989)."""
    mixed = (1 - towards_pooled) * covariance + towards_pooled * pooled
    ball = np.trace(mixed) / len(mixed) * np.eye(len(mixed))
    return np.asarray((1 - towards_ball) * mixed + towards_ball * ball)


def first_well_conditioned(
    covariance: Float64Array, pooled: Float64Array, schedule: Sequence[float], max_condition: float
) -> tuple[float, Float64Array]:
    """The first amount of the schedule whose covariance is well conditioned, and that covariance."""
    for amount in schedule:
        regularized = regularized_covariance(covariance, pooled, amount, amount)
        spread = np.linalg.eigvalsh(regularized)
        if spread[0] > 0 and spread[-1] < max_condition * spread[0]:
            return amount, regularized
    return amount, regularized if spread[0] > 0 else np.eye(len(covariance))
