"""A method: its parameters, what it asks of the rows, and the map that it makes of the answers.

Everything else follows. Registered under its name, a method of one score or of all scores of a row is fitted
on arrays, on the columns of a code, in passes and on Spark, saved and loaded, and written as ONNX.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Array, BoolArray, Float64Array, FloatArray
from calibrant._core._checks import (
    check_binary_labels,
    check_not_empty,
    check_probabilities,
    check_same_length,
    check_score_matrix,
    check_scores,
    check_weights,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._field_groups import Record
from calibrant._core._fitted import all_or_nothing, check_fitted
from calibrant._core._place import Place
from calibrant.calibrators._base import CalibratorBase, check_columns
from calibrant.calibrators._direction import warn_of_direction
from calibrant.calibrators._registry import KINDS, METHODS, ScoreKind
from calibrant.maps import BLOCK, AnyMap, Map
from calibrant.metrics import NO_DIRECTION, Direction, sides_of

if TYPE_CHECKING:
    from calibrant.passes import Cases, Learning, Plan, Reading, Rows, RowsInPasses


class Method(CalibratorBase):
    """Base of `ScoreCalibrator` and `RowCalibrator`.

    A subclass with ``name="..."`` in its head is registered under that name. It declares its `parameters`,
    the arguments of its constructor, and says in `_learn` what it asks and which map it makes.
    """

    fitted: ClassVar[Record | None] = Record(map=AnyMap())
    mark = "map_"
    #: What the scores may be.
    kinds: ClassVar[tuple[ScoreKind, ...]] = KINDS
    #: Of methods that do as well as each other, the one with the least is recommended.
    complexity: ClassVar[float] = math.inf

    map_: Map
    _direction: Direction = NO_DIRECTION

    def __init_subclass__(cls, name: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if name is not None:
            arguments = set(signature(cls).parameters) - {"classes"}
            if arguments != set(cls.parameters.fields):
                raise ParameterError(
                    f"the parameters of {cls.__name__} must be the arguments of its constructor; they differ "
                    f"in {', '.join(sorted(arguments ^ set(cls.parameters.fields)))}; declare all of them"
                )
            cls.name = name
            METHODS.add(name, cls)

    @classmethod
    def for_new_rows(cls, kind: ScoreKind = "margin") -> Self:  # noqa: ARG003
        """Give the method as a comparison tries it, and the command fits it: made fit for new rows.

        Parameters
        ----------
        kind : {"margin", "probability"}, default="margin"
            What the scores are.

        Returns
        -------
        Self
            The unfitted calibrator.
        """
        return cls()

    def directions(self) -> list[Direction]:
        """Give which way the score ranks the classes."""
        return [self._direction]

    @property
    def takes_probabilities(self) -> bool:
        """Whether scores must lie in [0, 1], and not only be finite."""
        return "margin" not in self.kinds

    def check_parameters(self) -> None:
        """Refuse options that cannot be."""
        for name, field in self.parameters.fields.items():
            field.check(name, getattr(self, name))

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        vars(self).update({f"{name}_": value for name, value in numbers.items()})
        self.map_ = self._restored(at, len(classes))
        self.classes_ = classes

    def _restored(self, at: Place, n_classes: int) -> Map:
        """The map that belongs to fitted numbers; what concerns several of them is checked here."""
        asked = np.full((1,) if self.takes == "score" else (1, n_classes), 0.5)
        try:
            answered = self.map_(asked).shape == asked.shape
        except (ValueError, TypeError):
            answered = False
        if not answered:
            (at / "map").fail(f"must be a map for {asked.shape[-1]} scores of a row; it is not")
        return self.map_

    def _check_cases(self, cases: "Cases") -> None:
        """Refuse scores that the method does not take."""
        if self.takes_probabilities:
            check_probabilities(cases.scores, self._scores_are())

    def _in_passes(self, learning: "Learning[Map]", rows: "RowsInPasses") -> "Plan[Map]":
        """The plan of the map for rows that are read in passes."""
        if self.takes_probabilities:
            rows = replace(rows, problem=passes.Probabilities(rows.problem, self._scores_are()))
        return passes.learning_plan(learning, rows)

    def _scores_are(self) -> str:
        """What the scores are called where they must lie in [0, 1]."""
        return f"scores of {type(self).__name__}"


class ScoreCalibrator(Method):
    """Base of the methods for two classes and one score per row."""

    takes = "score"

    @abstractmethod
    def _learn(self) -> "Learning[Map]":
        """Ask what must be known of the rows, and make a map of the answers."""

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map from scores to probabilities.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            One finite score per row; more of it means more of the positive class.
        y : array-like of shape (n,)
            The labels, any two values; the greater is the positive class. Numbers strictly between
            0 and 1 are taken as shares of the positive class.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self.check_parameters()
        column = check_scores(scores)
        check_not_empty(len(column))
        classes, target = check_binary_labels(y, fractions=True)
        check_same_length(scores=column, labels=target)
        weights = check_weights(sample_weight, len(column))
        with all_or_nothing(self):
            column = self._learn_columns(scores, column, classes)
            cases = passes.Cases(column, target, None)
            self.fit_cases(cases if weights is None else cases.weighted(weights), classes)
            warn_of_direction(self)
        return self

    def fit_rows(self, rows: "Rows", classes: Array, known: BoolArray | None = None) -> Self:
        """Learn from checked rows of two classes."""
        del known
        return self.fit_cases(_cases_of(rows), classes)

    def fit_copies(self, parts: "Sequence[Rows]", classes: Array) -> list[Self]:
        """Fit a copy to each of several parts of the rows."""
        copies = [copy(self) for _ in parts]
        fit_columns(copies, [_cases_of(part) for part in parts], classes)
        return copies

    def fit_cases(self, cases: "Cases", classes: Array) -> Self:
        """Learn from checked rows.

        Parameters
        ----------
        cases : Cases
            The rows, of which the truth is whether they are positive, or a share of that.
        classes : ndarray of shape (2,)
            The labels, the positive one second.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        fit_columns([self], [cases], classes)
        return self

    def plan(self, classes: Array, reading: "Reading") -> "Plan[Self]":
        """The plan of the same fit in passes."""
        if len(classes) != 2:
            raise ParameterError(
                f"classes must be two for one score per row; got {len(classes)}; pass one score per class"
            )
        (rows,) = reading.columns(sides_of(2, 1))
        yield from self.column_plan(rows)
        self.classes_ = classes
        return self

    def column_plan(self, rows: "RowsInPasses") -> "Plan[Self]":
        """Give the plan for one of several columns, whose classes are its two sides.

        Parameters
        ----------
        rows : RowsInPasses
            The rows of the column.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self.map_ = yield from self._in_passes(self._learn(), rows)
        self.classes_ = SIDES
        return self

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probabilities of both classes.

        Parameters
        ----------
        scores : array-like of shape (n,) or (n, 1)
            One finite score per row.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_fitted(self, "classes_")
        return self.proba_of(check_scores(self._in_order(scores, self.classes_, 1)))

    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probabilities for checked scores."""
        proba = np.empty((len(scores), 2))
        for rows, positive in self.answers(scores):
            proba[rows, 1] = positive
            np.subtract(1.0, positive, out=proba[rows, 0])
        return proba

    def answers(self, scores: FloatArray) -> Iterator[tuple[slice, Float64Array]]:
        """Give the answers for checked scores, block by block.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Finite scores.

        Returns
        -------
        iterator of tuple
            Which rows, and their probabilities of the positive class.
        """
        if self.takes_probabilities:
            scores = check_probabilities(scores, self._scores_are())
        return self.map_.in_blocks(scores)


def _cases_of(rows: "Rows") -> "Cases":
    """Rows of two classes as a method of one score sees them."""
    return passes.Cases(rows.scores, rows.truth == 1, rows.weight)


def fit_columns(columns: "Sequence[ScoreCalibrator]", cases: "Sequence[Cases]", classes: Array) -> None:
    """Let unfitted methods of one score learn, each from checked rows of its own."""
    for column, own in zip(columns, cases, strict=True):
        column._check_cases(own)
    learned = passes.learn_from_cases([column._learn() for column in columns], cases)
    for column, map_ in zip(columns, learned, strict=True):
        column.map_, column.classes_ = map_, classes


class RowCalibrator(Method):
    """Base of the methods that take all scores of a row, one per class, together."""

    takes = "row"
    classes: Sequence[object] | None = None

    @abstractmethod
    def _learn(self, n_classes: int) -> "Learning[Map]":
        """Ask what must be known of the rows, and make a map of the answers."""

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map from all scores of a row to the probabilities of the classes.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, from a model that was not trained on these rows. The columns
            of a frame are taken by label where they are named like the classes; their names are remembered,
            and new frames may have them in any order.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        self.check_parameters()
        with all_or_nothing(self):
            rows, classes = self._read_rows(scores, y, sample_weight, self.classes)
            return self.fit_rows(rows, classes)

    def fit_rows(self, rows: "Rows", classes: Array, known: BoolArray | None = None) -> Self:
        """Learn from checked rows, without those that lack a score."""
        self._check_columns(rows, classes)
        if known is not None and not known.all():
            complete = np.asarray(known.all(axis=1))
            if not complete.any():
                raise DataError(
                    f"scores must rank all classes in at least one row; got {len(rows)} rows, each without "
                    "the score of some class; use folds whose training parts hold every class"
                )
            rows = rows.take(complete)
        fit_side_by_side([self], [rows], classes)
        return self

    def fit_copies(self, parts: "Sequence[Rows]", classes: Array) -> list[Self]:
        """Fit a copy to each of several parts of the rows."""
        for part in parts:
            self._check_columns(part, classes)
        copies = [copy(self) for _ in parts]
        fit_side_by_side(copies, parts, classes)
        return copies

    def _check_columns(self, rows: "Rows", classes: Array) -> None:
        """Refuse rows with other scores than the method takes."""

    def plan(self, classes: Array, reading: "Reading") -> "Plan[Self]":
        """The plan of the same fit in passes."""
        check_columns(reading.sample, len(classes), "class")
        self.map_ = yield from self._in_passes(self._learn(len(classes)), reading.whole())
        self.classes_ = classes
        return self

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        super().take_fitted(numbers, at, classes)
        self.classes = classes.tolist()

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class, columns in the order of `classes_`; those of a frame in any
            order, with the names of the fit.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        return self.proba_of(self._check_scores(scores))

    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probabilities for checked scores."""
        proba = np.empty(scores.shape)
        step = max(1, BLOCK // scores.shape[1])
        for start in range(0, len(scores), step):
            rows = slice(start, start + step)
            proba[rows] = self.map_(scores[rows].astype(np.float64, copy=False))
        return proba

    def _check_scores(self, scores: object) -> FloatArray:
        check_fitted(self, "map_")
        n_classes = len(self.classes_)
        matrix = check_score_matrix(self._in_order(scores, self.classes_, n_classes), n_classes)
        if self.takes_probabilities:
            check_probabilities(matrix, self._scores_are())
        return matrix


def fit_side_by_side(methods: "Sequence[RowCalibrator]", parts: "Sequence[Rows]", classes: Array) -> None:
    """Let unfitted methods of all scores learn, each from checked rows of its own."""
    cases = [passes.Cases(rows.scores, rows.truth, rows.weight) for rows in parts]
    for method, own in zip(methods, cases, strict=True):
        method._check_cases(own)
    learned = passes.learn_from_cases([method._learn(len(classes)) for method in methods], cases)
    for method, map_ in zip(methods, learned, strict=True):
        method.map_, method.classes_ = map_, classes


#: What a column of several tells apart: the other side, and its own.
SIDES = np.array([False, True])


def half_a_row(n_rows: float) -> float:
    """The least probability that so many rows, or rows of such a weight, can speak for."""
    return 1 / (2 * max(n_rows, 2))
