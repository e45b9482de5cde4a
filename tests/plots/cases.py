"""One small drawing by every function of the room, on given axes or on a figure of its own."""

import numpy as np

from calibrant import AccuracyTableCalibrator, CalibrationMonitor, SigmoidCalibrator
from calibrant.classifiers import Ladder, ProbingCurve
from calibrant.decisions import compare_rules
from calibrant.metrics import Estimate, detection_curve, isotonic_reliability, reliability_bins, roc_points
from calibrant.models import MethodComparison, MethodResult
from calibrant.plots import (
    accuracy_heatmap,
    calibration_map,
    detection_diagram,
    monitor_chart,
    probing_convergence,
    probing_ladder,
    ranking_diagram,
    reliability_diagram,
    roc_diagram,
    saving_diagram,
    simplex_diagram,
)

RNG = np.random.default_rng(0)
PROBA = RNG.random(200)
Y = RNG.random(200) < PROBA
SCORES = np.log(PROBA / (1 - PROBA))
COST = [[0, 1, 10], [2, 0, 5], [1, 4, 0]]
THREE = RNG.dirichlet([1, 1, 1], 100)
Y3 = (RNG.random(100)[:, None] > THREE.cumsum(axis=1)).sum(axis=1)

BINS = reliability_bins(Y, PROBA)
SCORE_BINS = reliability_bins(Y, SCORES, lo=-4, hi=4, width=1)
SIGMOID = SigmoidCalibrator().fit(SCORES, Y)
LADDER = Ladder(
    positive="yes",
    thresholds=np.array([0.5, 0.2, 0.8]),
    split_counts=np.array([10.0, 6.0, 4.0]),
    counts=np.array([1.0, 5.0, 0.0, 4.0]),
    estimates=np.array([0.08, 0.34, 0.66, 0.92]),
    held_out_loss=None,
)
PROBING = ProbingCurve(np.arange(4), np.array([0.69, 0.6, 0.5, 0.49]), np.array([0.25, 0.2, 0.19, 0.18]))
RULES = compare_rules(THREE, Y3, COST, cv=3)
MANY = RNG.random(2000)
WATCHED = CalibrationMonitor(window=400, cost=[[0, 3], [1, 0]])
WATCHED.update(MANY, RNG.random(2000) < np.where(np.arange(2000) < 800, MANY, MANY**0.4), np.arange(2000) / 3)


def table(combination="A", **options):
    matrix = np.random.default_rng(1).normal(size=(80, 4))
    right = matrix.argmax(axis=1)
    right[::3] = 0
    return AccuracyTableCalibrator(combination=combination, **options).fit(matrix, right).tables_[0]


def behind(difference, error):
    return Estimate(difference, difference - 2 * error, difference + 2 * error, error)


def methods(*rows, recommended):
    """Methods by name, difference, its error, and the share of resamples in which they come first."""
    results = tuple(
        MethodResult(name, 0.5 + difference, 0.2, 0.01, 0.19, 0.1, behind(difference, error), share, 0)
        for name, difference, error, share in rows
    )
    return MethodComparison(results, "log loss", 100, 5, results[0].name, "", recommended, 0.005)


METHODS = methods(
    ("pav", 0.0, 0.0, 0.7),
    ("sigmoid", 0.01, 0.004, 0.3),
    ("binning", 0.02, 0.004, 0.0),
    recommended="sigmoid",
)

DRAWINGS = {
    "accuracy_heatmap": lambda ax: accuracy_heatmap(table(width=0.5), ax=ax),
    "calibration_map": lambda ax: calibration_map(SIGMOID, SCORE_BINS, ax=ax),
    "detection_diagram": lambda ax: detection_diagram(detection_curve(Y, PROBA), ax=ax),
    "monitor_chart": lambda ax: monitor_chart(WATCHED, ax=ax),
    "monitor_chart of windows": lambda ax: monitor_chart(WATCHED, "log_loss", ax=ax),
    "probing_convergence": lambda ax: probing_convergence(PROBING, ax=ax),
    "probing_ladder": lambda ax: probing_ladder(LADDER, ax=ax),
    "ranking_diagram": lambda ax: ranking_diagram(METHODS, ax=ax),
    "reliability_diagram": lambda ax: reliability_diagram(BINS, ax=ax),
    "reliability_diagram without bins": lambda ax: reliability_diagram(isotonic_reliability(Y, PROBA), ax=ax),
    "roc_diagram": lambda ax: roc_diagram(roc_points(Y, SCORES), ax=ax),
    "saving_diagram": lambda ax: saving_diagram(RULES, ax=ax),
    "simplex_diagram": lambda ax: simplex_diagram(COST, THREE, Y3, ax=ax),
}
