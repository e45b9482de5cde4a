"""What comes to the classifiers: masks, folds in every form, groups, kernels."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from calibrant import (
    BinningCalibrator,
    CalibrantError,
    CalibratedClassifier,
    CostingClassifier,
    CostSensitiveClassifier,
    MetaCostClassifier,
    OneVsAllCalibrator,
    ProbingClassifier,
    RankedLogisticCalibrator,
    ScoreModel,
    SigmoidCalibrator,
    metrics,
)
from calibrant.decisions import ParallelPartitionRule, compare_rules
from calibrant.learners import CategoricalNaiveBayes, RegularizedQDA
from calibrant.models import to_document

X, Y = make_classification(90, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=3)
THREE = (np.arange(90) + (X[:, 0] > 0)) % 3
COST2 = [[0, 2], [1, 0]]

LEARNERS = {
    "calibrated": lambda learner: CalibratedClassifier(learner, "sigmoid", cv=3),
    "holdout": lambda learner: CalibratedClassifier(learner, "sigmoid", data="holdout", random_state=0),
    "train": lambda learner: CalibratedClassifier(learner, "sigmoid", data="train"),
    "cost_sensitive": lambda learner: CostSensitiveClassifier(learner, COST2, calibrator="sigmoid", cv=3),
    "probing": lambda learner: ProbingClassifier(learner, 3, random_state=0),
    "probing out of fold": lambda learner: ProbingClassifier(
        learner, 3, reference="oof", weighting="rejection", cv=3, random_state=0
    ),
    "probing held out": lambda learner: ProbingClassifier(learner, 3, n_iter_no_change=1, random_state=0),
    "costing": lambda learner: CostingClassifier(learner, 3, random_state=0),
    "metacost": lambda learner: MetaCostClassifier(learner, COST2, 3, hard=True, random_state=0),
}


def missing_labels(y):
    """The same labels, of which the first is not there."""
    texts = [None, *(f"c{label}" for label in y[1:])]
    return {
        "numpy mask": np.ma.array(y, mask=[True] + [False] * (len(y) - 1)),
        "mask in a list": [np.ma.masked, *y[1:].tolist()],
        "object with a masked entry": np.array([np.ma.masked, *texts[1:]], dtype=object),
        "None": np.array(texts, dtype=object),
        "pandas Int64": pd.Series([None, *y[1:].tolist()], dtype="Int64"),
        "pandas string": pd.Series(texts, dtype="string"),
        "pandas category": pd.Series(texts, dtype="category"),
        "pandas boolean": pd.Series([None, *(y[1:] > 0)], dtype="boolean"),
        "polars": pl.Series([None, *y[1:].tolist()]),
        "polars text": pl.Series(texts),
        "arrow": pa.chunked_array([[None, *y[1:].tolist()]]),
        "arrow text": pa.array(texts),
        "arrow dictionary": pa.chunked_array([pa.array(texts).dictionary_encode()]),
        "frame of an arrow dictionary": pa.table({"y": pa.array(texts).dictionary_encode()}),
        "datetime": np.array(
            ["NaT", *["2020-01-01", "2021-01-01"] * 44, "2021-01-01"], dtype="datetime64[D]"
        ),
    }


TAKERS = {
    **{name: lambda y, new=new: new(GaussianNB()).fit(X, y) for name, new in LEARNERS.items()},
    "sigmoid": lambda y: SigmoidCalibrator().fit(X[:, 0], y),
    "one_vs_all": lambda y: OneVsAllCalibrator().fit(X[:, :2], y),
    "score_model": lambda y: ScoreModel().fit(X[:, 0], y),
    "auc": lambda y: metrics.auc(y, X[:, 0]),
    "rule": lambda y: ParallelPartitionRule().fit(np.full((90, 2), 0.5), y, COST2),
    "qda": lambda y: RegularizedQDA().fit(X, y),
    "nb": lambda y: CategoricalNaiveBayes().fit((X > 0).astype(int), y),
}


@pytest.mark.parametrize("form", list(missing_labels(Y)))
@pytest.mark.parametrize("taker", TAKERS)
def test_a_label_that_is_not_there_is_refused(taker, form):
    with pytest.raises(CalibrantError, match=r"miss|finite|NaN|mask|None"):
        TAKERS[taker](missing_labels(Y)[form])


def test_a_mask_without_masked_entries_is_nothing():
    plain = CalibratedClassifier(GaussianNB()).fit(X, Y)
    masked = CalibratedClassifier(GaussianNB()).fit(np.ma.array(X), np.ma.array(Y))
    np.testing.assert_array_equal(plain.predict_proba(X), masked.predict_proba(np.ma.array(X)))


@pytest.mark.parametrize("values", [X, np.ones(90)], ids=["X", "weights"])
def test_masked_rows_and_weights_are_refused(values):
    masked = np.ma.array(values, mask=np.zeros(values.shape))
    masked[3] = np.ma.masked
    model = CalibratedClassifier(GaussianNB())
    with pytest.raises(
        CalibrantError, match="must have no missing values; got . masked ones; drop those rows"
    ):
        model.fit(masked, Y) if values is X else model.fit(X, Y, masked)
    with pytest.raises(CalibrantError, match="must have no missing values"):
        SigmoidCalibrator().fit(X[:, 0], Y, np.ma.masked_equal(np.arange(90), 3))
    with pytest.raises(CalibrantError, match="must have no missing values"):
        SigmoidCalibrator().fit([*X[:-1, 0].tolist(), np.ma.masked], Y)
    with pytest.raises(CalibrantError, match="must have no missing values"):
        OneVsAllCalibrator().fit([np.ma.masked_equal(row, X[2, 0]) for row in X[:, :2]], Y)


def folds_of(form):
    pairs = list(StratifiedKFold(3).split(X, Y))
    masks = [(np.isin(np.arange(90), a), np.isin(np.arange(90), b)) for a, b in pairs]
    return {
        "number": 3,
        "splitter": StratifiedKFold(3),
        "arrays": pairs,
        "lists": [(a.tolist(), b.tolist()) for a, b in pairs],
        "tuples": tuple((tuple(a), tuple(b)) for a, b in pairs),
        "lists of lists": [[a.tolist(), b.tolist()] for a, b in pairs],
        "masks": masks,
        "lists of booleans": [(a.tolist(), b.tolist()) for a, b in masks],
        "generator": (pair for pair in pairs),
        "generators": ((iter(a), iter(b)) for a, b in pairs),
        "ranges": [(range(90), range(90))],
        "series": [(pd.Series(a), pl.Series(b)) for a, b in pairs],
    }[form]


FORMS = [
    "number", "splitter", "arrays", "lists", "tuples", "lists of lists", "masks", "lists of booleans",
    "generator", "generators", "series",
]  # fmt: skip


@pytest.mark.parametrize("weights", [None, np.arange(90) % 4 > 0], ids=["all", "some absent"])
@pytest.mark.parametrize("form", FORMS)
def test_folds_in_every_form_are_the_same_folds(form, weights):
    unpaired = form in ("number", "splitter")  # they look at the labels, and at the rows that are left
    weights = None if unpaired else weights
    weights = None if weights is None else weights.astype(float)

    def answers(form):
        calibrated = CalibratedClassifier(GaussianNB(), cv=folds_of(form)).fit(X, Y, weights)
        coded = CalibratedClassifier(GaussianNB(), code="all_pairs", combine="coupling", cv=folds_of(form))
        probed = ProbingClassifier(GaussianNB(), 1, reference="oof", cv=folds_of(form), random_state=0)
        return (
            calibrated.predict_proba(X),
            0 if unpaired else coded.fit(X, THREE, weights).predict_proba(X),
            probed.fit(X, Y, weights).predict_proba(X),
            compare_rules(calibrated.predict_proba(X), Y, COST2, cv=folds_of(form)).best.cost,
        )

    for one, other in zip(answers(form), answers("arrays"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        ([], "cv must give at least one fold; got none; a generator gives its folds once"),
        ([([0, 1], [2, 90])], r"fold 0 must hold row numbers from 0 to 89; got 90"),
        ([([0, -1], [2])], r"fold 0 must hold row numbers from 0 to 89; got -1"),
        ([([0.5, 1.0], [2])], r"fold 0 must hold row numbers, or a mask.*float64"),
        (
            [([True, False], [2])],
            r"or a mask with one entry per row, 90 in all; got shape \(2,\) of type bool",
        ),
        ([([0, 1], [[2]])], r"fold 0 must hold row numbers"),
        ([[1, 2, 3]], "the rows must allow the split"),
        ([5], "the rows must allow the split"),
        ("zebra", "cv must be a number of folds, a splitter"),
        (1, "the rows must allow the split"),
        (2.5, "the rows must allow the split"),
        (object(), "the rows must allow the split"),
        ([([], [0])], "every training fold must hold at least two classes; fold 0 is empty"),
    ],
)
def test_folds_that_are_none_are_refused(cv, words):
    for model in (
        CalibratedClassifier(GaussianNB(), cv=cv),
        CostSensitiveClassifier(GaussianNB(), COST2, cv=cv),
    ):
        with pytest.raises(CalibrantError, match=words):
            model.fit(X, Y)


def test_a_generator_that_is_used_up_says_so():
    model = CalibratedClassifier(GaussianNB(), cv=folds_of("generator")).fit(X, Y)
    with pytest.raises(CalibrantError, match="a generator gives its folds once: pass list"):
        model.fit(X, Y)


GROUPS = np.repeat(np.arange(9), 10)


@pytest.mark.parametrize("weights", [None, (np.arange(90) % 5 > 0).astype(float)])
@pytest.mark.parametrize("calibrator", ["pav", "identity"])
def test_groups_go_to_the_folds_with_routing_and_without(calibrator, weights):
    kept = slice(None) if weights is None else weights > 0
    pairs = list(GroupKFold(3).split(X[kept], Y[kept], GROUPS[kept]))
    expected = CalibratedClassifier(GaussianNB(), calibrator, cv=pairs).fit(X[kept], Y[kept])
    given = CalibratedClassifier(GaussianNB(), calibrator, cv=GroupKFold(3)).fit(X, Y, weights, groups=GROUPS)
    np.testing.assert_array_equal(given.predict_proba(X), expected.predict_proba(X))
    with config_context(enable_metadata_routing=True):
        learner = GaussianNB().set_fit_request(sample_weight=False)
        routed = CalibratedClassifier(learner, calibrator, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    plain = CalibratedClassifier(GaussianNB(), calibrator, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    np.testing.assert_array_equal(routed.predict_proba(X), plain.predict_proba(X))


def test_groups_reach_the_folds_within_the_folds():
    model = CostSensitiveClassifier(GaussianNB(), COST2, calibrator="sigmoid", cv=GroupKFold(3))
    assert model.fit(X, Y, groups=GROUPS).predict(X).shape == (90,)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=GroupKFold(2))
    model = CalibratedClassifier(search, cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    assert model.predict(X).shape == (90,)


def test_groups_that_are_missing_or_useless_are_named():
    with pytest.raises(CalibrantError, match="pass groups= to fit, one per row") as raised:
        CalibratedClassifier(GaussianNB(), cv=GroupKFold(3)).fit(X, Y)
    assert "fewer folds" not in str(raised.value)
    with pytest.raises(
        CalibrantError, match=r"groups must be used by the folds; cv=5 does not use them; pass a"
    ):
        CalibratedClassifier(GaussianNB()).fit(X, Y, groups=GROUPS)
    with pytest.raises(CalibrantError, match="data must be 'cv' where the split has groups; got 'holdout'"):
        CalibratedClassifier(GaussianNB(), cv=GroupKFold(3), data="holdout").fit(X, Y, groups=GROUPS)
    with pytest.raises(CalibrantError, match=r"number of groups: 9.*use fewer folds"):
        CalibratedClassifier(GaussianNB(), cv=GroupKFold(30)).fit(X, Y, groups=GROUPS)


WEIGHTS = 1.0 * (np.arange(90) % 7 > 0)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["all", "some absent"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_precomputed_kernel_is_the_kernel_itself(name, weights):
    kernel = X @ X.T
    # A kernel that is the product of the rows gives what the linear kernel gives on the rows.
    linear = LEARNERS[name](SVC(kernel="linear")).fit(X, Y, weights)
    given = LEARNERS[name](SVC(kernel="precomputed")).fit(kernel, Y, weights)
    new = X[:20] + 0.3
    np.testing.assert_array_equal(given.predict(new @ X.T), linear.predict(new))
    if hasattr(linear, "predict_proba"):
        np.testing.assert_allclose(given.predict_proba(new @ X.T), linear.predict_proba(new), atol=1e-9)
    again = pickle.loads(pickle.dumps(given))
    np.testing.assert_array_equal(again.predict(new @ X.T), given.predict(new @ X.T))


@pytest.mark.parametrize("code", [None, "all_pairs", "one_vs_all"])
def test_kernels_of_more_classes(code):
    how = {"code": code, "combine": "coupling", "cv": 3, "calibrator": "sigmoid"}
    linear = CalibratedClassifier(SVC(kernel="linear"), **how).fit(X, THREE)
    given = CalibratedClassifier(SVC(kernel="precomputed"), **how).fit(X @ X.T, THREE)
    np.testing.assert_allclose(given.predict_proba(X @ X.T), linear.predict_proba(X), atol=1e-9)


def test_a_reference_of_probing_may_be_a_kernel():
    linear = ProbingClassifier(SVC(kernel="linear"), 3, reference=X[:30], random_state=0).fit(X, Y, WEIGHTS)
    kernel = ProbingClassifier(SVC(kernel="precomputed"), 3, reference=X[:30] @ X.T, random_state=0)
    np.testing.assert_array_equal(
        kernel.fit(X @ X.T, Y, WEIGHTS).predict_proba(X @ X.T), linear.predict_proba(X)
    )


def test_others_that_split_rows_see_the_kernel_through_the_wrapper():
    model = CalibratedClassifier(SVC(kernel="precomputed"), "sigmoid", cv=3)
    inside = cross_val_predict(model, X @ X.T, Y, cv=KFold(3), method="predict_proba")
    plain = CalibratedClassifier(SVC(kernel="linear"), "sigmoid", cv=3)
    outside = cross_val_predict(plain, X, Y, cv=KFold(3), method="predict_proba")
    np.testing.assert_allclose(inside, outside, atol=1e-9)
    assert not CalibratedClassifier(SVC()).__sklearn_tags__().input_tags.pairwise


def test_a_frozen_learner_of_a_kernel_keeps_its_columns():
    machine = SVC(kernel="precomputed").fit(X[::2] @ X[::2].T, Y[::2])
    others = X[1::2] @ X[::2].T
    model = CalibratedClassifier(FrozenEstimator(machine), "sigmoid").fit(others, Y[1::2])
    assert model.predict_proba(others).shape == (45, 2)


def test_a_kernel_that_is_not_square_is_refused():
    with pytest.raises(CalibrantError, match=r"X must be a square kernel.*got shape \(90, 4\)"):
        CalibratedClassifier(SVC(kernel="precomputed")).fit(X, Y)


@pytest.mark.parametrize(
    "calibrator",
    ["identity", SigmoidCalibrator(transform="logit"), OneVsAllCalibrator("identity"),
     RankedLogisticCalibrator(transform="logit", smooth=True)],
    ids=["identity", "logit", "one_vs_all", "ranked"],
)  # fmt: skip
def test_a_calibrator_of_probabilities_gets_probabilities(calibrator):
    model = CalibratedClassifier(LinearDiscriminantAnalysis(), calibrator).fit(X, Y)
    assert model.response_method_ == "predict_proba"
    if calibrator == "identity":
        np.testing.assert_array_equal(
            model.predict_proba(X), LinearDiscriminantAnalysis().fit(X, Y).predict_proba(X)
        )
    with pytest.raises(
        CalibrantError, match=r"got LinearSVC, which has margins alone; use a calibrator that takes margins"
    ):
        CalibratedClassifier(LinearSVC(), calibrator).fit(X, Y)
    with pytest.raises(CalibrantError, match=r"got response_method='decision_function'; use"):
        CalibratedClassifier(
            LinearDiscriminantAnalysis(), calibrator, response_method="decision_function"
        ).fit(X, Y)


@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", BinningCalibrator(3), "identity"])
def test_the_calibrator_of_two_classes_knows_their_labels(calibrator):
    labels = np.array(["ham", "spam"])[Y]
    model = CalibratedClassifier(LinearDiscriminantAnalysis(), calibrator).fit(X, labels)
    assert model.calibrator_.classes_.tolist() == ["ham", "spam"]
    assert to_document(model.calibrator_)["classes"] == {"type": "str", "values": ["ham", "spam"]}
