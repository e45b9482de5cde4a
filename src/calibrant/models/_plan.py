"""The plan of a whole model: the fit to all rows, beside fits that leave out the rows that it is measured on.

The plan is one, wherever the rows are. Who answers it is `Arrays`, of rows in memory, or `Passes`, of rows
that are read again and again, in this process or on a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._chance import Seed
from calibrant._core._estimator import clone
from calibrant._core._folds import stratified_folds
from calibrant._core._quiet import without_convergence_warnings
from calibrant.calibrators import Calibrator, fit_copies, fit_plan, fit_rows, proba_of, proba_of_copies
from calibrant.models._forecast import CrossFitForecast, ForecastHere
from calibrant.passes import (
    ClassCounts,
    Fold,
    NoRowsError,
    PassOptions,
    Plan,
    Reading,
    Rows,
    Sample,
    TakeSample,
    count_classes,
    run_plan,
    together,
)

T = TypeVar("T")
#: Folds that the rows are measured in; above so many scores only one fold is, of at most so many rows.
N_FOLDS, MANY_SCORES, MOST_HELD_OUT = 5, 500_000, 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Probabilities of rows by calibrators that were not fitted to them.

    Attributes
    ----------
    rows : Rows
        The rows.
    proba : ndarray of shape (m, k)
        Their probabilities.
    fold : ndarray of shape (m,)
        The fold that every row is in.
    n_folds : int
        How many calibrators there were; 0 where there were too few rows to leave any out.
    calibrator : object or None
        The calibrator, if there was one.
    """

    rows: Rows
    proba: Float64Array
    fold: IntArray
    n_folds: int
    calibrator: Calibrator | None = None

    def __len__(self) -> int:
        return len(self.proba)

    def with_estimates(self) -> "Predictions":
        """The rows that have probabilities."""
        known = np.logical_not(np.isnan(self.proba).any(axis=1))
        if known.all():
            return self
        return self.take(np.flatnonzero(known))

    def take(self, rows: IntArray) -> "Predictions":
        """Some of the rows, in this order."""
        return replace(self, rows=self.rows.take(rows), proba=self.proba[rows], fold=self.fold[rows])


class Answers(ABC):
    """What a plan of a whole model asks of the rows.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels.
    n_rows : int
        Number of rows with a weight.
    n_scores : int
        Scores of a row.
    """

    classes: Array
    n_rows: int
    n_scores: int

    @property
    def n_dimensions(self) -> int:
        """Whether there is one score per row, of the second of two classes, or several."""
        return 1 if self.n_scores == 1 and len(self.classes) == 2 else 2

    @abstractmethod
    def count(self) -> Plan[Float64Array]:
        """Total weight of every class."""

    @abstractmethod
    def fit(self, calibrator: Calibrator) -> Plan[Any]:
        """Fit a calibrator to all rows."""

    @abstractmethod
    def inside(self, fold: Fold | None) -> Plan[Rows]:
        """The rows of a fold, or of many of them a part."""

    @abstractmethod
    def judge(self, calibrator: Calibrator, folds: Sequence[Fold]) -> Plan[Predictions]:
        """Judge the rows of every fold by a copy that is fitted to the others."""

    @abstractmethod
    def ask(self, calibrator: Calibrator, plan: Callable[[Any], Plan[T]]) -> Plan[T]:
        """Run a plan that needs what gives rows their probabilities by a calibrator."""

    @abstractmethod
    def together(self, plans: Sequence[Plan[Any]]) -> Plan[list[Any]]:
        """Answer several plans at once."""


class Arrays(Answers):
    """Rows in memory, which answer at once.

    Parameters
    ----------
    rows : Rows
        All rows, `dealt` into folds, with their classes.
    """

    def __init__(self, rows: Rows) -> None:
        assert rows.classes is not None
        self.rows, self.classes, self.n_rows = rows, rows.classes, len(rows.truth)
        self.n_scores = rows.scores.shape[1] if rows.scores.ndim == 2 else 1

    def count(self) -> Plan[Float64Array]:
        """Count them."""
        return np.bincount(self.rows.truth, self.rows.weight, len(self.classes)).astype(np.float64)
        yield

    def fit(self, calibrator: Calibrator) -> Plan[Any]:
        """Fit at once."""
        return fit_rows(calibrator, self.rows, self.classes)
        yield

    def inside(self, fold: Fold | None) -> Plan[Rows]:
        """They are there."""
        return self.rows.inside(fold)
        yield

    def judge(self, calibrator: Calibrator, folds: Sequence[Fold]) -> Plan[Predictions]:
        """At once; what a fit to a part warns of, the fit to all rows says too."""
        if not folds:
            return _none(self.classes)
        parts = [(self.rows.outside(fold), self.rows.inside(fold)) for fold in folds]
        others, own = zip(*parts, strict=True)
        number = self.rows.folds(folds[0].n_folds)
        with without_convergence_warnings():
            fitted = fit_copies(calibrator, others, self.classes)
        answers = proba_of_copies(fitted, own)
        if len(folds) == 1:
            judged, number = own[0], number[number == folds[0].number]
        else:
            judged = replace(self.rows)  # without what was cut out of them
        proba = np.empty((len(number), len(self.classes)))
        for fold, answer in zip(folds, answers, strict=True):
            proba[number == fold.number] = answer
        return Predictions(judged, proba, number, len(folds), fitted[0] if len(folds) == 1 else None)
        yield

    def ask(self, calibrator: Calibrator, plan: Callable[[Any], Plan[T]]) -> Plan[T]:
        """Its passes are over one batch."""
        return run_plan(plan(ForecastHere(calibrator)), lambda: [self.rows])
        yield

    def together(self, plans: Sequence[Plan[Any]]) -> Plan[list[Any]]:
        """One after the other."""
        return [answered(plan) for plan in plans]
        yield


class Passes(Answers):
    """Rows that are read in passes.

    Parameters
    ----------
    sample : Rows
        Some of them.
    options : PassOptions
        How much memory may be used.
    n_rows : int
        Number of rows with a weight, or about so many.
    classes : ndarray of shape (k,)
        The labels.
    grouped : bool
        Whether rows have groups.
    """

    def __init__(
        self, sample: Rows, options: PassOptions, n_rows: int, classes: Array, grouped: bool = False
    ) -> None:
        self._sample, self._options, self._grouped = sample, options, grouped
        self.n_rows, self.classes, self.n_scores = n_rows, classes, sample.scores.shape[1]

    def with_options(self, options: PassOptions) -> "Passes":
        """The same with other bounds of memory."""
        return Passes(self._sample, options, self.n_rows, self.classes, self._grouped)

    def count(self) -> Plan[Float64Array]:
        """Count them in a pass; their number is then known."""
        counts: ClassCounts = yield from count_classes(len(self.classes))
        self.n_rows = counts.n_rows
        return counts.mass

    def fit(self, calibrator: Calibrator, left_out: Fold | None = None) -> Plan[Any]:
        """Ask for passes, to all rows or to those outside of a fold."""
        n_fitted, options = self.n_rows, self._options
        if left_out is not None:
            n_fitted = self.n_rows * int(left_out.others().sum()) // left_out.n_folds
            options = options.at_most(n_fitted)
        return fit_plan(calibrator, self.classes, Reading(self._sample, options, n_fitted, left_out))

    def inside(self, fold: Fold | None) -> Plan[Rows]:
        """Keep them as they are read."""
        kept: Sample = yield TakeSample(MOST_HELD_OUT, fold, self._grouped)
        rows = kept.rows()
        unweighted = rows.weight is None or bool((rows.weight == 1).all())
        return Rows(
            rows.scores[:, 0] if self.n_dimensions == 1 else rows.scores,
            rows.truth,
            None if unweighted else rows.weight,
            rows.keys(),
            self.classes,
            group=rows.group,
        )

    def judge(self, calibrator: Calibrator, folds: Sequence[Fold]) -> Plan[Predictions]:
        """In passes that all folds share."""
        tried = yield from together([self._outside(clone(calibrator), fold) for fold in folds])
        found = [part for part in tried if part is not None]
        if not found:
            return replace(_none(self.classes), n_folds=len(folds))
        return Predictions(
            Rows.joined([part.rows for part in found]),
            np.concatenate([part.proba for part in found]),
            np.concatenate([part.fold for part in found]),
            len(folds),
            found[0].calibrator if len(folds) == 1 else None,
        )

    def _outside(self, calibrator: Calibrator, fold: Fold) -> Plan[Predictions | None]:
        parts: list[Plan[Any]] = [self.fit(calibrator, fold), self.inside(fold)]
        try:
            fitted, judged = yield from together(parts)
        except NoRowsError:  # all of a few rows happened to be of this fold
            return None
        if not len(judged):
            return None
        number = np.full(len(judged), fold.number, dtype=np.intp)
        return Predictions(judged, proba_of(fitted, judged.scores), number, 1, fitted)

    def ask(self, calibrator: Calibrator, plan: Callable[[Any], Plan[T]]) -> Plan[T]:
        """Its passes are ours."""
        return plan(CrossFitForecast.of([calibrator]))

    def together(self, plans: Sequence[Plan[Any]]) -> Plan[list[Any]]:
        """In the same passes."""
        return together(plans)


def look_at(
    classes: Array, options: PassOptions, n_rows: int | None, *, grouped: bool = False
) -> Plan[Passes]:
    """Look at rows that are read in passes: at the first of them, and at their number if it is not known."""
    parts: list[Plan[Any]] = [_sample(), *([count_classes(len(classes))] if n_rows is None else [])]
    sample, *counts = yield from together(parts)
    if len(sample) == 0:
        raise NoRowsError
    return Passes(sample, options, counts[0].n_rows if n_rows is None else n_rows, classes, grouped)


def _sample() -> Plan[Rows]:
    taken: Sample = yield TakeSample()
    return taken.rows()


def answered(plan: Plan[Any]) -> Any:
    """Run a plan of rows in memory, which asks for no pass."""
    try:
        next(plan)
    except StopIteration as end:
        return end.value
    raise AssertionError("rows in memory answer at once")


def folds_for(n_rows: int, n_scores: int) -> list[Fold]:
    """The folds whose rows are left out in turn; none where there are too few rows."""
    if n_rows * n_scores > MANY_SCORES:
        return [Fold(0, max(N_FOLDS, n_rows // MOST_HELD_OUT), N_FOLDS - 1)]
    n_folds = min(N_FOLDS, n_rows)
    return [Fold(number, n_folds) for number in range(n_folds)] if n_folds > 1 else []


def _none(classes: Array) -> Predictions:
    """Of no rows."""
    nothing = np.empty(0, dtype=np.intp)
    none = Rows(np.empty(0), nothing, classes=classes)
    return Predictions(none, np.empty((0, len(classes))), nothing, 0)


def judged_by(calibrator: Calibrator, rows: Answers) -> Plan[Predictions]:
    """Judge rows by a calibrator that was fitted to them, where there are too few to leave any out."""
    judged = yield from rows.inside(None)
    proba = proba_of(calibrator, judged.scores)
    return Predictions(judged, proba, np.zeros(len(proba), dtype=np.intp), 0)


def dealt(rows: Rows, n_folds: int, random_state: Seed) -> Rows:
    """Rows with keys that deal them into `stratified_folds`, each row with a key of its own."""
    fold = stratified_folds(rows.truth, n_folds, random_state).astype(np.uint64)
    key = (fold << np.uint64(32)) | np.arange(len(fold), dtype=np.uint64)
    return replace(rows, key=key)
