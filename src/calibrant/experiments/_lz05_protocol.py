"""The protocol of Langford and Zadrozny: hard classifiers and their rivals on one split of one data set.

One job trains one family of learners. Weka's learners are replaced by scikit-learn's: J48 by a CART tree of
entropy with at least two rows in a leaf, whose pruning strength is the one of least error in five folds of
the training rows; SMO by a linear SVM of squared hinge with C = 1; its logistic regression by one that is
practically without penalty; its naive Bayes by ours, on names and on numbers in 21 levels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators import SigmoidCalibrator, new_calibrator
from calibrant.classifiers import CalibratedClassifier, ProbingClassifier, probing_curve
from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix
from calibrant.experiments._datasets import read_split
from calibrant.learners import BaggedVotesClassifier, CategoricalNaiveBayes, LaplaceTreeClassifier
from calibrant.metrics import auc, cross_entropy, log_loss, rms_error

#: Pruning strengths, the strongest first, so that of equal errors the smaller tree wins.
PRUNING = (0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.0)
#: A finer tolerance takes four times as long on COIL, and decides the same.
SVM = LinearSVC(C=1.0, dual=False, tol=1e-3, max_iter=10_000)
#: Weka's logistic regression has a ridge of 1e-8: practically no penalty.
LOGISTIC = LogisticRegression(C=1e6, solver="liblinear", max_iter=10_000)
#: Many unpruned trees with Laplace estimates, each split looking at some of the columns.
FOREST = BaggedVotesClassifier(
    LaplaceTreeClassifier(max_features="sqrt"), n_estimators=50, aggregate="mean", random_state=0
)
#: What the library's choice chooses from. PAV can be certain, and one certain mistake is infinite.
CALIBRATORS = ("identity", "sigmoid")


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A training and a test part as learners take them; 1 is the positive class."""

    X: Array
    y: IntArray
    X_test: Array
    y_test: IntArray

    def measure(self, model: Any) -> list[float]:
        """Train a classifier and measure it on the test part."""
        return self.measure_fitted(model.fit(self.X, self.y))

    def measure_fitted(self, model: Any) -> list[float]:
        """Measure a classifier that has been trained."""
        positive = model.predict_proba(self.X_test)[:, 1]
        return [
            cross_entropy(self.y_test, positive, base=2),
            rms_error(self.y_test, positive),
            auc(self.y_test, positive),
        ]


def design_parts(data: str, split: int) -> Parts:
    """Numbers and indicators of names, for trees and linear models."""
    return _parts(data, split, DesignMatrix)


def category_parts(data: str, split: int) -> Parts:
    """Codes of names and levels of numbers, for naive Bayes."""
    return _parts(data, split, CategoryCodes)


def _parts(data: str, split: int, preparation: Callable[..., Any]) -> Parts:
    both = read_split(data, split)
    prepared = preparation(both.train.nominal).fit(both.train.X)
    return Parts(
        prepared.transform(both.train.X),
        both.train.is_positive.astype(np.intp),
        prepared.transform(both.test.X),
        both.test.is_positive.astype(np.intp),
    )


def family(data: str, split: int, learners: str, n_probes: int) -> dict[str, Any]:
    """Train one family of learners on one split, and measure each on the test part."""
    return FAMILIES[learners](data, split, n_probes)


def _trees(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    tree = pruned_tree(parts)
    probing = ProbingClassifier(tree, n_probes, weighting="rejection", random_state=split)
    bagging = BaggedVotesClassifier(tree, n_probes, aggregate="mean", random_state=split)
    measures = {
        "J48": parts.measure(tree),
        "BagJ48": parts.measure(bagging),
        "ProbJ48": parts.measure(probing),
    }
    curve = probing_curve(probing, parts.X_test, parts.y_test).cross_entropy / np.log(2)
    return {"measures": measures, "pruning": tree.ccp_alpha, "curve": curve.tolist()}


def pruned_tree(parts: Parts) -> DecisionTreeClassifier:
    """The stand-in for J48: its pruning strength has the least error in five folds of the training rows."""
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(tree, {"ccp_alpha": PRUNING}, scoring="accuracy", cv=folds, refit=False)
    return tree.set_params(**search.fit(parts.X, parts.y).best_params_)


def _svms(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    return {
        "measures": {
            "SigSVM": parts.measure(CalibratedClassifier(SVM, SigmoidCalibrator())),
            "ProbSVM": parts.measure(
                ProbingClassifier(SVM, n_probes, weighting="weights", random_state=split)
            ),
        }
    }


def _bayes(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = category_parts(data, split)
    bayes = CategoricalNaiveBayes()
    return {
        "measures": {
            "NB": parts.measure(bayes),
            "SigNB": parts.measure(CalibratedClassifier(bayes, SigmoidCalibrator())),
            "ProbNB": parts.measure(
                ProbingClassifier(bayes, n_probes, weighting="weights", random_state=split)
            ),
        }
    }


def _logistic(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    probing = ProbingClassifier(LOGISTIC, n_probes, weighting="rejection", random_state=split)
    return {"measures": {"Log": parts.measure(LOGISTIC), "ProbLog": parts.measure(probing)}}


def _library(data: str, split: int, n_probes: int) -> dict[str, Any]:  # noqa: ARG001
    """A forest of this library or logistic regression, raw or calibrated: the least out-of-fold log loss."""
    parts = design_parts(data, split)
    losses = {}
    for name, learner in (("forest", FOREST), ("logistic", LOGISTIC)):
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        scores = cross_val_predict(learner, parts.X, parts.y, cv=folds, method="predict_proba")[:, 1]
        for calibrator in CALIBRATORS:
            losses[name, calibrator] = _cross_validated_loss(calibrator, scores, parts.y)
    name, calibrator = min(losses, key=lambda choice: losses[choice])
    learner = {"forest": FOREST, "logistic": LOGISTIC}[name]
    model = CalibratedClassifier(learner, new_calibrator(calibrator), response_method="predict_proba")
    return {"measures": {"Library": parts.measure(model)}, "choice": f"{calibrator} {name}"}


def _cross_validated_loss(calibrator: str, scores: Float64Array, y: IntArray) -> float:
    proba = np.empty((len(y), 2))
    for learn, apply in StratifiedKFold(5, shuffle=True, random_state=1).split(scores, y):
        proba[apply] = new_calibrator(calibrator).fit(scores[learn], y[learn]).predict_proba(scores[apply])
    return log_loss(y, proba)


FAMILIES: dict[str, Callable[[str, int, int], dict[str, Any]]] = {
    "tree": _trees,
    "svm": _svms,
    "bayes": _bayes,
    "logistic": _logistic,
    "library": _library,
}


def weighting(data: str, split: int, tree: str, n_probes: int) -> dict[str, float]:
    """Probe a tree by weights, by rejection and by voted rejection; give the cross entropies in bits."""
    parts = design_parts(data, split)
    learner = pruned_tree(parts) if tree == "pruned" else DecisionTreeClassifier(random_state=0)
    ways = {
        "weights": {"weighting": "weights"},
        "rejection": {"weighting": "rejection"},
        "voted": {"weighting": "rejection", "n_resamples": 5},
    }
    return {
        name: parts.measure(ProbingClassifier(learner, n_probes, random_state=split, **way))[0]  # type: ignore[arg-type]
        for name, way in ways.items()
    }
