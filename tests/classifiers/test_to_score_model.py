"""From a classifier to a file: the calibration without the learner says the same of the learner's scores."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibrant import (
    CalibrantError,
    CalibratedClassifier,
    CostSensitiveClassifier,
    MetaCostClassifier,
    ProbingClassifier,
    ScoreModel,
    export,
    load,
    save,
)
from calibrant.calibrators import METHODS
from calibrant.codes import random_dense
from calibrant.learners import BoostedNaiveBayes

X, numbers = load_iris(return_X_y=True)
Y = np.array(["setosa", "versicolor", "virginica"])[numbers]
CODES = [None, "one_vs_all", "all_pairs", "exhaustive", "ordinal", "random_dense", random_dense(3, 0)]


@pytest.mark.parametrize(
    "code", CODES, ids=lambda code: code if code is None or isinstance(code, str) else "own"
)
@pytest.mark.parametrize("calibrator", ["auto", "sigmoid", "pav", "temperature"])
@pytest.mark.parametrize("learner", [LinearSVC(), GaussianNB()], ids=["margins", "probabilities"])
def test_every_code_and_calibrator_goes_to_a_file_and_back(code, calibrator, learner, tmp_path):
    classifier = CalibratedClassifier(learner, calibrator, code, cv=3, random_state=0).fit(X, Y)
    assert classifier.calibrator_ is not None
    model = classifier.to_score_model()
    assert isinstance(model, ScoreModel)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.kind == ("margin" if isinstance(learner, LinearSVC) else "probability")
    scores, expected = classifier.learner_scores(X), classifier.predict_proba(X)
    # The same operations on the same numbers.
    np.testing.assert_array_equal(model.predict_proba(scores), expected)
    save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict_proba(scores), expected)
    np.testing.assert_array_equal(model.predict(scores), classifier.predict(X))


@pytest.mark.filterwarnings("ignore:at rank 3:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("calibrator", [name for name, method in METHODS.items() if "margin" in method.kinds])
def test_a_trained_learner_and_its_model_are_the_classifier(calibrator):
    learner = LinearSVC().fit(X[::2], Y[::2])
    classifier = CalibratedClassifier(FrozenEstimator(learner), calibrator).fit(X[1::2], Y[1::2])
    answers = classifier.to_score_model().predict_proba(learner.decision_function(X))
    np.testing.assert_array_equal(answers, classifier.predict_proba(X))


@pytest.mark.parametrize("learner", [LinearSVC(), LogisticRegression(max_iter=5000)])
def test_two_classes_have_one_score(learner):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.array(["no", "yes"])[y]
    frozen = learner.fit(X[::2], y[::2])
    classifier = CalibratedClassifier(FrozenEstimator(frozen)).fit(X[1::2], y[1::2])
    model, scores = classifier.to_score_model(), frozen.decision_function(X)
    np.testing.assert_array_equal(model.predict_proba(scores), classifier.predict_proba(X))
    np.testing.assert_array_equal(classifier.learner_scores(X), scores)


def test_after_several_folds_it_is_the_last_learner_whose_scores_count():
    classifier = CalibratedClassifier(LinearSVC(), "pav", cv=5).fit(X, Y)
    scores = classifier.estimator_.decision_function(X)
    np.testing.assert_array_equal(
        classifier.to_score_model().predict_proba(scores), classifier.predict_proba(X)
    )


def test_saving_the_classifier_itself_says_what_to_save(tmp_path):
    classifier = CalibratedClassifier(LinearSVC(), cv=3).fit(X, Y)
    with pytest.raises(CalibrantError, match=re.escape("pass model.to_score_model()")):
        save(classifier, tmp_path / "model.json")
    for target in ("sql", "python"):
        with pytest.raises(CalibrantError, match=re.escape("pass model.to_score_model()")):
            export(classifier, tmp_path / "model", to=target)
    assert not list(tmp_path.iterdir())


def test_what_has_no_calibration_says_so():
    with pytest.raises(CalibrantError, match="must be fitted"):
        CalibratedClassifier(LinearSVC()).to_score_model()
    alone = CalibratedClassifier(GaussianNB()).fit(X, np.zeros(len(X)))
    for ask in (alone.to_score_model, lambda: alone.learner_scores(X)):
        with pytest.raises(CalibrantError, match="there must be two classes"):
            ask()


@pytest.mark.parametrize(
    "learner",
    [GaussianNB(), DecisionTreeClassifier(max_depth=2), SVC(), LinearSVC()],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("code", [None, "all_pairs"])
def test_pipelines_with_and_without_margins(learner, code):
    pipeline = make_pipeline(StandardScaler(), learner)
    model = CalibratedClassifier(pipeline, code=code, cv=3).fit(X, Y)
    assert np.mean(model.predict(X) == Y) > 0.9
    np.testing.assert_array_equal(
        model.to_score_model().predict_proba(model.learner_scores(X)), model.predict_proba(X)
    )


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifier(GaussianNB(), cv=3),
        CostSensitiveClassifier(GaussianNB(), "rarity", cv=3),
        MetaCostClassifier(GaussianNB(), 1 - np.eye(2), n_resamples=5),
        ProbingClassifier(GaussianNB(), n_probes=3),
        BoostedNaiveBayes(GaussianNB()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_whatever_has_probabilities_predicts_and_has_their_logarithms(model):
    rows = Y != "virginica"
    model.fit(X[rows], Y[rows])
    proba = model.predict_proba(X)
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba, rtol=1e-9, atol=1e-15)
    assert set(model.predict(X)) <= {"setosa", "versicolor"}


def test_whoever_lacks_probabilities_lacks_their_logarithms():
    hard = MetaCostClassifier(LinearSVC(), 1 - np.eye(3), hard=True, n_resamples=3).fit(X, Y)
    assert not hasattr(hard, "predict_proba")
    assert not hasattr(hard, "predict_log_proba")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_predicts_and_has_logarithms(name):
    rng = np.random.default_rng(0)
    one = METHODS[name].takes == "score"
    scores = rng.random(150) if one else rng.dirichlet(np.ones(3), 150)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 2 if one else 3, 150)]
    model = METHODS[name]().fit(scores, labels)
    proba = model.predict_proba(scores)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(scores), np.log(proba))
    best = model.classes_[proba.argmax(axis=1)]
    if "rank" not in name and name != "accuracy_table":  # those keep the order of the scores
        np.testing.assert_array_equal(model.predict(scores), best)
