"""The successor of SVC(probability=True) beside it: `python -m benchmarks.svc`.

All are trained on the same rows and measured on others, with five shufflings of the folds; medians are shown.
The kernel width is that of all training rows, as in the old option. Scikit-learn deprecates it.
"""

import json
import statistics
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.tables import RESULTS
from calibrant import CalibratedClassifier
from calibrant.experiments._datasets import read_numeric
from calibrant.metrics import brier_score, error_rate, log_loss


def data_sets():
    """Name, training rows and test rows of three problems with 10, 7 and 10 classes."""
    digits = train_test_split(
        *load_digits(return_X_y=True), test_size=0.5, random_state=0, stratify=load_digits().target
    )
    yield "digits", (digits[0], digits[2]), (digits[1], digits[3])
    for name in ("segment", "pendigits"):
        train, test = read_numeric(f"{name}.train"), read_numeric(f"{name}.test")
        yield name, (train.X, train.y), (test.X, test.y)


def measure(model, train, test):
    """Time to fit, and how the probabilities of the test rows did."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model.fit(*train)
    seconds = time.perf_counter() - start
    proba, classes = model.predict_proba(test[0]), model.classes_
    agreement = np.mean(model.predict(test[0]) == classes[proba.argmax(axis=1)])
    return {
        "log_loss": log_loss(test[1], proba, classes=classes),
        "brier": brier_score(test[1], proba, classes=classes),
        "error": error_rate(test[1], proba, classes=classes),
        "agreement": float(agreement),
        "seconds": seconds,
    }


def models(gamma, seed):
    """The old option; its successor by default, and as the old method with two combinations."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    yield "SVC(probability=True)", SVC(gamma=gamma, probability=True, random_state=seed)
    yield "auto", CalibratedClassifier(SVC(gamma=gamma), code="all_pairs", cv=folds)
    for combine in ("coupling", "least_squares"):
        successor = CalibratedClassifier(SVC(gamma=gamma), "sigmoid", "all_pairs", combine, cv=folds)
        yield f'combine="{combine}"', successor


def main():
    """Measure all on every data set, print a table, and keep it."""
    rows = []
    for name, train, test in data_sets():
        gamma = 1 / train[0].shape[1]  # "scale" for standardised features
        runs = {}
        for seed in range(5):
            for title, learner in models(gamma, seed):
                model = make_pipeline(StandardScaler(), learner)
                runs.setdefault(title, []).append(measure(model, train, test))
        for title, results in runs.items():
            medians = {key: statistics.median(result[key] for result in results) for key in results[0]}
            rows.append({"data": name, "model": title} | medians)
            print(rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    content = {"command": "python -m benchmarks.svc", "rows": rows}
    (RESULTS / "svc.json").write_text(json.dumps(content, indent=1) + "\n")
    lines = [
        "| data | model | log loss | Brier (sum) | error | predict = most probable | fit |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['data']} | `{row['model']}` | {row['log_loss']:.4f} | {row['brier']:.4f} "
        f"| {row['error']:.4f} | {row['agreement']:.2%} | {row['seconds']:.2f} s |"
        for row in rows
    ]
    (RESULTS / "svc.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
