"""The protocol of Langford and Zadrozny: hard classifiers and their rivals on one split of one data set.

One job trains one family of learners. Weka's learners are replaced: J48 by a CART tree of entropy that every
fit prunes as C4.5 does; SMO by a linear SVM of squared hinge with C = 1; its logistic regression by one that
is practically without penalty; its naive Bayes by ours, on names and on numbers in 21 levels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant.calibrators import SigmoidCalibrator, new_calibrator
from calibrant.classifiers import CalibratedClassifier, ProbingClassifier, probing_curve
from calibrant.experiments._data_preparation import CategoryCodes, DesignMatrix
from calibrant.experiments._datasets import Split, read_split
from calibrant.experiments._errors import auc_error, mean_error, rms_error_of
from calibrant.learners import (
    BaggedVotesClassifier,
    CategoricalNaiveBayes,
    LaplaceTreeClassifier,
    PrunedTreeClassifier,
)
from calibrant.metrics import auc, cross_entropy, log_loss, rms_error

TREE = PrunedTreeClassifier(random_state=0)
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
    """A training and a test part as learners take them; 1 is the positive class.

    Test rows of a block belong together, and count as one where it is said how sure a number is.
    """

    X: Array
    y: IntArray
    X_test: Array
    y_test: IntArray
    block_test: Array | None = None

    def measure(self, model: Any) -> list[list[float]]:
        """Train a classifier; give its cross entropy, error and AUC on the test part, and their errors."""
        positive = model.fit(self.X, self.y).predict_proba(self.X_test)[:, 1]
        with np.errstate(divide="ignore"):
            bits = -np.log2(np.where(self.y_test == 1, positive, 1 - positive))
        return [
            [
                cross_entropy(self.y_test, positive, base=2),
                rms_error(self.y_test, positive),
                auc(self.y_test, positive),
            ],
            [
                mean_error(bits, self.block_test),
                rms_error_of(self.y_test, positive, self.block_test),
                auc_error(self.y_test, positive, self.block_test),
            ],
        ]


def by_method(measured: dict[str, list[list[float]]]) -> dict[str, Any]:
    """What a family of learners returns: the measures of every method, and their standard errors."""
    return {
        name: {method: each[place] for method, each in measured.items()}
        for place, name in enumerate(("measures", "errors"))
    }


def design_parts(data: str, split: int) -> Parts:
    """Numbers and indicators of names, for trees and linear models."""
    return parts_of(read_split(data, split), DesignMatrix)


def category_parts(data: str, split: int) -> Parts:
    """Codes of names and levels of numbers, for naive Bayes."""
    return parts_of(read_split(data, split), CategoryCodes)


def parts_of(both: Split, preparation: Callable[..., Any]) -> Parts:
    """Prepare both parts by what the training part holds."""
    prepared = preparation(both.train.nominal).fit(both.train.X)
    return Parts(
        prepared.transform(both.train.X),
        both.train.is_positive.astype(np.intp),
        prepared.transform(both.test.X),
        both.test.is_positive.astype(np.intp),
        both.test.block,
    )


def family(data: str, split: int, learners: str, n_probes: int) -> dict[str, Any]:
    """Train one family of learners on one split, and measure each on the test part."""
    return FAMILIES[learners](data, split, n_probes)


def _trees(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    probing = ProbingClassifier(TREE, n_probes, weighting="rejection", random_state=split)
    bagging = BaggedVotesClassifier(TREE, n_probes, aggregate="mean", random_state=split)
    tree = clone(TREE)
    measured = {
        "J48": parts.measure(tree),
        "BagJ48": parts.measure(bagging),
        "ProbJ48": parts.measure(probing),
    }
    curve = probing_curve(probing, parts.X_test, parts.y_test).cross_entropy / np.log(2)
    leaves = [tree.get_n_leaves(), *sorted(each.get_n_leaves() for each in bagging.estimators_)]
    return {
        **by_method(measured),
        "leaves": [leaves[0], leaves[1], leaves[-1]],
        "curve": curve.tolist(),
    }


def _svms(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    probing = ProbingClassifier(SVM, n_probes, weighting="weights", random_state=split)
    return by_method(
        {
            "SigSVM": parts.measure(CalibratedClassifier(SVM, SigmoidCalibrator())),
            "ProbSVM": parts.measure(probing),
        }
    )


def _bayes(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = category_parts(data, split)
    bayes = CategoricalNaiveBayes()
    sigmoid = {
        method: CalibratedClassifier(bayes, SigmoidCalibrator(), response_method=method)
        for method in ("predict_proba", "log_odds")
    }
    probing = ProbingClassifier(bayes, n_probes, weighting="weights", random_state=split)
    return by_method(
        {
            "NB": parts.measure(bayes),
            "SigNB": parts.measure(sigmoid["predict_proba"]),
            "SigNB log-odds": parts.measure(sigmoid["log_odds"]),
            "ProbNB": parts.measure(probing),
        }
    )


def _logistic(data: str, split: int, n_probes: int) -> dict[str, Any]:
    parts = design_parts(data, split)
    probing = ProbingClassifier(LOGISTIC, n_probes, weighting="rejection", random_state=split)
    return by_method({"Log": parts.measure(LOGISTIC), "ProbLog": parts.measure(probing)})


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
    return by_method({"Library": parts.measure(model)}) | {"choice": f"{calibrator} {name}"}


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
    learner = TREE if tree == "pruned" else DecisionTreeClassifier(random_state=0)
    ways = {
        "weights": {"weighting": "weights"},
        "rejection": {"weighting": "rejection"},
        "voted": {"weighting": "rejection", "n_resamples": 5},
    }
    return {
        name: parts.measure(ProbingClassifier(learner, n_probes, random_state=split, **way))[0][0]  # type: ignore[arg-type]
        for name, way in ways.items()
    }
