"""The two-class problems of Zadrozny & Elkan: Adult and TIC, by naive Bayes and a linear SVM."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from calibrant._core._arrays import Array, BoolArray, Float64Array
from calibrant.calibrators import BinningCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant.experiments._choice import choose
from calibrant.experiments._data_preparation import CategoryCodes, Indicators
from calibrant.experiments._datasets import Mixed, read_split
from calibrant.experiments._errors import mean_error
from calibrant.learners import CategoricalNaiveBayes
from calibrant.metrics import brier_score, error_rate, fixed_width_bins, reliability_bins, rescale_margin

#: The attributes of TIC that the winner of the COIL challenge used, as far as they are known to us: pairs
#: whose values are crossed, and single ones. They were not checked against the winner's report.
WINNER_PAIRS = (("PPERSAUT", "APERSAUT"), ("PBRAND", "ABRAND"))
WINNER_SINGLE = ("PWAPART", "PPLEZIER", "PBYSTAND", "PWAOREG", "MOPLHOOG", "MKOOPKLA")
#: The widths of the bins of the paper's reliability diagrams.
WIDTHS = {("adult", "NB"): 0.1, ("adult", "SVM"): 0.08, ("tic", "NB"): 0.15, ("tic", "SVM"): 0.15}
#: The numbers of bins that the paper compares PAV with.
BINS = range(5, 51)
#: Where the learned curves of the figures are drawn.
GRID = np.linspace(0, 1, 201)
CALIBRATORS = {
    "sigmoid": SigmoidCalibrator(),
    "PAV": PAVCalibrator(clip=0),
    "binning, b by cross-validation": BinningCalibrator("cv"),
}
#: What there is to choose from today, on scores out of fold.
TODAY = {
    "PAV": PAVCalibrator(clip=0),
    "PAV, linear between blocks": PAVCalibrator(between="linear", clip=0),
    "sigmoid": SigmoidCalibrator(),
    "binning": BinningCalibrator("cv"),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Features as the learners take them, and whether rows are positive."""

    X_train: Array
    X_test: Array
    y_train: BoolArray
    y_test: BoolArray
    learner: Any


def two_class(name: str, learner: str, attributes: str = "all") -> dict[str, Any]:
    """A learner on a problem: raw, calibrated on its training rows, and by the best method of today."""
    problem = _problem(name, learner, attributes)
    fitted = clone(problem.learner).fit(problem.X_train, problem.y_train)
    score = _score_of(learner)
    train, test = score(fitted, problem.X_train), score(fitted, problem.X_test)
    raw = [train, test] if learner == "NB" else [rescale_margin(s, reference=train) for s in (train, test)]
    measured = {"raw": _measures(problem, *raw)}
    curves, on_test = {}, {}
    for method, calibrator in CALIBRATORS.items():
        calibrated = clone(calibrator).fit(train, problem.y_train)
        on_train, on_test[method] = (calibrated.predict_proba(s)[:, 1] for s in (train, test))
        measured[method] = _measures(problem, on_train, on_test[method])
        # The axis of the figures is the raw score, for the support vector machine re-scaled to [0, 1].
        scores = GRID if learner == "NB" else (2 * GRID - 1) * np.abs(train).max()
        curves[method] = calibrated.predict_proba(scores)[:, 1].tolist()
    choice = choose(TODAY, _out_of_fold(problem, learner), problem.y_train)
    today = [choice.calibrator.predict_proba(s)[:, 1] for s in (train, test)]
    measured["today"] = _measures(problem, *today)
    return {
        **{name: {way: each[name] for way, each in measured.items()} for name in ("measures", "errors")},
        "binning": {str(b): _binned(problem, train, test, b) for b in BINS},
        "bins": _bins(problem, raw[1], on_test, WIDTHS[name, learner]),
        "curves": curves,
        "today": choice.name,
    }


def _problem(name: str, learner: str, attributes: str) -> Problem:
    split = read_split(name)
    labels = split.train.is_positive, split.test.is_positive
    if attributes == "winner":
        features = _winner(split.train), _winner(split.test)
        steps: list[Any] = []
    else:
        features = split.train.X, split.test.X
        steps = [CategoryCodes(split.train.nominal)]
    if learner == "NB":
        return Problem(*features, *labels, make_pipeline(*steps, CategoricalNaiveBayes()))
    cost = 0.01 if name == "adult" else 1.0
    machine = LinearSVC(C=cost, loss="hinge", max_iter=100_000, random_state=0)
    return Problem(*features, *labels, make_pipeline(*steps, Indicators(), machine))


def _winner(table: Mixed) -> Array:
    """The winner's attributes as whole numbers."""
    value = {column: table.X[:, place] for place, column in enumerate(table.columns)}
    crossed = [value[first] * 100 + value[second] for first, second in WINNER_PAIRS]
    return np.column_stack(crossed + [value[column] for column in WINNER_SINGLE]).astype(np.intp)


def _score_of(learner: str) -> Callable[[Any, Array], Float64Array]:
    if learner == "NB":
        return lambda fitted, X: np.asarray(fitted.predict_proba(X)[:, 1])
    return lambda fitted, X: np.asarray(fitted.decision_function(X))


def _out_of_fold(problem: Problem, learner: str) -> Float64Array:
    method = "predict_proba" if learner == "NB" else "decision_function"
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_predict(problem.learner, problem.X_train, problem.y_train, cv=folds, method=method)
    return np.asarray(scores[:, 1] if learner == "NB" else scores)


def _measures(problem: Problem, train: Float64Array, test: Float64Array) -> dict[str, list[float]]:
    """Squared error and error on training and test rows, and their standard errors over these rows."""
    parts = (problem.y_train, train), (problem.y_test, test)
    return {
        "measures": [
            *(brier_score(y, proba, convention="sum") for y, proba in parts),
            *(error_rate(y, proba) for y, proba in parts),
        ],
        "errors": [
            *(mean_error(_squared(y, proba)) for y, proba in parts),
            *(mean_error(((proba > 0.5) != y).astype(np.float64)) for y, proba in parts),
        ],
    }


def _binned(problem: Problem, train: Float64Array, test: Float64Array, n_bins: int) -> list[float]:
    """Test squared error of binning; and by how much it is above that of PAV, with the standard error."""
    binned, pav = (
        _squared(problem.y_test, calibrator.fit(train, problem.y_train).predict_proba(test)[:, 1])
        for calibrator in (BinningCalibrator(n_bins), PAVCalibrator(clip=0))
    )
    above = binned - pav
    return [float(binned.mean()), float(above.mean()), float(above.std(ddof=1) / np.sqrt(len(above)))]


def _squared(y: BoolArray, proba: Float64Array) -> Float64Array:
    """The squared error of every row, summed over the two classes."""
    return np.asarray(2 * (y - proba) ** 2)


def _bins(
    problem: Problem, raw: Float64Array, calibrated: dict[str, Float64Array], width: float
) -> dict[str, Any]:
    """The bins of a reliability diagram over the raw score, with the mean estimate of every method."""
    bins = reliability_bins(problem.y_test, raw, width=width)
    _, place = np.unique(fixed_width_bins(raw, width, 0.0, 1.0)[0], return_inverse=True)
    return {
        "score": bins.mean_score.tolist(),
        "frequency": bins.frac_pos.tolist(),
        "count": bins.count.tolist(),
        "estimate": {
            method: (np.bincount(place, proba) / bins.count).tolist() for method, proba in calibrated.items()
        },
    }
