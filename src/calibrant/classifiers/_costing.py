"""Costing: a classifier that minds the importance of examples, from a learner that does not."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_n_jobs, check_number, check_option, distinct_labels, positions_of
from calibrant.classifiers._chance import entropy_of
from calibrant.classifiers._hard import Lesson, n_rows_of, positions_answered, row_blocks, train
from calibrant.classifiers._retraining import RetrainingClassifier


class CostingClassifier(RetrainingClassifier):
    """Make a learner mind how important every example is, without weights.

    Several copies of the learner are trained on random samples in which an example is as likely as it is
    important, and decide by majority.

    Parameters
    ----------
    estimator : object
        The learner. It needs `fit` and `predict`, nothing else.
    n_resamples : int, default=10
        The number of samples, and of fits.
    weighting : {"rejection", "flip"}, default="rejection"
        What a sample is: a part of the rows, in which a row is kept with probability importance / greatest
        importance; or all rows, with the labels of the less important ones exchanged by chance (Halck's
        noise).
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors.
    random_state : int, RandomState instance, Generator or None, default=None
        Decides the samples, and whatever the learner leaves to chance where its own seed is None.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    classifiers_ : list
        The fitted learners.
    n_features_in_ : int
        Number of features, where X has columns.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    ProbingClassifier : Probabilities by the same sampling, at many odds.

    Notes
    -----
    A rejection sample holds no row twice. Drawing with replacement would, and learners such as trees take a
    row that appears in the training set and in the part that they prune by for granted.

    A sample that is empty, or has one class only, gives a classifier that always answers with that class (if
    empty, with the weightiest one). Equal votes go to the first class.

    The shares of votes say how sure the ensemble is of its decision. They are not probabilities.

    References
    ----------
    B. Zadrozny, J. Langford and N. Abe, "Cost-sensitive learning by cost-proportionate example weighting",
    ICDM 2003. G. M. Halck, "Using hard classifiers to estimate conditional class probabilities", ECML 2002.

    Examples
    --------
    Missing a positive costs nine times as much. Nearest neighbours know no weights, but learn to be careful:

    >>> import numpy as np
    >>> from calibrant import CostingClassifier
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = make_classification(2000, 5, flip_y=0.3, random_state=0)
    >>> cost = np.where(y == 1, 9.0, 1.0)
    >>> plain = KNeighborsClassifier().fit(X[:1000], y[:1000])
    >>> costing = CostingClassifier(KNeighborsClassifier(), random_state=0)
    >>> costing = costing.fit(X[:1000], y[:1000], sample_weight=cost[:1000])
    >>> def mean_cost(model):
    ...     return round(float(np.mean(cost[1000:] * (model.predict(X[1000:]) != y[1000:]))), 1)
    >>> [mean_cost(plain), mean_cost(costing)]
    [0.8, 0.5]
    """

    def __init__(
        self,
        estimator: Any,
        n_resamples: int = 10,
        weighting: Literal["rejection", "flip"] = "rejection",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_resamples = n_resamples
        self.weighting = weighting
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Train on samples by importance.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows, in whatever form the learner takes them.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            How much it matters to get every row right; by default all rows matter equally.
        **fit_params : dict
            Passed to the learner's `fit`; with metadata routing, if it requested them.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_option("weighting", self.weighting, ("rejection", "flip"))
        check_number(
            "n_resamples", self.n_resamples, "a whole number, 1 or more", lambda n: n >= 1 and n == int(n)
        )
        given = self._read(X, y, sample_weight, fit_params)
        classes = distinct_labels(given.y)
        lesson = Lesson(
            estimator=self.estimator,
            X=given.X,
            position=positions_of(given.y, classes),
            labels=classes,
            fit_params=given.fit_params,
            weighting=self.weighting,
        )
        seeds = np.random.SeedSequence(entropy_of(self.random_state)).spawn(int(self.n_resamples))
        self.classifiers_ = list(
            Parallel(n_jobs=check_n_jobs(self.n_jobs))(
                delayed(train)(lesson, given.importance, seed) for seed in seeds
            )
        )
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Float64Array:
        """Give the shares of votes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            For two classes the share of votes for the second one above one half, else the share of every
            class.
        """
        shares = self._shares(X)
        return shares[:, 1] - 0.5 if len(self.classes_) == 2 else shares

    def predict(self, X: Any) -> Array:
        """Give the class with most votes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of those with equal votes the first in `classes_`.
        """
        best = self._shares(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _shares(self, X: Any) -> Float64Array:
        """Share of the votes for every class."""
        X = self._read_new(X)
        counts = []
        for block in row_blocks(X):
            count = np.zeros((n_rows_of(block), len(self.classes_)))
            for model in self.classifiers_:
                count[np.arange(len(count)), positions_answered(model, block, self.classes_)] += 1
            counts.append(count)
        return np.asarray(np.concatenate(counts) / len(self.classifiers_))
