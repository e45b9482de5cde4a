"""A learner made cost-sensitive by relabelling its training rows (Domingos 1999)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import check_flag, check_n_jobs, distinct_labels, is_whole, positions_of, shown
from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant._core._folds import as_rows
from calibrant._core._hints import arguments_told
from calibrant._core._predictions import log_of
from calibrant.classifiers._chance import entropy_of
from calibrant.classifiers._cost_sensitive import CostClassifier, class_probabilities
from calibrant.classifiers._hard import _seeded_copy, n_rows_of, positions_answered
from calibrant.classifiers._importance import weight_parameter
from calibrant.classifiers._rows import Given, rows_of_params
from calibrant.classifiers._training import fit_or_constant
from calibrant.decisions import decide


def _learner_has_proba(model: Any) -> bool:
    return hasattr(model.estimator, "predict_proba")


class MetaCostClassifier(CostClassifier):
    """Wrap a learner so that its most probable class is what costs least.

    Many copies of the learner, each trained on a resample of the rows, estimate the probabilities of
    every training row together. The rows are given the labels that would have cost least, and the learner
    is trained on these.

    ``cost[i, j]`` is the cost of deciding i when the truth is j. Many libraries use the transpose.

    Parameters
    ----------
    estimator : object
        A classifier; it needs `predict_proba` unless `hard`.
    cost : array-like of shape (k, k), mapping, frame, "rarity" or callable
        The costs: by position, in the order of the sorted labels; by label, as
        ``{decision: {truth: cost}}`` or a frame (see `calibrant.decisions.cost_matrix`); or a function
        that makes them from the number of training rows of every class. "rarity" is
        `calibrant.decisions.rarity_costs`.
    n_resamples : int, default=100
        Number of copies of the learner.
    hard : bool, default=False
        Let every copy vote for one class instead of averaging their probabilities.
    use_all : bool, default=True
        Ask all copies about a row, also those that were trained on it. With False only those whose
        resample misses it, if there are any.
    resamples : sequence of array-like of int, optional
        The row numbers of every resample, to be used instead of random ones.
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors.
    random_state : int, Generator, RandomState or None, default=None
        The resamples, and the seeds of the copies where they have none of their own.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    cost_ : ndarray of shape (k, k)
        The costs, in the order of `classes_`.
    estimator_ : object
        The learner trained on the new labels.
    training_proba_ : ndarray of shape (n, k)
        What the copies estimated for the training rows.
    training_labels_ : ndarray of shape (n,)
        The labels of least cost, which the learner was trained on.
    n_features_in_ : int
        Number of features, where X has columns.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    CostSensitiveClassifier : Leaves the learner as it is, and learns how to decide by its probabilities.

    Notes
    -----
    Resamples are drawn with replacement, as many rows as there are. The four variants are those of `hard`
    and `use_all`; O'Brien, Gupta and Gray (2008) report the better `use_all` of every data set, which is
    optimistic.

    `predict_proba` is that of a learner of the new labels: it estimates which decision is best, not which
    class is true. A class that no row was relabelled to has probability zero. A learner that refuses rows
    of a single class is replaced by that class there.

    References
    ----------
    P. Domingos, "MetaCost: a general method for making classifiers cost-sensitive", KDD 1999.

    Examples
    --------
    >>> from calibrant import MetaCostClassifier
    >>> from calibrant.decisions import realised_cost
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cost = [[0, 1], [20, 0]]  # missing class 0, a malignant tumour, costs 20
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> plain = tree.fit(X[::2], y[::2]).predict(X[1::2])
    >>> model = MetaCostClassifier(tree, cost, n_resamples=20, random_state=0).fit(X[::2], y[::2])
    >>> [realised_cost(y[1::2], decided, cost).total for decided in (plain, model.predict(X[1::2]))]
    [312.0, 124.0]
    """

    @arguments_told(
        costs="the costs are cost=, and cost[i, j] is what deciding i costs when the truth is j",
    )
    def __init__(
        self,
        estimator: Any,
        cost: Any,
        n_resamples: int = 100,
        hard: bool = False,
        use_all: bool = True,
        resamples: Sequence[Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.n_resamples = n_resamples
        self.hard = hard
        self.use_all = use_all
        self.resamples = resamples
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Estimate, relabel, and train the learner.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows, in whatever form the learner takes them.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, for a learner that takes them.
        **fit_params : dict
            Passed to the learner's `fit`; with metadata routing, if it requested them.

        Returns
        -------
        Self
            The fitted classifier.
        """
        given = self._read(X, y, sample_weight, fit_params, passes_weights=True)
        weighted_by_us = sample_weight is not None and not get_config()["enable_metadata_routing"]
        self._check_learner(weighted=weighted_by_us)
        classes = distinct_labels(given.y)
        position = positions_of(given.y, classes)
        cost = self._cost_of(classes, position, given.importance)
        if weighted_by_us:
            weighted = {str(weight_parameter(self.estimator)): given.importance}
            given = replace(given, fit_params={**given.fit_params, **weighted})
        source = np.random.SeedSequence(entropy_of(self.random_state))
        proba = self._estimates(given, classes, source)
        labels = classes[decide(proba, cost)]
        everything = np.arange(len(given.y))
        self.estimator_ = _train(self.estimator, given, labels, everything, source.spawn(1)[0])
        self.training_proba_, self.training_labels_ = proba, labels
        self.cost_, self.classes_ = cost, classes
        return self

    def predict(self, X: Any) -> Array:
        """Give the decision of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        X = self._read_new(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, n_rows_of(X))
        return np.asarray(self.classes_[positions_answered(self.estimator_, X, self.classes_)])

    @available_if(_learner_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64Array:
        """Give the probability that every class is the decision of least cost."""
        X = self._read_new(X)
        if len(self.classes_) == 1:
            return np.ones((n_rows_of(X), 1))
        return class_probabilities(self.estimator_, X, self.classes_)

    @available_if(_learner_has_proba)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Float64Array:
        """Give the logarithm of the probability that every class is the decision of least cost."""
        return log_of(self.predict_proba(X))

    def _check_learner(self, *, weighted: bool) -> None:
        check_flag("hard", self.hard)
        check_flag("use_all", self.use_all)
        name = type(self.estimator).__name__
        if not self.hard and not _learner_has_proba(self):
            raise ParameterError(
                f"estimator must have predict_proba; {name} has none; pass hard=True to let its copies vote"
            )
        if weighted and weight_parameter(self.estimator) is None:
            raise ParameterError(
                f"sample_weight needs a learner whose fit takes it; that of {name} does not; leave the "
                "weights out, or choose another learner"
            )

    def _estimates(self, given: Given, classes: Array, source: np.random.SeedSequence) -> Float64Array:
        """What copies of the learner say about the training rows."""
        if len(classes) == 1:
            return np.ones((len(given.y), 1))
        resamples = self._resamples(len(given.y), source)
        copies = Parallel(n_jobs=check_n_jobs(self.n_jobs), return_as="generator")(
            delayed(_estimate)(self.estimator, given, classes, rows, seed, self.hard)
            for rows, seed in zip(resamples, source.spawn(len(resamples)), strict=True)
        )
        return average_estimates(copies, resamples, (len(given.y), len(classes)), use_all=self.use_all)

    def _resamples(self, n_rows: int, source: np.random.SeedSequence) -> list[IntArray]:
        """The row numbers of every resample: those given, or drawn with replacement."""
        if self.resamples is not None:
            given = list(self.resamples) if np.iterable(self.resamples) else []
            resamples = [_check_resample(rows, n_rows, number) for number, rows in enumerate(given)]
        else:
            rng = np.random.default_rng(source.spawn(1)[0])
            resamples = [rng.integers(n_rows, size=n_rows) for _ in range(_check_count(self.n_resamples))]
        if not resamples:
            raise ParameterError("resamples must hold at least one resample; got none")
        return resamples


def average_estimates(
    estimates: Iterable[Float64Array],
    resamples: Sequence[IntArray],
    shape: tuple[int, int],
    *,
    use_all: bool,
) -> Float64Array:
    """Average what the copies say about every row."""
    total, of_others, n_others = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
    for proba, rows in zip(estimates, resamples, strict=True):
        total += proba
        if not use_all:
            is_other = np.bincount(rows, minlength=shape[0]) == 0
            of_others[is_other] += proba[is_other]
            n_others += is_other
    some = n_others > 0
    total[some] = of_others[some]
    return np.asarray(total / np.where(some, n_others, len(resamples))[:, None])


def _check_resample(rows: object, n_rows: int, number: int) -> IntArray:
    try:
        checked = as_rows(rows, n_rows, f"resample {number}")
    except CalibrantError:
        checked = np.empty(0, dtype=np.intp)
    if not len(checked):
        raise DataError(
            f"resamples must hold row numbers from 0 to {n_rows - 1}; resample {number} does not; count the "
            "rows without those of weight zero"
        )
    return checked


def _check_count(n_resamples: object) -> int:
    if not is_whole(n_resamples, 1):
        raise ParameterError(f"n_resamples must be a whole number, 1 or more; got {shown(n_resamples)}")
    return int(n_resamples)  # type: ignore[call-overload, no-any-return]


def _estimate(
    estimator: Any, given: Given, classes: Array, rows: IntArray, seed: np.random.SeedSequence, hard: bool
) -> Float64Array:
    """What a copy of the learner, trained on some of the rows, says about all of them."""
    model = _train(estimator, given, given.y, rows, seed)
    if not hard:
        return class_probabilities(model, given.X, classes)
    return np.eye(len(classes))[positions_answered(model, given.X, classes)]


def _train(estimator: Any, given: Given, labels: Array, rows: IntArray, seed: np.random.SeedSequence) -> Any:
    """Train a copy of the learner; if it refuses a single class, answer with that class always."""
    y = labels[rows]
    model = _seeded_copy(estimator, np.random.default_rng(seed))
    return fit_or_constant(model, given.X, rows, y, rows_of_params(given.fit_params, rows, len(labels)))
