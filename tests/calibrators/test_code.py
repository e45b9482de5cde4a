"""One score per column of a code matrix."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from calibrant import (
    CalibrantError,
    CalibratedClassifier,
    OneVsAllCalibrator,
    PAVCalibrator,
    ScoreModel,
    SigmoidCalibrator,
    load,
    save,
)
from calibrant.calibrators import METHODS, CodeCalibrator, ConstantAnswer
from calibrant.codes import (
    all_pairs,
    check_code,
    combination_for,
    coupling,
    least_squares,
    one_vs_all,
    ordinal,
)
from calibrant.passes import Rows


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    scores = rng.normal(size=(300, 4)) + 2 * np.eye(4)[y]
    first, second = np.triu_indices(4, 1)
    return scores[:, first] - scores[:, second], y


@pytest.mark.parametrize(("combine", "function"), [("coupling", coupling), ("least_squares", least_squares)])
def test_every_column_is_calibrated_on_the_rows_of_its_own_classes(data, combine, function):
    scores, y = data
    model = CodeCalibrator("all_pairs", "sigmoid", combine).fit(scores, y)
    answers, counts = [], []
    for column, (first, second) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        inside = (y == first) | (y == second)
        fitted = SigmoidCalibrator().fit(scores[inside, column], y[inside] == first)
        answers.append(fitted.predict_proba(scores[:, column])[:, 1])
        counts.append(inside.sum())
    assert model.counts_.tolist() == counts
    weights = counts if combine == "coupling" else None
    np.testing.assert_allclose(
        model.predict_proba(scores), function(all_pairs(4), np.column_stack(answers), weights), atol=1e-9
    )


def test_the_pairs_are_those_of_a_support_vector_machine():
    X, y = load_iris(return_X_y=True)
    machine = SVC(decision_function_shape="ovo").fit(X[::2], y[::2])
    margins = machine.decision_function(X[1::2])
    proba = CodeCalibrator("all_pairs", "sigmoid").fit(margins, y[1::2]).predict_proba(margins)
    assert np.mean(proba.argmax(axis=1) == machine.predict(X[1::2])) > 0.9


def test_one_vs_all_is_a_code_too():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 2 * np.eye(3)[y]
    coded = CodeCalibrator(one_vs_all(3), "pav", "normalize").fit(scores, y)
    np.testing.assert_array_equal(
        coded.predict_proba(scores), OneVsAllCalibrator().fit(scores, y).predict_proba(scores)
    )


def test_a_code_of_one_column_takes_a_plain_score():
    rng = np.random.default_rng(0)
    y = rng.random(100) < 0.5
    scores = rng.normal(size=100) + y
    coded = CodeCalibrator([[-1], [1]], "sigmoid", "least_squares").fit(scores, y)
    np.testing.assert_allclose(
        coded.predict_proba(scores), SigmoidCalibrator().fit(scores, y).predict_proba(scores), atol=1e-12
    )


def test_a_side_without_rows_gives_a_constant_that_is_not_certain(data):
    scores, y = data
    model = CodeCalibrator("all_pairs", "pav", classes=range(4)).fit(scores[y < 2], y[y < 2])
    assert isinstance(model.calibrators_[0], PAVCalibrator)
    n_first = int((y == 0).sum())
    assert model.calibrators_[1] == ConstantAnswer(
        (n_first + 1) / (n_first + 2)
    )  # 0 against 2, of which there is none
    assert model.calibrators_[5] == ConstantAnswer(0.5)  # 2 against 3, without any rows
    np.testing.assert_array_equal(ConstantAnswer(0.75).predict_proba(np.ones(2)), [[0.25, 0.75]] * 2)
    proba = model.predict_proba(scores)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)


def test_rows_without_a_score_of_a_column_are_left_out_of_it(data):
    scores, y = data
    known = np.ones(scores.shape, dtype=bool)
    known[:150, 0] = False
    model = CodeCalibrator("all_pairs", "pav").fit_rows(Rows(scores, y, np.ones(300)), np.arange(4), known)
    inside = np.flatnonzero(y < 2)
    inside = inside[inside >= 150]
    wanted = PAVCalibrator().fit(scores[inside, 0], y[inside] == 0)
    np.testing.assert_array_equal(model.calibrators_[0].blocks_.value, wanted.blocks_.value)


def test_a_weight_is_a_number_of_copies(data):
    scores, y = data
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = CodeCalibrator().fit(scores, y, weights)
    copied = CodeCalibrator().fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(scores), copied.predict_proba(scores), atol=1e-9)


def test_relabelling_permutes_the_columns(data):
    scores, y = data
    names = np.array(["d", "a", "c", "b"])
    plain = CodeCalibrator("all_pairs", "sigmoid").fit(scores, y)
    named = CodeCalibrator("all_pairs", "sigmoid", classes=names).fit(scores, names[y])
    np.testing.assert_array_equal(named.predict_proba(scores), plain.predict_proba(scores))
    assert named.classes_.tolist() == names.tolist()


def test_frames_copies_and_many_rows(data, monkeypatch):
    scores, y = data
    model = CodeCalibrator("all_pairs", PAVCalibrator(between="linear"), "least_squares")
    of_frame = model.fit(pd.DataFrame(scores), pd.Series(y)).predict_proba(pd.DataFrame(scores))
    np.testing.assert_array_equal(of_frame, clone(model).fit(scores, y).predict_proba(scores))
    assert model.get_params()["calibrator__between"] == "linear"
    many = np.tile(scores, (20, 1))
    monkeypatch.setattr("calibrant.calibrators._columns.BLOCK_BYTES", 1)
    np.testing.assert_allclose(model.predict_proba(many), np.tile(of_frame, (20, 1)), atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            CodeCalibrator("random_dense"),
            "code must be the matrix that the scores were made by; got the name",
        ),
        (CodeCalibrator("pairs"), "code must be one of 'one_vs_all', .*got 'pairs'"),
        (CodeCalibrator(ordinal(3)), "code must have one row per class, 4 in all; got 3 rows"),
        (CodeCalibrator(ordinal(4)), "one column per column of the code, 3 in all; got 6 columns"),
        (CodeCalibrator(combine="normalize"), "code must be one_vs_all for combine='normalize'; got another"),
        (CodeCalibrator(combine="average"), "combine must be one of .*got 'average'"),
        (CodeCalibrator(calibrator="plait"), "calibrator must be one of 'pav', .*got 'plait'"),
        (
            CodeCalibrator(calibrator="accuracy_table"),
            "calibrator must take one score for the columns of a code; got 'accuracy_table', which takes",
        ),
        (
            CodeCalibrator(classes=[0, 1, 2, 9]),
            r"labels must be among the classes \[0, 1, 2, 9\]; got 3 in row",
        ),
    ],
)
def test_what_it_refuses(data, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*data)


def test_rows_that_it_refuses(data):
    scores, y = data
    with pytest.raises(CalibrantError, match="this CodeCalibrator must be fitted before it is used"):
        CodeCalibrator().predict_proba(scores)
    model = CodeCalibrator().fit(scores, y)
    with pytest.raises(CalibrantError, match="one column per column of the code, 6 in all; got 5 columns"):
        model.predict_proba(scores[:, :5])
    with pytest.raises(CalibrantError, match=r"of shape \(n, l\); got shape \(300,\)"):
        model.predict_proba(scores[:, 0])
    with pytest.raises(CalibrantError, match="scores must be finite; got nan in row 0, column 0"):
        CodeCalibrator().fit(scores * np.nan, y)
    with pytest.raises(
        CalibrantError, match="scores and labels must have the same number of rows; got 300 and 2"
    ):
        CodeCalibrator(classes=range(4)).fit(scores, [0, 1])
    with pytest.raises(CalibrantError, match="scores must have at least one row; got none|labels must have"):
        CodeCalibrator(classes=range(4)).fit(np.empty((0, 6)), [])


@pytest.mark.parametrize("code", ["one_vs_all", "all_pairs", "ovo", "exhaustive", "ordinal"])
@pytest.mark.parametrize("name", ["sigmoid", "pav"])
def test_no_combination_is_what_suits_the_code(code, name, tmp_path):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 200)
    matrix = check_code(code, 3)
    scores = matrix[y] + rng.normal(size=(200, matrix.shape[1]))
    suits = combination_for(code)
    models = [
        CodeCalibrator(code, name),
        CodeCalibrator(code, name, combine=suits),
        ScoreModel(METHODS[name](), code=code),
        ScoreModel(METHODS[name](), code=code, combine=suits),
    ]
    answers = [model.fit(scores, y).predict_proba(scores) for model in models]
    for each in answers[1:]:
        np.testing.assert_array_equal(answers[0], each)
    assert models[0].combine is None  # a parameter is left as it was given
    save(models[0], tmp_path / "none.json")
    save(models[1], tmp_path / "said.json")
    assert (tmp_path / "none.json").read_bytes() == (tmp_path / "said.json").read_bytes()
    np.testing.assert_array_equal(load(tmp_path / "none.json").predict_proba(scores), answers[0])


def test_a_machine_and_a_code_need_nothing_else():
    X, y = load_iris(return_X_y=True)
    for calibrator in ("auto", "sigmoid", "pav"):
        model = CalibratedClassifier(SVC(), calibrator, code="all_pairs").fit(X, y)
        assert np.mean(model.predict(X) == y) > 0.95
    margins = SVC(decision_function_shape="ovo").fit(X, y).decision_function(X)
    ScoreModel("sigmoid", code="all_pairs").fit(margins, y)
