"""Write the scores of the session in the README: `python docs/pendigits_scores.py [folder]`.

A naive Bayes learns handwritten digits from two thirds of the training rows of Pendigits. Its scores of the
other third, with their labels, are `scores.csv`, to calibrate with; those of the test rows are `new.csv`. A
score is the logarithm of the probability that naive Bayes gives to the digit. `costs.csv` says that a mistake
costs 1, and that asking a person costs 0.2. The data set is looked for in the folder that CALIBRANT_DATA
names.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from calibrant.experiments._datasets import read_numeric

DIGITS = [str(digit) for digit in range(10)]


def write_scores(path: Path, labels: np.ndarray, scores: np.ndarray) -> None:
    """Write one row per digit: its number, its label, its scores."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["id", "digit", *(f"s_{digit}" for digit in DIGITS)])
        for number, (label, row) in enumerate(zip(labels, scores.round(3).tolist(), strict=True)):
            lines.writerow([number, label, *row])


def write(folder: Path) -> None:
    """Train, score, write."""
    train, test = read_numeric("pendigits.train"), read_numeric("pendigits.test")
    calibrate = np.arange(len(train.y)) % 3 == 0
    bayes = GaussianNB().fit(train.X[~calibrate], train.y[~calibrate])
    write_scores(folder / "scores.csv", train.y[calibrate], bayes.predict_log_proba(train.X[calibrate]))
    write_scores(folder / "new.csv", test.y, bayes.predict_log_proba(test.X))
    rows = [[digit, *(int(digit != truth) for truth in DIGITS)] for digit in DIGITS]
    with (folder / "costs.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([["decision", *DIGITS], *rows, ["ask", *["0.2"] * len(DIGITS)]])


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
