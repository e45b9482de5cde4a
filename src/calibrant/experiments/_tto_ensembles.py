"""Bagged and boosted classifiers under the ranked methods, which Takahashi and others leave open."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Float64Array
from calibrant.calibrators import AccuracyTableCalibrator, RankedLogisticCalibrator
from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix
from calibrant.experiments._datasets import read_split
from calibrant.experiments._errors import CHANCE, mean_error
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.learners import BaggedVotesClassifier, BoostedNaiveBayes

N_FOLDS, CLIP = 5, 0.001
SETS: dict[Scale, tuple[str, ...]] = {"quick": ("segment",), "full": ("pendigits", "segment", "waveform21")}
LEARNERS: dict[str, Any] = {
    "bagged trees": BaggedVotesClassifier(DecisionTreeClassifier(), 50, random_state=0),
    "boosted trees": AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=50, random_state=0),
    "boosted naive Bayes": OneVsRestClassifier(BoostedNaiveBayes()),
}
#: The ranked methods of the first and of the second guess, by one score and by two.
METHODS: dict[str, Any] = {
    "table, one score": AccuracyTableCalibrator([1], max_rank=1),
    "table, two scores": AccuracyTableCalibrator([1, 2], max_rank=1),
    "logistic, one score": RankedLogisticCalibrator("single", smooth=True, max_rank=2),
    "logistic, two scores": RankedLogisticCalibrator("A", smooth=True, max_rank=2),
}


def ensemble(data: str, learner: str) -> dict[str, Any]:
    """Cross entropy of the first and the second guess of an ensemble, by every ranked method."""
    both = read_split(data)
    prepare = CategoryCodes if learner == "boosted naive Bayes" else DesignMatrix
    model = make_pipeline(prepare(both.train.nominal), LEARNERS[learner])
    classes, y = np.unique(both.train.y, return_inverse=True)
    y_test = np.searchsorted(classes, both.test.y)
    # Votes, and answers of columns that are rankings and no distribution; AdaBoost's own are margins.
    method = "decision_function" if learner == "boosted trees" else "predict_proba"
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    scores = cross_val_predict(model, both.train.X, y, cv=folds, method=method)
    asked = getattr(model.fit(both.train.X, y), method)(both.test.X)
    order = np.argsort(-asked, axis=1, kind="stable")
    losses = {}
    for name, calibrator in METHODS.items():
        fitted = calibrator.fit(scores, y)
        n_ranks = 1 if name.startswith("table") else 2
        estimates = fitted.predict_by_rank(asked, n_ranks=n_ranks).estimate
        for rank in range(n_ranks):
            losses[f"{name}; {rank + 1}"] = _losses(estimates[:, rank], order[:, rank] == y_test)
    return {
        "error": float(np.mean(order[:, 0] != y_test)),
        "loss": {name: [float(each.mean()), mean_error(each)] for name, each in losses.items()},
        "gap": {
            f"{kind}; {rank}": _gap(losses, kind, rank)
            for kind, ranks in (("table", (1,)), ("logistic", (1, 2)))
            for rank in ranks
        },
    }


def _losses(estimate: Float64Array, right: Any) -> Float64Array:
    return np.asarray(-np.log(np.clip(np.where(right, estimate, 1 - estimate), CLIP, 1 - CLIP)))


def _gap(losses: dict[str, Float64Array], kind: str, rank: int) -> list[float]:
    """How much less two scores lose than one, with its standard error over the rows."""
    less = losses[f"{kind}, one score; {rank}"] - losses[f"{kind}, two scores; {rank}"]
    return [float(less.mean()), mean_error(less)]


def _jobs(scale: Scale) -> list[Job]:
    return [Job(ensemble, {"data": data, "learner": learner}) for data in SETS[scale] for learner in LEARNERS]


def _collect(done: Sequence[Done]) -> Findings:
    rows = []
    for job in done:
        for name, (loss, error) in job.answer["loss"].items():
            labels = (job.arguments["data"], job.arguments["learner"], *name.split("; "))
            rows.append(Row(labels, (loss, job.answer["error"]), spread=(error, None)))
    checks = [
        _two_beat_one(done, kind, rank) for kind, rank in (("table", 1), ("logistic", 1), ("logistic", 2))
    ]
    return Findings(tuple(rows), tuple(checks))


def _two_beat_one(done: Sequence[Done], kind: str, rank: int) -> Check:
    statement = f"{kind}: two scores are no worse than one at rank {rank} (by two standard errors)"
    if not done:
        return Check(statement, None)
    found = {tuple(job.arguments.values()): job.answer["gap"][f"{kind}; {rank}"] for job in done}
    finding = ", ".join(
        f"{data} {learner} {gap:+.4f} ± {error:.4f}" for (data, learner), (gap, error) in found.items()
    )
    return Check(statement, all(gap > -CHANCE * error for gap, error in found.values()), f"less by {finding}")


ENSEMBLES = Experiment(
    "tto-ensembles",
    "Bagged and boosted classifiers under the ranked methods (the paper's open question)",
    "Test part, cross entropy in nats of 'the class at this rank is right', kept within "
    f"[{CLIP}, {1 - CLIP}], with its standard error over the rows. Bags have 50 unpruned trees, whose votes "
    "are the scores; AdaBoost has 50 trees of depth four; boosted naive Bayes has ten rounds, one against "
    "the rest, on 21 levels. Calibrated on scores of five folds of the training rows. Tables of 30 cells per "
    "axis by ma_cov; two scores are combination A.",
    ("data", "learner", "method", "rank"),
    ("cross entropy", "error of the first guess"),
    _jobs,
    _collect,
)
