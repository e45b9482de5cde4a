"""What the classifiers promise whatever the rows: all attributes they document, weights as requested."""

import re
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import (
    CalibratedClassifier,
    CostingClassifier,
    CostSensitiveClassifier,
    MetaCostClassifier,
    ProbingClassifier,
)

MODELS = [
    CalibratedClassifier(GaussianNB(), cv=2),
    CalibratedClassifier(GaussianNB(), code="all_pairs", combine="coupling", cv=2),
    CalibratedClassifier(LogisticRegression(), "accuracy_table", cv=2),
    CostSensitiveClassifier(GaussianNB(), "rarity", cv=2),
    CostSensitiveClassifier(LogisticRegression(), "rarity", calibrator="sigmoid", rule="expected", cv=2),
    MetaCostClassifier(GaussianNB(), "rarity", n_resamples=3, random_state=0),
    MetaCostClassifier(LogisticRegression(), "rarity", n_resamples=3, hard=True, random_state=0),
    CostingClassifier(GaussianNB(), 3, random_state=0),
    ProbingClassifier(GaussianNB(), 3, random_state=0),
]


def rows(n_classes, n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return pd.DataFrame(rng.normal(size=(n, 2)) + y[:, None], columns=["a", "b"]), np.array(list("pqr"))[y]


def promised(model):
    """The attributes of a docstring, but for those of the other branch."""
    section = type(model).__doc__.split("Attributes\n    ----------\n")[1].split("\n\n")[0]
    entries = re.findall(r"^    (\w[\w, ]*) :[^\n]*\n((?:        [^\n]*\n?)+)", section, flags=re.MULTILINE)
    unwanted = "without a code" if getattr(model, "code_", None) is not None else "with a code"
    return {
        name
        for names, text in entries
        for name in names.split(", ")
        if f"Only {unwanted}" not in " ".join(text.split())
    }


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_documented_attribute_is_there(model, n_classes):
    X, y = rows(n_classes)
    fitted = clone(model).fit(X, y)
    names = promised(fitted)
    assert {"classes_", "n_features_in_", "feature_names_in_"} < names
    assert [name for name in sorted(names) if not hasattr(fitted, name)] == []
    assert set(fitted.predict(X)) <= set(y)


COSTS = {
    "by position": [[0, 1], [20, 0]],
    "by label": {"p": {"p": -5, "q": 1}, "q": {"p": 20, "q": 0}},
    "rarity": "rarity",
}


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("kind", [CostSensitiveClassifier, MetaCostClassifier])
@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression()], ids=repr)
def test_one_class_has_its_own_cost(kind, cost, learner):
    """Logistic regression refuses one class; the class itself answers instead."""
    X, y = rows(1)
    model = kind(learner, cost).fit(X, y)
    assert model.cost_.tolist() == [[-5 if isinstance(cost, dict) else 0]]
    assert (model.estimator_.predict(X) == "p").all()
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((60, 1)))
    if kind is MetaCostClassifier:
        np.testing.assert_array_equal(model.training_labels_, y)
        np.testing.assert_array_equal(model.training_proba_, np.ones((60, 1)))
    else:
        assert model.rule_.decide(np.ones((3, 1))).tolist() == [0] * 3
        assert model.rule_.cost_after_ == 60 * model.cost_[0, 0]


class Recorder(GaussianNB):
    """A learner that writes down whether it was given weights."""

    seen: ClassVar[list[bool]] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(sample_weight is not None)
        return super().fit(X, y, sample_weight)


MAKERS = {
    "calibrated": lambda learner: CalibratedClassifier(learner, cv=2),
    "calibrated by a code": lambda learner: CalibratedClassifier(learner, code="one_vs_all", cv=2),
    "cost-sensitive": lambda learner: CostSensitiveClassifier(learner, "rarity", cv=2),
    "cost-sensitive, calibrated": lambda learner: CostSensitiveClassifier(
        learner, "rarity", calibrator="pav", cv=2
    ),
    "metacost": lambda learner: MetaCostClassifier(learner, "rarity", n_resamples=2, random_state=0),
    "costing": lambda learner: CostingClassifier(learner, 2, random_state=0),
    "probing": lambda learner: ProbingClassifier(learner, 2, random_state=0),
}


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_weights_go_to_those_alone_who_asked_for_them(name, asks, in_pipeline, n_classes):
    X, y = rows(n_classes)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(y))
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Recorder().set_fit_request(sample_weight=asks)
        if in_pipeline:
            learner = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), learner)
        MAKERS[name](learner).fit(X, y, sample_weight=weights)
    if name == "costing" or (name == "probing" and not asks):  # samples take the place of weights
        assert not any(Recorder.seen)
    else:
        assert set(Recorder.seen) <= {asks}
        assert Recorder.seen or n_classes == 1


def test_a_learner_that_has_not_said_is_asked_to():
    X, y = rows(2)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(UnsetMetadataPassedError):
        MAKERS["metacost"](Recorder()).fit(X, y, sample_weight=np.ones(60))


def test_weights_that_nobody_asked_for_are_not_probed_with():
    X, y = rows(2)
    with sklearn.config_context(enable_metadata_routing=True):
        declined = Recorder().set_fit_request(sample_weight=False)
        assert ProbingClassifier(declined, 2, random_state=0).fit(X, y).weighting_ == "rejection"
        with pytest.raises(ValueError, match=r"takes none unless set_fit_request\(sample_weight=True\) asks"):
            ProbingClassifier(declined, 2, weighting="weights").fit(X, y)
