"""The successor of SVC(probability=True) beside it: `python -m benchmarks.svc`.

Both are trained on the same rows and measured on others. Scikit-learn deprecates `probability=True`.
"""

import json
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
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


def main():
    """Measure both on every data set, print a table, and keep it."""
    rows = []
    for name, train, test in data_sets():
        for title, learner in (
            ("SVC(probability=True)", SVC(probability=True, random_state=0)),
            ("CalibratedClassifier", CalibratedClassifier(SVC(), "sigmoid", "all_pairs", "coupling")),
        ):
            rows.append(
                {"data": name, "model": title}
                | measure(make_pipeline(StandardScaler(), learner), train, test)
            )
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
