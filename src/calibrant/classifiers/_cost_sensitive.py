"""A learner that decides by cost."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._checks import (
    can_take,
    check_n_jobs,
    check_option,
    distinct_labels,
    positions_of,
    shown,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._hints import arguments_told
from calibrant._core._predictions import PredictsLogs
from calibrant.calibrators import DEFAULT, calibrator_of_kind
from calibrant.classifiers._calibrated import CalibratedClassifier
from calibrant.classifiers._given import read_given
from calibrant.classifiers._retraining import RetrainingClassifier
from calibrant.classifiers._routing import route_metadata
from calibrant.classifiers._rows import plan_rows
from calibrant.classifiers._scores import check_scored, score
from calibrant.classifiers._training import Problem, fit_or_constant, train_all
from calibrant.decisions import (
    DecisionRule,
    ExpectedCostRule,
    cost_matrix,
    new_rule,
    rarity_costs,
    refuse_unreasonable,
)


class CostClassifier(RetrainingClassifier):
    """Base of the classifiers that know what their mistakes cost."""

    cost: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._is_of_two_classes()
        return tags

    def _is_of_two_classes(self) -> bool:
        return hasattr(self.cost, "__len__") and not isinstance(self.cost, str) and len(self.cost) == 2

    def _cost_of(self, classes: Array, position: IntArray, weights: Float64Array | None) -> Float64Array:
        """The costs in the order of the classes."""
        # By position nobody can tell which of several classes a lone one is.
        if len(classes) == 1 and not _are_named(self.cost) and np.shape(self.cost) != (1, 1):
            return np.zeros((1, 1))
        if len(classes) > 2 and self._is_of_two_classes():
            raise DataError(
                "Only binary classification is supported. The cost must have one row and one column per "
                f"class; got costs of 2 and labels of {len(classes)} classes; add the costs of the others"
            )
        given = self.cost
        if isinstance(given, str):
            check_option("cost", given, ("rarity",))
            given = rarity_costs
        if callable(given):
            if not can_take(given, 1):
                raise ParameterError(
                    f"cost must be costs, or a function of the rows of every class; got {shown(given)}"
                )
            given = given(np.bincount(position, weights, len(classes)))
        cost = cost_matrix(given, classes)
        refuse_unreasonable(cost, "or use calibrant.decisions.decide(..., allow_any=True) on predict_proba")
        return cost


class CostSensitiveClassifier(PredictsLogs, CostClassifier):
    """Wrap a learner so that it decides what costs least.

    The learner estimates probabilities for rows that it was not trained on; from these a rule learns
    where to cut the simplex under the user's costs; and the learner is trained once more on all rows.

    ``cost[i, j]`` is the cost of deciding i when the truth is j. Many libraries use the transpose.

    Parameters
    ----------
    estimator : object
        A classifier with `predict_proba`, or any that can be calibrated. A
        `sklearn.frozen.FrozenEstimator` is not trained again: the given rows teach the rule alone.
    cost : array-like of shape (k, k), mapping, frame, "rarity" or callable
        The costs: by position, in the order of the sorted labels; by label, as
        ``{decision: {truth: cost}}`` or a frame (see `calibrant.decisions.cost_matrix`); or a function
        that makes them from the number of training rows of every class. "rarity" is
        `calibrant.decisions.rarity_costs`.
    rule : {"parallel", "expected", "lachiche_flach", "mossman"} or object, default="parallel"
        How decisions are made: by a learned partition, by least expected cost, by learned weights, or by
        two learned thresholds for three classes.
    calibrator : str or object, optional
        Calibrate the learner first. This is short for wrapping it in a `CalibratedClassifier`, with the
        same folds within the folds, unless these are given as row numbers.
    cv : int, splitter or iterable, default=5
        The folds that give out-of-fold estimates, as in scikit-learn.
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    cost_ : ndarray of shape (k, k)
        The costs, in the order of `classes_`.
    estimator_ : object
        The learner that estimates probabilities of new rows.
    rule_ : object
        The fitted rule; its `cost_before_` and `cost_after_` are the costs on the out-of-fold estimates.
    n_features_in_ : int
        Number of features, where X has columns.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    MetaCostClassifier : Makes the learner itself cost-sensitive, by relabelling its rows.
    calibrant.decisions.compare_rules : Which rule to use.
    calibrant.decisions.decide : For more decisions than classes, on `predict_proba`.

    Notes
    -----
    `predict` decides by cost, and therefore need not give the class of greatest probability;
    `predict_proba` stays the estimate. Labels of the costs that do not occur in y are left out.

    If y holds a single class, nothing can be learned, and it is always decided: `rule_` is then that of
    least expected cost, and a learner that refuses a single class is replaced by that class.

    References
    ----------
    D. B. O'Brien, M. R. Gupta and R. M. Gray, "Cost-sensitive multi-class classification from probability
    estimates", ICML 2008.

    Examples
    --------
    Missing a malignant tumour costs twenty times as much as a false alarm. The order in which the costs
    are written down does not matter:

    >>> from calibrant import CostSensitiveClassifier
    >>> from calibrant.decisions import realised_cost
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> names = load_breast_cancer().target_names[y]
    >>> cost = {
    ...     "malignant": {"malignant": 0, "benign": 1},
    ...     "benign": {"malignant": 20, "benign": 0},
    ... }
    >>> paid = {}
    >>> for rule in ("expected", "parallel"):
    ...     model = CostSensitiveClassifier(GaussianNB(), cost, rule=rule).fit(X[::2], names[::2])
    ...     decisions = model.predict(X[1::2])
    ...     paid[rule] = realised_cost(names[1::2], decisions, model.cost_, classes=model.classes_).total
    >>> paid
    {'expected': 227.0, 'parallel': 116.0}
    """

    @arguments_told(
        costs="the costs are cost=, and cost[i, j] is what deciding i costs when the truth is j",
        method="the calibrator is calibrator=, and how decisions are made is rule=",
    )
    def __init__(
        self,
        estimator: Any,
        cost: Any,
        rule: object = "parallel",
        calibrator: object = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.rule = rule
        self.calibrator = calibrator
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Train the learner and learn the rule.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows, in whatever form the learner takes them.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, for the rule and for the learner if it takes them.
        **fit_params : dict
            Passed to the learner's `fit`; with metadata routing, to whoever requested it.

        Returns
        -------
        Self
            The fitted classifier.
        """
        rule = new_rule(self.rule)
        learner = self._learner()
        given = read_given(self, X, y, sample_weight, fit_params, self.cv)
        X, y, weights = given.X, given.y, given.weights
        classes = self._classes_of(y)
        position = positions_of(y, classes)
        cost = self._cost_of(classes, position, weights)
        if len(classes) > 1 and isinstance(rule, DecisionRule):
            rule.check_cost(cost, len(classes))
        learner_params, split_params = route_metadata(
            self, learner, weights, given.fit_params, cv=given.cv, otherwise_for="rule"
        )
        if len(classes) == 1:
            self.estimator_ = fit_or_constant(clone(learner), X, None, y, learner_params)
            self.rule_ = ExpectedCostRule().fit(np.ones((len(y), 1)), position, cost, weights)
            self.cost_, self.classes_ = cost, classes
            return self
        plan = plan_rows(
            learner,
            X,
            y,
            data="cv",
            cv=given.cv,
            holdout_size=0.0,
            random_state=None,
            split_params=split_params,
        )
        problem = Problem(y, classes, np.arange(len(y)), plan)
        (trained,) = train_all(
            learner,
            X,
            [problem],
            fit_params=learner_params,
            method="predict_proba",
            n_jobs=check_n_jobs(self.n_jobs),
        )
        rows = trained.rows
        self.rule_ = rule.fit(
            trained.scores, position[rows], cost, None if weights is None else weights[rows]
        )
        self.estimator_, self.cost_, self.classes_ = trained.estimator, cost, classes
        return self

    def predict_proba(self, X: Any) -> Float64Array:
        """Give the probability of every class, whatever the costs.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        X = self._read_new(X)
        if len(self.classes_) == 1:
            return np.ones((X.shape[0] if hasattr(X, "shape") else len(X), 1))
        return class_probabilities(self.estimator_, X, self.classes_)

    def predict(self, X: Any) -> Array:
        """Give the decision of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of decisions that cost the same the first in `classes_`.
        """
        proba = self.predict_proba(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(proba))
        return np.asarray(self.classes_[self.rule_.decide(proba)])

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who may be given which metadata.

        Returns
        -------
        MetadataRouter
            The learner's `fit` and the splitter's `split` are reached from `fit`.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._learner(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _learner(self) -> Any:
        """What estimates the probabilities: the learner, calibrated if that is wanted."""
        check_scored(self.estimator)
        if self.calibrator is None:
            if not hasattr(self.estimator, "predict_proba"):
                raise ParameterError(
                    f"estimator must have predict_proba; {type(self.estimator).__name__} has none; pass "
                    f"calibrator={DEFAULT!r} to make probabilities of its scores"
                )
            return self.estimator
        calibrator_of_kind(self.calibrator, "probability")
        rows_are_given = not hasattr(self.cv, "split") and isinstance(self.cv, Iterable)
        folds = {} if rows_are_given else {"cv": self.cv}
        learner = CalibratedClassifier(self.estimator, self.calibrator, **folds)
        if get_config()["enable_metadata_routing"]:
            learner.set_fit_request(sample_weight=True)
        return learner

    def _classes_of(self, y: Array) -> Array:
        if isinstance(self.estimator, FrozenEstimator):
            return np.asarray(self.estimator.classes_)
        return distinct_labels(y)


def _are_named(cost: Any) -> bool:
    """Whether costs are found by the labels of the classes, or made for them."""
    return isinstance(cost, str | Mapping) or callable(cost) or hasattr(cost, "columns")


def class_probabilities(estimator: Any, X: Any, classes: Array) -> Float64Array:
    """Probabilities by a fitted learner in the columns of all classes, 0 for those that it does not know."""
    return score(estimator, X, "predict_proba", classes)[0]
