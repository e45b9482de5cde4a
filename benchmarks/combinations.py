"""Which combination suits which code: `python -m benchmarks.combinations`, some minutes.

The training parts of the development sets are cross-validated in three folds; test parts are not looked at.
In every fold the learner, or the binary ones of a code, are trained and calibrated once, and all combinations
put the same answers together. An answer of less than one in a million counts as that in the log loss.
"""

import json
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.tables import RESULTS
from calibrant import CalibratedClassifier
from calibrant.decisions import decide, rarity_costs, realised_cost
from calibrant.experiments._datasets import read_split
from calibrant.metrics import brier_score, log_loss

#: Most rows of a set, and fewest of a class.
MOST, LEAST = 1_200, 10
LEAST_ANSWER = 1e-6
LEARNERS = {
    "SVC": (SVC(), "auto"),
    "naive Bayes": (GaussianNB(), "log_odds"),
    "tree": (DecisionTreeClassifier(min_samples_leaf=5, random_state=0), "auto"),
}
#: For every code what can put its answers together; "none" is the learner's own score of every class.
COMBINATIONS = {
    "none": ("normalize", "least_squares", "coupling"),
    "all_pairs": ("least_squares", "coupling"),
    "random_dense": ("least_squares", "coupling"),
    "one_vs_all": ("normalize", "least_squares", "coupling"),
}
CODES = {name: None if name == "none" else name for name in COMBINATIONS}
CALIBRATORS = ("sigmoid", "pav")
#: Codes with a score for every class: "auto", the stack of all of them, is measured beside the combinations.
STACKED = ("none", "one_vs_all")
NAMED = ("pendigits", "segment", "vowel", "glass", "dermatology", "balance-scale", "car")


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features and labels of every training part."""
    for name, loaded in (("digits", load_digits), ("wine", load_wine)):
        yield name, *_some(*loaded(return_X_y=True))
    for name in NAMED:
        part = read_split(name).train
        X = np.where(np.isnan(part.X), np.nanmedian(part.X, axis=0), part.X)
        yield name, *_some(X, part.y)


def _some(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most so many rows, of classes that have enough."""
    labels, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, labels[counts >= LEAST]))
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST])
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def measure(X: np.ndarray, y: np.ndarray, learner: str, code: str, calibrator: str) -> dict[str, dict]:
    """The losses of every combination, over all rows, each answered in its fold."""
    estimator, response = LEARNERS[learner]
    answers = {combine: np.empty((len(y), y.max() + 1)) for combine in COMBINATIONS[code]}
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        model = CalibratedClassifier(
            clone(estimator),
            calibrator,
            CODES[code],
            COMBINATIONS[code][0],
            cv=3,
            response_method=response,
            random_state=0,
        ).fit(scaler.transform(X[train]), y[train])
        scored = model.to_score_model()
        scores = model.learner_scores(scaler.transform(X[test]))
        for combine in COMBINATIONS[code]:
            scored.calibrator_.set_params(combine=combine)
            answers[combine][test] = scored.predict_proba(scores)
        if code in STACKED:
            answers.setdefault("auto", np.empty((len(y), y.max() + 1)))[test] = (
                clone(model)
                .set_params(calibrator="auto", combine=None)
                .fit(scaler.transform(X[train]), y[train])
            ).predict_proba(scaler.transform(X[test]))
    return {combine: _losses(y, proba) for combine, proba in answers.items()}


def _losses(y: np.ndarray, proba: np.ndarray) -> dict[str, float]:
    limited = np.maximum(proba, LEAST_ANSWER)
    return {
        "log_loss": float(log_loss(y, limited / limited.sum(axis=1, keepdims=True))),
        "brier_score": float(brier_score(y, proba)),
        "cost": _rarity_cost(y, proba),
        "zeros": float(np.mean(proba[np.arange(len(y)), y] == 0)),
    }


def _rarity_cost(y: np.ndarray, proba: np.ndarray) -> float:
    """What decisions cost where rare classes are dear."""
    cost = rarity_costs(np.bincount(y))
    return float(realised_cost(y, decide(proba, cost), cost).mean)


def summary(rows: list[dict]) -> list[dict]:
    """For every code and calibrator: each combination relative to the first that is listed."""
    found = []
    for code, names in COMBINATIONS.items():
        for calibrator in (*CALIBRATORS, "both"):
            cases = [row for row in rows if row["code"] == code and calibrator in (row["calibrator"], "both")]
            for name in (*names, *(["auto"] if code in STACKED else [])):
                ratios = {
                    measure: float(
                        np.exp(
                            np.mean([np.log(row[name][measure] / row[names[0]][measure]) for row in cases])
                        )
                    )
                    for measure in ("log_loss", "brier_score", "cost")
                }
                beside = dict.fromkeys((*names, name))  # "auto" is held against all combinations
                best = [min(beside, key=lambda each, row=row: row[each]["log_loss"]) for row in cases]
                shared = {"best": best.count(name), "cases": len(cases)}
                zeros = float(np.mean([row[name]["zeros"] for row in cases]))
                found.append(
                    {"code": code, "calibrator": calibrator, "combine": name}
                    | ratios
                    | shared
                    | {"zeros": zeros}
                )
    return found


def main() -> None:
    """Measure, print, and keep the results."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = []
    for data, X, y in data_sets():
        for learner in LEARNERS:
            for code in COMBINATIONS:
                for calibrator in CALIBRATORS:
                    case = {"data": data, "learner": learner, "code": code, "calibrator": calibrator}
                    rows.append(case | measure(X, y, learner, code, calibrator))
                    print(rows[-1], flush=True)
    write(rows)


def write(rows: list[dict]) -> None:
    """Keep the results, and print them."""
    found = summary(rows)
    content = {"command": "python -m benchmarks.combinations", "summary": found, "rows": rows}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "combinations.json").write_text(json.dumps(content, indent=1) + "\n")
    lines = [
        "| code | calibrator | combination | log loss | Brier score | cost | best, log loss | truth at 0 |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['code']} | {row['calibrator']} | {row['combine']} | {row['log_loss']:.3f} "
        f"| {row['brier_score']:.3f} | {row['cost']:.3f} "
        f"| {row['best']} of {row['cases']} | {row['zeros']:.2%} |"
        for row in found
    ]
    (RESULTS / "combinations.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
