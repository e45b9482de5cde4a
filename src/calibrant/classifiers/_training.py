"""Training a learner on some rows and scoring others, as jobs that can run side by side."""

from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from calibrant._core._arrays import Array, BoolArray, Float64Array, IntArray
from calibrant._core._checks import distinct_labels
from calibrant._core._errors import ParameterError
from calibrant.classifiers._kernels import fit_on
from calibrant.classifiers._rows import RowPlan, rows_of_params
from calibrant.classifiers._scores import choose_method, score
from calibrant.codes import BinaryProblem

#: The labels of the sides of a column.
SIDES = np.array([0, 1])


class TrainingOptions(TypedDict):
    """How the learner is trained and scored, whatever the problem."""

    fit_params: dict[str, Any]
    method: str
    n_jobs: int | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something to learn: labels for some rows, and the rows that train and are scored.

    Attributes
    ----------
    y : ndarray of shape (n,)
        A label for every row; those of rows outside the plan do not matter.
    classes : ndarray
        The labels, sorted.
    everything : ndarray
        All rows of the problem, for the final fit.
    plan : RowPlan
        Training rows and scored rows.
    """

    y: Array
    classes: Array
    everything: IntArray
    plan: RowPlan

    @classmethod
    def of_column(cls, side: BinaryProblem, plan: RowPlan, n_rows: int) -> "Problem":
        """One column of a code: the rows of its classes train, and all rows are scored.

        Training rows that lack a side are none.
        """
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
            inside = train[used[train]]
            splits.append((inside if len(np.unique(y[inside])) == 2 else inside[:0], scored))
        return cls(y, SIDES, side.rows, RowPlan(splits, plan.refit))

    def of_own_rows(self) -> "Problem | None":
        """Where only the rows of its classes are scored, in the folds that have both sides; None without."""
        used = np.zeros(len(self.y), dtype=bool)
        used[self.everything] = True
        splits: list[tuple[IntArray | None, IntArray]] = [
            (train, own)
            for train, scored in self.plan.splits
            if train is not None and len(train) and len(own := scored[used[scored]])
        ]
        return replace(self, plan=RowPlan(splits, self.plan.refit)) if splits else None


def whole_rows(problems: list[Problem]) -> list[Problem] | None:
    """The columns of a code in the folds in which all of them have both sides; None if there are none."""
    sizes = [[0 if train is None else len(train) for train, _ in each.plan.splits] for each in problems]
    kept = np.flatnonzero(np.all(sizes, axis=0))
    if not len(kept):
        return None
    return [
        replace(each, plan=RowPlan([each.plan.splits[place] for place in kept], each.plan.refit))
        for each in problems
    ]


@dataclass(frozen=True, slots=True)
class Trained:
    """The final learner of a problem, and scores to calibrate it with.

    Attributes
    ----------
    estimator : object
        The final learner.
    method : str
        Which of its methods gives the score.
    rows : ndarray of shape (m,)
        The rows that were scored; a row can be scored more than once, or never.
    scores : ndarray of shape (m, k)
        Their scores.
    known : ndarray of shape (m, k)
        Whether the learner behind a score knew the class.
    """

    estimator: Any
    method: str
    rows: IntArray
    scores: Float64Array
    known: BoolArray


def train_all(
    estimator: Any,
    X: Any,
    problems: list[Problem],
    *,
    fit_params: dict[str, Any],
    method: str,
    n_jobs: int | None,
) -> list[Trained]:
    """Train and score for every problem, all fits of all problems side by side."""
    jobs = [
        (problem, train, scored)
        for problem in problems
        for train, scored in [*problem.plan.splits, *([(problem.everything, None)] * problem.plan.refit)]
    ]
    done = iter(
        Parallel(n_jobs=n_jobs)(
            delayed(_fit_and_score)(estimator, X, problem, train, scored, fit_params, method)
            for problem, train, scored in jobs
        )
    )
    return [_gather(problem, [next(done) for _ in range(_n_fits(problem))]) for problem in problems]


def _n_fits(problem: Problem) -> int:
    return len(problem.plan.splits) + problem.plan.refit


def _fit_and_score(
    estimator: Any,
    X: Any,
    problem: Problem,
    train: IntArray | None,
    scored: IntArray | None,
    fit_params: dict[str, Any],
    method: str,
) -> tuple[Any, str, Float64Array | None, BoolArray | None]:
    model = estimator if train is None else _fit(estimator, X, problem.y, train, fit_params)
    method = choose_method(model, method)
    if scored is None:
        return model, method, None, None
    scores, known = score(model, _rows_of(X, scored), method, problem.classes)
    is_final = not problem.plan.refit
    return model if is_final else None, method, scores, known


def fit_or_constant(model: Any, X: Any, rows: IntArray | None, y: Array, params: dict[str, Any]) -> Any:
    """Train a learner; if it refuses rows of a single class, that class is always answered instead."""
    try:
        return fit_on(model, X, rows, y, params)
    except ValueError:
        if len(distinct_labels(y)) > 1:
            raise
        return DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y)


def _fit(estimator: Any, X: Any, y: Array, train: IntArray, fit_params: dict[str, Any]) -> Any:
    params = rows_of_params(fit_params, train, len(y))
    return fit_on(clone(estimator), X, train, y[train], params)


def _rows_of(X: Any, rows: IntArray) -> Any:
    """The given rows of X, without a copy where these are all rows in order."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows)):
        return X
    return _safe_indexing(X, rows)


def _gather(problem: Problem, results: list[tuple[Any, str, Any, Any]]) -> Trained:
    final, method, *_ = results[-1]
    scored = results[: len(problem.plan.splits)]
    return Trained(
        estimator=final,
        method=method,
        rows=np.concatenate([rows for _, rows in problem.plan.splits]),
        scores=np.concatenate([scores for _, _, scores, _ in scored]),
        known=np.concatenate([np.tile(known, (len(scores), 1)) for _, _, scores, known in scored]),
    )
