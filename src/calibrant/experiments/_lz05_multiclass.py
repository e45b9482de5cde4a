"""Probing many classes: what becomes of the answers for single ones, by folds of training rows alone."""

import math
import warnings
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Float64Array
from calibrant.classifiers import ProbingClassifier
from calibrant.codes import normalize, project_on_simplex
from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix
from calibrant.experiments._datasets import read_split
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.learners import CategoricalNaiveBayes
from calibrant.metrics import brier_score, log_loss

N_FOLDS = 5
SYMMETRIC = "symmetric"


def _rest(answers: Float64Array, left_out: int) -> Float64Array:
    """The answers but one, and what they leave for that one."""
    rest = answers.copy()
    rest[:, left_out] = 0
    rest[:, left_out] = 1 - rest.sum(axis=1)
    return rest


def _clipped(answers: Float64Array, left_out: int) -> Float64Array:
    return normalize(np.maximum(_rest(answers, left_out), 0))


def _projected(answers: Float64Array, left_out: int) -> Float64Array:
    return project_on_simplex(_rest(answers, left_out))


#: From the answers of all classes and the number of the most frequent one to probabilities.
FORMS: dict[str, Callable[[Float64Array, int], Float64Array]] = {
    "clip, last left out": lambda answers, _: _clipped(answers, answers.shape[1] - 1),
    "clip, most frequent left out": _clipped,
    "project, last left out": lambda answers, _: _projected(answers, answers.shape[1] - 1),
    "project, most frequent left out": _projected,
    SYMMETRIC: lambda answers, _: normalize(answers),
}
LEARNERS: dict[str, tuple[Any, Any, Any]] = {
    "NB": (CategoryCodes, CategoricalNaiveBayes(), "weights"),
    "SVM": (DesignMatrix, LinearSVC(dual=False, tol=1e-3, max_iter=10_000), "weights"),
    "tree": (DesignMatrix, DecisionTreeClassifier(min_samples_leaf=2, random_state=0), "rejection"),
}
SETS: dict[Scale, tuple[str, ...]] = {
    "quick": ("balance-scale", "dermatology", "glass", "hayes-roth", "iris", "lymphography", "wine", "zoo"),
    "full": (
        *("balance-scale", "car", "dermatology", "glass", "hayes-roth", "iris", "lymphography", "pendigits"),
        *("segment", "soybean", "vowel", "waveform21", "wine", "zoo"),
    ),
}
#: More rows would make a study of forms into one of patience.
N_ROWS, N_PROBES = 1500, 20


def multiclass(data: str, learner: str) -> dict[str, list[float]]:
    """Log loss and Brier score of every form, over five folds of training rows."""
    table = read_split(data).train
    table = table.take(np.sort(np.random.default_rng(0).permutation(len(table.y))[:N_ROWS]))
    prepare, model, weighting = LEARNERS[learner]
    classes, y = np.unique(table.y, return_inverse=True)
    answers = np.empty((len(y), len(classes)))
    with warnings.catch_warnings():
        # A class with fewer rows than folds is missing from some of them, as it will be elsewhere.
        warnings.filterwarnings("ignore", "The least populated class")
        folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(table.X, y))
    for train, held in folds:
        prepared = prepare(table.nominal).fit(table.X[train])
        X, X_held = prepared.transform(table.X[train]), prepared.transform(table.X[held])
        for place in range(len(classes)):
            probing = ProbingClassifier(model, N_PROBES, weighting=weighting, random_state=place)
            answers[held, place] = probing.fit(X, y[train] == place).predict_proba(X_held)[:, -1]
    most_frequent = int(np.bincount(y).argmax())
    found = {}
    for name, form in FORMS.items():
        proba = form(answers, most_frequent)
        found[name] = [log_loss(y, proba), brier_score(y, proba, convention="sum")]
    return found


def _jobs(scale: Scale) -> list[Job]:
    return [
        Job(multiclass, {"data": data, "learner": learner}) for data in SETS[scale] for learner in LEARNERS
    ]


def _collect(done: Sequence[Done]) -> Findings:
    rows = [
        Row(
            (job.arguments["data"], job.arguments["learner"]),
            tuple(job.answer[name][place] for place in (1, 0) for name in FORMS),
        )
        for job in done
    ]
    return Findings(tuple(rows), tuple(_is_best(done, place) for place in (1, 0)))


def _is_best(done: Sequence[Done], place: int) -> Check:
    """Whether the symmetric form has the least loss in the geometric mean over the problems."""
    measure = ("log loss", "Brier score")[place]
    statement = f"Probing all classes and normalising has the least {measure} on average"
    if not done:
        return Check(statement, None)
    parts, held = [], True
    for other in (name for name in FORMS if name != SYMMETRIC):
        pairs = [(job.answer[SYMMETRIC][place], job.answer[other][place]) for job in done]
        finite = [(ours, theirs) for ours, theirs in pairs if math.isfinite(theirs) and min(ours, theirs) > 0]
        ratio = math.exp(fmean(math.log(ours / theirs) for ours, theirs in finite)) if finite else 0.0
        held = held and ratio < 1
        n_infinite = sum(math.isinf(theirs) for _, theirs in pairs)
        parts.append(
            f"{ratio:.3f} times that of '{other}', less on {sum(a < b for a, b in pairs)} of {len(pairs)}"
            + (f", which is infinite on {n_infinite}" if n_infinite else "")
        )
    return Check(statement, held, "; ".join(parts))


MULTICLASS = Experiment(
    name="lz05-multiclass",
    title="Probing many classes: what becomes of the answers for single classes",
    conventions=(
        "The paper probes all classes but one, which gets what the others leave, and shows no numbers. "
        "Brier score summed over the classes and log loss in nats, over five folds of training rows alone "
        f"(at most {N_ROWS:,} rows, {N_PROBES} probes per class). What is left can be negative: it is set to "
        "0 and the row normalised, or the nearest distribution is taken. Symmetric probes every class. Naive "
        "Bayes and the linear SVM are probed by weights, trees by rejection."
    ),
    labels=("data set", "learner"),
    measures=tuple(f"{measure}, {name}" for measure in ("Brier", "log loss") for name in FORMS),
    jobs=_jobs,
    collect=_collect,
)
