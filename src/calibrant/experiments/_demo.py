"""The demo: two learners on two problems, raw and calibrated, with data that scikit-learn carries.

The problems are ten handwritten digits, and diabetes patients whose disease will progress slowly, moderately
or fast, of whom each kind of mistake has its price. Every row is measured by a model that has not seen it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._whole_files import together
from calibrant.calibrators import Calibrator, RankedLogisticCalibrator
from calibrant.classifiers import CalibratedClassifier
from calibrant.codes import normalize
from calibrant.metrics import EvaluationSums, LossMeasures, rescale_margin
from calibrant.report import Summary, summarize

LEARNERS: dict[str, Any] = {
    "naive Bayes": GaussianNB(),
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
}
#: By name the calibrator; None for what the learner gives as it is.
METHODS: dict[str, Any] = {
    "raw": None,
    "auto": "auto",
    "sigmoid": "sigmoid",
    "pav": "pav",
    "ranked logistic": RankedLogisticCalibrator(smooth=True),
}
SPEEDS = ("slow", "moderate", "fast")
#: What it costs to treat a patient as one kind who turns out to be another: rows are decisions.
SPEED_COSTS = {
    "slow": {"slow": 0, "moderate": 2, "fast": 10},
    "moderate": {"slow": 1, "moderate": 0, "fast": 3},
    "fast": {"slow": 3, "moderate": 1.5, "fast": 0},
}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A data set.

    Attributes
    ----------
    name : str
        What it is called.
    X, y : ndarray
        Features, and the number of the class.
    classes : tuple
        The labels.
    n_folds : int
        In how many parts the rows are measured by models trained on the others.
    """

    name: str
    X: Array
    y: IntArray
    classes: tuple[object, ...]
    n_folds: int


def problems() -> tuple[Problem, ...]:
    """Load the data."""
    digits, numbers = load_digits(return_X_y=True)
    patients, progress = load_diabetes(return_X_y=True)
    third = np.quantile(progress, [1 / 3, 2 / 3])
    return (
        Problem("digits", digits, numbers, tuple(range(10)), n_folds=2),
        Problem("diabetes", patients, np.searchsorted(third, progress), SPEEDS, n_folds=5),
    )


@dataclass(frozen=True, slots=True)
class DemoLine:
    """One line of the table: a learner on a problem, raw or calibrated by one method, and what it loses."""

    problem: str
    learner: str
    method: str
    losses: LossMeasures


@dataclass(frozen=True, slots=True, eq=False)
class DemoForecasts:
    """One learner on one problem: the truth, and the probabilities of every method."""

    problem: Problem
    learner: str
    proba: dict[str, Float64Array]

    def evaluations(self) -> list[DemoLine]:
        """One line of the table per method."""
        return [self._evaluate(method) for method in self.proba]

    def _evaluate(self, method: str) -> DemoLine:
        k = len(self.problem.classes)
        sums = EvaluationSums(k, k, exact=True).add(self.problem.y, self.proba[method])
        return DemoLine(self.problem.name, self.learner, method, sums.losses())


#: What `demo_forecasts` yields: one learner on one problem, once it is done.
N_DEMO_STEPS = 2 * len(LEARNERS) * len(METHODS)


def demo_forecasts() -> Iterator[DemoForecasts | None]:
    """Train, calibrate and predict, one method at a time."""
    for problem in problems():
        for name, learner in LEARNERS.items():
            proba: dict[str, Float64Array] = {}
            for method, calibrator in METHODS.items():
                proba[method] = _out_of_fold(problem, learner, calibrator)
                yield DemoForecasts(problem, name, proba) if len(proba) == len(METHODS) else None


def _out_of_fold(problem: Problem, learner: Any, calibrator: Calibrator) -> Float64Array:
    """Probabilities of every row, by a model that was trained and calibrated on other rows."""
    proba = np.empty((len(problem.y), len(problem.classes)))
    folds = StratifiedKFold(problem.n_folds, shuffle=True, random_state=0)
    for seen, unseen in folds.split(problem.X, problem.y):
        X, y = problem.X[seen], problem.y[seen]
        if calibrator is None:
            proba[unseen] = _raw_probabilities(clone(learner).fit(X, y), X, problem.X[unseen])
        else:
            proba[unseen] = (
                CalibratedClassifier(learner, calibrator).fit(X, y).predict_proba(problem.X[unseen])
            )
    return proba


def _raw_probabilities(fitted: Any, seen: Array, unseen: Array) -> Float64Array:
    """What a user without calibration has: probabilities, or margins pressed into [0, 1]."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(unseen))
    columns = [
        rescale_margin(margin, reference=reference)
        for margin, reference in zip(
            fitted.decision_function(unseen).T, fitted.decision_function(seen).T, strict=True
        )
    ]
    return normalize(np.column_stack(columns))


def reports(results: list[DemoForecasts]) -> dict[str, Summary]:
    """Summarise what convinces: digits before and after calibration, and diabetes with costs."""
    before = "naive Bayes, raw"
    digits = _by_learner_and_method(results, "digits")
    first = _summary(results, "digits", before, digits)
    diabetes = _by_learner_and_method(results, "diabetes")
    return {
        "digits-before.html": first,
        "digits-after.html": _summary(results, "digits", _recommended(first), digits),
        "diabetes-costs.html": _summary(
            results,
            "diabetes",
            _recommended(_summary(results, "diabetes", before, diabetes)),
            diabetes,
            SPEED_COSTS,
        ),
    }


def _recommended(summary: Summary) -> str:
    return "" if summary.methods is None else summary.methods.recommended or ""


def _by_learner_and_method(results: list[DemoForecasts], problem: str) -> dict[str, Float64Array]:
    return {
        f"{result.learner}, {method}": proba
        for result in results
        if result.problem.name == problem
        for method, proba in result.proba.items()
    }


def _summary(
    results: list[DemoForecasts],
    name: str,
    subject: str,
    methods: dict[str, Float64Array],
    cost: object = None,
) -> Summary:
    problem = next(result.problem for result in results if result.problem.name == name)
    labels = np.array(problem.classes)[problem.y]
    return summarize(
        labels,
        methods[subject],
        classes=problem.classes,
        methods=methods,
        cost=cost,
        title=f"{name.capitalize()}: {subject}",
    )


def write_demo_reports(results: list[DemoForecasts], folder: Path) -> dict[Path, Summary]:
    """Write the pages."""
    with together():
        return {summary.save(folder / name): summary for name, summary in reports(results).items()}
