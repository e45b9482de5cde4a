"""Columns by name: whatever takes scores or probabilities gives the same answers for any order of them."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from calibrant import (
    AccuracyTableCalibrator,
    CalibrantError,
    OneVsAllCalibrator,
    RankedLogisticCalibrator,
    ScoreModel,
    SigmoidCalibrator,
    decisions as d,
    likely_errors,
    metrics as m,
    top_candidates,
)
from calibrant.calibrators import CodeCalibrator, score_status_correlation
from calibrant.files import apply, fit, labelled
from calibrant.models import compare_forecasts, compare_methods, from_document, to_document
from calibrant.report import summarize

ANIMALS = np.array(["cat", "dog", "fox"])
COST = np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])


def rows(n=60, seed=5):
    """Margins of three classes, and their labels."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 3)
    scores = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + 1.5 * np.eye(3)[truth]
    return scores, truth


def forecasts(scores):
    proba = np.exp(scores)
    return proba / proba.sum(axis=1, keepdims=True)


SCORES, TRUTH = rows()
PROBA = forecasts(SCORES)
FRAMES = {
    "pandas": lambda matrix, names: pd.DataFrame(matrix, columns=list(names)),
    "polars": lambda matrix, names: pl.DataFrame(matrix, schema=list(names), orient="row"),
    "pyarrow": lambda matrix, names: pa.table(dict(zip(names, matrix.T, strict=True))),
    "record batch": lambda matrix, names: pa.record_batch(dict(zip(names, matrix.T, strict=True))),
}
ORDERS = list(itertools.permutations(range(3)))


class Fitted:
    """Something that is fitted to a matrix, and then asked about another."""

    def __init__(self, name, matrix, fit, ask):
        self.name, self.matrix, self.fit, self.ask = name, matrix, fit, ask


def score_model(**how):
    return lambda X, y: ScoreModel("sigmoid", **how).fit(X, y)


def rule(new):
    return lambda X, y: clone(new).fit(X, y, COST)


def proba_of(model, X):
    return model.predict_proba(X)


OBJECTS = [
    Fitted("ScoreModel", SCORES, score_model(), proba_of),
    Fitted("ScoreModel.decide", SCORES, score_model(cost=COST), lambda model, X: model.decide(X)),
    Fitted("ScoreModel.top", SCORES, score_model(), lambda model, X: model.top_candidates(X, 2).label),
    Fitted("ScoreModel of a code", SCORES, score_model(code="all_pairs", combine="coupling"), proba_of),
    Fitted(
        "ScoreModel of ranks",
        SCORES,
        lambda X, y: ScoreModel(RankedLogisticCalibrator(smooth=True)).fit(X, y),
        lambda model, X: model.top_candidates(X, 2).probability,
    ),
    Fitted("OneVsAll", SCORES, lambda X, y: OneVsAllCalibrator("sigmoid").fit(X, y), proba_of),
    Fitted("Code", SCORES, lambda X, y: CodeCalibrator("all_pairs", "sigmoid").fit(X, y), proba_of),
    Fitted("Code of classes", SCORES, lambda X, y: CodeCalibrator("one_vs_all").fit(X, y), proba_of),
    Fitted("table", SCORES, lambda X, y: AccuracyTableCalibrator().fit(X, y), lambda t, X: t.predict(X)),
    Fitted("ranked", SCORES, lambda X, y: RankedLogisticCalibrator(smooth=True).fit(X, y), proba_of),
    Fitted(
        "top_candidates",
        SCORES,
        lambda X, y: OneVsAllCalibrator("sigmoid").fit(X, y),
        lambda model, X: top_candidates(model, X, 2).label,
    ),
    Fitted(
        "likely_errors",
        SCORES,
        lambda X, y: RankedLogisticCalibrator(smooth=True).fit(X, y),
        lambda model, X: likely_errors(model, X).row,
    ),
    *(
        Fitted(type(each).__name__, PROBA, rule(each), lambda fitted, X: fitted.decide(X))
        for each in (
            d.ExpectedCostRule(),
            d.ParallelPartitionRule(),
            d.LachicheFlachRule(),
            d.MossmanRule(),
        )
    ),
]


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("names", [("cat", "dog", "fox"), ("s_1", "s_2", "s_3")], ids=["labels", "others"])
@pytest.mark.parametrize("case", OBJECTS, ids=lambda case: case.name)
def test_the_order_of_the_columns_changes_no_answer(case, names, library):
    frame, y = FRAMES[library], ANIMALS[TRUTH]
    model = case.fit(frame(case.matrix, names), y)
    expected = case.ask(case.fit(case.matrix, y), case.matrix)
    assert model.feature_names_in_.tolist() == list(names)
    assert model.feature_names_in_.dtype == object
    for order in ORDERS:
        permuted = frame(case.matrix[:, order], np.array(names)[list(order)].tolist())
        assert np.array_equal(case.ask(model, permuted), expected)
        if names[0] == "cat" and order == (2, 0, 1) and not _is_coded(model):  # labels tell it at the fit too
            assert np.array_equal(case.ask(case.fit(permuted, y), permuted), expected)
    assert np.array_equal(case.ask(model, case.matrix), expected)


def _is_coded(model):
    coded = getattr(model, "calibrator_", model)
    return isinstance(coded, CodeCalibrator) and coded.code == "all_pairs"


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("case", OBJECTS, ids=lambda case: case.name)
def test_columns_that_are_missing_or_unknown_are_refused(case, library):
    frame = FRAMES[library]
    model = case.fit(frame(case.matrix, ["cat", "dog", "fox"]), ANIMALS[TRUTH])
    with pytest.raises(CalibrantError, match=r"fitted to, 'cat', 'dog', 'fox'; 'fox' is missing; choose"):
        case.ask(model, frame(case.matrix[:, :2], ["cat", "dog"]))
    with pytest.raises(CalibrantError, match=r"'dog' is missing and 'wolf' is unknown"):
        case.ask(model, frame(case.matrix, ["cat", "wolf", "fox"]))
    more = np.column_stack([case.matrix, case.matrix[:, 0]])
    with pytest.raises(CalibrantError, match=r"; 'id' is unknown"):
        case.ask(model, frame(more, ["cat", "dog", "fox", "id"]))


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
@pytest.mark.parametrize(
    "measure",
    [
        m.brier_score,
        m.log_loss,
        m.error_rate,
        lambda y, p, **how: m.brier_decomposition(y, p, isotonic=True, mode="classwise", **how).calibration,
        lambda y, p, **how: m.reliability_by_class(y, p, **how)[0].frac_pos,
        lambda y, p, **how: m.isotonic_reliability_by_class(y, p, **how)["fox"].frequency,
        lambda y, p, **how: m.reliability_at_rank(y, p, 1, **how).frac_pos,
        lambda y, p, **how: compare_forecasts(y, {"these": p}, **how).results[0].brier_score,
        lambda y, p, **how: compare_methods(p, y, methods=["sigmoid"], **how).results[0].brier_score,
        lambda y, p, **how: score_status_correlation(p, y, **how).correlation,
        lambda y, p, **how: summarize(y, p, **how).measures.brier_score,
        lambda y, p, **how: (
            summarize(y, PROBA if not how else PROBA[:, ::-1], methods={"p": p}, **how).methods
        ),
        lambda y, p, **how: d.expected_cost(p, y, COST, classes=how.get("classes", ANIMALS)).costs,
        lambda y, p, **how: d.compare_rules(p, y, COST, ["parallel"], cv=3).best.cost if not how else 0.0,
    ],
)
def test_a_measure_of_a_frame_goes_by_label(measure, library):
    y, order = ANIMALS[TRUTH], [2, 0, 1]
    frame = FRAMES[library](PROBA[:, order], ANIMALS[order].tolist())
    assert np.array_equal(measure(y, frame), measure(y, PROBA))
    backwards = {"classes": ANIMALS[::-1].tolist()}
    assert np.array_equal(measure(y, frame, **backwards), measure(y, PROBA[:, ::-1], **backwards))
    other = FRAMES[library](PROBA, ["x", "y", "z"])
    assert np.array_equal(measure(y, other), measure(y, PROBA))
    with pytest.raises(
        CalibrantError, match=r"got 'dog' in the place of another class, and 'x', which is no"
    ):
        measure(y, FRAMES[library](PROBA, ["dog", "cat", "x"]))


@pytest.mark.parametrize("measure", [m.auc, m.cross_entropy, m.rms_error, m.error_rate, m.log_loss])
def test_a_measure_of_two_classes_goes_by_label(measure):
    y, p = np.array(["no", "yes", "yes", "no"]), np.array([0.2, 0.7, 0.4, 0.3])
    right = pd.DataFrame({"no": 1 - p, "yes": p})
    assert (
        measure(y, right[["yes", "no"]]) == measure(y, p) == measure(y, right) == measure(y, right[["yes"]])
    )
    with pytest.raises(CalibrantError, match="got 'no' in the place of another class"):
        measure(y, right[["no"]])


def test_numbers_are_labels_whatever_type_their_names_have():
    X, y = SCORES, TRUTH + 1  # labels 1, 2, 3
    expected = OneVsAllCalibrator().fit(X, y).predict_proba(X)
    for names in ([3, 1, 2], ["3", "1", "2"], [3.0, 1.0, 2.0], ["3.0", "1.0", "2.0"]):
        labels = y.astype(float) if "3.0" in names else y
        frame = pd.DataFrame(X[:, [2, 0, 1]], columns=names)
        model = OneVsAllCalibrator().fit(frame, labels)
        assert np.array_equal(model.predict_proba(frame), expected)
        assert np.array_equal(model.predict_proba(frame.iloc[:, [1, 2, 0]]), expected)
        assert hasattr(model, "feature_names_in_") == isinstance(names[0], str)
    booleans = pd.DataFrame({"True": PROBA[:, 0], "False": 1 - PROBA[:, 0]})
    assert m.auc(TRUTH == 0, booleans) == m.auc(TRUTH == 0, PROBA[:, 0])


def test_columns_that_pandas_has_counted_have_no_names():
    X, y = SCORES, TRUTH + 1
    counted = pd.DataFrame(X)
    model = OneVsAllCalibrator().fit(counted, y)  # 0, 1, 2 are not the labels 1, 2, 3
    expected = OneVsAllCalibrator().fit(X, y).predict_proba(X)
    assert not hasattr(model, "feature_names_in_")
    for given in (X, counted, counted[[2, 0, 1]]):
        assert np.array_equal(model.predict_proba(given), expected)
    shuffled = OneVsAllCalibrator(classes=["c", "a", "b"]).fit(
        counted[[2, 0, 1]], np.array(list("abc"))[TRUTH]
    )
    assert np.array_equal(shuffled.predict_proba(counted), shuffled.predict_proba(counted[[2, 0, 1]]))
    with pytest.raises(CalibrantError, match="got '2' in the place of another class, and '0'"):
        OneVsAllCalibrator().fit(counted[[2, 0, 1]], y)


def test_names_that_are_partly_labels_must_stand_where_the_labels_do():
    y = ANIMALS[TRUTH]
    with pytest.raises(
        CalibrantError, match=r"named like the classes, or else.*got 'dog' in the place of an"
    ):
        ScoreModel().fit(pd.DataFrame(SCORES, columns=["dog", "cat", "rest"]), y)
    frame = pd.DataFrame(SCORES, columns=["cat", "dog", "rest"])
    model = ScoreModel().fit(frame, y)
    assert np.array_equal(model.predict_proba(frame[["rest", "cat", "dog"]]), model.predict_proba(SCORES))


def test_a_fit_without_names_takes_labels_by_label_and_warns_of_others():
    y = ANIMALS[TRUTH]
    model = OneVsAllCalibrator().fit(SCORES, y)
    expected = model.predict_proba(SCORES)
    frame = pd.DataFrame(SCORES, columns=ANIMALS)
    assert np.array_equal(model.predict_proba(frame[["fox", "cat", "dog"]]), expected)
    with pytest.warns(
        UserWarning, match=r"the columns 'x', 'y', 'z', which are taken where they stand, as this"
    ):
        given = model.predict_proba(pd.DataFrame(SCORES, columns=list("xyz")))
    assert np.array_equal(given, expected)
    with pytest.raises(CalibrantError, match="got 'dog' in the place of another class"):
        model.predict_proba(pd.DataFrame(SCORES, columns=["dog", "x", "y"]))
    with pytest.raises(CalibrantError, match="one column per class, 3 in all; got 2"):
        model.predict_proba(frame[["cat", "dog"]])


def test_an_array_after_a_frame_warns_only_if_the_frame_had_another_order():
    y, frame = ANIMALS[TRUTH], pd.DataFrame(SCORES, columns=ANIMALS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ScoreModel().fit(frame, y).predict_proba(SCORES)
    moved = ScoreModel().fit(frame[["fox", "cat", "dog"]], y)
    assert moved.feature_names_in_.tolist() == ["cat", "dog", "fox"]
    with pytest.warns(
        UserWarning, match=r"no column names, and are taken in the order 'cat', 'dog', 'fox'; the"
    ):
        moved.predict_proba(SCORES)
    assert not hasattr(moved.fit(SCORES, y), "feature_names_in_")


@pytest.mark.parametrize("library", FRAMES)
def test_a_single_column_has_a_name_too(library):
    scores, y = SCORES[:, :1], np.where(TRUTH == 0, "spam", "ham")
    for learn in (SigmoidCalibrator().fit, ScoreModel("sigmoid").fit):
        model = learn(FRAMES[library](scores, ["score"]), y)
        same = model.predict_proba(FRAMES[library](scores, ["score"]))
        assert np.array_equal(same, model.predict_proba(scores[:, 0]))
        with pytest.raises(CalibrantError, match="'score' is missing and 'id' is unknown"):
            model.predict_proba(FRAMES[library](scores, ["id"]))
        assert learn(FRAMES[library](scores, ["spam"]), y).feature_names_in_.tolist() == ["spam"]
        with pytest.raises(CalibrantError, match="got 'ham' in the place of another class"):
            learn(FRAMES[library](scores, ["ham"]), y)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_name_that_is_there_twice_is_refused(library):
    names = ["cat", "dog", "dog"]
    frame = (
        pd.DataFrame(SCORES, columns=names)
        if library == "pandas"
        else pa.Table.from_arrays([pa.array(each) for each in SCORES.T], names=names)
    )
    with pytest.raises(CalibrantError, match="every column of scores must have a name of its own"):
        OneVsAllCalibrator().fit(frame, ANIMALS[TRUTH])


@pytest.mark.parametrize("names", [["cat", "dog", "fox"], ["s_1", "s_2", "s_3"]])
@pytest.mark.parametrize("case", [c for c in OBJECTS if "(" not in c.name], ids=lambda case: case.name)
def test_a_saved_model_keeps_the_names(case, names):
    frame = pd.DataFrame(case.matrix, columns=names)
    model = case.fit(frame, ANIMALS[TRUTH])
    expected = case.ask(model, case.matrix)
    for again in (from_document(to_document(model)), pickle.loads(pickle.dumps(model))):
        assert again.feature_names_in_.tolist() == names
        assert np.array_equal(case.ask(again, frame.iloc[:, [2, 0, 1]]), expected)
        with pytest.raises(CalibrantError, match="is missing and 'wolf' is unknown"):
            case.ask(again, frame.rename(columns={names[0]: "wolf"}))


def test_a_model_of_fitted_parts_keeps_the_names():
    frame = pd.DataFrame(SCORES, columns=ANIMALS)[["fox", "cat", "dog"]]
    calibrator = OneVsAllCalibrator().fit(frame, ANIMALS[TRUTH])
    model = ScoreModel.from_fitted(calibrator)
    assert model.feature_names_in_.tolist() == ["cat", "dog", "fox"]
    assert np.array_equal(model.predict_proba(frame), calibrator.predict_proba(frame))
    assert calibrator.feature_names_in_.tolist() == ["cat", "dog", "fox"]


def test_columns_of_a_table_are_fitted_and_applied_by_name():
    y = ANIMALS[TRUTH]
    for names in (["cat", "dog", "fox"], ["s_1", "s_2", "s_3"]):
        table = pa.table(dict(zip(names, SCORES.T, strict=True)) | {"y": y})
        model = fit(ScoreModel("sigmoid"), labelled(table, scores=names, label="y", classes=ANIMALS))
        assert model.feature_names_in_.tolist() == names
        expected = model.predict_proba(SCORES)
        assert np.array_equal(model.predict_proba(table.select(names[::-1])), expected)
        [batch] = apply(model, table, scores=names[::-1], keep=[])
        assert np.array_equal(np.column_stack([column.to_numpy() for column in batch.columns]), expected)
        if names[0] == "cat":
            shuffled = labelled(table, scores=["fox", "cat", "dog"], label="y", classes=ANIMALS)
            assert np.array_equal(fit(ScoreModel("sigmoid"), shuffled).predict_proba(SCORES), expected)
    with pytest.raises(CalibrantError, match="got 'dog' in the place of another class, and 's_1'"):
        labelled(
            table.append_column("dog", table["s_2"]), scores=["dog", "s_1", "s_3"], label="y", classes=ANIMALS
        )
