"""Models as documents and back: what is saved is what comes back."""

import copy
import datetime
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibrantError, ProbingClassifier
from calibrant._core._not_fitted import NotFittedError
from calibrant.calibrators import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    CodeCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant.models import ModelFileError, ScoreModel, from_document, to_document
from calibrant.models._document import all_kinds
from calibrant.models._text import to_text
from models.cases import CASES, assert_same_answers, class_scores, one_score, pair_scores, quietly


def through_text(model):
    """The model as another process would get it."""
    return from_document(json.loads(to_text(to_document(model))))


def test_there_is_a_case_of_every_kind():
    assert {to_document(model)["kind"] for model, _ in CASES.values()} == set(all_kinds().by_name)


@pytest.mark.parametrize("name", CASES)
def test_a_model_comes_back_bit_by_bit(name):
    model, data = CASES[name]
    loaded = through_text(model)
    assert type(loaded) is type(model)
    assert_same_answers(model, loaded, data)
    assert to_text(to_document(loaded)) == to_text(to_document(model))


@pytest.mark.parametrize("name", [name for name, (model, _) in CASES.items() if hasattr(model, "classes_")])
def test_labels_keep_their_type_and_order(name):
    model, _ = CASES[name]
    loaded = through_text(model)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind


@pytest.mark.parametrize("name", [name for name, (model, _) in CASES.items() if hasattr(model, "get_params")])
def test_a_loaded_model_can_be_fitted_again_to_the_same_effect(name):
    model, data = CASES[name]
    loaded = through_text(model)
    again = clone(loaded)
    for parameter, value in model.get_params(deep=False).items():
        if parameter in ("random_state", "clip", "between", "smoothing", "fallback", "family", "max_rank"):
            assert getattr(again, parameter) == value
    if name == "model_actions":
        scores, label = class_scores()
        y = np.array([1, 2, 7])[label]
        assert_same_answers(again.fit(scores, y), model, data)
        assert again.actions_.tolist() == [1, 2, 7, "ask"]


def test_the_attributes_that_people_read_come_back():
    pav, binning, table = (CASES[name][0] for name in ("pav", "binning_cv", "accuracy_table_aic"))
    np.testing.assert_array_equal(through_text(pav).blocks_.weight, pav.blocks_.weight)
    assert through_text(binning).cv_scores_ == binning.cv_scores_
    assert through_text(binning).n_bins_ == binning.n_bins_
    for mine, theirs in zip(through_text(table).tables_, table.tables_, strict=True):
        assert mine.axes == theirs.axes
        assert mine.criterion == theirs.criterion
        assert mine.overall_accuracy == theirs.overall_accuracy
        for name, column in theirs.to_dict().items():
            np.testing.assert_array_equal(mine.to_dict()[name], column)
    rule = CASES["parallel_free"][0]
    loaded = through_text(rule)
    np.testing.assert_array_equal(loaded.order_, rule.order_)
    np.testing.assert_array_equal(loaded.costs_, rule.costs_)
    model = CASES["model_binary_cost"][0]
    assert through_text(model).summary_.metrics == model.summary_.metrics
    assert through_text(model).summary_.n_rows == 120


def test_an_infinite_log_loss_is_written_as_text():
    scores, y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 1, 0, 1, 1]
    model = ScoreModel(PAVCalibrator(clip=0)).fit(scores, y)
    assert model.summary_.metrics.log_loss == np.inf
    assert to_document(model)["training"]["metrics"]["log_loss"] == "Infinity"
    assert through_text(model).summary_.metrics.log_loss == np.inf


def test_the_same_model_gives_the_same_text_and_the_clock_is_not_asked():
    model, _ = CASES["model_multiclass"]
    assert to_text(to_document(model)) == to_text(to_document(model))
    assert to_document(model)["date"] is None
    assert to_document(model, datetime.date(2026, 3, 31))["date"] == "2026-03-31"
    assert to_document(model, "2026-03-31T12:00:00+01:00")["date"] == "2026-03-31T12:00:00+01:00"


@pytest.mark.parametrize("date", ["yesterday", "2026-02-30", 20260331, "2026-W05-1"])
def test_a_date_that_is_none(date):
    with pytest.raises(CalibrantError, match=f"date must be a date, or text such as .*; got {date!r}"):
        to_document(CASES["pav"][0], date)


def test_a_loaded_model_keeps_its_origin_until_it_is_fitted_again():
    document = to_document(PAVCalibrator().fit([1, 2, 3], [0, 0, 1]), "2020-01-01")
    document |= {"library_version": "0.0.1", "checksum": None}
    model = from_document(document)
    assert (to_document(model)["library_version"], to_document(model)["date"]) == ("0.0.1", "2020-01-01")
    assert to_document(model, "2021-01-01")["date"] == "2021-01-01"
    assert to_document(copy.deepcopy(model))["library_version"] == "0.0.1"
    refitted = to_document(model.fit([1, 2, 3], [0, 1, 1]))
    assert refitted["library_version"] != "0.0.1"
    assert refitted["date"] is None


def test_the_origin_of_a_combiner_is_its_own():
    document = to_document(CASES["normalize"][0], "2020-01-01")
    assert to_document(from_document(document))["date"] == "2020-01-01"
    assert to_document(type(CASES["normalize"][0])())["date"] is None


@st.composite
def rows_of_one_score(draw):
    n_rows = draw(st.integers(1, 40))
    finite = st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 5e-324, 1.0, 1 + 2**-52])
    scores = draw(st.lists(finite, min_size=n_rows, max_size=n_rows))
    y = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    weight = st.floats(1e-6, 1e6)
    weights = draw(st.none() | st.lists(weight, min_size=n_rows, max_size=n_rows))
    return np.array(scores), np.array(y), weights


@given(
    rows_of_one_score(),
    st.sampled_from(["nearest", "linear", "average", "lower", "upper"]),
    st.booleans(),
    st.booleans(),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20),
)
@settings(max_examples=60)
def test_any_isotonic_fit_comes_back(rows, between, increasing, laplace, queries):
    model = PAVCalibrator(between, increasing, laplace=laplace).fit(*rows)
    assert_same_answers(model, through_text(model), np.array([*rows[0], *queries]))


@given(rows_of_one_score(), st.sampled_from([None, "laplace", "m"]), st.integers(1, 12))
@settings(max_examples=50)
def test_any_binning_comes_back(rows, smoothing, n_bins):
    model = BinningCalibrator(n_bins, smoothing).fit(*rows)
    if (model.bins_.weight <= 0).any() or np.isnan(model.bins_.value).any():
        return  # weights of such different sizes that a bin has lost all of its own
    assert_same_answers(model, through_text(model), rows[0])


@given(rows_of_one_score())
@settings(max_examples=30)
def test_any_sigmoid_comes_back(rows):
    model = quietly(SigmoidCalibrator(), *rows)
    assert_same_answers(model, through_text(model), rows[0])


@given(
    st.integers(2, 5),
    st.integers(0, 2**16),
    st.sampled_from(
        [
            lambda k: OneVsAllCalibrator("pav", "normalize"),
            lambda k: OneVsAllCalibrator("binning", "least_squares"),
            lambda k: OneVsAllCalibrator("sigmoid", "coupling"),
            lambda k: AccuracyTableCalibrator("A", smoothing="ma"),
            lambda k: AccuracyTableCalibrator("C", width=0.3, smoothing="median", max_rank=2),
            lambda k: AccuracyTableCalibrator("single", n_cells="cv", max_rank=None),
            lambda k: RankedLogisticCalibrator("B", max_rank=2),
            lambda k: RankedLogisticCalibrator([[1], list(range(1, k + 1))], smooth=True),
            lambda k: CodeCalibrator("all_pairs", "pav", "least_squares"),
        ]
    ),
    st.booleans(),
)
@settings(max_examples=40)
def test_any_calibrator_of_many_scores_comes_back(k, seed, make, weighted):
    model = make(k)
    scores, y = (pair_scores if isinstance(model, CodeCalibrator) else class_scores)(30 + 3 * k, k, seed)
    weights = np.random.default_rng(seed).gamma(0.5, size=len(y)) if weighted else None
    quietly(model, scores, y, weights)
    beyond = np.concatenate([scores, 10 * scores, -scores])
    assert_same_answers(model, through_text(model), beyond)


label_lists = (
    st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=2, max_size=4, unique=True)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True)
    | st.lists(st.integers(-(2**50), 2**50).map(float), min_size=2, max_size=4, unique=True)
)


@given(label_lists)
@settings(max_examples=50)
def test_any_labels_come_back_or_are_refused(labels):
    k = len(labels)
    position = np.arange(4 * k) % k
    model = OneVsAllCalibrator("sigmoid", classes=labels).fit(np.eye(k)[position], np.array(labels)[position])
    if any(isinstance(label, str) and label.endswith("\0") for label in labels):
        return  # NumPy has cut off the end
    loaded = through_text(model)
    assert loaded.classes_.tolist() == labels
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in labels]


class Doubled(PAVCalibrator):
    """A calibrator of a user's own."""


class Own(BaseEstimator):
    """A rule, a combiner and a calibrator of a user's own."""

    def fit(self, *rows):
        self.classes_ = [0, 1]
        return self

    def decide(self, proba):
        return np.zeros(len(proba), dtype=int)

    def predict_proba(self, scores):
        return np.full((len(scores), 2), 0.5)

    def __call__(self, code, answers, weights=None):
        return np.full((len(answers), len(code)), 1 / len(code))


def test_what_is_not_ours_cannot_be_saved():
    scores, y = one_score()
    matrix, label = class_scores()
    own = "only calibrators of calibrant or of its registry, .* saved; got an object of the class "
    for model, name in [
        (Own().fit(), "Own"),
        (Doubled().fit(scores, y), "Doubled"),
        (OneVsAllCalibrator(Own()).fit(matrix, label), "Own"),
        (OneVsAllCalibrator(combine=Own()).fit(matrix, label), "Own"),
        (ScoreModel(Own()).fit(scores, y), "Own"),
        (ScoreModel("pav", [[0, 1], [1, 0]], Own()).fit(scores, y), "Own"),
        ({"a": 1}, "dict"),
        (PAVCalibrator, "ABCMeta"),
        (ProbingClassifier(GaussianNB()), "ProbingClassifier; save a learner, or what holds one, by"),
    ]:
        with pytest.raises(ModelFileError, match=own + name):
            to_document(model)


def test_what_is_not_fitted_cannot_be_saved():
    for model in (PAVCalibrator(), OneVsAllCalibrator(), ScoreModel(), CASES["mossman"][0].__class__()):
        with pytest.raises(NotFittedError, match=f"this {type(model).__name__} must be fitted"):
            to_document(model)


def test_what_could_not_be_loaded_is_not_saved():
    scores, y = one_score()
    seeded = BinningCalibrator(random_state=np.random.RandomState(0)).fit(scores, y)
    message = "this BinningCalibrator cannot be saved: parameters.random_state must be null or a whole number"
    with pytest.raises(ModelFileError, match=f"{message}.*; got a RandomState"):
        to_document(seeded)
    poisoned = PAVCalibrator().fit(scores, y)
    poisoned.blocks_ = replace(poisoned.blocks_, value=poisoned.blocks_.value * np.nan)
    with pytest.raises(ModelFileError, match=r"fitted.blocks.value\[0\] must be a number.*; got nan"):
        to_document(poisoned)
    half = OneVsAllCalibrator(classes=["\ud800", "b"]).fit(np.eye(2), ["\ud800", "b"])
    with pytest.raises(ModelFileError, match=r"classes.values\[0\] must be text of at most 1000"):
        to_document(half)
    labels = np.array([2**63, 1], dtype=np.uint64)
    huge = OneVsAllCalibrator(classes=labels).fit(np.eye(2), labels)
    with pytest.raises(ModelFileError, match=r"classes.values\[0\] must fit into 64 bits"):
        to_document(huge)


def test_cells_that_rounding_makes_equal_cannot_be_saved():
    scores = 1e16 + 64.0 * np.arange(40).reshape(20, 2)
    model = AccuracyTableCalibrator("single", width=1.0, max_rank=1).fit(scores, np.arange(20) % 2)
    with pytest.raises(
        ModelFileError, match="cells must differ in their bounds to be saved; .*; use wider cells"
    ):
        to_document(model)


def test_whole_numbers_of_any_kind_are_written_as_such():
    matrix, label = class_scores()
    model = AccuracyTableCalibrator(n_cells=np.int32(8), max_rank=2.0, cv=np.int64(3)).fit(matrix, label)
    parameters = to_document(model)["parameters"]
    assert [type(parameters[name]) for name in ("n_cells", "max_rank", "cv")] == [int, int, int]
