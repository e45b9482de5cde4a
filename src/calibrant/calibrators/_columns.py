"""Several scores, one per class or per column of a code: each calibrated on its own, then put together."""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Array, BoolArray, Float64Array, FloatArray, as_floats
from calibrant._core._checks import (
    check_finite,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._fitted import check_fitted
from calibrant._core._kinds import Kind
from calibrant._core._place import Place
from calibrant.calibrators._base import (
    Calibrator,
    CalibratorBase,
    check_columns,
    fit_rows,
    needs_probabilities,
    takes_of,
)
from calibrant.calibrators._column_fields import ColumnsKind, check_prior
from calibrant.calibrators._joint import JointCalibrator
from calibrant.calibrators._method import SIDES, ScoreCalibrator, fit_columns
from calibrant.calibrators._names import named_or_given, new_calibrator
from calibrant.codes import CodeMatrix, Combiner, Combining, check_combiner
from calibrant.maps import Constant
from calibrant.metrics import NO_DIRECTION, Direction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from calibrant.passes import Cases, ClassCounts, Plan, Reading, Rows

#: What the columns of a `CodeCalibrator` are called.
OF_CODE = " for the columns of a code"
#: Memory for a block of rows.
BLOCK_BYTES = 1 << 24


@dataclass(frozen=True)
class ConstantAnswer:
    """The calibrator of a column whose training rows are all on one side: it says the same of every row.

    Attributes
    ----------
    value : float
        Probability of the positive side, ``(N+ + 1)/(N + 2)``.
    """

    value: float

    @property
    def map_(self) -> Constant:
        """The map."""
        return Constant(self.value)

    def predict_proba(self, scores: Float64Array) -> Float64Array:
        """Give the probabilities of both sides, whatever the score.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            One score per row.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities of the negative and of the positive side.
        """
        return np.tile([1.0 - self.value, self.value], (len(scores), 1))


class ColumnsCalibrator(CalibratorBase):
    """Base of the calibrators that give every column of a code a copy of a method for two classes."""

    calibrator: object
    combine: Any
    mark = "calibrators_"
    #: Whether a column whose rows are all on one side says a constant; else it is fitted as any other.
    constants: bool

    calibrators_: list[Any]
    #: How the answers are combined, after the fit: as was asked for, or as suits the code.
    combining: Combining

    @abstractmethod
    def _code_of(self, n_classes: int) -> CodeMatrix:
        """The code behind the scores."""

    @abstractmethod
    def _keep_code(self, code: CodeMatrix, counts: Float64Array) -> Float64Array | None:
        """Take the code, and the total weights behind its columns; give them if they count."""

    @classmethod
    @cache
    def kind_in_file(cls) -> Kind:
        """Give the way to and from a file, where columns share their parameters."""
        return ColumnsKind(cls)

    @property
    def takes_probabilities(self) -> bool:
        """Whether the method of the columns does."""
        return needs_probabilities(self.calibrator)

    def directions(self) -> list[Direction]:
        """Give which way the score of every column ranks its sides."""
        return [
            each.directions()[0] if isinstance(each, ScoreCalibrator) else NO_DIRECTION
            for each in self.calibrators_
        ]

    @property
    def can_only_rise(self) -> bool:
        """Whether the method of the columns can."""
        return bool(getattr(named_or_given(self.calibrator), "can_only_rise", False))

    def fit_rows(self, rows: "Rows", classes: Array, known: BoolArray | None = None) -> Self:
        """Learn from checked rows, of which a column leaves out those whose score is not known."""
        code, combine, method = self._check_options(len(classes))
        (fitted,) = self._fit_parts([rows], code, method, known)
        return self._keep_columns(fitted, code, combine, _mass_of(rows, classes), classes)

    def fit_copies(self, parts: "Sequence[Rows]", classes: Array) -> list[Self]:
        """Fit a copy to each of several parts of the rows."""
        code, combine, method = self._check_options(len(classes))
        return [
            copy(self)._keep_columns(fitted, code, combine, _mass_of(part, classes), classes)
            for fitted, part in zip(self._fit_parts(parts, code, method), parts, strict=True)
        ]

    def _fit_parts(
        self, parts: "Sequence[Rows]", code: CodeMatrix, method: Calibrator, known: BoolArray | None = None
    ) -> list[list[Any]]:
        """The calibrators of the columns, for each of several parts of the rows."""
        for part in parts:
            check_columns(part, code.shape[1], "column of the code")
        streams: list[Any] = [passes.cases_in_memory(part, code, known) for part in parts]
        if self.constants:
            streams = [
                ([None if _is_one_sided(cases) else cases for cases in block] for block in stream)
                for stream in streams
            ]
        return self._fit_side_by_side(streams, method)

    def fit_columns(self, columns: "Iterable[Cases | None]", mass: Float64Array, classes: Array) -> Self:
        """Learn from the rows of every column.

        Parameters
        ----------
        columns : iterable of Cases or None
            The scores of every column, and whether rows are on its positive side; None for a column that
            answers a constant.
        mass : ndarray of shape (k,)
            Total weight of every class.
        classes : ndarray of shape (k,)
            The labels.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        code, combine, method = self._check_options(len(classes))
        (fitted,) = self._fit_side_by_side([([column] for column in columns)], method)
        return self._keep_columns(fitted, code, combine, mass, classes)

    def _fit_side_by_side(
        self, streams: "Sequence[Iterable[list[Cases | None]]]", method: Calibrator
    ) -> list[list[Any]]:
        """The calibrators of the columns of every stream, of which as many learn together as come at once."""
        found: list[list[Any]] = [[] for _ in streams]
        for blocks in zip_longest(*streams, fillvalue=[]):
            fitted = iter(self._fit_block([cases for block in blocks for cases in block], method))
            for own, block in zip(found, blocks, strict=True):
                own.extend(islice(fitted, len(block)))
        return found

    def _keep_columns(
        self, fitted: list[Any], code: CodeMatrix, combine: Combiner, mass: Float64Array, classes: Array
    ) -> Self:
        """Take the calibrators of the columns, and constants for those that have none."""
        positive, negative = mass @ (code > 0), mass @ (code < 0)
        self.calibrators_ = [
            self._constant(*sides) if each is None else each
            for each, *sides in zip(fitted, positive, negative, strict=True)
        ]
        self.combining = Combining(combine, code, self._keep_code(code, positive + negative))
        self.classes_ = classes
        return self

    def _fit_block(self, block: "list[Cases | None]", method: Calibrator) -> list[Any]:
        """The calibrators of some columns; None for one that answers a constant."""
        two_sided = {place: cases for place, cases in enumerate(block) if cases is not None}
        fitted: list[Any] = [None] * len(block)
        if isinstance(method, ScoreCalibrator):
            for place in two_sided:
                fitted[place] = copy(method)
            fit_columns([fitted[place] for place in two_sided], list(two_sided.values()), SIDES)
            return fitted
        for place, cases in two_sided.items():
            rows = passes.Rows(cases.scores, cases.truth.view(np.int8), cases.weight)
            fitted[place] = fit_rows(new_calibrator(self.calibrator), rows, SIDES)
        return fitted

    def plan(self, classes: Array, reading: "Reading") -> "Plan[Self]":
        """The plan of the same fit in passes."""
        code, combine, _ = self._check_options(len(classes))
        what = "class" if self.takes == "row" else "column of the code"
        check_columns(reading.sample, code.shape[1], what)
        mass = np.ones(len(classes))
        if self.constants:
            counts: ClassCounts = yield from passes.count_classes(len(classes), reading.left_out)
            mass = counts.mass
        positive, negative = mass @ (code > 0), mass @ (code < 0)
        fitted = np.flatnonzero((positive > 0) & (negative > 0))
        plans = [self._new_in_passes().column_plan(rows) for rows in reading.columns(code, fitted)]
        learned = yield from passes.together(plans)
        columns: list[Any] = [None] * code.shape[1]
        for column, each in zip(fitted, learned, strict=True):
            columns[column] = each
        return self._keep_columns(columns, code, combine, mass, classes)

    def _new_in_passes(self) -> ScoreCalibrator:
        new = new_calibrator(self.calibrator)
        if not isinstance(new, ScoreCalibrator):
            raise ParameterError(
                "calibrator must be a method of the registry to be fitted in passes; got "
                f"{type(new).__name__}; fit it on rows in memory, or make it a ScoreCalibrator"
            )
        return new

    def _constant(self, positive: float, negative: float) -> ConstantAnswer:
        return ConstantAnswer(float((positive + 1) / (positive + negative + 2)))

    def _check_options(self, n_classes: int) -> tuple[CodeMatrix, Combiner, Calibrator]:
        """The code, the combination and the unfitted calibrator, which are at one."""
        new, code = new_calibrator(self.calibrator), self._code_of(n_classes)
        combine = check_combiner(self.combine, code)
        if self.takes == "columns":
            combine(code, np.full((1, code.shape[1]), 0.5))  # one that cannot take this code says so now
        if takes_of(new) != "score":
            what, advice = ("", "OneVsAllCalibrator") if self.takes == "row" else (OF_CODE, "a code")
            advice = f"use it without {advice}"
            if what and isinstance(new, JointCalibrator):
                advice = f"it puts the columns together itself: use {type(new).__name__}(code=...)"
            raise ParameterError(
                f"calibrator must take one score{what}; got {self.calibrator!r}, which takes one per class; "
                f"{advice}"
            )
        if isinstance(new, CalibratorBase):
            new.check_parameters()
        return code, combine, new

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n, l)
            One finite score per row and column of the code, for one-vs-all one per class; the columns of a
            frame in any order, with the names of the fit.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_fitted(self, "classes_")
        return self.proba_of(self._check_scores(self._in_order(scores, self._column_labels(), self.n_scores)))

    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probabilities for checked scores."""
        matrix = _as_columns(scores)
        proba = np.empty((len(matrix), len(self.classes_)))
        size = max(4096, BLOCK_BYTES // (8 * matrix.shape[1]))
        for start in range(0, len(matrix), size):
            rows = slice(start, start + size)
            (answers,) = _answers([self], [matrix[rows]])
            proba[rows] = self.combining(answers)
        return proba

    @staticmethod
    def proba_of_copies(copies: "Sequence[Any]", parts: "Sequence[Rows]") -> list[Float64Array]:
        """Give the probabilities of several parts of checked rows, of those that are small at once."""
        if 8 * sum(part.scores.size for part in parts) > BLOCK_BYTES:
            return CalibratorBase.proba_of_copies(copies, parts)
        answers = _answers(copies, [_as_columns(part.scores) for part in parts])
        return [each.combining(own) for each, own in zip(copies, answers, strict=True)]

    @abstractmethod
    def _check_scores(self, scores: object) -> FloatArray:
        """One finite score per row and column."""

    def _restore_columns(
        self,
        columns: list[tuple[Place, Any]],
        code: CodeMatrix,
        weights: Float64Array | None,
        at: Place,
        classes: Array,
    ) -> None:
        """Take the columns of a file, of each its numbers, or the constant that it answers."""
        check_prior(self.combine, len(classes), at)
        self.combining, self.calibrators_ = Combining(self.combine, code, weights), []
        for place, numbers in columns:
            column: Any
            if self.constants and "constant" in numbers:
                column = ConstantAnswer(numbers["constant"])
            else:
                column = copy(self.calibrator)
                column.take_fitted(numbers, place, SIDES)
            self.calibrators_.append(column)
        self.classes, self.classes_ = classes.tolist(), classes


def _mass_of(rows: "Rows", classes: Array) -> Float64Array:
    """Total weight of every class."""
    return np.bincount(rows.truth, rows.weight, minlength=len(classes)).astype(np.float64)


def _is_one_sided(cases: "Cases") -> bool:
    return bool(cases.truth.all()) or not cases.truth.any()


def _answers(models: "Sequence[ColumnsCalibrator]", parts: "Sequence[FloatArray]") -> list[Float64Array]:
    """The calibrated answers of the columns of some rows, not combined yet, of each part by its own model."""
    found = [np.empty(scores.shape, order="F") for scores in parts]
    columns = [column for scores in parts for column in np.ascontiguousarray(scores.T)]
    calibrators = [calibrator for model in models for calibrator in model.calibrators_]
    given = [_answers_of(*pair) for pair in zip(calibrators, columns, strict=True)]
    for answer, blocks in zip([column for own in found for column in own.T], given, strict=True):
        for rows, positive in blocks:
            answer[rows] = positive
    return found


def _answers_of(calibrator: Calibrator, scores: FloatArray) -> "Iterable[tuple[slice, Float64Array]]":
    """What the calibrator of a column says of some rows: which rows, and their answers."""
    own = type(calibrator).predict_proba
    if isinstance(calibrator, ScoreCalibrator) and own is ScoreCalibrator.predict_proba:
        return calibrator.answers(scores)
    return [(slice(None), calibrator.predict_proba(scores)[:, 1])]


def _as_columns(scores: FloatArray) -> FloatArray:
    """Scores of a code; a code of one column takes a plain column too."""
    return scores[:, None] if scores.ndim == 1 else scores


def score_columns(scores: object, n_columns: int | None) -> FloatArray:
    """One finite score per row and column of the code; a code of one column takes a plain column too."""
    array = as_floats(scores, "scores")
    if array.ndim == 1 and n_columns in (None, 1):
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(
            f"scores must have one column per column of the code, of shape (n, l); got shape {array.shape}"
        )
    if n_columns is not None and array.shape[1] != n_columns:
        raise DataError(
            f"scores must have one column per column of the code, {n_columns} in all; got {array.shape[1]} "
            "columns"
        )
    check_finite(array, "scores")
    return array
