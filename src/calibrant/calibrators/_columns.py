"""Several scores, one per class or per column of a code: each calibrated on its own, then put together."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibrant._core._arrays import Array, BoolArray, Float64Array, FloatArray, as_floats
from calibrant._core._checks import (
    check_class_labels,
    check_finite,
    check_not_empty,
    check_same_length,
    check_score_matrix,
    check_weights,
    distinct_labels,
    label_column,
    read_classes,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._fields import Number, Numbers, Record, check_length
from calibrant._core._fitted import all_or_nothing, check_fitted
from calibrant._core._kinds import Kind, Kinds
from calibrant._core._place import Place
from calibrant.calibrators._base import Calibrator, CalibratorBase, check_columns, fit_rows, takes_of
from calibrant.calibrators._column_fields import (
    CALIBRATOR,
    CODE,
    ColumnsField,
    ColumnsKind,
    check_code_of_file,
    check_prior,
    kinds_of,
)
from calibrant.calibrators._direction import warn_of_direction
from calibrant.calibrators._method import SIDES, ScoreCalibrator
from calibrant.calibrators._names import names_taking, new_calibrator
from calibrant.calibrators._registry import DEFAULT, METHODS
from calibrant.codes import COMBINER, CodeMatrix, check_code, check_combiner, is_one_vs_all, one_vs_all
from calibrant.maps import Constant
from calibrant.passes import (
    Cases,
    ClassCounts,
    Plan,
    Reading,
    Rows,
    count_classes,
    together,
)

#: What the columns of a `CodeCalibrator` are called.
OF_CODE = " for the columns of a code"
#: Memory for a block of columns, or of rows.
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
    combine: object
    mark = "calibrators_"
    #: Whether a column whose rows are all on one side says a constant; else it is fitted as any other.
    constants: bool

    calibrators_: list[Any]

    @abstractmethod
    def _code_of(self, n_classes: int) -> CodeMatrix:
        """The code behind the scores."""

    @abstractmethod
    def _keep(self, calibrators: list[Any], code: CodeMatrix, counts: Float64Array, classes: Array) -> None:
        """Take what was fitted; counts are the total weights behind the columns."""

    @property
    @abstractmethod
    def fitted_code(self) -> tuple[CodeMatrix, Float64Array | None]:
        """The code, and the weights of its columns where they count."""

    @classmethod
    def kind(cls) -> Kind:
        """Give the way to and from a file, where columns share their parameters."""
        return ColumnsKind(cls)

    @property
    def takes_probabilities(self) -> bool:
        """Whether the method of the columns does."""
        return bool(getattr(new_calibrator(self.calibrator), "takes_probabilities", False))

    @property
    def can_only_rise(self) -> bool:
        """Whether the method of the columns can."""
        return bool(getattr(new_calibrator(self.calibrator), "can_only_rise", False))

    def fit_rows(self, rows: Rows, classes: Array, known: BoolArray | None = None) -> Self:
        """Learn from checked rows, of which a column leaves out those whose score is not known."""
        code = self._check_options(len(classes))
        scores = _score_columns(rows.scores, code.shape[1])
        mass = np.bincount(rows.position, rows.weight, minlength=len(classes)).astype(np.float64)

        def columns() -> Iterator[Cases | None]:
            for block in _column_blocks(scores.shape):
                for column, score in enumerate(np.ascontiguousarray(scores[:, block].T), block.start):
                    there = None if known is None else known[:, column]
                    cases = _cases_of(score, code[:, column], rows, there)
                    one_sided = cases.truth.all() or not cases.truth.any()
                    yield None if self.constants and one_sided else cases

        return self._fit_columns(columns(), mass, classes, code)

    def fit_columns(self, columns: Iterable[Cases | None], mass: Float64Array, classes: Array) -> Self:
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
        return self._fit_columns(columns, mass, classes, self._check_options(len(classes)))

    def _fit_columns(
        self, columns: Iterable[Cases | None], mass: Float64Array, classes: Array, code: CodeMatrix
    ) -> Self:
        positive, negative = mass @ (code > 0), mass @ (code < 0)
        calibrators = [
            self._constant(*sides) if cases is None else self._fit_column(cases)
            for cases, sides in zip(columns, zip(positive, negative, strict=True), strict=True)
        ]
        self._keep(calibrators, code, positive + negative, classes)
        return self

    def _fit_column(self, cases: Cases) -> Calibrator:
        """The calibrator of a column, whose parameters have been checked."""
        new = new_calibrator(self.calibrator)
        if isinstance(new, ScoreCalibrator):
            return new.fit_cases(cases, SIDES)
        return fit_rows(new, Rows(cases.scores, cases.truth.view(np.int8), cases.weight), SIDES)

    def plan(self, classes: Array, reading: Reading) -> Plan[Self]:
        """The plan of the same fit in passes."""
        code = self._check_options(len(classes))
        what = "class" if self.takes == "row" else "column of the code"
        check_columns(reading.sample, code.shape[1], what)
        mass = np.ones(len(classes))
        if self.constants:
            counts: ClassCounts = yield from count_classes(len(classes), reading.left_out)
            mass = counts.mass
        positive, negative = mass @ (code > 0), mass @ (code < 0)
        fitted = np.flatnonzero((positive > 0) & (negative > 0))
        rows = reading.columns(code, fitted)
        plans = [self._new_in_passes().column_plan(each) for each in rows]
        calibrators = [self._constant(*sides) for sides in zip(positive, negative, strict=True)]
        for column, each in zip(fitted, (yield from together(plans)), strict=True):
            calibrators[column] = each
        self._keep(calibrators, code, positive + negative, classes)
        return self

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

    def _check_options(self, n_classes: int) -> CodeMatrix:
        """The code, with which the combination and the calibrator are at one."""
        code, new = self._code_of(n_classes), new_calibrator(self.calibrator)
        combine = check_combiner(self.combine)
        if self.takes == "columns":
            combine(code, np.full((1, code.shape[1]), 0.5))  # one that cannot take this code says so now
        if takes_of(new) != "score":
            what, advice = ("", "OneVsAllCalibrator") if self.takes == "row" else (OF_CODE, "a code")
            raise ParameterError(
                f"calibrator must take one score{what}; got {self.calibrator!r}, which takes one per class; "
                f"use it without {advice}"
            )
        if isinstance(new, CalibratorBase):
            new.check_parameters()
        return code

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
        matrix = self._check_scores(self._in_order(scores, self._column_labels(), self.n_scores))
        combine = check_combiner(self.combine)
        code, counts = self.fitted_code
        proba = np.empty((len(matrix), len(self.classes_)))
        size = max(4096, BLOCK_BYTES // (8 * matrix.shape[1]))
        for start in range(0, len(matrix), size):
            rows = slice(start, start + size)
            proba[rows] = combine(code, self._answers(matrix[rows]), counts)
        return proba

    @abstractmethod
    def _check_scores(self, scores: object) -> FloatArray:
        """One finite score per row and column."""

    def _answers(self, scores: FloatArray) -> Float64Array:
        """The calibrated answers of some rows, not combined yet."""
        answers = np.empty(scores.shape, order="F")
        columns = np.ascontiguousarray(scores.T)
        for answer, calibrator, score in zip(answers.T, self.calibrators_, columns, strict=True):
            if getattr(type(calibrator), "predict_proba", None) is ScoreCalibrator.predict_proba:
                for rows, positive in calibrator.answers(score):
                    answer[rows] = positive
            else:
                answer[:] = calibrator.predict_proba(score)[:, 1]
        return answers

    def _restore_columns(self, columns: list[Any], at: Place, classes: Array) -> None:
        """Take the columns of a file, all of the kind that the calibrator is."""
        check_prior(self.combine, len(classes), at)
        self.calibrators_ = ColumnsField.read_columns(
            self.calibrator, columns, at / "columns", ConstantAnswer if self.constants else None
        )
        self.classes, self.classes_ = classes.tolist(), classes


class OneVsAllCalibrator(ColumnsCalibrator):
    """Calibrate a matrix of scores, one column per class.

    Every column is calibrated as a two-class problem, its class against all others, and the answers of
    a row are combined into one distribution.

    Parameters
    ----------
    calibrator : {"pav", "sigmoid", "binning"} or object, default="pav"
        The two-class calibrator that every column gets a copy of.
    combine : {"normalize", "least_squares", "coupling"} or object, default="normalize"
        How the calibrated answers of a row become one distribution.
    classes : array-like of shape (k,), optional
        The labels of the columns in order. By default the sorted labels of `y`, which must then be as
        many as there are columns.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the columns.
    calibrators_ : list
        The fitted calibrator of every column.
    feature_names_in_ : ndarray of shape (k,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    CalibratedClassifier : Wraps a learner, and fits on scores of rows that it was not trained on.

    Notes
    -----
    Every class keeps its column, also one without rows: its calibrator then learns from the other
    classes alone that the class is rare.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    >>> from calibrant import OneVsAllCalibrator
    >>> scores = [[2, 1, 0], [3, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 2], [1, 0, 3]]
    >>> model = OneVsAllCalibrator("sigmoid").fit(scores, ["a", "a", "b", "b", "c", "c"])
    >>> model.predict_proba([[2, 1, 1]]).round(2)
    array([[0.43, 0.35, 0.22]])
    """

    def __init__(
        self,
        calibrator: object = DEFAULT,
        combine: object = "normalize",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.combine = combine
        self.classes = classes

    name = "one_vs_all"
    parameters = Record(calibrator=CALIBRATOR, combine=COMBINER)
    fitted = Record(columns=ColumnsField())
    takes = "row"
    constants = False

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map of every column.

        Parameters
        ----------
        scores : array-like of shape (n, k)
            One finite score per row and class. The columns of a frame are taken by label where they are
            named like the classes; their names are remembered.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        with all_or_nothing(self):
            rows, classes = self._read_rows(scores, y, sample_weight, self.classes)
            self.fit_rows(rows, classes)
            warn_of_direction(self)
        return self

    def fitted_numbers(self) -> dict[str, Any]:
        """Give what is saved of the fit."""
        return {"columns": self.calibrators_}

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        check_length(numbers["columns"], len(classes), at / "columns", "one per class")
        self._restore_columns(numbers["columns"], at, classes)

    def _code_of(self, n_classes: int) -> CodeMatrix:
        return one_vs_all(n_classes)

    def _keep(self, calibrators: list[Any], code: CodeMatrix, counts: Float64Array, classes: Array) -> None:
        del code, counts
        self.classes_, self.calibrators_ = classes, calibrators

    @property
    def fitted_code(self) -> tuple[CodeMatrix, Float64Array | None]:
        return one_vs_all(len(self.classes_)), None

    def _check_scores(self, scores: object) -> FloatArray:
        return check_score_matrix(scores, len(self.classes_))


class CodeCalibrator(ColumnsCalibrator):
    """Calibrate a matrix of scores, one column per column of a code matrix.

    The scores come from two-class models that were trained by a code: the pairwise margins of a support
    vector machine, or the outputs of an error-correcting code. Every column is calibrated on the rows of
    its own classes, and the answers of a row are combined into one distribution over the classes.

    Parameters
    ----------
    code : {"all_pairs", "one_vs_all", "exhaustive", "ordinal"} or array-like of shape (k, l), \
            default="all_pairs"
        The code matrix behind the scores: one row per class in the order of the classes, one column per
        score. In each, the classes with +1 are those that a greater score speaks for, against those
        with -1; the classes with 0 take no part.
    calibrator : {"pav", "sigmoid", "binning", "identity"} or object, default="pav"
        The two-class calibrator that every column gets a copy of.
    combine : {"coupling", "least_squares", "normalize"} or object, default="coupling"
        How the calibrated answers of a row become one distribution. "normalize" is for one-vs-all only.
    classes : array-like of shape (k,), optional
        The labels of the rows of the code in order. By default the sorted labels of `y`.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels of the classes.
    code_ : ndarray of shape (k, l)
        The code matrix.
    calibrators_ : list
        The fitted calibrator of every column; a `ConstantAnswer` where the training rows are all on one
        side.
    counts_ : ndarray of shape (l,)
        Total weight of the rows behind every column, by which coupling trusts them.
    feature_names_in_ : ndarray of shape (l,)
        The names of the columns of scores, in the order of the model; only if it was fitted to a frame.

    See Also
    --------
    OneVsAllCalibrator : For one score per class.
    CalibratedClassifier : Wraps a learner, trains one copy per column and calibrates it out of fold.

    Notes
    -----
    The pairs of "all_pairs" are in the order of ``SVC(decision_function_shape="ovo")``, and as there a
    greater score speaks for the first class of the pair.

    A random code has no name here, because its name does not say which of all random matrices the scores
    belong to: pass the matrix.

    References
    ----------
    B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability
    estimates", KDD 2002.

    Examples
    --------
    The three pairwise margins of a support vector machine for three classes:

    >>> from calibrant.calibrators import CodeCalibrator
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SVC(decision_function_shape="ovo").fit(X[::2], y[::2])
    >>> margins = machine.decision_function(X[1::2])
    >>> model = CodeCalibrator("all_pairs", "sigmoid").fit(margins, y[1::2])
    >>> model.predict_proba(margins[[0, 40, 70]]).round(2)
    array([[0.92, 0.08, 0.  ],
           [0.02, 0.94, 0.04],
           [0.01, 0.1 , 0.89]])
    """

    def __init__(
        self,
        code: object = "all_pairs",
        calibrator: object = DEFAULT,
        combine: object = "coupling",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.code = code
        self.calibrator = calibrator
        self.combine = combine
        self.classes = classes

    name = "code"
    parameters = Record(calibrator=CALIBRATOR, combine=COMBINER)
    fitted = Record(code=CODE, counts=Numbers(Number(0.0)), columns=ColumnsField(constants=True))
    takes = "columns"
    constants = True

    def fit(self, scores: object, y: object, sample_weight: object = None) -> Self:
        """Learn the map of every column.

        Parameters
        ----------
        scores : array-like of shape (n, l)
            One finite score per row and column of the code. The names of a frame's columns are remembered.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows, not negative.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        classes = distinct_labels(label_column(y)) if self.classes is None else read_classes(self.classes)
        matrix = _score_columns(scores, None)
        check_not_empty(len(matrix))
        position = check_class_labels(y, len(classes), classes)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        with all_or_nothing(self):
            matrix = self._learn_columns(scores, matrix, self.labels_of_columns(classes))
            self.fit_rows(Rows(matrix, position, weights).present(), classes)
            warn_of_direction(self)
        return self

    @property
    def n_scores(self) -> int:
        """How many scores a row has, after the fit."""
        return int(self.code_.shape[1])

    def fitted_numbers(self) -> dict[str, Any]:
        """Give what is saved of the fit."""
        return {"code": self.code_, "counts": self.counts_, "columns": self.calibrators_}

    def take_fitted(self, numbers: dict[str, Any], at: Place, classes: Array) -> None:
        """Become what was saved."""
        code, n_columns = numbers["code"], numbers["code"].shape[1]
        check_code_of_file(code, len(classes), self.combine, at / "code")
        for name in ("columns", "counts"):
            check_length(numbers[name], n_columns, at / name, "one per column of the code")
        self._restore_columns(numbers["columns"], at, classes)
        self.code = self.code_ = code
        self.counts_ = numbers["counts"]

    def labels_of_columns(self, classes: Array) -> Array | None:
        """Give the classes, where every column is one of them against the others; None for any other code."""
        return classes if is_one_vs_all(self._code_of(len(classes))) else None

    def _column_labels(self) -> Array | None:
        return self.classes_ if is_one_vs_all(self.code_) else None

    def _code_of(self, n_classes: int) -> CodeMatrix:
        if isinstance(self.code, str) and self.code.startswith("random"):
            raise ParameterError(
                f"code must be the matrix that the scores were made by; got the name {self.code!r}, which "
                "stands for many; pass the matrix itself"
            )
        return check_code(self.code, n_classes)

    def _keep(self, calibrators: list[Any], code: CodeMatrix, counts: Float64Array, classes: Array) -> None:
        self.classes_, self.code_ = classes, code
        self.calibrators_, self.counts_ = calibrators, counts

    @property
    def fitted_code(self) -> tuple[CodeMatrix, Float64Array | None]:
        return self.code_, self.counts_

    def _check_scores(self, scores: object) -> FloatArray:
        return _score_columns(scores, self.code_.shape[1])


def calibrator_for(chosen: Calibrator, n_dimensions: int, code: object, combine: object) -> Calibrator:
    """Give the unfitted calibrator for scores of some form."""
    if code is not None:
        return CodeCalibrator(code, chosen, combine)
    takes = takes_of(chosen)
    if takes == "row" and n_dimensions == 1:
        names = ", ".join(map(repr, names_taking("score", kind="margin")))
        raise ParameterError(
            f"calibrator must take one score; got {chosen!r}, which takes one per class; pass a score for "
            f"every class, or use one of {names}"
        )
    return OneVsAllCalibrator(chosen, combine) if takes == "score" and n_dimensions == 2 else chosen


def calibrator_kinds() -> Kinds:
    """All calibrators that can be saved."""
    scores, rows = (
        [method for method in METHODS.values() if method.takes == takes] for takes in ("score", "row")
    )
    return kinds_of((*scores, OneVsAllCalibrator, CodeCalibrator, *rows))


def _column_blocks(shape: tuple[int, ...]) -> list[slice]:
    """Neighbouring columns, few enough to be copied.

    Entries of one column lie far apart in a matrix of many classes. Columns that are read and written
    together share the cost of reaching them.
    """
    n_rows, n_columns = shape
    width = max(1, min(16, BLOCK_BYTES // (8 * max(n_rows, 1))))
    return [slice(start, start + width) for start in range(0, n_columns, width)]


def _cases_of(scores: FloatArray, sides: Array, rows: Rows, known: BoolArray | None) -> Cases:
    """The rows of a column whose classes take part in it and whose score is known."""
    truth, weight = (sides > 0).take(rows.position), rows.weight
    used = None if sides.all() else (sides != 0).take(rows.position)
    if known is not None and not known.all():
        used = known if used is None else used & known
    if used is None:
        return Cases(scores, truth, weight)
    return Cases(scores[used], truth[used], None if weight is None else weight[used])


def _score_columns(scores: object, n_columns: int | None) -> FloatArray:
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
