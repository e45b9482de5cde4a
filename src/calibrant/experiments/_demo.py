"""The demo: two learners on two problems, raw and calibrated, with data that scikit-learn carries."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.classifiers import CalibratedClassifier
from calibrant.codes import normalize
from calibrant.metrics import (
    brier_decomposition,
    brier_score,
    error_rate,
    log_loss,
    reliability_bins,
    rescale_margin,
)
from calibrant.plots import reliability_diagram

PROBLEMS: dict[str, Callable[..., tuple[Array, IntArray]]] = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
LEARNERS: dict[str, Any] = {
    "naive Bayes": GaussianNB(),
    "linear SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
}
METHODS = ("raw", "sigmoid", "binning", "pav")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One line of the table: a learner on a problem, raw or calibrated by one method."""

    problem: str
    learner: str
    method: str
    brier: float
    calibration: float
    refinement: float
    log_loss: float
    error: float


@dataclass(frozen=True, slots=True)
class Forecasts:
    """The test rows of one learner on one problem: truth, and the probabilities of every method."""

    problem: str
    learner: str
    y: IntArray
    proba: dict[str, Float64Array]

    def evaluations(self) -> list[Evaluation]:
        """One line of the table per method.

        Returns
        -------
        list of Evaluation
            In the order of `METHODS`.
        """
        return [self._evaluate(method) for method in self.proba]

    def _evaluate(self, method: str) -> Evaluation:
        proba = self.proba[method]
        split = brier_decomposition(self.y, proba, isotonic=True, mode="classwise")
        return Evaluation(
            problem=self.problem,
            learner=self.learner,
            method=method,
            brier=brier_score(self.y, proba, convention="sum"),
            calibration=split.calibration,
            refinement=split.refinement,
            log_loss=log_loss(self.y, proba),
            error=error_rate(self.y, proba),
        )


def forecasts() -> Iterator[Forecasts]:
    """Train, calibrate and predict: one learner on one problem at a time.

    Yields
    ------
    Forecasts
        Probabilities of the half of the rows that took no part in training or calibration.
    """
    for problem, load in PROBLEMS.items():
        X, y = load(return_X_y=True)
        parts = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        for name, learner in LEARNERS.items():
            yield Forecasts(problem, name, parts[3], dict(_by_method(learner, *parts[:3])))


def _by_method(
    learner: Any, X_train: Array, X_test: Array, y_train: IntArray
) -> Iterator[tuple[str, Float64Array]]:
    yield "raw", _raw_probabilities(clone(learner).fit(X_train, y_train), X_train, X_test)
    for method in METHODS[1:]:
        yield method, CalibratedClassifier(learner, method).fit(X_train, y_train).predict_proba(X_test)


def _raw_probabilities(fitted: Any, X_train: Array, X_test: Array) -> Float64Array:
    """What a user without calibration has: probabilities, or margins pressed into [0, 1]."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X_test))
    margins, seen = fitted.decision_function(X_test), fitted.decision_function(X_train)
    if margins.ndim == 1:
        positive = rescale_margin(margins, reference=seen)
        return np.column_stack([1 - positive, positive])
    columns = [
        rescale_margin(margin, reference=reference)
        for margin, reference in zip(margins.T, seen.T, strict=True)
    ]
    return normalize(np.column_stack(columns))


def draw(results: list[Forecasts], folder: Path) -> list[Path]:
    """Draw the reliability diagrams, one picture per problem.

    Parameters
    ----------
    results : list of Forecasts
        What to draw.
    folder : Path
        Where the pictures go; it is made if it is missing.

    Returns
    -------
    list of Path
        The pictures written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for problem in dict.fromkeys(result.problem for result in results):
        shown = [result for result in results if result.problem == problem]
        figure = Figure(figsize=(5.2 * len(shown), 5.6), layout="constrained")
        for ax, result in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            _draw_one(ax, result)
        figure.suptitle(f"{problem}: forecasts of each class against what came, rows not trained on")
        figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
        path = folder / f"reliability-{problem.replace(' ', '-')}.png"
        figure.savefig(path, dpi=110)
        paths.append(path)
    return paths


#: Okabe and Ito's colours, which the colour-blind can tell apart; the markers do for print.
STYLES = {
    "raw": {"color": "#000000", "marker": "x"},
    "sigmoid": {"color": "#E69F00", "marker": "s"},
    "binning": {"color": "#56B4E9", "marker": "^"},
    "pav": {"color": "#009E73", "marker": "o"},
}


def _draw_one(ax: Any, result: Forecasts) -> None:
    """All classes pooled: every forecast of every class against whether that class came."""
    for method, proba in result.proba.items():
        columns = range(1, 2) if proba.shape[1] == 2 else range(proba.shape[1])
        came = np.concatenate([result.y == column for column in columns])
        forecast = np.concatenate([proba[:, column] for column in columns])
        bins = reliability_bins(came, forecast, width=0.1)
        reliability_diagram(bins, ax=ax, label=method, **STYLES[method])  # type: ignore[arg-type]
    ax.set_title(result.learner)
