"""What Takahashi, Takamura & Okumura measure on one fold, as plain numbers.

All experiments of the paper share these jobs, so that a fold is trained once.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant.calibrators import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    RankedLogisticCalibrator,
    likely_errors,
    score_status_correlation,
)
from calibrant.experiments._tto_scores import Scores, scores_of
from calibrant.metrics import auc, cross_entropy, reliability_bins, roc_points

WIDTHS = (0.05, 0.1, 0.2, 0.3, 0.5)
CELLS = (10, 20, 30, 40, 60)
#: Numbers of cells of one score, from seven to sixty.
CELLS_OF_ONE = (7, 10, 20, 30, 60)
SMOOTHINGS = ("none", "laplace", "lidstone", "ma", "median", "ma_cov")
AXES = {"f1": [1], "f1, f2": [1, 2], "f1, f2, f3": [1, 2, 3]}
COMBINATIONS = ("single", "A", "B", "C")
#: Estimates are kept this far from 0 and 1 where a certain mistake would otherwise decide.
CLIP = 0.001
SHARES = (0.05, 0.1, 0.2)
#: Points of a curve that is kept.
N_POINTS = 40
DEEPEST = 12


def first_rank(data: str, learner: str, fold: int, n_rows: int | None) -> dict[str, Any]:
    """How sure the first guess is: cross entropies, AUC, detected errors and curves of rank 1."""
    scores = scores_of(data, learner, fold, n_rows)
    right = scores.test.argmax(axis=1) == scores.y_test
    size = "width" if learner == "SVM" else "n_cells"
    best: dict[str, Any] = {size: 0.1 if learner == "SVM" else 30}
    models = {
        "proposed": AccuracyTableCalibrator(max_rank=1, **best),
        "unsmoothed": AccuracyTableCalibrator(max_rank=1, smoothing="none", **best),
        "logistic": RankedLogisticCalibrator(max_rank=1),
        "logistic, one score": RankedLogisticCalibrator("single", max_rank=1),
    }
    estimates = {name: _estimate(model, scores) for name, model in models.items()}
    return {
        "entropy": _table_entropies(scores, right, learner)
        | {name: _entropies(right, each) for name, each in estimates.items()},
        "one score": _one_score(scores, right),
        "auc": {name: auc(right, each) for name, each in estimates.items()},
        "roc": {name: _roc(right, each) for name, each in estimates.items()},
        "reliability": {name: _reliability(right, each) for name, each in estimates.items()},
        "detection": {name: _detection(model, scores) for name, model in models.items()},
        "chosen": {by: _chosen(scores, right, size, by) for by in ("cv", "aic", "bic")},
    }


def all_ranks(data: str, learner: str, fold: int, n_rows: int | None) -> dict[str, Any]:
    """How sure the other guesses are: cross entropy and AUC by rank, correlations, the whole distribution."""
    scores = scores_of(data, learner, fold, n_rows)
    n_ranks = min(DEEPEST, scores.train.shape[1])
    right = _right_by_rank(scores)
    logistic, areas, curves = {}, {}, {}
    for combination in COMBINATIONS:
        estimate = _by_rank(RankedLogisticCalibrator(combination), scores, n_ranks)
        logistic[combination] = [_entropies(right[:, rank], estimate[:, rank]) for rank in range(1, n_ranks)]
        areas[combination] = [auc(right[:, rank], estimate[:, rank]) for rank in (1, 2)]
        curves[combination] = [_roc(right[:, rank], estimate[:, rank]) for rank in (1, 2)]
    tables = {
        "table as for rank 1": AccuracyTableCalibrator(width=0.1, max_rank=5),
        "table chosen per rank": AccuracyTableCalibrator(width="cv", max_rank=5),
    }
    by_table = {name: _by_rank(model, scores, 5) for name, model in tables.items()}
    return {
        "logistic": logistic,
        "auc": areas,
        "roc": curves,
        "tables": {
            name: [_entropies(right[:, rank], estimate[:, rank]) for rank in range(1, 5)]
            for name, estimate in by_table.items()
        },
        "correlation": _correlation(scores),
        "distribution": _distribution(scores),
    }


def second_rank_by_size(data: str, learner: str, fold: int, n_rows: int) -> dict[str, float]:
    """Cross entropy of the second guess after training on so many rows."""
    scores = scores_of(data, learner, fold, n_rows)
    right = _right_by_rank(scores)[:, 1]
    return {
        combination: cross_entropy(
            right, _by_rank(RankedLogisticCalibrator(combination, max_rank=2), scores, 2)[:, 1]
        )
        for combination in ("single", "A")
    }


def _table_entropies(scores: Scores, right: BoolArray, learner: str) -> dict[str, list[float]]:
    found = {}
    name, sizes = ("width", WIDTHS) if learner == "SVM" else ("n_cells", CELLS)
    for axes, ranks in AXES.items():
        for size in sizes:
            for smoothing in SMOOTHINGS:
                if learner == "NB" and smoothing == "lidstone":
                    continue  # The paper leaves it out for naive Bayes.
                options: dict[str, Any] = {name: size, "smoothing": smoothing}
                model = AccuracyTableCalibrator(ranks, max_rank=1, **options)
                found[f"{axes}; {size}; {smoothing}"] = _entropies(right, _estimate(model, scores))
    return found


def _one_score(scores: Scores, right: BoolArray) -> dict[str, list[list[float]]]:
    """Cells of the highest score alone, unsmoothed: of equal width, and with equally many rows."""
    train, test = scores.train.max(axis=1), scores.test.max(axis=1)
    status = scores.train.argmax(axis=1) == scores.y_train
    widths, counts = [], []
    for n_cells in CELLS_OF_ONE:
        table = AccuracyTableCalibrator([1], n_cells=n_cells, smoothing="none", max_rank=1)
        widths.append(_entropies(right, _estimate(table, scores)))
        bins = BinningCalibrator(n_bins=n_cells).fit(train, status)
        counts.append(_entropies(right, bins.predict_proba(test)[:, 1]))
    return {"equal width": widths, "equal count": counts}


def _chosen(scores: Scores, right: BoolArray, size: str, by: str) -> list[float]:
    """The size of cells chosen for the first rank, and the cross entropy that it gives."""
    options: dict[str, Any] = {size: by, "candidates": WIDTHS if size == "width" else CELLS}
    model = AccuracyTableCalibrator(max_rank=1, **options)
    entropy = _entropies(right, _estimate(model, scores))[1]
    criterion = model.tables_[0].criterion
    return [float(min(criterion, key=lambda each: criterion[each])), entropy]


def _detection(model: Any, scores: Scores) -> dict[str, Any]:
    """Errors found among the least confident rows, and among those with the lowest first score."""
    checks = likely_errors(model, scores.test, scores.y_test, shares=SHARES)
    found, curve, by_score = checks.found, checks.curve, checks.curve_by_score
    assert found is not None
    assert curve is not None
    assert by_score is not None
    picked = np.linspace(0, len(curve.share) - 1, N_POINTS).astype(int)
    return {
        "total": found.total,
        "found": found.errors.tolist(),
        "found by score": found.errors_by_score.tolist(),
        "coverage": curve.coverage[picked].tolist(),
        "share": curve.share[picked].tolist(),
        "share by score": by_score.share[picked].tolist(),
    }


def _correlation(scores: Scores) -> dict[str, Any]:
    """For every rank the score that goes most with its class being right, beside the highest score."""
    found = score_status_correlation(scores.train, scores.y_train)
    known = found.best > 0
    size = np.abs(found.correlation[known])
    return {
        "rank": (np.flatnonzero(known) + 1).tolist(),
        "strongest": found.best[known].tolist(),
        "of the strongest": np.nanmax(size, axis=1).tolist(),
        "of the first": size[:, 0].tolist(),
        "standard error": 1 / np.sqrt(len(scores.y_train)),
    }


def _distribution(scores: Scores) -> dict[str, float]:
    """MSE (mean over classes) of logistic A, as estimated and normalised; error of the first guess."""
    model = _fit(RankedLogisticCalibrator("A"), scores)
    truth = np.eye(scores.test.shape[1])[scores.y_test]
    proba = model.predict_proba(scores.test)
    return {
        "mse": float(np.mean((model.predict_raw(scores.test) - truth) ** 2)),
        "mse, normalised": float(np.mean((proba - truth) ** 2)),
        "error": float(np.mean(scores.test.argmax(axis=1) != scores.y_test)),
    }


def _right_by_rank(scores: Scores) -> BoolArray:
    order = np.argsort(-scores.test, axis=1, kind="stable")
    return np.asarray(order == scores.y_test[:, None])


def _by_rank(model: Any, scores: Scores, n_ranks: int) -> Float64Array:
    estimates: Float64Array = _fit(model, scores).predict_by_rank(scores.test, n_ranks=n_ranks).estimate
    return estimates


def _estimate(model: Any, scores: Scores) -> Float64Array:
    return _by_rank(model, scores, 1)[:, 0]


def _fit(model: Any, scores: Scores) -> Any:
    with warnings.catch_warnings():
        # Ranks that are told apart without error, or never right, get Platt's targets, as METHODS says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(scores.train, scores.y_train)


def _entropies(right: BoolArray, estimate: Float64Array) -> list[float]:
    """Cross entropy in nats, as it is and with estimates kept away from 0 and 1."""
    return [cross_entropy(right, estimate), cross_entropy(right, estimate, clip=CLIP)]


def _roc(right: BoolArray, estimate: Float64Array) -> list[list[float]]:
    curve = roc_points(right, estimate)
    grid = np.linspace(0, 1, N_POINTS)
    return [grid.tolist(), np.interp(grid, curve.fpr, curve.tpr).tolist()]


def _reliability(right: BoolArray, estimate: Float64Array) -> list[list[float]]:
    bins = reliability_bins(right, estimate, width=0.1)
    return [bins.mean_score.tolist(), bins.frac_pos.tolist()]
