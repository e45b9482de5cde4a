"""Probing beside the fits that it cannot do without, and alone beside two at a time."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import Row, faster, within
from calibrant import ProbingClassifier
from calibrant.metrics import cross_entropy

N_PROBES = 100


def data_folder() -> Path:
    """Where the papers' data are: CALIBRANT_DATA, or beside the project."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("CALIBRANT_DATA", beside))


def adult(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Adult, categories as numbers."""
    import pandas as pd

    path = data_folder() / f"adult.{part}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    y = frame.pop("class").str.rstrip(".").eq(">50K").to_numpy().astype(np.int64)
    names = frame.select_dtypes(exclude="number").columns
    frame[names] = OrdinalEncoder().fit_transform(frame[names].fillna("?"))
    return frame.to_numpy(dtype=np.float64), y


def tree() -> DecisionTreeClassifier:
    """The learner of all cases."""
    return DecisionTreeClassifier(min_samples_leaf=20, random_state=0)


def bookkeeping() -> Iterator[Row]:
    """What choosing thresholds and asking for votes adds to the fits themselves."""
    X, y = adult("train")
    model = ProbingClassifier(tree(), N_PROBES, weighting="weights")
    thresholds = model.fit(X, y).ladders_[0].thresholds

    def fits() -> None:
        for threshold in thresholds:
            clone(tree()).fit(X, y, sample_weight=np.where(y == 1, (1 - threshold) / threshold, 1.0))

    yield within(
        f"Probing a decision tree on Adult, {N_PROBES} probes",
        f"{N_PROBES} fits of the tree",
        lambda: model.fit(X, y),
        fits,
        goal="<= 1.15",
        repeats=1,
    )


def jobs() -> Iterator[Row]:
    """Two fits at a time: how much faster, and how far from the same loss."""
    X, y = adult("train")
    X_test, y_test = adult("test")
    alone = ProbingClassifier(tree(), N_PROBES, weighting="rejection", random_state=0)
    together = clone(alone).set_params(n_jobs=2)
    yield faster(
        f"Probing a decision tree on Adult, {N_PROBES} probes, n_jobs=2",
        "n_jobs=1",
        lambda: together.fit(X, y),
        lambda: alone.fit(X, y),
        goal=">= 1.6",
        repeats=3,
    )
    ours, theirs = (cross_entropy(y_test, model.predict_proba(X_test)) for model in (together, alone))
    yield Row("Loss after these probes, n_jobs=2", "n_jobs=1", ours, theirs, "", ours / theirs, "<= 1.01")


def probing() -> Iterator[Row]:
    """All of these."""
    yield from bookkeeping()
    yield from jobs()
