"""The calibrators of several scores: one per class, or one per column of a code matrix."""

from collections.abc import Sequence
from typing import Any, Self

from calibrant._core._arrays import Array, Float64Array, FloatArray
from calibrant._core._checks import (
    check_class_labels,
    check_not_empty,
    check_same_length,
    check_score_matrix,
    check_weights,
    distinct_labels,
    label_column,
    read_classes,
)
from calibrant._core._errors import ParameterError
from calibrant._core._field_groups import Numbers, Record, check_length
from calibrant._core._fields import Number
from calibrant._core._fitted import all_or_nothing
from calibrant._core._place import Place
from calibrant.calibrators._auto import auto_method, is_auto
from calibrant.calibrators._base import Calibrator, takes_of
from calibrant.calibrators._column_fields import (
    CALIBRATOR,
    CODE,
    CONSTANT,
    ColumnsField,
    check_code_of_file,
)
from calibrant.calibrators._columns import ColumnsCalibrator, score_columns
from calibrant.calibrators._direction import warn_of_direction
from calibrant.calibrators._joint import JointCalibrator
from calibrant.calibrators._kinds import score_kinds
from calibrant.calibrators._names import made_for, names_taking
from calibrant.calibrators._registry import COLUMN_CALIBRATORS, OF_COLUMNS, ScoreKind
from calibrant.codes import COMBINER, CodeMatrix, check_code, combination_for, is_one_vs_all, one_vs_all
from calibrant.passes import Rows


class OneVsAllCalibrator(ColumnsCalibrator):
    """Calibrate a matrix of scores, one column per class.

    Every column is calibrated as a two-class problem, its class against all others, and the answers of
    a row are combined into one distribution.

    Parameters
    ----------
    calibrator : {"pav", "sigmoid", "beta", "venn_abers", "binning"} or object, default="pav"
        The two-class calibrator that every column gets a copy of.
    combine : {"normalize", "least_squares", "coupling"} or object, optional
        How the calibrated answers of a row become one distribution; by default "normalize".
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
        calibrator: object = OF_COLUMNS,
        combine: object = None,
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
        code = one_vs_all(len(classes))
        check_length(numbers["columns"], len(classes), at / "columns", "one per class")
        columns = score_kinds().of(self.calibrator).read_several(numbers["columns"], at / "columns")
        self._restore_columns(columns, code, None, at, classes)

    def _code_of(self, n_classes: int) -> CodeMatrix:
        return one_vs_all(n_classes)

    def _keep_code(self, code: CodeMatrix, counts: Float64Array) -> None:
        """Neither can be any other."""

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
    calibrator : {"pav", "sigmoid", "beta", "venn_abers", "binning", "identity"} or object, default="pav"
        The two-class calibrator that every column gets a copy of.
    combine : {"least_squares", "coupling", "normalize"} or object, optional
        How the calibrated answers of a row become one distribution; by default what suits the code, see
        `calibrant.codes.combination_for`. "normalize" is for one-vs-all only.
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
    array([[0.94, 0.04, 0.02],
           [0.04, 0.95, 0.01],
           [0.02, 0.07, 0.91]])
    """

    def __init__(
        self,
        code: object = "all_pairs",
        calibrator: object = OF_COLUMNS,
        combine: object = None,
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
        matrix = score_columns(scores, None)
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
        kind = score_kinds().of(self.calibrator)
        columns = kind.read_several(numbers["columns"], at / "columns", CONSTANT)
        self._restore_columns(columns, code, numbers["counts"], at, classes)
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

    def _keep_code(self, code: CodeMatrix, counts: Float64Array) -> Float64Array:
        self.code_, self.counts_ = code, counts
        return counts

    def _check_scores(self, scores: object) -> FloatArray:
        return score_columns(scores, self.code_.shape[1])


for each in (OneVsAllCalibrator, CodeCalibrator):
    COLUMN_CALIBRATORS.add(each.name, each)


def calibrator_for(
    calibrator: object,
    n_dimensions: int,
    code: object,
    combine: object,
    kind: ScoreKind = "margin",
    *,
    whole_rows: bool = True,
) -> Calibrator:
    """Give the unfitted calibrator for scores of some form and kind.

    Parameters
    ----------
    calibrator : str or object
        A name for `named_method`, or a calibrator to copy.
    n_dimensions : int
        1 for one score of two classes, 2 for several.
    code : str, array-like or None
        The code behind the scores.
    combine : str, object or None
        How the answers of several columns become one distribution; None for what suits the code.
    kind : {"margin", "probability"}, default="margin"
        What the scores are.
    whole_rows : bool, default=True
        Whether rows have all of their scores.

    Returns
    -------
    object
        The calibrator.
    """
    chosen: Calibrator
    if is_auto(calibrator):
        in_columns = combine is not None and (code is not None or n_dimensions == 2)
        chosen = auto_method(kind, together=whole_rows and not in_columns)
    else:
        chosen = made_for(calibrator, kind)
    if isinstance(chosen, JointCalibrator):  # it puts the columns together itself
        return chosen if code is None else chosen.set_params(code=code)
    combine = combination_for(code) if combine is None else combine
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
