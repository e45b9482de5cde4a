"""Probabilities from a classifier that has none, by asking it at many odds."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import validate_data

from calibrant._core._arrays import Array, Float64Array, IntArray, refuse_masked
from calibrant._core._checks import (
    check_binary_labels,
    check_n_jobs,
    check_not_empty,
    check_number,
    check_option,
    distinct_labels,
    is_whole,
    positions_of,
    shown,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._folds import read_folds
from calibrant._core._foreign import errors_as_ours
from calibrant._core._predictions import PredictsLogs
from calibrant.classifiers._chance import entropy_of
from calibrant.classifiers._hard import Lesson, n_rows_of, row_blocks, votes_on
from calibrant.classifiers._importance import choose_weighting
from calibrant.classifiers._kernels import is_pairwise, kernel_columns
from calibrant.classifiers._ladder import HeldOut, LadderBuilder, Plan, Probe
from calibrant.classifiers._minimax import RULES, check_loss, estimates_of
from calibrant.classifiers._probes import ProbeJob
from calibrant.classifiers._rest import LEFT_OUT, MULTICLASS, combine, probed_classes
from calibrant.classifiers._retraining import RetrainingClassifier
from calibrant.classifiers._rows import Given

REFERENCES = ("train", "oof")
#: Fits take different times, so that jobs would often wait for the last of a small batch.
FITS_PER_JOB = 4


class ProbingClassifier(PredictsLogs, RetrainingClassifier):
    """Estimate probabilities with a learner that only says yes or no.

    The learner is trained again and again, each time with another weight on the positive examples, so that
    it answers another question: is the probability of this row above 1/2? above 1/5? The thresholds are
    chosen one by one where they help most, and a row's answers enclose its probability.

    Parameters
    ----------
    estimator : object
        The learner. It needs `fit` and `predict`, nothing else.
    n_probes : int, default=100
        The number of thresholds, and of fits. Often 20 are enough: see `probing_curve`.
    loss : {"cross_entropy", "squared_error"} or object, default="cross_entropy"
        The loss that is to become small. It decides which thresholds are probed, and which number stands for
        an interval.
    weighting : {"auto", "weights", "rejection", "flip"}, default="auto"
        How the learner is told what matters: by `sample_weight`, by a random part of the rows in which they
        are as frequent as they should weigh, or by all rows with some labels exchanged (Halck's noise).
        "auto" takes rejection for decision trees and for learners that take no weights, else weights;
        `weighting_` says which.
    rule : {"regret", "paper"}, default="regret"
        How intervals compare: by the greatest loss that splitting them may save, or as the paper prints it,
        which differs for the squared error only.
    reference : {"train", "oof"} or rows like those of X, default="train"
        The rows that are counted to choose the next threshold. Those of training; or the same, voted on by
        classifiers that were not trained on them, which costs `cv` more fits per probe and suits learners
        that memorise; or other rows, labelled or not, such as those to be predicted (transductive).
    cv : int, splitter or iterable, default=5
        The folds for ``reference="oof"``, as in scikit-learn.
    multiclass : {"symmetric", "clip_renormalise", "raw", "project"}, default="symmetric"
        How more than two classes are treated. "symmetric" probes every class and divides by the sum. With
        the others, of which the paper speaks, all but one class are probed, and the one left out gets what
        the others leave; if that is negative it is set to 0 and the row divided by its sum, or left as it
        is, or the row is replaced by the nearest distribution.
    left_out : {"last", "most_frequent"}, default="last"
        Which class gets what the others leave; nothing is left out with ``multiclass="symmetric"``.
    clip : float, optional
        Keep the estimates within ``[clip, 1 - clip]``.
    n_resamples : int, default=1
        How many classifiers are trained for a threshold and vote, where chance decides what each of them
        sees. It has no effect on a learner that is given weights.
    n_iter_no_change : int, optional
        Stop when the loss on held-out rows has not improved in so many probes. By default none are held out.
    validation_fraction : float, default=0.1
        The share of rows held out for that.
    tol : float, default=1e-4
        What counts as an improvement.
    batch_size : int, optional
        How many classifiers are trained at once; by default four times the number of jobs, if there are
        several. The result does not depend on it: those trained ahead of their turn wait for it.
    n_jobs : int, optional
        Number of fits at a time; -1 uses all processors. The result does not depend on it. The fits run in
        threads; a learner in pure Python gains only from processes, ``joblib.parallel_config("loky")``.
    random_state : int, RandomState instance, Generator or None, default=None
        Decides the samples, and whatever the learner leaves to chance where its own seed is None.
    verbose : int, default=0
        Whether a line about every probe goes to the standard error output.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels.
    ladders_ : list of Ladder
        For every probed class its thresholds, intervals, estimates and counts. With two classes there is one
        ladder, that of the second class.
    classifiers_ : list of list
        For every ladder the classifier of every threshold, in the order of probing.
    weighting_ : {"weights", "rejection", "flip"}
        How the learner was told what matters.
    n_features_in_ : int
        Number of features, where X has columns.
    feature_names_in_ : ndarray
        Names of the features, where X is a frame.

    See Also
    --------
    CalibratedClassifier : Cheaper, for learners that give scores.
    CostingClassifier : The same sampling, for one set of weights and a decision.

    Notes
    -----
    A classifier that minimises the weighted error with weights (1 - p)/p for positives and 1 for negatives
    says "positive" exactly where the probability is above p. So it does with any multiple of these; the one
    taken here has 1 as its greatest, so that a penalty or a prior of the learner stays in force. With
    thresholds 0 = e_0 < e_1 < ... < e_(m+1) = 1, a row that v of the m classifiers call positive is taken to
    lie in [e_v, e_(v+1)]. Its estimate is the number in there with the least possible regret, and the next
    threshold is that number for the interval in which (rows) x (greatest regret) is largest; of equal ones
    the leftmost is taken.

    Theorem 2 of the paper bounds the squared error of the estimates by the excess error of the classifiers,
    for thresholds that are uniformly distributed. The thresholds chosen here are not, so it is a guide, not
    a guarantee.

    A learner that memorises its rows, such as an unpruned tree, gives the same answer at every threshold if
    it is given weights, and all estimates come close to 0 or 1. Rejection shows it other rows each time, and
    serves it far better: on Adult 0.46 bits instead of 3.1. "auto" knows this of scikit-learn's trees; for
    other learners that memorise, such as forests, ask for rejection.

    The estimates take at most ``n_probes + 1`` values, so rankings have ties. With cross entropy they are
    never 0 or 1. Without probes everyone gets 1/2.

    Rows of one class, if its partner is known (0 and 1, False and True, -1 and 1), give estimates that come
    closer to it with every probe; of any other single label the probability is 1.

    A sample that is empty, or has one class only, gives a classifier that always answers with that class (if
    empty, with the weightier one).

    References
    ----------
    J. Langford and B. Zadrozny, "Estimating class membership probabilities using classifier learners",
    AISTATS 2005.

    Examples
    --------
    A perceptron knows no probabilities. Probing gives it some, better than the base rate:

    >>> from calibrant import ProbingClassifier
    >>> from calibrant.metrics import cross_entropy
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import Perceptron
    >>> X, y = make_classification(600, 5, flip_y=0.2, random_state=0)
    >>> model = ProbingClassifier(Perceptron(), n_probes=20, random_state=0).fit(X[:300], y[:300])
    >>> model.weighting_
    'weights'
    >>> base_rate = [y[:300].mean()] * 300
    >>> cross_entropy(y[300:], model.predict_proba(X[300:])) < 0.75 * cross_entropy(y[300:], base_rate)
    True
    """

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        loss: Any = "cross_entropy",
        weighting: Literal["auto", "weights", "rejection", "flip"] = "auto",
        rule: Literal["regret", "paper"] = "regret",
        reference: Any = "train",
        cv: Any = 5,
        multiclass: Literal["symmetric", "clip_renormalise", "raw", "project"] = "symmetric",
        left_out: Literal["last", "most_frequent"] = "last",
        clip: float | None = None,
        n_resamples: int = 1,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        batch_size: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_probes = n_probes
        self.loss = loss
        self.weighting = weighting
        self.rule = rule
        self.reference = reference
        self.cv = cv
        self.multiclass = multiclass
        self.left_out = left_out
        self.clip = clip
        self.n_resamples = n_resamples
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Choose the thresholds and train their classifiers.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows, in whatever form the learner takes them.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows. They multiply the weights of every threshold, and the rows of training count
            by them where intervals are compared; other reference rows count once each.
        **fit_params : dict
            Passed to the learner's `fit`; with metadata routing, if it requested them.

        Returns
        -------
        Self
            The fitted classifier.
        """
        plan = self._plan()
        given = self._read(X, y, sample_weight, fit_params, self.cv)
        weighting = choose_weighting(self.estimator, self.weighting)
        reference = self._read_reference()
        classes = _classes_of(given.y)
        entropy = entropy_of(self.random_state)
        given, held_out = self._hold_out(given, entropy)
        position = positions_of(given.y, classes)
        probed = self._probed_classes(position, given.importance, len(classes))
        folds = self._folds(given)
        reference_weights = given.importance if reference is None else np.ones(n_rows_of(reference))
        fitted = []
        # Many short fits: threads start at once and copy nothing, and most learners work outside the lock.
        with Parallel(n_jobs=check_n_jobs(self.n_jobs), prefer="threads") as parallel:
            for number in probed:
                lesson = Lesson(
                    estimator=self.estimator,
                    X=given.X,
                    position=(position == number).astype(np.intp),
                    labels=classes if len(classes) == 2 else np.array([0, 1]),
                    fit_params=given.fit_params,
                    weighting=weighting,
                )
                job = ProbeJob(
                    lesson=lesson,
                    weights=given.importance,
                    n_resamples=int(self.n_resamples),
                    entropy=(*entropy, int(number)),
                    reference=given.X if reference is None else self._columns_of(reference),
                    folds=folds,
                    held_out=None if held_out is None else held_out.X,
                )
                stopping = self._stopping(held_out, classes[number])
                builder = LadderBuilder(plan, _trainer(parallel, job), reference_weights, stopping)
                fitted.append(builder.build(classes[number], self._tell))
        self.ladders_ = [ladder for ladder, _ in fitted]
        self.classifiers_ = [committees for _, committees in fitted]
        self.weighting_ = weighting
        self.classes_, self._probed, self._loss = classes, probed, plan.loss
        return self

    def predict_proba(self, X: Any) -> Float64Array:
        """Give the probability of every class.

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
        votes = np.zeros((len(self.ladders_), n_rows_of(X)), dtype=np.intp)
        start = 0
        for block in row_blocks(X):
            rows = slice(start, start := start + n_rows_of(block))
            for count, committees in zip(votes, self.classifiers_, strict=True):
                for committee in committees:
                    count[rows] += committee.votes(block)
        return self._distributions(votes, [ladder.estimates for ladder in self.ladders_])

    def staged_predict_proba(self, X: Any) -> Iterator[Float64Array]:
        """Give the probabilities after one probe, after two, and so on.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or list of shape (n, ...)
            The rows.

        Yields
        ------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`. With more than two classes every class has had so many
            probes, or all of its own if these are fewer.
        """
        stages = self._stages(X)
        next(stages)
        yield from stages

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

    def _stages(self, X: Any) -> Iterator[Float64Array]:
        """Probabilities after no probe, after one, after two, and so on."""
        X = self._read_new(X)
        votes = np.zeros((len(self.ladders_), n_rows_of(X)), dtype=np.intp)
        longest = max((len(committees) for committees in self.classifiers_), default=0)
        for stage in range(longest + 1):
            if stage > 0:
                for number, committees in enumerate(self.classifiers_):
                    for committee in committees[stage - 1 : stage]:
                        votes[number] += votes_on(committee, X)
            yield self._distributions(
                votes, [estimates_of(self._loss, ladder.thresholds[:stage]) for ladder in self.ladders_]
            )

    def _distributions(self, votes: IntArray, estimates: list[Float64Array]) -> Float64Array:
        """Probabilities of all classes, from the votes for those that were probed."""
        if len(self.classes_) == 1:
            return np.ones((votes.shape[1], 1))
        answers = np.column_stack(
            [of_interval[count] for of_interval, count in zip(estimates, votes, strict=True)]
        )
        if self.clip is not None:
            answers = np.clip(answers, self.clip, 1 - self.clip)
        if len(self.classes_) == 2:
            return np.hstack([1 - answers, answers])
        return combine(self.multiclass, answers, self._probed)

    def _plan(self) -> Plan:
        """Check the parameters that do not depend on the rows."""
        check_option("rule", self.rule, RULES)
        check_option("multiclass", self.multiclass, MULTICLASS)
        check_option("left_out", self.left_out, LEFT_OUT)
        _check_whole("n_probes", self.n_probes, least=0)
        _check_whole("n_resamples", self.n_resamples, least=1)
        if self.batch_size is not None:
            _check_whole("batch_size", self.batch_size, least=1)
        if self.n_iter_no_change is not None:
            _check_whole("n_iter_no_change", self.n_iter_no_change, least=1)
        check_number(
            "validation_fraction", self.validation_fraction, "a share between 0 and 1", lambda f: 0 < f < 1
        )
        if not isinstance(self.verbose, bool) and not is_whole(self.verbose, 0):
            raise ParameterError(f"verbose must be a whole number, 0 or more; got {shown(self.verbose)}")
        check_number("tol", self.tol, "a number, not negative", lambda tol: tol >= 0)
        if self.clip is not None:
            check_number(
                "clip", self.clip, "None or a number from 0 to below 0.5", lambda eps: 0 <= eps < 0.5
            )
        n_jobs = effective_n_jobs(check_n_jobs(self.n_jobs))
        batch_size = self.batch_size or (1 if n_jobs == 1 else FITS_PER_JOB * n_jobs)
        return Plan(int(self.n_probes), check_loss(self.loss), self.rule, int(batch_size))

    def _read_reference(self) -> Any:
        """Check reference rows; None where they are those of training."""
        if isinstance(self.reference, str) and self.reference in REFERENCES:
            return None
        if isinstance(self.reference, str) or self.reference is None:
            raise ParameterError(
                f"reference must be 'train', 'oof' or rows like those of X; got {self.reference!r}"
            )
        refuse_masked(self.reference, "reference")
        try:
            with errors_as_ours():
                (reference,) = indexable(self.reference)
                validate_data(self, X=reference, reset=False, skip_check_array=True)
        except DataError as error:
            raise DataError(
                f"reference must have the columns of X; {error}; pass rows as they are passed to predict"
            ) from error
        check_not_empty(n_rows_of(reference), "reference")
        return reference

    def _columns_of(self, reference: Any) -> Any:
        """Rows beside those of training; of a kernel only the columns of rows that are trained on."""
        return kernel_columns(reference, self._kept_rows)

    def _probed_classes(self, position: IntArray, weights: Float64Array, n_classes: int) -> IntArray:
        """Which classes get a ladder: with two the second, with one nobody."""
        if n_classes <= 2:
            return np.arange(1, n_classes)
        totals = np.bincount(position, weights, n_classes).astype(np.float64)
        return probed_classes(self.multiclass, self.left_out, totals)

    def _hold_out(self, given: Given, entropy: tuple[int, ...]) -> tuple[Given, Given | None]:
        """Set rows aside to stop by, if so wished."""
        if self.n_iter_no_change is None:
            return given, None
        seed = int(np.random.SeedSequence(entropy).generate_state(1)[0])
        splitter = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=seed)
        try:
            kept, held_out = next(splitter.split(np.zeros(len(given.y)), given.y))
        except ValueError as error:
            raise DataError(
                f"the rows must allow a part of them to be held out; {error}; pass n_iter_no_change=None"
            ) from error
        pairwise = is_pairwise(self.estimator)
        left = given.part(kept, pairwise=pairwise)
        self._kept_rows = left.kept
        apart = given.part(held_out, pairwise=False)
        return left, replace(apart, X=kernel_columns(apart.X, kept if pairwise else None))

    def _stopping(self, held_out: Given | None, positive: object) -> HeldOut:
        if held_out is None:
            return HeldOut(np.zeros(0, dtype=bool), None, patience=None, tol=self.tol)
        return HeldOut(held_out.y == positive, held_out.importance, self.n_iter_no_change, self.tol)

    def _folds(self, given: Given) -> list[tuple[IntArray, IntArray]] | None:
        """The parts for votes out of fold, which must ask about every row once."""
        if not isinstance(self.reference, str) or self.reference != "oof":
            return None
        folds = read_folds(given.cv, given.X, given.y)
        asked = np.bincount(np.concatenate([asked for _, asked in folds]), minlength=len(given.y))
        if len(asked) > len(given.y) or (asked != 1).any():
            row = int(np.argmax(asked != 1))
            raise ParameterError(
                f"cv must test every row exactly once for reference='oof'; row {row} is tested {asked[row]} "
                "times; pass a number of folds, or a splitter such as StratifiedKFold"
            )
        return folds

    def _tell(self, line: str) -> None:
        if self.verbose:
            sys.stderr.write(f"ProbingClassifier: {line}\n")


def _trainer(parallel: Parallel, job: ProbeJob) -> Callable[[list[float]], list[Probe]]:
    """Training for several thresholds side by side."""
    return lambda thresholds: list(parallel(delayed(job.run)(threshold) for threshold in thresholds))


def _check_whole(name: str, value: object, least: int) -> None:
    check_number(name, value, f"a whole number, {least} or more", lambda v: v >= least and v == int(v))


def _classes_of(y: Array) -> Array:
    """The labels; a lone one gets its partner where that is known."""
    found = distinct_labels(y)
    if len(found) > 1:
        return found
    try:
        return check_binary_labels(y)[0]
    except DataError:
        return found
