"""A multiclass problem as the columns of a code matrix: one calibrated two-class learner each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._errors import ParameterError
from calibrant.calibrators import new_calibrator
from calibrant.calibrators._binary import learn_map
from calibrant.classifiers._rows import RowPlan
from calibrant.classifiers._scores import score
from calibrant.classifiers._training import Problem, Trained, train_all
from calibrant.codes import BinaryProblem, binary_problems

SIDES = np.array([0, 1])


@dataclass(frozen=True, slots=True)
class Column:
    """The learner of one column and the calibrator of its score.

    Attributes
    ----------
    estimator : object
        A two-class learner; class 1 is the + side of the column.
    response_method : str
        Which of its methods gives the score.
    calibrator : object
        The calibrator of the score.
    """

    estimator: Any
    response_method: str
    calibrator: Any

    def answer(self, X: Any) -> Float64Array:
        """Probability of the + side, given that the class is on either side."""
        scores, _ = score(self.estimator, X, self.response_method, SIDES)
        return np.asarray(self.calibrator.predict_proba(scores[:, 1])[:, 1])


@dataclass(frozen=True, slots=True)
class ConstantColumn:
    """A column with rows on one side only: nothing to learn, and no certainty either.

    Attributes
    ----------
    value : float
        The answer for every row, (N+ + 1)/(N + 2).
    """

    value: float

    def answer(self, X: Any) -> Float64Array:
        """Give the same probability to every row."""
        return np.full(X.shape[0] if hasattr(X, "shape") else len(X), self.value)


def fit_columns(
    estimator: Any,
    X: Any,
    position: IntArray,
    code: Array,
    weights: Float64Array | None,
    plan: RowPlan,
    *,
    calibrator: object,
    fit_params: dict[str, Any],
    method: str,
    n_jobs: int | None,
) -> tuple[list[Column | ConstantColumn], Float64Array]:
    """Train and calibrate every column on the rows of its own classes.

    Parameters
    ----------
    estimator : object
        The learner that every column gets a copy of.
    X : object
        The rows.
    position : ndarray of shape (n,)
        The number of every row's class.
    code : ndarray of shape (k, l)
        The code matrix.
    weights : ndarray of shape (n,) or None
        Weights of the rows.
    plan : RowPlan
        Training rows and scored rows of the whole problem; a column uses those of its own classes.
    calibrator : str or object
        The calibrator of every column.
    fit_params : dict
        What the learner's `fit` is given besides.
    method : str
        Which score to use.
    n_jobs : int or None
        Number of fits at a time.

    Returns
    -------
    columns : list
        The fitted columns.
    counts : ndarray of shape (l,)
        Total weight of the rows behind every column.
    """
    sides = binary_problems(code, position, weights)
    problems = [_problem(side, plan, len(position)) for side in sides]
    trained = iter(
        train_all(
            estimator,
            X,
            [problem for problem in problems if problem is not None],
            fit_params=fit_params,
            method=method,
            n_jobs=n_jobs,
        )
    )
    columns = [
        ConstantColumn((side.n_positive + 1) / (side.n_rows + 2))
        if problem is None
        else _calibrate(next(trained), problem, weights, calibrator)
        for problem, side in zip(problems, sides, strict=True)
    ]
    return columns, sides.counts


def _problem(side: BinaryProblem, plan: RowPlan, n_rows: int) -> Problem | None:
    """The rows of one column, without the folds that lack a side; None if no fold is left."""
    used = np.zeros(n_rows, dtype=bool)
    used[side.rows] = True
    y = np.zeros(n_rows, dtype=np.intp)
    y[side.rows] = side.labels
    splits: list[tuple[IntArray | None, IntArray]] = []
    for train, scored in plan.splits:
        if train is None:
            raise ParameterError(
                "a code needs a learner that can be trained for every column; got a FrozenEstimator; "
                "use code=None to calibrate its own scores"
            )
        inside, judged = train[used[train]], scored[used[scored]]
        if len(judged) and len(np.unique(y[inside])) == 2:
            splits.append((inside, judged))
    return Problem(y, SIDES, side.rows, RowPlan(splits, plan.refit)) if splits else None


def _calibrate(
    trained: Trained, problem: Problem, weights: Float64Array | None, calibrator: object
) -> Column:
    rows = trained.rows
    positive, its_weights = problem.y[rows] == 1, None if weights is None else weights[rows]
    fitted = learn_map(new_calibrator(calibrator), trained.scores[:, 1], positive, its_weights)
    return Column(trained.estimator, trained.method, fitted)
