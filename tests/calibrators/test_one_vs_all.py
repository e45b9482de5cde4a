"""One score per class."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from calibrant import CalibrantError, OneVsAllCalibrator, PAVCalibrator, SigmoidCalibrator
from calibrant.models import to_document


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    return rng.normal(size=(300, 4)) + 2 * np.eye(4)[y], y


def test_every_column_is_calibrated_against_the_rest(data):
    scores, y = data
    model = OneVsAllCalibrator("sigmoid").fit(scores, y)
    answers = np.column_stack(
        [SigmoidCalibrator().fit(scores[:, c], y == c).predict_proba(scores[:, c])[:, 1] for c in range(4)]
    )
    want = answers / answers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(scores), want, atol=1e-12)


def test_a_fitted_model_combines_as_it_was_fitted_to_until_the_next_fit(data):
    scores, y = data
    model = OneVsAllCalibrator("sigmoid").fit(scores, y)
    before, document = model.predict_proba(scores), to_document(model)
    model.set_params(combine="coupling")
    np.testing.assert_array_equal(model.predict_proba(scores), before)  # nothing has been computed anew
    assert to_document(model) == document
    assert not np.allclose(model.fit(scores, y).predict_proba(scores), before)


@pytest.mark.parametrize("combine", ["normalize", "least_squares", "coupling"])
@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "binning"])
def test_rows_are_distributions(data, calibrator, combine):
    scores, y = data
    proba = OneVsAllCalibrator(calibrator, combine).fit(scores, y).predict_proba(scores)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    assert np.mean(proba.argmax(axis=1) == y) > 0.6


@pytest.mark.parametrize("combine", ["normalize", "least_squares", "coupling"])
def test_permuting_classes_permutes_columns(data, combine):
    scores, y = data
    order = np.array([2, 0, 3, 1])
    names = np.array(["p", "q", "r", "s"])
    plain = OneVsAllCalibrator("sigmoid", combine).fit(scores, names[y])
    turned = OneVsAllCalibrator("sigmoid", combine, classes=names[order]).fit(scores[:, order], names[y])
    assert turned.classes_.tolist() == names[order].tolist()
    np.testing.assert_allclose(
        turned.predict_proba(scores[:, order]), plain.predict_proba(scores)[:, order], atol=1e-7
    )


def test_a_weight_is_a_number_of_copies(data):
    scores, y = data
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = OneVsAllCalibrator().fit(scores, y, weights).predict_proba(scores)
    copied = OneVsAllCalibrator().fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted, copied.predict_proba(scores), atol=1e-12)


def test_a_class_without_rows_keeps_its_column(data):
    scores, y = data
    rows = y != 3
    model = OneVsAllCalibrator("sigmoid", classes=range(4)).fit(scores[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    proba = model.predict_proba(scores)
    assert (proba[:, 3] > 0).all()
    assert proba[:, 3].mean() < 0.05


def test_no_answer_at_all_is_uniform():
    scores = np.eye(3).repeat(4, axis=0)
    proba = OneVsAllCalibrator(PAVCalibrator()).fit(scores, np.arange(3).repeat(4)).predict_proba([[0, 0, 0]])
    np.testing.assert_allclose(proba, 1 / 3)


def test_frames_and_copies(data):
    scores, y = data
    calibrator = PAVCalibrator(between="linear")
    model = OneVsAllCalibrator(calibrator)
    of_frame = model.fit(pd.DataFrame(scores), pd.Series(y)).predict_proba(pd.DataFrame(scores))
    np.testing.assert_array_equal(of_frame, clone(model).fit(scores, y).predict_proba(scores))
    assert not hasattr(calibrator, "classes_")
    assert model.get_params()["calibrator__between"] == "linear"


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        (np.ones((3, 2)), [0, 1, 2], "one value per column of scores, 2 in all; got 3; pass classes="),
        (np.ones((3, 4)), [0, 1, 2], "one value per column of scores, 4 in all; got 3; pass classes="),
        (np.ones(3), [0, 1, 2], r"with k >= 2; got shape \(3,\)"),
        (np.ones((3, 3)), [0, 1], "one value per column of scores, 3 in all; got 2"),
        (np.ones((4, 2)), [0, 1], "scores and labels must have the same number of rows; got 4 and 2"),
        ([[1, np.nan], [1, 2]], [0, 1], "scores must be finite; got nan in row 0, column 1"),
        (np.ones((0, 2)), [], "scores must have at least one row; got none"),
        (np.ones((2, 2)), ["a", None], "labels must not be missing; got None in row 1"),
    ],
)
def test_what_it_refuses(scores, y, message):
    with pytest.raises(CalibrantError, match=message):
        OneVsAllCalibrator().fit(scores, y)


def test_options_and_columns_that_cannot_be(data):
    scores, y = data
    with pytest.raises(CalibrantError, match="calibrator must be one of 'pav', .*got 'plait'"):
        OneVsAllCalibrator("plait").fit(scores, y)
    with pytest.raises(
        CalibrantError, match="must take one score; got 'ranked_logistic', which takes one per"
    ):
        OneVsAllCalibrator("ranked_logistic").fit(scores, y)
    with pytest.raises(CalibrantError, match="combine must be one of .*got 'average'"):
        OneVsAllCalibrator(combine="average").fit(scores, y)
    with pytest.raises(
        CalibrantError, match=r"labels must be among the classes \[0, 1, 2, 9\]; got 3 in row"
    ):
        OneVsAllCalibrator(classes=[0, 1, 2, 9]).fit(scores, y)
    with pytest.raises(CalibrantError, match=r"classes must be 4 distinct labels.*got \[0, 1, 2\]"):
        OneVsAllCalibrator(classes=[0, 1, 2]).fit(scores, y)
    with pytest.raises(CalibrantError, match="this OneVsAllCalibrator must be fitted before it is used"):
        OneVsAllCalibrator().predict_proba(scores)
    with pytest.raises(CalibrantError, match="one column per class, 4 in all; got 3 columns"):
        OneVsAllCalibrator().fit(scores, y).predict_proba(scores[:, :3])
