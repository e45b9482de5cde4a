"""The joint methods in the other rooms: a single score, the columns of a code, a learner."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from calibrant import CalibrantError, CalibratedClassifier, ScoreModel, StackCalibrator, TemperatureCalibrator
from calibrant.calibrators import METHODS, CodeCalibrator
from calibrant.codes import all_pairs, check_code
from calibrant.files import Rows, fit
from calibrant.models import from_document, to_document
from calibrators.joint_rows import log_loss_of, three_ways_wrong
from models.cases import pair_scores
from models.onnx_cases import proba_of

JOINT = ("temperature", "vector", "matrix", "stack")
KINDS = ("probability", "margin")


def single_score(kind, n_rows=200):
    scores, y = three_ways_wrong(n_rows, 2, kind="margin")
    margin = scores[:, 1] - scores[:, 0]
    return (margin if kind == "margin" else 1 / (1 + np.exp(-margin))), y


def coded(kind, n_rows=300, seed=0):
    """The scores of all pairs of four classes."""
    scores, y = pair_scores(n_rows, 4, seed)
    return (scores if kind == "margin" else 1 / (1 + np.exp(-scores))), y


def travelled(model):
    return from_document(json.loads(json.dumps(to_document(model), allow_nan=False)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", JOINT)
def test_a_single_score_in_a_model_in_a_file_in_a_graph_and_in_passes(name, kind):
    scores, y = single_score(kind)
    alone = METHODS[name](kind=kind).fit(scores, y)
    expected = alone.predict_proba(scores)
    model = ScoreModel(METHODS[name](kind=kind)).fit(scores, np.array(["no", "yes"])[y])
    np.testing.assert_array_equal(model.predict_proba(scores), expected)
    assert to_document(model)["scores"] == "one_per_row"
    assert model.top_candidates(scores[:3], 1).label.shape == (3, 1)
    for again in (travelled(alone), travelled(model)):
        np.testing.assert_array_equal(again.predict_proba(scores), expected)
    for each in (alone, model):
        np.testing.assert_allclose(proba_of(each, scores), expected, rtol=0, atol=1e-9)
    batches = [Rows(scores[:90, None], y[:90]), Rows(scores[90:, None], y[90:])]
    passed = fit(METHODS[name](kind=kind), lambda: batches, classes=[0, 1])
    np.testing.assert_allclose(passed.predict_proba(scores), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", JOINT)
def test_the_columns_of_a_code(name, kind):
    scores, y = coded(kind)
    alone = METHODS[name](kind=kind, code="all_pairs").fit(scores, y)
    expected = alone.predict_proba(scores)
    assert expected.shape == (len(y), 4)
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    by_matrix = clone(alone).set_params(code=all_pairs(4)).fit(scores, y)
    np.testing.assert_array_equal(by_matrix.predict_proba(scores), expected)
    model = ScoreModel(METHODS[name](kind=kind), code="all_pairs", combine="coupling").fit(scores, y)
    np.testing.assert_array_equal(model.predict_proba(scores), expected)
    assert to_document(model)["scores"] == "one_per_column_of_the_code"
    for again in (travelled(alone), travelled(model), travelled(by_matrix)):
        np.testing.assert_array_equal(again.predict_proba(scores), expected)
    np.testing.assert_allclose(proba_of(model, scores), expected, rtol=0, atol=1e-9)
    batches = [Rows(scores[:120], y[:120]), Rows(scores[120:], y[120:])]
    passed = fit(METHODS[name](kind=kind, code="all_pairs"), lambda: batches, classes=range(4))
    np.testing.assert_allclose(passed.predict_proba(scores), expected, rtol=0, atol=1e-12)
    with pytest.raises(CalibrantError, match="one column per column of the code, 6 in all; got 5 columns"):
        alone.predict_proba(scores[:, :5])
    with pytest.raises(CalibrantError, match="one column per column of the code, 6 in all; got 4 columns"):
        clone(alone).fit(scores[:, :4], y)
    with pytest.raises(CalibrantError, match=rf"use {type(alone).__name__}\(code=\.\.\.\)"):
        CodeCalibrator("all_pairs", name).fit(scores, y)


@pytest.mark.parametrize("name", JOINT)
def test_other_labels_are_other_rows_of_the_code(name):
    """To the last bit for the stack, vector and matrix; the temperature adds classes in another order."""
    scores, y = coded("margin")
    old_of = np.array([2, 0, 3, 1])
    one = METHODS[name](kind="margin", code=all_pairs(4)).fit(scores, y).predict_proba(scores)
    moved = METHODS[name](kind="margin", code=all_pairs(4)[old_of]).fit(scores, np.argsort(old_of)[y])
    atol = 1e-12 if name == "temperature" else 0
    np.testing.assert_allclose(moved.predict_proba(scores), one[:, old_of], rtol=0, atol=atol)


def test_columns_of_a_code_are_worth_more_together():
    """Pairwise margins of a machine: the stack is ahead of one number for all of them."""
    scores, y = coded("margin", 2000)
    new, label = coded("margin", 2000, seed=1)
    stack = StackCalibrator(kind="margin", code="all_pairs").fit(scores, y)
    one = TemperatureCalibrator(kind="margin", code="all_pairs").fit(scores, y)
    assert log_loss_of(stack.predict_proba(new), label) < log_loss_of(one.predict_proba(new), label) + 0.01


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        (LinearSVC(), "margin"),
        (GaussianNB(), "probability"),
        (LogisticRegression(max_iter=300), "margin"),  # it has both, and "auto" takes the margin
    ],
    ids=["margin", "proba", "both"],
)
def test_a_classifier_tells_it_what_the_learner_says(name, learner, kind):
    X, y = load_iris(return_X_y=True)
    for rows in (slice(None), slice(50, None)):  # three classes, and two
        model = CalibratedClassifier(learner, name).fit(X[rows], y[rows])
        assert model.calibrator_.kind == kind
        proba = model.predict_proba(X[rows])
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert (model.predict(X[rows]) == y[rows]).mean() > 0.85


@pytest.mark.parametrize("name", JOINT)
@pytest.mark.parametrize("code", ["all_pairs", "exhaustive"])
def test_the_learners_of_a_code_score_the_rows_of_all_classes(name, code):
    """Those of a fold by learners that were trained on the other rows of the column's own classes."""
    X, y = load_iris(return_X_y=True)
    matrix = check_code(code, 3)
    folds = list(StratifiedKFold(4).split(X, y))

    def margins(train, seen):
        columns = []
        for column in matrix.T:
            own = train[column[y[train]] != 0]
            columns.append(SVC().fit(X[own], column[y[own]] > 0).decision_function(X[seen]))
        return np.stack(columns, axis=1)

    scores = np.concatenate([margins(train, held) for train, held in folds])
    held = np.concatenate([held for _, held in folds])
    wanted = METHODS[name](kind="margin", code=matrix).fit(scores, y[held])
    everything = np.arange(len(y))
    model = CalibratedClassifier(SVC(), name, code=code, cv=folds).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), wanted.predict_proba(margins(everything, everything)), atol=1e-9
    )


def test_a_class_in_one_fold_has_no_whole_rows():
    X, y = np.arange(9.0)[:, None], np.array([0, 1, 0, 1, 0, 1, 0, 1, 2])
    folds = [(np.arange(8), np.array([8])), (np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7]))]
    with pytest.raises(CalibrantError, match="every class must have rows in several folds"):
        CalibratedClassifier(GaussianNB(), "matrix", code="all_pairs", cv=folds).fit(X, y)
    model = CalibratedClassifier(GaussianNB(), code="all_pairs", cv=folds).fit(X, y)
    assert model.report_ == "auto is pav for each of 3 columns, as rows lack some of the scores"


@pytest.mark.parametrize("n_rows", [1, 100])
def test_margins_whose_difference_is_infinite_have_probabilities(n_rows):
    scores, y = three_ways_wrong(300, 2, kind="margin")
    proba = (
        StackCalibrator(kind="margin").fit(scores, y).predict_proba(np.tile([1.5e308, -1.5e308], (n_rows, 1)))
    )
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba > 0).all()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", ["vector", "matrix"])
def test_margins_of_any_unit_are_the_same(method, k):
    scores, y = three_ways_wrong(500, k, kind="margin")
    one, *others = (
        METHODS[method](kind="margin").fit(unit * scores, y).predict_proba(unit * scores)
        for unit in (1.0, 1e-200, 1e200)
    )
    for other in others:
        np.testing.assert_allclose(other, one, atol=1e-5)
