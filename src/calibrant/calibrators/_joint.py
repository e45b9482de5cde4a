"""Methods that take all scores of a row together, by a softmax of what they say of every class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant import passes
from calibrant._core._arrays import Array, Float64Array, FloatArray, as_floats
from calibrant._core._checks import (
    check_class_labels,
    check_finite,
    check_not_empty,
    check_probabilities,
    check_same_length,
    check_weights,
    distinct_labels,
    label_column,
    labels_of_columns,
    read_classes,
)
from calibrant._core._errors import DataError
from calibrant._core._field_groups import Matrix, Record
from calibrant._core._fields import Choice, Either, Maybe
from calibrant._core._fitted import check_fitted
from calibrant._core._place import Place
from calibrant.calibrators._base import Takes, check_columns
from calibrant.calibrators._method import RowCalibrator
from calibrant.calibrators._registry import KINDS, ScoreKind
from calibrant.codes import check_code, code_name, is_one_vs_all
from calibrant.maps import BLOCK, AnyMap, Map, Pool

if TYPE_CHECKING:
    from calibrant.passes import Cases, Plan, Reading, Rows, RowsInPasses

#: How wide the features of a row are at least, and how many rows a block of them has.
WIDE, SHORTEST = 8, 1024


class CodeField(Maybe):
    """Nothing, the name of a code, or the matrix itself."""

    def __init__(self) -> None:
        super().__init__(Either(Choice("all_pairs", "one_vs_all", "exhaustive", "ordinal"), Matrix()))

    @property
    def must(self) -> str:
        """The name of a code that has but one matrix, or any matrix."""
        return "None, 'all_pairs', 'one_vs_all', 'exhaustive', 'ordinal', or a matrix of 1, -1 and 0"

    def write(self, value: Any) -> Any:
        """A name is written as ours."""
        return super().write(code_name(value))

    def allows(self, value: Any) -> bool:
        """Matrices are looked at where the number of classes is known."""
        if value is None or isinstance(value, str):
            return value is None or super().allows(code_name(value))
        try:
            return np.ndim(value) == 2
        except ValueError:  # rows of different lengths
            return False


#: What the scores are declared to be, and the code that their columns are those of.
KIND, CODE = Choice(*KINDS), CodeField()


class _Form:
    """What scores a joint method takes: of a class all of a row, of an object as it was fitted."""

    def __get__(self, model: "JointCalibrator | None", owner: object = None) -> Takes:
        if model is None:
            return "row"
        if model.code is not None:
            return "columns"
        return "score" if hasattr(model, "map_") and model.n_scores == 1 else "row"


class JointCalibrator(RowCalibrator):
    """Base of temperature, vector and matrix scaling, and of the stack.

    Two classes may also have a single score: the margin s stands for (-s/2, s/2), the probability p for
    (1 - p, p).
    """

    kinds = ("probability", "margin")
    takes = _Form()  # type: ignore[assignment]
    parameters = Record(kind=KIND, code=CODE)
    fitted = Record(map=AnyMap(Pool))

    def __init__(
        self, kind: str = "probability", code: object = None, classes: Sequence[object] | None = None
    ) -> None:
        self.kind = kind
        self.code = code
        self.classes = classes

    @classmethod
    def for_new_rows(cls, kind: ScoreKind = "margin") -> Self:
        """Declare what the scores are."""
        return cls(kind=kind)

    @property
    def takes_probabilities(self) -> bool:
        """Where they are declared to be some."""
        return self.kind == "probability"

    def _scores_are(self) -> str:
        return f"scores of {type(self).__name__} with kind='probability'"

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map from all scores of a row to the probabilities of the classes.

        Parameters
        ----------
        scores : array-like of shape (n, k), or (n,) for two classes
            One finite score per row and class, from a model that was not trained on these rows. A single one
            is that of the second of two classes. The columns of a frame are taken by label where they are
            named like the classes; their names are remembered, and new frames may have them in any order.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative. Weight 0 means absent, weight 2 means two copies.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        return super().fit(scores, y, sample_weight)

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n, k), or (n,) for two classes
            One finite score per row and class, columns in the order of `classes_`, as in the fit; those of a
            frame in any order, with the names of the fit.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        return self.proba_of(self._check_scores(scores))

    def proba_of(self, scores: Any) -> Float64Array:
        """Give the probabilities for checked scores."""
        matrix = scores[:, None] if scores.ndim == 1 else scores
        proba = np.empty((len(matrix), len(self.classes_)))
        step = max(SHORTEST, BLOCK // max(matrix.shape[1], WIDE))
        for start in range(0, len(matrix), step):
            rows = slice(start, start + step)
            proba[rows] = self.map_(matrix[rows].astype(np.float64, copy=False))
        return proba

    def _check_columns(self, rows: "Rows", classes: Array) -> None:
        """Refuse rows whose scores are not those of the classes, or of the columns of the code."""
        code = self._matrix_of(len(classes))
        if code is not None:
            check_columns(rows, len(code), "column of the code")
        elif NumberOfColumns.of_scores(rows.scores) > 1 or len(classes) > 2:
            check_columns(rows, len(classes), "class")

    def plan(self, classes: Array, reading: "Reading") -> "Plan[Self]":
        """The plan of the same fit in passes."""
        self._check_columns(reading.sample, classes)
        self.map_ = yield from self._in_passes(self._learn(len(classes)), reading.whole())
        self.classes_ = classes
        return self

    @property
    def n_scores(self) -> int:
        """How many scores a row has, after the fit."""
        return n_columns_of(self.map_, len(self.classes_))

    def labels_of_columns(self, classes: Array) -> Array | None:
        """Give the classes, where every column is one of them; None for the columns of a code."""
        if self.code is None or is_one_vs_all(check_code(self.code, len(classes))):
            return classes
        return None

    def _column_labels(self) -> Array | None:
        return self.labels_of_columns(self.classes_) if hasattr(self, "classes_") else None

    def _matrix_of(self, n_classes: int) -> Float64Array | None:
        """Which classes the columns of the code speak for, one row per column."""
        if self.code is None:
            return None
        return np.ascontiguousarray(check_code(self.code, n_classes).T, dtype=np.float64)

    def _restored(self, at: Place, n_classes: int) -> Map:
        asked = np.full((1, n_columns_of(self.map_, n_classes)), 0.5)
        try:
            answered = self.map_(asked).shape == (1, n_classes)
        except (ValueError, TypeError, IndexError):
            answered = False
        if not answered:
            (at / "map").fail(f"must be a map for {n_classes} classes; it is not")
        return self.map_

    def _read_rows(
        self, scores: object, y: object, sample_weight: object, classes: Sequence[object] | None
    ) -> "tuple[Rows, Array]":
        """Rows with one score per class, or with one for two of them."""
        matrix = as_columns(scores)
        if self.code is not None:
            return self._read_columns(scores, matrix, y, sample_weight, classes)
        if matrix.shape[1] > 1:
            return super()._read_rows(scores, y, sample_weight, classes)
        check_finite(matrix, "scores")
        check_not_empty(len(matrix))
        labels = labels_of_columns(classes, y, 2)
        position = check_class_labels(y, 2, labels)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        self._learn_columns(scores, matrix[:, 0], labels)
        return passes.Rows(matrix, position, weights).present(), labels

    def _read_columns(
        self,
        scores: object,
        matrix: FloatArray,
        y: object,
        sample_weight: object,
        classes: Sequence[object] | None,
    ) -> "tuple[Rows, Array]":
        """Rows with one score per column of the code."""
        labels = distinct_labels(label_column(y)) if classes is None else read_classes(classes)
        self._check_width(matrix, len(labels))
        check_not_empty(len(matrix))
        position = check_class_labels(y, len(labels), labels)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        matrix = self._learn_columns(scores, matrix, self.labels_of_columns(labels))
        return passes.Rows(matrix, position, weights).present(), labels

    def _check_width(self, matrix: FloatArray, n_classes: int) -> None:
        wanted = check_code(self.code, n_classes).shape[1]
        if matrix.shape[1] != wanted:
            raise DataError(
                f"scores must have one column per column of the code, {wanted} in all; got {matrix.shape[1]} "
                "columns"
            )
        check_finite(matrix, "scores")

    def _check_scores(self, scores: object) -> FloatArray:
        check_fitted(self, "map_")
        if self.n_scores > 1 and self.code is None:
            return super()._check_scores(scores)
        matrix = as_columns(self._in_order(scores, self._column_labels(), self.n_scores))
        if self.code is not None:
            self._check_width(matrix, len(self.classes_))
        elif matrix.shape[1] != 1:
            raise DataError(
                f"scores must be one per row, as in the fit; got {matrix.shape[1]} columns; pass that of "
                "the second class"
            )
        check_finite(matrix, "scores")
        if self.takes_probabilities:
            check_probabilities(matrix, self._scores_are())
        return matrix


@dataclass(frozen=True, eq=False)
class NumberOfColumns(passes.Question[int]):
    """How many scores a row has."""

    def of_cases(self, cases: "Cases") -> int:
        """One, or as many as there are columns."""
        return self.of_scores(cases.scores)

    @staticmethod
    def of_scores(scores: FloatArray) -> int:
        """The same of the scores themselves."""
        return 1 if scores.ndim == 1 else int(scores.shape[1])

    def in_passes(self, rows: "RowsInPasses") -> "Plan[int]":
        """The sample tells."""
        yield from ()
        return self.of_cases(rows.problem.cases(rows.sample))


def as_columns(scores: object) -> FloatArray:
    """Scores as a matrix, a single one as a matrix of one column."""
    array = as_floats(scores, "scores")
    if array.ndim not in (1, 2) or 0 in array.shape[1:]:
        raise DataError(
            f"scores must be of shape (n, k), one column per class, or (n,) for two classes; got shape "
            f"{array.shape}"
        )
    return array[:, None] if array.ndim == 1 else array


def n_columns_of(fitted: Map, n_classes: int) -> int:
    """How many scores of a row a map takes."""
    if isinstance(fitted, Pool):
        return fitted.entry.n_columns
    slope = getattr(fitted, "slope", None)
    return int(np.shape(slope)[0]) if np.ndim(slope) == 2 else n_classes  # type: ignore[arg-type]
