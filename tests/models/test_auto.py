"""What a model is where nothing is asked for, and what its scores are declared to be."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from calibrant import CalibrantError, CalibratedClassifier, PAVCalibrator, StackCalibrator
from calibrant.calibrators import CodeCalibrator, OneVsAllCalibrator, named_method
from calibrant.codes import all_pairs
from calibrant.files import Rows, fit
from calibrant.models import ScoreModel, from_document, to_document
from models.cases import class_scores, one_score, pair_scores, softmax, squashed


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


# What "auto" is


@pytest.mark.parametrize("form", ["one score", "one per class", "pairs"])
@pytest.mark.parametrize("kind", ["margin", "probability"])
def test_by_default_a_model_is_the_stack_of_all_scores(form, kind):
    scores, y = {"one score": one_score, "one per class": class_scores, "pairs": pair_scores}[form](150)
    if kind == "probability":
        scores = softmax(scores) if form == "one per class" else squashed(scores)
    code = "all_pairs" if form == "pairs" else None
    model = ScoreModel(kind=kind, code=code).fit(scores, y)
    wanted = StackCalibrator(kind=kind, code=code).fit(scores, y)
    np.testing.assert_array_equal(model.predict_proba(scores), wanted.predict_proba(scores))
    assert model.report_ == f"auto is the stack of all scores of a row: {wanted.report_}"
    assert "\n" not in model.report_


def test_no_default_answer_is_certain(iris):
    scores = np.linspace(-5, 5, 40)
    for y in (scores > 0, scores > 4.9):
        proba = ScoreModel().fit(scores, y).predict_proba([-1e9, 0, 1e9])
        assert (proba > 0).all()
        assert (proba < 1).all()
    X, y = iris
    proba = CalibratedClassifier(GaussianNB()).fit(X, y).predict_proba(1e3 * X)
    assert (proba > 0).all()
    assert (proba < 1).all()


def test_a_combination_makes_a_calibrator_of_every_column():
    for scores, y, code in ((*class_scores(), None), (*pair_scores(), "all_pairs")):
        model = ScoreModel(code=code, combine="coupling").fit(scores, y)
        wanted = (
            OneVsAllCalibrator("pav", "coupling") if code is None else CodeCalibrator(code, "pav", "coupling")
        )
        np.testing.assert_array_equal(
            model.predict_proba(scores), wanted.fit(scores, y).predict_proba(scores)
        )
        assert model.report_ == "auto is pav for each of 3 columns, as combine='coupling' was asked for"
    scores, y = one_score()
    assert isinstance(ScoreModel(combine="coupling").fit(scores, y).calibrator_, StackCalibrator)


@pytest.mark.parametrize("code", [None, "one_vs_all", "all_pairs", "matrix"])
def test_columns_are_put_together_by_what_suits_their_code(code):
    given = all_pairs(3) if code == "matrix" else code
    scores, y = (pair_scores if code in ("all_pairs", "matrix") else class_scores)()
    combine = "least_squares" if code in ("all_pairs", "matrix") else "normalize"
    model, wanted = (
        ScoreModel("sigmoid", code=given, combine=each).fit(scores, y) for each in (None, combine)
    )
    np.testing.assert_array_equal(model.predict_proba(scores), wanted.predict_proba(scores))
    assert model.report_ == "sigmoid for each of 3 columns, as it was asked for"


def test_a_saved_model_is_the_stack_itself():
    scores, y = class_scores()
    model = ScoreModel().fit(scores, y)
    again = from_document(to_document(model))
    np.testing.assert_array_equal(again.predict_proba(scores), model.predict_proba(scores))
    assert isinstance(again.calibrator, StackCalibrator)
    assert again.report_ == f"stack, as it was asked for: {model.calibrator_.report_}"


def test_in_passes_it_is_the_same():
    scores, y = class_scores(200)
    batches = [Rows(scores[::2], y[::2]), Rows(scores[1::2], y[1::2])]
    for asked in (ScoreModel(), "auto"):
        fitted = fit(asked, lambda: batches, classes=[0, 1, 2])
        np.testing.assert_allclose(
            fitted.predict_proba(scores), ScoreModel().fit(scores, y).predict_proba(scores), atol=1e-12
        )


@pytest.mark.parametrize(
    ("learner", "kind"), [(LinearSVC(), "margin"), (LogisticRegression(max_iter=300), "margin")]
)
def test_a_learner_of_margins(learner, kind, iris):
    model = CalibratedClassifier(learner).fit(*iris)
    assert model.calibrator_.kind == kind
    assert model.report_.startswith("auto is the stack of all scores of a row: took ")


def test_a_learner_of_probabilities(iris):
    assert CalibratedClassifier(GaussianNB()).fit(*iris).calibrator_.kind == "probability"
    model = CalibratedClassifier(GaussianNB(), response_method="log_odds").fit(*iris)
    assert model.calibrator_.kind == "margin"


def test_a_classifier_of_a_code(iris):
    whole = CalibratedClassifier(LinearSVC(), code="exhaustive").fit(*iris)
    assert isinstance(whole.calibrator_, StackCalibrator)
    pairs = CalibratedClassifier(LinearSVC(), code="all_pairs").fit(*iris)
    assert pairs.report_.startswith("auto is the stack of all scores of a row: took ")
    columns = CalibratedClassifier(LinearSVC(), code="all_pairs", combine="coupling").fit(*iris)
    assert columns.report_ == "auto is pav for each of 3 columns, as combine='coupling' was asked for"
    wanted = CalibratedClassifier(LinearSVC(), PAVCalibrator(), code="all_pairs", combine="coupling")
    np.testing.assert_array_equal(columns.predict_proba(iris[0]), wanted.fit(*iris).predict_proba(iris[0]))


def test_rows_without_all_scores_are_calibrated_column_by_column():
    X = np.arange(12.0)[:, None]
    y = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])  # every fold of four lacks one of the last classes
    folds = [
        (np.setdiff1d(np.arange(12), held), held) for held in np.arange(12).reshape(4, 3, order="F").tolist()
    ]
    model = CalibratedClassifier(GaussianNB(var_smoothing=0.1), cv=folds).fit(X, y)
    assert model.report_ == "auto is pav for each of 5 columns, as rows lack some of the scores"


def test_one_class_needs_nothing():
    model = CalibratedClassifier(GaussianNB()).fit([[0.0], [1.0]], [1, 1])
    assert model.report_ == "nothing was taken, as there is one class alone"


# What scores are declared to be


@pytest.mark.parametrize("name", ["sigmoid", "beta", "stack", "binning"])
def test_a_name_is_made_for_such_scores(name):
    scores, y = one_score(200)
    proba = squashed(scores)
    model = ScoreModel(name, kind="probability").fit(proba, y)
    wanted = ScoreModel(named_method(name, "probability")).fit(proba, y)
    np.testing.assert_array_equal(model.predict_proba(proba), wanted.predict_proba(proba))
    with pytest.raises(CalibrantError, match=r"scores with kind='probability' must lie in \[0, 1\]; got 1.5"):
        model.predict_proba([1.5])


def test_what_scores_are_stands_in_the_file():
    scores, y = one_score()
    proba = squashed(scores)
    declared = to_document(ScoreModel("pav", kind="probability").fit(proba, y))
    assert declared["score_kind"] == "probability"
    assert from_document(declared).kind == "probability"
    margins = to_document(ScoreModel("pav").fit(scores, y))
    assert "score_kind" not in margins  # as in files that were written before
    assert from_document(margins).declared_kind == "margin"
    with pytest.raises(CalibrantError, match="score_kind must be "):
        from_document(declared | {"score_kind": "odds", "checksum": None})


def test_a_model_of_parts_knows_what_its_calibrator_takes():
    scores, y = one_score()
    stack = StackCalibrator().fit(squashed(scores), y)
    assert ScoreModel.from_fitted(stack).declared_kind == "probability"
    assert ScoreModel.from_fitted(PAVCalibrator().fit(scores, y)).declared_kind == "margin"
    assert clone(ScoreModel(kind="probability")).kind == "probability"
