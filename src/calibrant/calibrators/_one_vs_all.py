"""One score per class, each calibrated on its own, then put together."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from calibrant._core._arrays import Array, BoolArray, Float64Array, FloatArray, IntArray
from calibrant._core._checks import (
    check_class_labels,
    check_not_empty,
    check_same_length,
    check_score_matrix,
    check_weights,
    labels_of_columns,
)
from calibrant._core._errors import ParameterError
from calibrant._core._fitted import check_fitted
from calibrant._core._names import NamedColumns
from calibrant.calibrators._binary import learn_map
from calibrant.calibrators._direction import warn_of_direction
from calibrant.calibrators._names import new_calibrator, takes_score_matrix
from calibrant.codes import check_combiner, one_vs_all

#: Memory for a block of columns, or of rows.
BLOCK_BYTES = 1 << 24


class OneVsAllCalibrator(NamedColumns, BaseEstimator):
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
        calibrator: object = "pav",
        combine: object = "normalize",
        classes: Sequence[object] | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.combine = combine
        self.classes = classes

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
        matrix = check_score_matrix(scores)
        check_not_empty(len(matrix))
        classes = labels_of_columns(self.classes, y, matrix.shape[1])
        position = check_class_labels(y, matrix.shape[1], classes)
        check_same_length(scores=matrix, labels=position)
        weights = check_weights(sample_weight, len(matrix))
        matrix = self._learn_columns(scores, matrix, classes)
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
        scores : ndarray of shape (n, k)
            The scores.
        position : ndarray of shape (n,)
            The number of every row's class.
        weights : ndarray of shape (n,) or None
            Weights of the rows.
        classes : ndarray of shape (k,)
            The labels of the columns.
        known : ndarray of shape (n, k), optional
            False where a row has no score of a class, because the class was missing when it was scored.

        Returns
        -------
        Self
            The fitted calibrator.
        """
        check_combiner(self.combine)
        self._check_calibrator()
        calibrators = [new_calibrator(self.calibrator) for _ in classes]
        for block in _column_blocks(scores.shape):
            for column, score in enumerate(np.ascontiguousarray(scores[:, block].T), block.start):
                rows = slice(None) if known is None or known[:, column].all() else known[:, column]
                weight = None if weights is None else weights[rows]
                learn_map(calibrators[column], score[rows], position[rows] == column, weight)
        self.classes_, self.calibrators_ = classes, calibrators
        return self

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
        check_fitted(self, "classes_")
        n_classes = len(self.classes_)
        scores = check_score_matrix(self._in_order(scores, self.classes_, n_classes), n_classes)
        combine: Any = check_combiner(self.combine)
        code = one_vs_all(n_classes)
        proba = np.empty(scores.shape)
        size = max(4096, BLOCK_BYTES // (8 * scores.shape[1]))
        for start in range(0, len(scores), size):
            rows = slice(start, start + size)
            proba[rows] = combine(code, self._answers(scores[rows]))
        return proba

    def _check_calibrator(self) -> None:
        if takes_score_matrix(new_calibrator(self.calibrator)):
            raise ParameterError(
                "calibrator must take one score; "
                f"got {self.calibrator!r}, which takes one per class; use it without OneVsAllCalibrator"
            )

    def _answers(self, scores: FloatArray) -> Float64Array:
        """The calibrated answers of some rows, not combined yet."""
        answers = np.empty(scores.shape, order="F")
        columns = np.ascontiguousarray(scores.T)
        for answer, calibrator, score in zip(answers.T, self.calibrators_, columns, strict=True):
            answer[:] = calibrator.predict_proba(score)[:, 1]
        return answers


def _column_blocks(shape: tuple[int, ...]) -> list[slice]:
    """Neighbouring columns, few enough to be copied.

    Entries of one column lie far apart in a matrix of many classes. Columns that are read and written
    together share the cost of reaching them.
    """
    n_rows, n_columns = shape
    width = max(1, min(16, BLOCK_BYTES // (8 * max(n_rows, 1))))
    return [slice(start, start + width) for start in range(0, n_columns, width)]
