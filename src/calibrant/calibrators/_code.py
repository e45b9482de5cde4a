"""One score per column of a code matrix, each calibrated on its own, then put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._core._arrays import (
    Array,
    BoolArray,
    Float64Array,
    FloatArray,
    IntArray,
    as_floats,
)
from calibrant._core._checks import (
    check_class_labels,
    check_finite,
    check_not_empty,
    check_same_length,
    check_weights,
    distinct_labels,
    label_column,
    read_classes,
)
from calibrant._core._errors import DataError, ParameterError
from calibrant._core._fitted import check_fitted
from calibrant._core._names import NamedColumns
from calibrant.calibrators._binary import learn_map
from calibrant.calibrators._direction import warn_of_direction
from calibrant.calibrators._names import new_calibrator, takes_score_matrix
from calibrant.codes import binary_problems, check_code, check_combiner
from calibrant.codes._matrices import is_one_vs_all

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


class CodeCalibrator(NamedColumns, BaseEstimator):
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
        calibrator: object = "pav",
        combine: object = "coupling",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.code = code
        self.calibrator = calibrator
        self.combine = combine
        self.classes = classes

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
        matrix = self._learn_columns(scores, matrix, self.labels_of_columns(classes))
        self.fit_positions(matrix, position, weights, classes)
        warn_of_direction(self)
        return self

    def fit_positions(
        self,
        scores: FloatArray,
        position: IntArray,
        weights: Float64Array | None,
        classes: Array,
        known: BoolArray | None = None,
    ) -> Self:
        """Learn from checked rows, of which a column leaves out those whose score is not known.

        Parameters
        ----------
        scores : ndarray of shape (n, l)
            The scores.
        position : ndarray of shape (n,)
            The number of every row's class.
        weights : ndarray of shape (n,) or None
            Weights of the rows.
        classes : ndarray of shape (k,)
            The labels of the classes.
        known : ndarray of shape (n, l), optional
            False where a row has no score of a column.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        code = self._check_code(len(classes))
        # A combination that cannot take this code says so now.
        check_combiner(self.combine)(code, np.full((1, code.shape[1]), 0.5))
        self._check_calibrator()
        scores = _score_columns(scores, code.shape[1])
        problems = binary_problems(code, position, weights)
        calibrators: list[Any] = []
        for column, problem in enumerate(problems):
            rows, labels, weight = problem.rows, problem.labels, problem.weights
            if known is not None and not known[rows, column].all():
                kept = known[rows, column]
                rows, labels = rows[kept], labels[kept]
                weight = None if weight is None else weight[kept]
            if labels.any() and not labels.all():
                new = new_calibrator(self.calibrator)
                calibrators.append(learn_map(new, scores[rows, column], labels, weight))
            else:
                calibrators.append(ConstantAnswer((problem.n_positive + 1) / (problem.n_rows + 2)))
        self.classes_, self.code_ = classes, code
        self.calibrators_, self.counts_ = calibrators, problems.counts
        return self

    def predict_proba(self, scores: object) -> Float64Array:
        """Give the probability of every class.

        Parameters
        ----------
        scores : array-like of shape (n, l)
            One finite score per row and column of the code; the columns of a frame in any order, with the
            names of the fit.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities in the order of `classes_`; each row sums to one.
        """
        check_fitted(self, "classes_")
        n_columns = self.code_.shape[1]
        matrix = _score_columns(self._in_order(scores, self._column_labels(), n_columns), n_columns)
        combine: Any = check_combiner(self.combine)
        proba = np.empty((len(matrix), len(self.classes_)))
        size = max(4096, BLOCK_BYTES // (8 * matrix.shape[1]))
        for start in range(0, len(matrix), size):
            rows = slice(start, start + size)
            proba[rows] = combine(self.code_, self._answers(matrix[rows]), self.counts_)
        return proba

    def _check_calibrator(self) -> None:
        if takes_score_matrix(new_calibrator(self.calibrator)):
            raise ParameterError(
                "calibrator must take one score for the columns of a code; "
                f"got {self.calibrator!r}, which takes one per class; use it without a code"
            )

    def labels_of_columns(self, classes: Array) -> Array | None:
        """Give the labels that name the columns of scores.

        Parameters
        ----------
        classes : ndarray of shape (k,)
            The labels of the classes.

        Returns
        -------
        ndarray of shape (k,) or None
            The classes, where every column is one class against the others; None for any other code.
        """
        return _labels_of_columns(self._check_code(len(classes)), classes)

    def _column_labels(self) -> Array | None:
        return _labels_of_columns(self.code_, self.classes_)

    def _check_code(self, n_classes: int) -> Array:
        if isinstance(self.code, str) and self.code.startswith("random"):
            raise ParameterError(
                f"code must be the matrix that the scores were made by; got the name {self.code!r}, which "
                "stands for many; pass the matrix itself"
            )
        return check_code(self.code, n_classes)

    def _answers(self, scores: FloatArray) -> Float64Array:
        """The calibrated answers of some rows, not combined yet."""
        answers = np.empty(scores.shape, order="F")
        columns = np.ascontiguousarray(scores.T)
        for answer, calibrator, score in zip(answers.T, self.calibrators_, columns, strict=True):
            answer[:] = calibrator.predict_proba(score)[:, 1]
        return answers


def _labels_of_columns(code: Array, classes: Array) -> Array | None:
    """The labels that name the columns, if every one is a class against the others."""
    return classes if is_one_vs_all(code) else None


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
