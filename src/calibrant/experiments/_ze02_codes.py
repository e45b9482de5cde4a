"""The study that Zadrozny & Elkan call for: codes, calibrators and combinations on many sets."""

import math
import warnings
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._errors import ScoreDirectionWarning
from calibrant.calibrators import CodeCalibrator, StackCalibrator
from calibrant.codes import Coupling, all_pairs, exhaustive, one_vs_all, random_dense, random_sparse
from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix
from calibrant.experiments._datasets import Split, read_split
from calibrant.experiments._experiment import Check, Done, Experiment, Findings, Job, Row, Scale
from calibrant.learners import CategoricalNaiveBayes

CODES: dict[str, Any] = {
    "one_vs_all": one_vs_all,
    "all_pairs": all_pairs,
    "random_dense": lambda k: random_dense(k, random_state=0),
    "random_sparse": lambda k: random_sparse(k, random_state=0),
    "exhaustive": exhaustive,
}
#: The exhaustive code doubles with every class.
MOST_CLASSES = 7
COMBINATIONS: dict[str, Any] = {
    "normalize": "normalize",
    "least_squares": "least_squares",
    "coupling": "coupling",
    "published coupling": Coupling(algorithm="published", tol=1e-6, max_iter=5000),
}
#: The paper's three.
CALIBRATORS = ("binning", "sigmoid", "pav")
#: All columns together: no combination is needed.
STACK = ("stack", "")
LEARNERS: dict[str, tuple[Any, Any]] = {
    "NB": (CategoryCodes, CategoricalNaiveBayes()),
    "SVM": (DesignMatrix, LinearSVC(dual=False, tol=1e-3, max_iter=10_000)),
}
SETS: dict[Scale, tuple[str, ...]] = {
    "quick": ("glass", "iris", "lymphography", "wine", "zoo"),
    "full": (
        *("balance-scale", "car", "connect-4", "dermatology", "glass", "hayes-roth", "iris", "lymphography"),
        *("nursery", "optdigits", "pendigits", "segment", "shuttle", "soybean", "vowel", "waveform21"),
        *("wine", "zoo"),
    ),
}
N_ROWS, N_FOLDS = 1000, 5
#: What an answer counts as at least in the log loss.
LEAST = 1e-6
#: What the others are compared with: the paper's own recommendation.
BASE = ("one_vs_all", "pav", "normalize")

#: Code, calibrator and combination.
Way = tuple[str, str, str]


def code_table(data: str, learner: str, code: str) -> dict[str, list[float]]:
    """Log loss, Brier score and error on test rows for every calibrator and combination of a code."""
    both = _some(read_split(data))
    prepare, model = LEARNERS[learner]
    prepared = prepare(both.train.nominal).fit(both.train.X)
    X, X_test = prepared.transform(both.train.X), prepared.transform(both.test.X)
    classes, y = np.unique(both.train.y, return_inverse=True)
    matrix = CODES[code](len(classes))
    scores = np.empty((len(y), matrix.shape[1]))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    for train, held in folds:
        scores[held] = _column_scores(model, matrix, X[train], y[train], X[held])
    asked = _column_scores(model, matrix, X, y, X_test)
    y_test = np.searchsorted(classes, both.test.y)
    combinations = [name for name in COMBINATIONS if name != "normalize" or code == "one_vs_all"]
    ways = [(calibrator, name) for calibrator in CALIBRATORS for name in combinations]
    found = {}
    for calibrator, combination in [*ways, STACK]:
        fitted = (
            StackCalibrator(kind="margin", code=matrix)
            if (calibrator, combination) == STACK
            else CodeCalibrator(matrix, calibrator, COMBINATIONS[combination])
        )
        with warnings.catch_warnings():
            # Columns of few rows may point the wrong way, and the published iteration need not settle.
            warnings.simplefilter("ignore", ScoreDirectionWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            proba = fitted.fit(scores, y).predict_proba(asked)
        found[f"{calibrator}; {combination}"] = _losses(proba, y_test)
    return found


def _some(both: Split) -> Split:
    """At most so many training rows, and test rows of their classes."""
    rows = np.sort(np.random.default_rng(0).permutation(len(both.train.y))[:N_ROWS])
    train = both.train.take(rows)
    known = np.flatnonzero(np.isin(both.test.y, train.y))
    return Split(train, both.test.take(known[: 2 * N_ROWS]))


def _column_scores(model: Any, matrix: Array, X: Array, y: IntArray, asked: Array) -> Float64Array:
    """What a binary learner per column of the code says, as a margin or as log-odds."""
    scores = np.zeros((len(asked), matrix.shape[1]))
    for place, column in enumerate(matrix.T):
        sign = column[y]
        part = sign != 0
        if len(np.unique(sign[part])) < 2:
            continue  # Some fold has none of a small class: nothing can be told.
        fitted = clone(model).fit(X[part], sign[part] > 0)
        if hasattr(fitted, "decision_function"):
            scores[:, place] = fitted.decision_function(asked)
        else:
            log_proba = fitted.predict_log_proba(asked)
            scores[:, place] = log_proba[:, 1] - log_proba[:, 0]
    return scores


def _losses(proba: Float64Array, y: IntArray) -> list[float]:
    truth = np.eye(proba.shape[1])[y]
    own = proba[np.arange(len(y)), y]
    return [
        float(-np.log(np.maximum(own, LEAST)).mean()),
        float(((proba - truth) ** 2).sum(axis=1).mean()),
        float((proba.argmax(axis=1) != y).mean()),
    ]


def _jobs(scale: Scale) -> list[Job]:
    return [
        Job(code_table, {"data": data, "learner": learner, "code": code})
        for data in SETS[scale]
        for learner in LEARNERS
        for code in CODES
        if code != "exhaustive" or data not in MANY_CLASSES
    ]


#: Sets of more classes than the exhaustive code is for.
MANY_CLASSES = ("optdigits", "pendigits", "segment", "shuttle", "soybean", "vowel", "zoo")

#: For every problem (data set and learner) the losses of every way.
Problems = Mapping[tuple[str, str], Mapping[Way, Sequence[float]]]


def _problems(done: Sequence[Done]) -> Problems:
    found: dict[tuple[str, str], dict[Way, Sequence[float]]] = {}
    for job in done:
        named = job.arguments
        ways = found.setdefault((named["data"], named["learner"]), {})
        for name, losses in job.answer.items():
            calibrator, combination = name.split("; ")
            ways[named["code"], calibrator, combination] = losses
    return found


def ratio(problems: Problems, way: Way, base: Way, place: int) -> tuple[float, float, int]:
    """The geometric mean of the ratio of two ways over the problems, half of its interval, their number."""
    logs = [
        math.log(ways[way][place] / ways[base][place])
        for ways in problems.values()
        if way in ways and base in ways and min(ways[way][place], ways[base][place]) > 0
    ]
    if len(logs) < 2:
        return (math.exp(logs[0]) if logs else math.nan), math.nan, len(logs)
    half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    centre = math.exp(fmean(logs))
    return centre, centre * half, len(logs)


def _collect(done: Sequence[Done]) -> Findings:
    problems = _problems(done)
    ways = list(dict.fromkeys(way for of_one in problems.values() for way in of_one))
    rows = []
    for way in sorted(ways, key=lambda each: (list(CODES).index(each[0]), each[1:])):
        ratios = [ratio(problems, way, BASE, place) for place in range(3)]
        rows.append(
            Row(
                way,
                (*(centre for centre, *_ in ratios), float(ratios[0][2])),
                spread=(*(half for _, half, _ in ratios), None),
            )
        )
    checks = [
        *(_best_combination(problems, code) for code in CODES),
        _beats(
            problems,
            "all pairs beat one-vs-all by least squares and PAV, on average",
            ("all_pairs", "pav", "least_squares"),
        ),
        _beats(
            problems,
            "the true minimiser of coupling beats normalisation for one-vs-all with PAV, on average",
            ("one_vs_all", "pav", "coupling"),
        ),
        _no_advantage(problems),
    ]
    return Findings(tuple(rows), tuple(checks))


def _best_combination(problems: Problems, code: str) -> Check:
    """The first combination is the library's default for the code."""
    default = {"one_vs_all": "normalize", "all_pairs": "least_squares"}.get(code, "coupling")
    statement = f"{code}: no combination has surely less log loss than the default, {default}"
    parts, held = [], True
    for calibrator in CALIBRATORS:
        for name in COMBINATIONS:
            if name == default or not any((code, calibrator, name) in ways for ways in problems.values()):
                continue
            centre, half, _ = ratio(problems, (code, calibrator, name), (code, calibrator, default), 0)
            held = held and not centre + half < 1
            parts.append(f"{name} with {calibrator} {centre:.3f} ± {half:.3f}")
    return Check(statement, held, ", ".join(parts)) if parts else Check(statement, None)


def _beats(problems: Problems, statement: str, way: Way) -> Check:
    (loss, _), (brier, _), finding = _against_base(problems, way)
    return Check(statement, loss < 1 and brier < 1 if finding else None, finding)


def _no_advantage(problems: Problems) -> Check:
    """The paper's finding, of the iteration that it used."""
    statement = "for one-vs-all with PAV the published coupling has no sure advantage over normalisation"
    *ratios, finding = _against_base(problems, ("one_vs_all", "pav", "published coupling"))
    held = all(centre + half >= 1 for centre, half in ratios)
    return Check(statement, held if finding else None, finding)


def _against_base(problems: Problems, way: Way) -> tuple[tuple[float, float], tuple[float, float], str]:
    """Log loss and Brier score of a way over those of the paper's, with their intervals, and in words."""
    (*loss, n), (*brier, _) = (ratio(problems, way, BASE, place) for place in (0, 1))
    finding = (
        f"log loss {loss[0]:.3f} ± {loss[1]:.3f}, Brier score {brier[0]:.3f} ± {brier[1]:.3f}, {n} problems"
    )
    return (loss[0], loss[1]), (brier[0], brier[1]), finding if n else ""


CODES_STUDY = Experiment(
    name="ze02-codes",
    title="Codes, calibrators and combinations on many sets: the study that the paper calls for",
    conventions=(
        "Losses on test rows over those of one-vs-all with PAV and normalisation, the paper's own "
        "recommendation: geometric mean over the problems (a set and a learner) with half the width of its "
        "95% interval; below 1 is better. The test file, or a third of the rows. Naive "
        "Bayes (numbers in 21 levels; log-odds) and a linear SVM (C = 1), one per column of the code, on at "
        f"most {N_ROWS:,} training rows; calibrated on scores of five folds. An answer counts as at least "
        f"{LEAST} in the log loss. The stack takes all columns together and needs no combination. Exhaustive "
        f"codes where there are fewer than {MOST_CLASSES} classes."
    ),
    labels=("code", "calibrator", "combination"),
    measures=("log loss", "Brier score", "error", "problems"),
    jobs=_jobs,
    collect=_collect,
)
