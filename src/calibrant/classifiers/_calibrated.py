"""A learner with calibrated probabilities."""

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._checks import check_n_jobs, check_option, positions_of
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._fitted import check_fitted
from calibrant._core._hints import arguments_told
from calibrant._core._predictions import PredictsLogs
from calibrant.calibrators import (
    DEFAULT,
    Calibrator,
    CodeCalibrator,
    GroupEffects,
    Grouping,
    JointCalibrator,
    ScoreKind,
    calibrator_for,
    calibrator_of_kind,
    cross_fitted_effects,
    fit_rows,
    in_groups,
    is_auto,
    names_taking,
    needs_probabilities,
    report_of,
    takes_of,
    warn_of_direction,
)
from calibrant.classifiers._given import read_given, read_new
from calibrant.classifiers._kernels import tags_of_learner
from calibrant.classifiers._routing import route_metadata
from calibrant.classifiers._rows import plan_rows
from calibrant.classifiers._scores import (
    METHODS,
    check_scored,
    choose_method,
    hint_at_unused_probabilities,
    kind_of,
    score,
)
from calibrant.classifiers._training import (
    SIDES,
    Problem,
    Trained,
    TrainingOptions,
    fit_or_constant,
    train_all,
    whole_rows,
)
from calibrant.codes import binary_problems, check_code, check_combiner
from calibrant.passes import Cases, Rows


class CalibratedClassifier(PredictsLogs, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrap a learner so that its probabilities are calibrated.

    The learner's scores are calibrated on rows that it was not trained on, and the learner is then
    trained once more on all rows. Two classes need one score. With more classes, either the learner's own
    score of every class is calibrated, or the problem is split into two-class problems by a code matrix,
    each with a copy of the learner; then the calibrated answers are combined into one distribution.

    Parameters
    ----------
    estimator : object
        A classifier with `decision_function` or `predict_proba`; a pipeline is one too. A
        `sklearn.frozen.FrozenEstimator` is calibrated on the given rows without being trained again.
    calibrator : str or object, default="auto"
        How scores become probabilities. "auto" is the stack of all scores of a row.
        Or the name of a method of `calibrant.calibrators.METHODS`, or an object. One that takes a single
        score is fitted to every column of a code, from the rows of its classes; one that takes all of a row
        learns the classes from the scores of all columns.
    code : {None, "one_vs_all", "all_pairs", "exhaustive", "ordinal", "random_dense", "random_sparse"} or \
            array-like of shape (k, l), default=None
        How more than two classes become two-class problems. None takes the learner's own score of every
        class. A code matrix has one row per class and one column per two-class problem: the classes with
        +1 against those with -1, the classes with 0 taking no part.
    combine : {"normalize", "least_squares", "coupling"} or object, optional
        How the calibrated answers for more than two classes become one distribution. "normalize" is for
        one answer per class, that is for ``code=None`` and "one_vs_all". None is what suits the code, see
        `calibrant.codes.combination_for`. With "auto" it makes a calibrator of every column.
    cv : int, splitter or iterable, default=5
        The folds that give out-of-fold scores, as in scikit-learn.
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors.
    data : {"cv", "train", "holdout"}, default="cv"
        Which scores the calibrator learns from: those out of fold, the learner then being trained on
        all rows; those of the training rows themselves, for learners that do not overfit, such as naive
        Bayes; or those of a part held out from training.
    holdout_size : float, default=1/3
        The share of rows held out when ``data="holdout"``.
    response_method : {"auto", "decision_function", "predict_proba", "log_odds"}, default="auto"
        Which score is calibrated. "auto" takes the margin if the learner has one, else the probability.
        "log_odds" takes the log-odds of `predict_log_proba`, which keep their order where naive Bayes
        presses its probabilities against 0 and 1.
    random_state : int, RandomState instance or None, default=None
        Which rows are held out when ``data="holdout"``, and which matrix a random code is.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    code_ : ndarray of shape (k, l) or None
        The code matrix; None where the learner's own scores are used.
    estimator_ : object
        The learner that scores new rows. Only without a code.
    calibrator_ : object
        The calibrator of the scores: a two-class one, one that takes a score per class, or with a code a
        `CodeCalibrator`; None for a single class.
    report_ : str
        A line that says what was taken, and why.
    response_method_ : str
        The score that was used. Only without a code.
    columns_ : list
        The learner of every column of the code, with the score that is used; None for a column with rows on
        one side only. Only with a code.
    n_features_in_ : int
        Number of features, where X has columns.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    OneVsAllCalibrator : The same for people who have a matrix of scores and no learner.

    Notes
    -----
    A class that is missing from the training part of a fold keeps its place: the rows scored by that
    fold take no part in calibrating it. With two classes such a fold is an error. A column of a code
    learns from the rows of its own classes and answers for every row; a column with rows on one side only
    gives the constant answer ``(N+ + 1)/(N + 2)``.

    If y holds a single class, nothing can be learned, and its probability is 1 everywhere, with a code too.
    A learner that refuses a single class is replaced by that class.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    Naive Bayes is over-confident; calibration nearly halves its squared error here:

    >>> from calibrant import CalibratedClassifier
    >>> from calibrant.metrics import brier_score
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> raw = GaussianNB().fit(X[::2], y[::2]).predict_proba(X[1::2])
    >>> model = CalibratedClassifier(GaussianNB(), response_method="log_odds")
    >>> calibrated = model.fit(X[::2], y[::2]).predict_proba(X[1::2])
    >>> round(brier_score(y[1::2], raw), 2), round(brier_score(y[1::2], calibrated), 2)
    (0.42, 0.23)
    """

    @arguments_told(
        method="the method of calibration is calibrator=, by the same names",
        base_estimator="the learner is estimator=, the first argument",
        ensemble="leave it out: there is one learner, trained on all rows, and its scores are calibrated out "
        "of fold",
    )
    def __init__(
        self,
        estimator: Any,
        calibrator: object = DEFAULT,
        code: object = None,
        combine: object = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        data: Literal["cv", "train", "holdout"] = "cv",
        holdout_size: float = 1 / 3,
        response_method: Literal["auto", "decision_function", "predict_proba", "log_odds"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.calibrator = calibrator
        self.code = code
        self.combine = combine
        self.cv = cv
        self.n_jobs = n_jobs
        self.data = data
        self.holdout_size = holdout_size
        self.response_method = response_method
        self.random_state = random_state

    @property
    def report_(self) -> str:
        """What was taken, and why, in one line."""
        if self.calibrator_ is None:
            return "nothing was taken, as there is one class alone"
        return report_of(self.calibrator, self.calibrator_, self.combine)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, by: Any = None, **fit_params: Any) -> Self:
        """Train the learner and calibrate it.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows, in whatever form the learner takes them.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, for the calibration and for the learner if it takes them.
        by : array-like of shape (n,), optional
            Groups of rows, such as regions, whose probabilities may differ: each gets a correction of its
            own, shrunk toward none, as by `ScoreModel.fit`. The learner does not see them.
        **fit_params : dict
            Passed to the learner's `fit`; with metadata routing, to whoever requested it.

        Returns
        -------
        Self
            The fitted classifier.
        """
        check_option("response_method", self.response_method, METHODS)
        calibrator_of_kind(self.calibrator, "probability")  # which all methods take
        if self.combine is not None:
            check_combiner(self.combine)
        check_scored(self.estimator)
        hint_at_unused_probabilities(self.estimator, self._response())
        given = read_given(self, X, y, sample_weight, fit_params, self.cv)
        grouping = None if by is None else Grouping.read(by, len(y))
        if grouping is not None and sample_weight is not None:
            grouping = grouping.take(np.asarray(sample_weight) > 0)
        X, y, weights = given.X, given.y, given.weights
        self.groups_: GroupEffects | None = None
        classes = self._classes_of(y)
        position = positions_of(y, classes)
        learner_params, split_params = route_metadata(
            self, self.estimator, weights, given.fit_params, cv=given.cv, otherwise_for="calibration"
        )
        if len(classes) == 1:
            self.response_method_ = choose_method(self.estimator, self.response_method)
            self.estimator_ = fit_or_constant(clone(self.estimator), X, None, y, learner_params)
            self.calibrator_: Any = None
            self.code_: Array | None = None
            self.classes_ = classes
            return self
        plan = plan_rows(
            self.estimator,
            X,
            y,
            data=self.data,
            cv=given.cv,
            holdout_size=self.holdout_size,
            random_state=self.random_state,
            split_params=split_params,
        )
        how: TrainingOptions = {
            "fit_params": learner_params,
            "method": self._response(),
            "n_jobs": check_n_jobs(self.n_jobs),
        }
        if self.code is None or len(classes) == 2:
            problem = Problem(y, classes, np.arange(len(y)), plan)
            (trained,) = train_all(self.estimator, X, [problem], **how)
            self.calibrator_ = self._calibrate(trained, position, weights, classes, grouping)
            self.estimator_, self.response_method_ = trained.estimator, trained.method
            self.code_ = None
        else:
            self._fit_columns(X, position, weights, classes, plan, how, grouping)
        warn_of_direction(self.calibrator_, len(plan.splits))
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any, by: Any = None) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.
        by : array-like of shape (n,), optional
            The groups of the rows; without them, all rows have the common probabilities.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        X = read_new(self, X)
        if len(self.classes_) == 1:
            return np.ones((X.shape[0] if hasattr(X, "shape") else len(X), 1))
        proba = np.asarray(self.calibrator_.predict_proba(self._scores_of(X)))
        return in_groups(proba, self.groups_, by)

    def predict(self, X: Any) -> Array:
        """Give the most probable class of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels; of equally probable ones the first in `classes_`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def learner_scores(self, X: Any) -> Float64Array:
        """Give the scores that are calibrated: what the model of `to_score_model` takes.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Returns
        -------
        ndarray of shape (n,), (n, k) or (n, l)
            The score of the second of two classes, or one per class, or with a code one per column of it.
        """
        X = read_new(self, X)
        if self.calibrator_ is None:
            raise DataError("there must be two classes to have scores that are calibrated; got one")
        return self._scores_of(X)

    def to_score_model(self) -> Any:
        """Give the calibration without the learner, as a model that `calibrant.save` saves.

        Returns
        -------
        ScoreModel
            From the learner's scores to the same probabilities, with the same labels.

        See Also
        --------
        learner_scores : What it takes.
        calibrant.export : The same as ONNX, SQL or Python.

        Notes
        -----
        The learner itself is saved by the means of its own library. There is one, also after several folds:
        those learners have given the scores to calibrate on, and then a last one was trained on all rows.

        Examples
        --------
        >>> import numpy as np
        >>> from calibrant import CalibratedClassifier
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import LinearSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = CalibratedClassifier(LinearSVC()).fit(X, y)
        >>> model = classifier.to_score_model()
        >>> np.array_equal(
        ...     model.predict_proba(classifier.estimator_.decision_function(X)), classifier.predict_proba(X)
        ... )
        True
        """
        from calibrant import ScoreModel  # noqa: PLC0415  (it lives in a room that stands on this one)

        check_fitted(self, "classes_")
        if self.calibrator_ is None:
            raise DataError("there must be two classes to have a model of their scores; got one")
        models: Any = ScoreModel
        model = models.from_fitted(self.calibrator_, classes=self.classes_)
        model.groups_ = self.groups_
        kind = self._kind_of_columns() if self.code_ is not None else kind_of(self.response_method_)
        return model.set_params(kind=kind)

    def get_metadata_routing(self) -> MetadataRouter:
        """Say who may be given which metadata.

        Returns
        -------
        MetadataRouter
            The learner's `fit` and the splitter's `split` are reached from `fit`.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return tags_of_learner(tags, self.estimator)

    def _response(self) -> str:
        """The score that is wanted: that of a calibrator of probabilities is one."""
        if not needs_probabilities(self.calibrator):
            return self.response_method
        if self.response_method in ("auto", "predict_proba") and hasattr(self.estimator, "predict_proba"):
            return "predict_proba"
        came = (
            f"{type(self.estimator).__name__}, which has margins alone"
            if self.response_method in ("auto", "predict_proba")
            else f"response_method={self.response_method!r}"
        )
        names = ", ".join(map(repr, names_taking("score", kind="margin")))
        raise ParameterError(
            f"calibrator={self.calibrator!r} needs a learner with predict_proba, and its probabilities; got "
            f"{came}; use a calibrator that takes margins, one of {names}, or response_method='auto'"
        )

    def _classes_of(self, y: Array) -> Array:
        if isinstance(self.estimator, FrozenEstimator):
            return np.asarray(self.estimator.classes_)
        return np.unique(y)

    def _fit_columns(
        self,
        X: Any,
        position: Array,
        weights: Float64Array | None,
        classes: Array,
        plan: Any,
        how: TrainingOptions,
        grouping: Grouping | None,
    ) -> None:
        """Train a learner for every column of the code, and calibrate them."""
        code = check_code(self.code, len(classes), random_state=self.random_state)
        sides = binary_problems(code, position, weights)
        columns = [Problem.of_column(side, plan, len(position)) for side in sides]
        whole = whole_rows(columns)
        planned = self._for_columns(code, "probability", whole is not None)
        if isinstance(planned, CodeCalibrator):
            if takes_of(planned.calibrator) != "score":
                raise ParameterError(
                    "calibrator must take one score for the columns of a code; "
                    f"got {self.calibrator!r}, which takes one per class; use code=None"
                )
            if grouping is not None:
                raise ParameterError(
                    "by must come with scores that all rows have; got a calibrator for every column of a "
                    "code, which has rows of its own; use code=None, or calibrator='auto'"
                )
            # A combination that cannot take this code says so now, and not after the training.
            check_combiner(planned.combine)(code, np.full((1, code.shape[1]), 0.5))
            problems = [column.of_own_rows() for column in columns]
        elif whole is None:
            raise DataError(
                f"every class must have rows in several folds for calibrator={self.calibrator!r}, which "
                "needs the scores of all columns of the code; got one that has not; use more rows, or a "
                "calibrator of one score, for every column by itself"
            )
        else:
            problems = list(whole)
        trainable = [problem for problem in problems if problem is not None]
        results = iter(train_all(self.estimator, X, trainable, **how))
        self.columns_ = [None if problem is None else next(results) for problem in problems]
        calibrator = self._for_columns(code, self._kind_of_columns(), whole is not None)
        self.calibrator_ = (
            self._calibrate_columns(calibrator, problems, position, weights, classes)
            if isinstance(calibrator, CodeCalibrator)
            else self._calibrate_jointly(calibrator, position, weights, classes, grouping)
        )
        self.code_ = code

    def _calibrate(
        self,
        trained: Trained,
        position: Array,
        weights: Float64Array | None,
        classes: Array,
        grouping: Grouping | None,
    ) -> Calibrator:
        kind = kind_of(trained.method)
        chosen = self._named(kind)
        # One score says all of two classes.
        alone = is_auto(chosen) or isinstance(chosen, JointCalibrator) or takes_of(chosen) == "score"
        single = len(classes) == 2 and alone
        whole = bool(trained.known.all(axis=1).any())
        calibrator = calibrator_for(chosen, 1 if single else 2, None, self.combine, kind, whole_rows=whole)
        weight = None if weights is None else weights[trained.rows]
        scores = trained.scores[:, 1] if single else trained.scores
        rows = Rows(scores, position[trained.rows], weight)
        fitted: Calibrator = fit_rows(calibrator, rows, classes, None if single else trained.known)
        if grouping is not None:
            own = grouping.take(trained.rows)
            self.groups_ = cross_fitted_effects(
                calibrator, rows, classes, own, None if single else trained.known
            )
        fitted.classes_ = classes  # one of the user's own has seen only which rows are of the second
        return fitted

    def _calibrate_columns(
        self,
        calibrator: CodeCalibrator,
        problems: list[Any],
        position: Array,
        weights: Float64Array | None,
        classes: Array,
    ) -> Calibrator:
        """Every column by itself."""
        columns = zip(self.columns_, problems, strict=True)
        return calibrator.fit_columns(
            [None if each is None else self._cases(each, problem, weights) for each, problem in columns],
            np.bincount(position, weights, len(classes)).astype(np.float64),
            classes,
        )

    def _calibrate_jointly(
        self,
        calibrator: Calibrator,
        position: Array,
        weights: Float64Array | None,
        classes: Array,
        grouping: Grouping | None,
    ) -> Calibrator:
        """All columns of a row together."""
        trained: list[Any] = self.columns_
        kept = trained[0].rows
        scores = np.column_stack([each.scores[:, 1] for each in trained])
        rows = Rows(scores, position[kept], None if weights is None else weights[kept])
        if grouping is not None:
            self.groups_ = cross_fitted_effects(calibrator, rows, classes, grouping.take(kept))
        return fit_rows(calibrator, rows, classes)

    def _named(self, kind: ScoreKind) -> Any:
        """The unfitted calibrator of a name, or "auto", which depends on the form of the scores."""
        return self.calibrator if is_auto(self.calibrator) else calibrator_of_kind(self.calibrator, kind)

    def _for_columns(self, code: Array, kind: ScoreKind, whole: bool) -> Any:
        """The unfitted calibrator of the scores of a code."""
        return calibrator_for(self._named(kind), 2, code, self.combine, kind, whole_rows=whole)

    def _kind_of_columns(self) -> ScoreKind:
        """What the scores of the columns of a code are: the same learner gives all of them."""
        return next((kind_of(each.method) for each in self.columns_ if each is not None), "margin")

    def _scores_of(self, X: Any) -> Float64Array:
        """The scores of checked rows, as the calibrator takes them."""
        if self.code_ is not None:
            return self._scores_of_columns(X)
        scores, _ = score(self.estimator_, X, self.response_method_, self.classes_)
        return self._scores_for(self.calibrator_, scores)

    def _scores_for(self, calibrator: Calibrator, scores: Float64Array) -> Float64Array:
        """What a calibrator takes: the score of every class, or with two classes that of the second."""
        return scores[:, 1] if takes_of(calibrator) == "score" else scores

    def _cases(self, trained: Trained, problem: Any, weights: Float64Array | None) -> Cases:
        """The rows that the learner of a column has scored out of its training."""
        cases = Cases(trained.scores[:, 1], problem.y[trained.rows] == 1, None)
        return cases if weights is None else cases.weighted(weights[trained.rows])

    def _scores_of_columns(self, X: Any) -> Float64Array:
        """One score for every column of the code; any for a column that answers a constant."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        scores = np.zeros((n_rows, len(self.columns_)))
        for column, trained in enumerate(self.columns_):
            if trained is not None:
                scores[:, column] = score(trained.estimator, X, trained.method, SIDES)[0][:, 1]
        return scores
