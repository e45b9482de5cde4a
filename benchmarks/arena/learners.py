"""Eight base models, and the scores that they give: margins or probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.arena.problems import problem_named, split
from calibrant.experiments._data_preparation import DesignMatrix

LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "naive Bayes": GaussianNB,
    "linear SVM": lambda: LinearSVC(random_state=0, max_iter=5000),
    "RBF SVM": lambda: SVC(random_state=0),
    "forest": lambda: RandomForestClassifier(100, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=3, random_state=0),
    "neighbours": lambda: KNeighborsClassifier(10),
}
QUICK = ["logistic", "naive Bayes", "linear SVM", "boosting"]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of rows: one per class, or a single margin of two classes.

    Attributes
    ----------
    values : ndarray of shape (n, k) or (n,)
        Probabilities, or margins.
    kind : {"probability", "margin"}
        What they are.
    """

    values: np.ndarray
    kind: str

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return 2 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def rows(self) -> np.ndarray:
        """One score per class; a single margin is half of it for one class and half against the other."""
        if self.values.ndim == 2:
            return self.values
        return np.stack([-self.values / 2, self.values / 2], axis=1)

    @property
    def single(self) -> np.ndarray:
        """The score of the second of two classes."""
        return self.values if self.values.ndim == 1 else self.values[:, 1]

    @property
    def proba(self) -> np.ndarray:
        """Probabilities; those of margins by the logistic function, or by softmax."""
        if self.kind == "probability":
            return self.values
        if self.values.ndim == 2:
            return softmax(self.values, axis=1)
        positive = expit(self.values)
        return np.stack([1 - positive, positive], axis=1)

    def take(self, rows: np.ndarray) -> "Scores":
        """Some of the rows."""
        return Scores(self.values[rows], self.kind)


def scores_of(name: str, learner: str, seed: int, *, inner: bool, cache: Path) -> tuple[Scores, ...]:
    """The scores of the calibration and of the test part, which are kept for the next time."""
    path = cache / f"{name}-{learner.replace(' ', '_')}-{seed}-{'inner' if inner else 'outer'}.npz"
    if not path.exists():
        problem, parts = problem_named(name), split(name, seed, inner=inner)
        model = make_pipeline(DesignMatrix(problem.nominal), LEARNERS[learner]())
        model.fit(problem.X[parts.train], problem.y[parts.train])
        kind = "probability" if hasattr(model, "predict_proba") else "margin"
        answer = model.predict_proba if kind == "probability" else model.decision_function
        found = {part: answer(problem.X[getattr(parts, part)]) for part in ("calibrate", "test")}
        cache.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, kind=kind, **found)
    with np.load(path) as kept:
        kind = str(kept["kind"])
        return tuple(Scores(kept[part], kind) for part in ("calibrate", "test"))
