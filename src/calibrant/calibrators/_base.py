"""What every calibrator has, whatever scores it takes; and the protocol for those of others."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Array, BoolArray, Float64Array
from calibrant._core._checks import (
    check_class_labels,
    check_not_empty,
    check_same_length,
    check_score_matrix,
    check_weights,
    labels_of_columns,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._estimator import Estimator, clone
from calibrant._core._kinds import Saved
from calibrant._core._names import NamedColumns
from calibrant._core._predictions import PredictsScores
from calibrant.calibrators._registry import METHODS
from calibrant.metrics import Direction

if TYPE_CHECKING:
    from calibrant.passes import Plan, Reading, Rows

#: One score per row; one per class; or one per column of a code.
Takes = Literal["score", "row", "columns"]


class Calibrator(Protocol):
    """Whatever can calibrate scores: also an object of a user's own.

    One that takes all scores of a row, and not a single one, says so by an attribute ``takes = "row"``.
    """

    classes_: Array

    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from scores and labels."""

    def predict_proba(self, scores: Any) -> Float64Array:
        """Give the probability of every class."""


class CalibratorBase(Saved, NamedColumns, PredictsScores, Estimator, ABC):
    """Base of all calibrators of this package."""

    takes: Takes
    classes_: Array

    @abstractmethod
    def fit(self, scores: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scores and labels."""

    @abstractmethod
    def predict_proba(self, scores: Any) -> Float64Array:
        """Give the probability of every class."""

    @abstractmethod
    def fit_rows(self, rows: "Rows", classes: Array, known: BoolArray | None = None) -> Self:
        """Learn from checked rows of positive weight.

        Parameters
        ----------
        rows : Rows
            The rows, with one score, or with as many as the calibrator takes.
        classes : ndarray of shape (k,)
            The labels.
        known : ndarray of bool of the shape of the scores, optional
            False where a row has no such score.

        Returns
        -------
        Self
            The fitted calibrator.
        """

    @abstractmethod
    def fit_copies(self, parts: "Sequence[Rows]", classes: Array) -> list[Self]:
        """Fit a copy to each of several parts of the rows, all side by side.

        Parameters
        ----------
        parts : sequence of Rows
            Checked rows of positive weight.
        classes : ndarray of shape (k,)
            The labels.

        Returns
        -------
        list
            The fitted copies.
        """

    @abstractmethod
    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probability of every class for scores that were checked.

        Parameters
        ----------
        scores : ndarray
            Scores in the order of the calibrator.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`.
        """

    @staticmethod
    def proba_of_copies(copies: "Sequence[Any]", parts: "Sequence[Rows]") -> list[Float64Array]:
        """Give the probabilities of several parts of checked rows, of each by a copy of its own.

        Parameters
        ----------
        copies : sequence of calibrators
            Fitted copies of one calibrator.
        parts : sequence of Rows
            Rows with scores in the order of the calibrator.

        Returns
        -------
        list of ndarray
            Probabilities of every part.
        """
        return [each.proba_of(part.scores) for each, part in zip(copies, parts, strict=True)]

    @abstractmethod
    def plan(self, classes: Array, reading: "Reading") -> "Plan[Self]":
        """The plan of the same fit on rows that are read in passes.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels.
        reading : Reading
            The rows.

        Returns
        -------
        Self
            The fitted calibrator.
        """

    def _read_rows(
        self, scores: object, y: object, sample_weight: object, classes: Sequence[object] | None
    ) -> "tuple[Rows, Array]":
        """Rows with one score per class, checked; those of weight zero are absent. And the labels."""
        matrix = check_score_matrix(scores)
        check_not_empty(len(matrix))
        labels = labels_of_columns(classes, y, matrix.shape[1])
        position = check_class_labels(y, matrix.shape[1], labels)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        matrix = self._learn_columns(scores, matrix, labels)
        return passes.Rows(matrix, position, weights).present(), labels

    def check_parameters(self) -> None:
        """Refuse options that cannot be."""

    @property
    def n_scores(self) -> int:
        """How many scores a row has, after the fit."""
        return 1 if self.takes == "score" else len(self.classes_)

    def labels_of_columns(self, classes: Array) -> Array | None:
        """Give the labels that name the columns of scores.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels of the classes.

        Returns
        -------
        ndarray of shape (k,) or None
            The classes, where every column is that of a class, a single one that of the second; else None.
        """
        return classes

    @property
    def takes_probabilities(self) -> bool:
        """Whether scores must lie in [0, 1], and not only be finite."""
        return False

    def directions(self) -> list[Direction]:
        """Give which way every score ranks its classes, where that was looked at.

        Returns
        -------
        list of Direction
            One for every map that was fitted.
        """
        return []

    @property
    def can_only_rise(self) -> bool:
        """Whether nothing is made of a score that points the wrong way."""
        return False


def takes_of(calibrator: object) -> Takes:
    """What scores a calibrator takes; one that does not say takes a single score."""
    takes: Takes = getattr(calibrator, "takes", "score")
    return takes


def as_taken(calibrator: object, scores: Any) -> Any:
    """The scores in the form that a calibrator takes: a single column of a matrix is one score per row."""
    alone = isinstance(scores, np.ndarray) and scores.ndim == 2 and takes_of(calibrator) == "score"
    return scores[:, 0] if alone and scores.shape[1] == 1 else scores


def n_scores_of(calibrator: Calibrator) -> int:
    """How many scores a row has for a fitted calibrator."""
    if isinstance(calibrator, CalibratorBase):
        return calibrator.n_scores
    return 1 if takes_of(calibrator) == "score" else len(calibrator.classes_)


def needs_probabilities(calibrator: object) -> bool:
    """Whether a calibrator, or the method of a name, takes no margins."""
    if isinstance(calibrator, str):
        return calibrator in METHODS and "margin" not in METHODS[calibrator].kinds
    return bool(getattr(calibrator, "takes_probabilities", False))


def check_columns(sample: "Rows", wanted: int, what: str) -> None:
    """Refuse rows with another number of scores."""
    n_rows, n_columns = sample.scores.shape if sample.scores.ndim == 2 else (len(sample.scores), 1)
    if n_rows and n_columns != wanted:
        raise DataError(f"scores must have one column per {what}, {wanted} in all; got {n_columns} columns")


def fit_rows(
    calibrator: Calibrator, rows: "Rows", classes: Array, known: BoolArray | None = None
) -> Calibrator:
    """Fit a calibrator, of ours or not, to checked rows, without a word about the direction of the scores."""
    if rows.weight is not None and not rows.weight.all():
        known = None if known is None else known[rows.weight > 0]
        rows = rows.present()
    if isinstance(calibrator, CalibratorBase):
        calibrator.check_parameters()
        return calibrator.fit_rows(rows, classes, known)
    if known is not None and not known.all():
        raise ParameterError(
            "every row must have all scores for a calibrator of one's own; some have not; use folds whose "
            "training parts hold every class"
        )
    one = takes_of(calibrator) == "score"
    calibrator.fit(rows.scores, rows.truth == 1 if one else rows.truth, rows.weight)
    if not one:
        _check_answers(calibrator, rows, classes)
        calibrator.classes_ = classes
    return calibrator


def fit_copies(calibrator: Calibrator, parts: "Sequence[Rows]", classes: Array) -> "list[Calibrator]":
    """Fit a copy of an unfitted calibrator, of ours or not, to each of several parts of checked rows."""
    if isinstance(calibrator, CalibratorBase):
        calibrator.check_parameters()
        copies: list[Any] = calibrator.fit_copies(parts, classes)
        return copies
    return [fit_rows(clone(calibrator), part, classes) for part in parts]


def proba_of(calibrator: Calibrator, scores: Any) -> Float64Array:
    """Give the probabilities for checked scores, by a calibrator of ours or of others."""
    if isinstance(calibrator, CalibratorBase):
        return calibrator.proba_of(scores)
    return np.asarray(calibrator.predict_proba(scores))


def proba_of_copies(copies: "Sequence[Calibrator]", parts: "Sequence[Rows]") -> list[Float64Array]:
    """Give the probabilities of several parts of checked rows, of each by a copy of one calibrator."""
    first = copies[0]
    if isinstance(first, CalibratorBase):
        return first.proba_of_copies(copies, parts)
    return [np.asarray(each.predict_proba(part.scores)) for each, part in zip(copies, parts, strict=True)]


def _check_answers(calibrator: Calibrator, rows: "Rows", classes: Array) -> None:
    shape = calibrator.predict_proba(rows.scores[:1]).shape
    if shape != (1, len(classes)):
        raise DataError(
            f"a calibrator of {len(classes)} classes must give a row so many probabilities; "
            f"{type(calibrator).__name__} gave an array of shape {shape} for one row"
        )


def fit_plan(calibrator: Calibrator, classes: Array, reading: "Reading") -> "Plan[Any]":
    """The plan of a calibrator of this package, which is fitted in place."""
    if not isinstance(calibrator, CalibratorBase):
        raise ParameterError(
            "calibrator must be a method of the registry to be fitted in passes; got "
            f"{type(calibrator).__name__}; fit it on rows in memory, or make it a ScoreCalibrator or "
            "RowCalibrator"
        )
    calibrator.check_parameters()  # before any row is read
    return calibrator.plan(classes, reading)
