"""Training a classifier that answers with labels only, where examples differ in importance, and asking it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._checks import positions_of
from calibrant._core._errors import DataError, ParameterError
from calibrant.classifiers._importance import WEIGHTINGS, weight_parameter
from calibrant.classifiers._kernels import OnColumns, fit_on, is_pairwise, training_rows
from calibrant.classifiers._rows import rows_of_params

#: Rows that a learner is asked about at once, which bounds what its `predict` may need.
BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Lesson:
    """All that is needed to train a hard classifier, except for the importance of the examples.

    Attributes
    ----------
    estimator : object
        The learner; it is copied, never fitted itself.
    X : object
        The rows.
    position : ndarray of shape (n,)
        The number of every row's class.
    labels : ndarray of shape (k,)
        What the learner is told the classes are called, sorted.
    fit_params : dict
        What `fit` is given besides.
    weighting : {"weights", "rejection", "flip"}
        How the learner is told what matters.
    columns : ndarray, optional
        The rows of the whole lesson that these are, if X is a kernel and the learner will be asked about
        kernels with the columns of the whole.
    """

    estimator: Any
    X: Any
    position: IntArray
    labels: Array
    fit_params: dict[str, Any]
    weighting: str
    columns: IntArray | None = None

    def part(self, rows: IntArray) -> Self:
        """The same for some of the rows."""
        pairwise = is_pairwise(self.estimator)
        return replace(
            self,
            X=training_rows(self.X, rows, pairwise=pairwise),
            columns=rows if pairwise else None,
            position=self.position[rows],
            fit_params=rows_of_params(self.fit_params, rows, len(self.position)),
        )


@dataclass(frozen=True, slots=True)
class ConstantModel:
    """A classifier that gives every row the same label.

    Attributes
    ----------
    label : object
        The label.
    """

    label: Any

    def predict(self, X: Any) -> Array:
        """Give the label to every row."""
        return np.full(n_rows_of(X), self.label)


def train(lesson: Lesson, importance: Float64Array, seed: np.random.SeedSequence) -> Any:
    """Train a copy of the learner; if only one class can be seen, answer with it always."""
    n_classes = len(lesson.labels)
    totals = np.bincount(lesson.position, importance, n_classes)
    if np.count_nonzero(totals) < 2:
        return ConstantModel(lesson.labels[totals.argmax()])
    rng = np.random.default_rng(seed)
    sample = WEIGHTINGS[lesson.weighting](lesson.position, importance, n_classes, rng)
    present = np.flatnonzero(np.bincount(sample.position, minlength=n_classes))
    if len(present) < 2:
        return ConstantModel(lesson.labels[present[0] if len(present) else totals.argmax()])
    params = lesson.fit_params
    if sample.rows is not None:
        params = rows_of_params(params, sample.rows, len(lesson.position))
    if sample.weights is not None:
        params = {**params, str(weight_parameter(lesson.estimator)): sample.weights}
    model = _seeded_copy(lesson.estimator, rng)
    fitted = fit_on(model, lesson.X, sample.rows, lesson.labels[sample.position], params)
    return fitted if lesson.columns is None else OnColumns(fitted, lesson.columns)


def _seeded_copy(estimator: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy whose own seeds, where they are None, follow from ours."""
    model = clone(estimator, safe=False)
    if hasattr(model, "get_params"):
        unset = [
            name
            for name, value in sorted(model.get_params(deep=True).items())
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        ]
        if unset:
            model.set_params(**{name: int(rng.integers(2**31)) for name in unset})
    return model


def positions_answered(model: Any, X: Any, labels: Array) -> IntArray:
    """For every row the number of the class that a fitted learner answers with."""
    answers = np.asarray(model.predict(X))
    if answers.ndim == 2 and answers.shape[1] == 1:
        answers = answers[:, 0]
    n_rows = n_rows_of(X)
    if answers.shape != (n_rows,):
        raise DataError(
            f"{type(model).__name__}.predict must give one label per row, {n_rows} in all; got shape "
            f"{answers.shape}; mend its predict, or choose another learner"
        )
    try:
        return positions_of(answers, labels)
    except DataError as error:
        raise DataError(
            f"{type(model).__name__}.predict must give labels that it was trained with; {error}; "
            "mend its predict, or choose another learner"
        ) from error


@dataclass(frozen=True, slots=True)
class Committee:
    """Hard classifiers of one two-class problem, which decide by majority.

    Attributes
    ----------
    models : list
        Fitted learners.
    labels : ndarray of shape (2,)
        What they call the negative and the positive class.
    """

    models: list[Any]
    labels: Array

    def votes(self, X: Any) -> BoolArray:
        """Which rows of a block most of the models call positive; half of them are not enough."""
        positive = sum(positions_answered(model, X, self.labels) for model in self.models)
        return np.asarray(2 * positive > len(self.models))


def n_rows_of(X: Any) -> int:
    """Number of rows of an array, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def row_blocks(X: Any) -> Iterator[Any]:
    """The rows in blocks that are small enough for any learner."""
    n_rows = n_rows_of(X)
    if n_rows <= BLOCK:
        yield X
        return
    for start in range(0, n_rows, BLOCK):
        yield _safe_indexing(X, slice(start, min(start + BLOCK, n_rows)))


def votes_on(committee: Committee, X: Any) -> BoolArray:
    """The votes on any number of rows."""
    return np.concatenate([committee.votes(block) for block in row_blocks(X)])


def check_learner(estimator: Any) -> None:
    """Refuse what cannot be trained or cannot answer."""
    missing = [name for name in ("fit", "predict") if not callable(getattr(estimator, name, None))]
    if isinstance(estimator, type) or missing:
        came = (
            f"the class {estimator.__name__}; pass an object of it, {estimator.__name__}()"
            if isinstance(estimator, type)
            else f"{type(estimator).__name__}, which has no {' and no '.join(missing)}; pass a classifier"
        )
        raise ParameterError(f"estimator must be an object with fit and predict; got {came}")
    if isinstance(estimator, FrozenEstimator):
        raise ParameterError(
            "estimator must be a learner that can be trained many times; got a FrozenEstimator, which is "
            "trained already; pass the learner itself, or calibrate it with CalibratedClassifier"
        )
