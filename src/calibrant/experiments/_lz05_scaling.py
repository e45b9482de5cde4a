"""How large the weights of a probe should be: a choice by folds of the training rows alone.

For a threshold p positives weigh (1 - p)/p and negatives 1. Any multiple of these asks the same question, but
a learner with a penalty or a prior stands against the sum of the weights.
"""

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.classifiers import ProbingClassifier
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.experiments._lz05_protocol import SVM, category_parts, design_parts
from calibrant.experiments._lz05_sets import HUGE, LARGE, NAME_OF, SETS, STANDARD_SPLIT
from calibrant.learners import CategoricalNaiveBayes
from calibrant.metrics import cross_entropy

N_FOLDS = 5
PRINTED, GREATEST, MEAN = "as printed", "greatest 1", "mean 1"
#: What is made of the weights that Probing passes, of which the greatest is 1.
SCALINGS: dict[str, Callable[[Float64Array, IntArray], Float64Array]] = {
    PRINTED: lambda weights, y: weights / weights[y == 0].max(),
    GREATEST: lambda weights, _: weights,
    MEAN: lambda weights, _: weights / weights.mean(),
}
LEARNERS = {"NB": (category_parts, CategoricalNaiveBayes()), "SVM": (design_parts, SVM)}


class Rescaled(ClassifierMixin, BaseEstimator):
    """A learner that is given other multiples of its weights."""

    def __init__(self, estimator: Any, scaling: str) -> None:
        self.estimator = estimator
        self.scaling = scaling

    def fit(self, X: Array, y: IntArray, sample_weight: Float64Array) -> Self:
        """Train the learner."""
        weights = SCALINGS[self.scaling](sample_weight, y)
        self.classes_ = np.unique(y)
        self.estimator_ = clone(self.estimator).fit(X, y, sample_weight=weights)
        return self

    def predict(self, X: Array) -> Array:
        """Ask the learner."""
        return np.asarray(self.estimator_.predict(X))


def scaling(data: str, learner: str, n_probes: int) -> dict[str, float]:
    """The cross entropy of every scaling, in bits, over five folds of the training rows."""
    prepare, model = LEARNERS[learner]
    parts = prepare(data, 0)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(parts.X, parts.y))
    losses = {}
    for name in SCALINGS:
        probing = ProbingClassifier(Rescaled(model, name), n_probes, weighting="weights", random_state=0)
        positive = np.empty(len(parts.y))
        for train, held in folds:
            probing.fit(parts.X[train], parts.y[train])
            positive[held] = probing.predict_proba(parts.X[held])[:, 1]
        losses[name] = cross_entropy(parts.y, positive, base=2)
    return losses


def _jobs(scale: Scale) -> list[Job]:
    large = (*STANDARD_SPLIT, *LARGE)
    return [
        Job(
            scaling,
            {
                "data": data,
                "learner": learner,
                "n_probes": 20 if scale == "quick" or data in large else 100,
            },
        )
        for data in SETS.values()
        if data != HUGE and (scale == "full" or data not in large)
        for learner in LEARNERS
    ]


def _collect(done: Sequence[Done]) -> Findings:
    rows = [
        Row(
            (NAME_OF[job.arguments["data"]], job.arguments["learner"]),
            tuple(job.answer[name] for name in SCALINGS),
        )
        for job in done
    ]
    checks = tuple(
        _is_least(done, learner, GREATEST, [name for name in SCALINGS if name != GREATEST])
        for learner in LEARNERS
    )
    return Findings(tuple(rows), checks)


def _is_least(done: Sequence[Done], learner: str, best: str, others: Sequence[str]) -> Check:
    statement = f"{learner}: weights with {best} have the least cross entropy on average"
    answers = [job.answer for job in done if job.arguments["learner"] == learner]
    if not answers:
        return Check(statement, None)
    parts, held = [], True
    for other in others:
        gaps = [np.log2(answer[other] / answer[best]) for answer in answers]
        error = stdev(gaps) / len(gaps) ** 0.5 if len(gaps) > 1 else float("nan")
        n_less = sum(gap > 0 for gap in gaps)
        held = held and fmean(gaps) > 0
        parts.append(
            f"against '{other}' less on {n_less} of {len(gaps)} sets, {100 * (2 ** -fmean(gaps) - 1):+.1f}% "
            f"in the geometric mean, {fmean(gaps) / error:.1f} standard errors"
        )
    return Check(statement, held, "; ".join(parts))


SCALING = Experiment(
    name="lz05-scaling",
    title="How large the weights of a probe should be, by folds of the training rows alone",
    conventions=(
        "Not in the paper, which prints weights of (1 - p)/p for positives and 1 for negatives. Cross "
        "entropy in bits, over five folds of the training rows of the first split; no test row was looked "
        "at. 100 probes, 20 on Adult, COIL, Sick, Kr-vs-kp and Mushroom and in a quick run. Greatest 1 "
        "divides all weights by the greatest, mean 1 by their mean. Learners as in lz05-table1."
    ),
    labels=("data set", "learner"),
    measures=tuple(SCALINGS),
    jobs=_jobs,
    collect=_collect,
)
