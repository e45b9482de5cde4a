"""CostSensitiveClassifier: out-of-fold estimates, costs by label, weights, routing, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from calibrant import CalibrantError, CalibratedClassifier
from calibrant.classifiers._cost_sensitive import CostSensitiveClassifier
from calibrant.decisions import (
    LachicheFlachRule,
    ParallelPartitionRule,
    decide,
    random_costs,
    rarity_costs,
    realised_cost,
)

COST = random_costs(3, random_state=0)


@pytest.fixture(scope="module")
def three():
    """Three classes that overlap, named."""
    X, y = make_classification(
        300, 6, n_informative=3, n_classes=3, flip_y=0.2, weights=[0.5, 0.3], random_state=0
    )
    return X, np.array(["a", "b", "c"])[y]


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; one that holds after all is an error."""
    if estimator.calibrator is not None:
        reason = "the folds within the folds are counted by rows, and copies change them"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    return {"check_classifiers_train": "predict decides by cost, which need not be the most probable class"}


@parametrize_with_checks(
    [
        CostSensitiveClassifier(LogisticRegression(), "rarity", cv=2),
        CostSensitiveClassifier(GaussianNB(), [[0, 3], [1, 0]], rule="lachiche_flach", cv=3),
        CostSensitiveClassifier(GaussianNB(), "rarity", "expected", calibrator="sigmoid", cv=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_renamed_columns_are_noticed():
    """A check of scikit-learn's that its common set leaves out."""
    model = CostSensitiveClassifier(GaussianNB(), "rarity")
    check_dataframe_column_names_consistency("CostSensitiveClassifier", model)


def test_the_rule_learns_from_out_of_fold_estimates_and_the_learner_from_all_rows(three):
    X, y = three
    model = CostSensitiveClassifier(GaussianNB(), COST, cv=4).fit(X, y)
    proba = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(4), method="predict_proba")
    rule = ParallelPartitionRule().fit(proba, y, COST)
    np.testing.assert_allclose(model.rule_.matrix_, rule.matrix_)
    assert model.rule_.cost_before_ == pytest.approx(rule.cost_before_)
    final = GaussianNB().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), final)
    np.testing.assert_array_equal(model.predict(X), model.classes_[rule.decide(final)])


def test_two_classes(three):
    X, y = three
    X, y = X[y != "c"], y[y != "c"]
    model = CostSensitiveClassifier(GaussianNB(), [[0, 9], [1, 0]], rule="expected").fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, GaussianNB().fit(X, y).predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decide(proba, [[0, 9], [1, 0]])])


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        ("expected", "ExpectedCostRule"),
        ("lachiche_flach", "LachicheFlachRule"),
        ("mossman", "MossmanRule"),
        (LachicheFlachRule(passes=2), "LachicheFlachRule"),
    ],
)
def test_rules_by_name_and_as_objects(three, rule, name):
    model = CostSensitiveClassifier(GaussianNB(), COST, rule=rule).fit(*three)
    assert type(model.rule_).__name__ == name
    assert set(model.predict(three[0])) <= {"a", "b", "c"}
    assert not hasattr(rule, "matrix_")


NAMED = {
    decision: {truth: COST[i, j] for j, truth in reversed(list(enumerate("abc")))}
    for i, decision in reversed(list(enumerate("abc")))
}


@pytest.mark.parametrize(
    "cost",
    [
        NAMED,
        pd.DataFrame(NAMED).T,
        pl.DataFrame([{"decision": decision, **row} for decision, row in NAMED.items()]),
        lambda counts: COST,
    ],
    ids=["mapping", "pandas", "polars", "function"],
)
def test_costs_by_label(three, cost):
    named = CostSensitiveClassifier(GaussianNB(), cost).fit(*three)
    plain = CostSensitiveClassifier(GaussianNB(), COST).fit(*three)
    np.testing.assert_array_equal(named.cost_, COST)
    np.testing.assert_array_equal(named.predict(three[0]), plain.predict(three[0]))


def test_a_function_makes_costs_from_the_class_sizes(three):
    X, y = three
    weights = np.where(y == "c", 2.0, 1.0)
    model = CostSensitiveClassifier(GaussianNB(), rarity_costs).fit(X, y, sample_weight=weights)
    counts = [weights[y == label].sum() for label in "abc"]
    np.testing.assert_allclose(model.cost_, rarity_costs(counts))
    by_name = CostSensitiveClassifier(GaussianNB(), "rarity").fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(by_name.cost_, model.cost_)


def test_labels_of_the_costs_that_do_not_occur_are_left_out(three):
    X, y = three
    model = CostSensitiveClassifier(GaussianNB(), NAMED).fit(X[y != "b"], y[y != "b"])
    np.testing.assert_array_equal(model.cost_, COST[np.ix_([0, 2], [0, 2])])


def test_a_calibrator_is_short_for_a_calibrated_learner(three):
    X, y = three
    short = CostSensitiveClassifier(GaussianNB(), COST, calibrator="sigmoid", cv=3).fit(X, y)
    long = CostSensitiveClassifier(CalibratedClassifier(GaussianNB(), "sigmoid", cv=3), COST, cv=3).fit(X, y)
    np.testing.assert_array_equal(short.predict_proba(X), long.predict_proba(X))
    np.testing.assert_array_equal(short.rule_.matrix_, long.rule_.matrix_)
    margins = CostSensitiveClassifier(LinearSVC(), COST, calibrator="sigmoid", cv=3).fit(X, y)
    np.testing.assert_allclose(margins.predict_proba(X).sum(axis=1), 1)


def test_folds_as_row_numbers_are_not_passed_on(three):
    X, y = three
    splits = list(StratifiedKFold(3).split(X, y))
    model = CostSensitiveClassifier(GaussianNB(), COST, calibrator="sigmoid", cv=splits).fit(X, y)
    want = CalibratedClassifier(GaussianNB(), "sigmoid").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), want.predict_proba(X))


def test_a_frozen_learner_is_not_trained_again(three):
    X, y = three
    learner = GaussianNB().fit(X[:150], y[:150])
    model = CostSensitiveClassifier(FrozenEstimator(learner), COST).fit(X[150:], y[150:])
    rule = ParallelPartitionRule().fit(learner.predict_proba(X[150:]), y[150:], COST)
    np.testing.assert_array_equal(model.rule_.matrix_, rule.matrix_)
    np.testing.assert_array_equal(model.predict_proba(X), learner.predict_proba(X))
    few = CostSensitiveClassifier(FrozenEstimator(learner), COST).fit(X[y != "c"], y[y != "c"])
    assert few.classes_.tolist() == ["a", "b", "c"]


def test_learning_pays_on_held_out_rows():
    """Naive Bayes on overlapping classes: the learned partition costs less than the plain rule."""
    X, y = make_classification(
        3000, 10, n_informative=4, n_redundant=6, n_classes=3, flip_y=0.1, class_sep=0.7, random_state=0
    )
    paid = {}
    for rule in ("expected", "parallel"):
        model = CostSensitiveClassifier(GaussianNB(), COST, rule=rule).fit(X[::2], y[::2])
        paid[rule] = realised_cost(y[1::2], model.predict(X[1::2]), COST).total
    assert paid["parallel"] < paid["expected"]


def test_a_weight_is_a_number_of_copies(three):
    X, y = three
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    half = np.arange(len(y)) < 150
    copied = np.repeat(half, weights)
    splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (half, ~half)]
    copied_splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (copied, ~copied)]
    weighted = CostSensitiveClassifier(GaussianNB(), COST, cv=splits).fit(X, y, sample_weight=weights)
    repeated = CostSensitiveClassifier(GaussianNB(), COST, cv=copied_splits)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.rule_.matrix_, repeated.rule_.matrix_, atol=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_weights_that_the_learner_cannot_take_still_count_for_the_rule(three):
    X, y = three
    weights = np.where(y == "a", 3.0, 1.0)
    model = CostSensitiveClassifier(make_pipeline(StandardScaler(), GaussianNB()), COST)
    with pytest.warns(UserWarning, match=r"Pipeline\.fit takes no sample_weight.*rule alone"):
        weighted = clone(model).fit(X, y, sample_weight=weights)
    plain = clone(model).fit(X, y)
    np.testing.assert_array_equal(weighted.predict_proba(X), plain.predict_proba(X))
    assert weighted.rule_.cost_before_ > plain.rule_.cost_before_


@pytest.mark.parametrize("calibrator", [None, "sigmoid"])
def test_metadata_routing_reaches_learner_and_splitter(three, calibrator):
    X, y = three
    groups = np.arange(len(y)) % 7
    weights = np.random.default_rng(0).gamma(1, size=len(y))
    seen = []

    class Splitter(GroupKFold):
        def split(self, X, y=None, groups=None):
            seen.append(len(groups))
            return super().split(X, y, groups)

    class Learner(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            assert len(sample_weight) == len(y)
            return super().fit(X, y, sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        learner = Learner().set_fit_request(sample_weight=True)
        cv = Splitter(3).set_split_request(groups=True)
        model = CostSensitiveClassifier(learner, COST, calibrator=calibrator, cv=cv)
        model.set_fit_request(sample_weight=True)
        model.fit(X, y, sample_weight=weights, groups=groups)
    assert seen[0] == len(y)
    assert len(seen) == (1 if calibrator is None else 5)  # outside, in three folds, and for the final fit
    assert model.rule_.cost_after_ <= model.rule_.cost_before_


def test_inside_scikit_learns_own_tools():
    X, y = load_wine(return_X_y=True)
    model = CostSensitiveClassifier(GaussianNB(), COST)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    search = GridSearchCV(model, {"rule": ["expected", "parallel"], "estimator__var_smoothing": [1e-9, 1e-3]})
    assert search.fit(X, y).best_score_ > 0.8
    assert "rule__passes" in CostSensitiveClassifier(GaussianNB(), COST, ParallelPartitionRule()).get_params()


def test_jobs_change_nothing(three):
    X, y = three
    alone, together = (CostSensitiveClassifier(GaussianNB(), COST, n_jobs=n).fit(X, y) for n in (None, 2))
    np.testing.assert_array_equal(alone.rule_.matrix_, together.rule_.matrix_)


def test_one_class_is_always_decided():
    X = np.arange(8.0)[:, None]
    model = CostSensitiveClassifier(LogisticRegression(), "rarity").fit(X, ["only"] * 8)
    assert model.predict(X).tolist() == ["only"] * 8
    assert model.predict_proba(X).tolist() == [[1.0]] * 8


def test_a_class_missing_from_a_fold_keeps_its_place():
    X, y = load_iris(return_X_y=True)
    rows = np.append(np.flatnonzero(y < 2), 149)
    model = CostSensitiveClassifier(GaussianNB(), COST, cv=3).fit(X[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            CostSensitiveClassifier(LinearSVC(), COST),
            "estimator must have predict_proba; LinearSVC has none; pass calibrator='auto'",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), [[0, 1], [1, 0]]),
            r"Only binary classification is supported\. .*got costs of 2 and labels of 3 classes",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), 1 - np.eye(4)),
            r"one column per class, 3 in all; got shape \(4, 4\)",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), np.vstack([COST, np.full(3, 0.5)])),
            r"shape \(3, 3\); got shape \(4, 3\)",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), np.eye(3)),
            r"got cost\[0, 0\] = 1 and cost\[1, 0\] = 0; .*allow_any=True\) on predict_proba",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), {"a": {"a": 0}, "b": {"a": 1}, "d": {"a": 2}}),
            r"only decisions \['a', 'b', 'c'\] .*got the decision 'd'; remove it, or pass actions=",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), NAMED | {"c": {"a": 1, "b": 1}}),
            "got none for deciding 'c' when the truth is 'c'",
        ),
        (CostSensitiveClassifier(GaussianNB(), COST, rule="roc"), "rule must be one of .*got 'roc'"),
        (CostSensitiveClassifier(GaussianNB(), None), "cost must be a matrix; got None"),
        (CostSensitiveClassifier(GaussianNB(), "random"), "cost must be one of 'rarity'; got 'random'"),
        (
            CostSensitiveClassifier(GaussianNB(), COST, calibrator="plait"),
            "calibrator must be one of 'auto', 'pav', 'sigmoid', .*got 'plait'",
        ),
        (
            CostSensitiveClassifier(GaussianNB(), COST, cv=400),
            "the rows must allow the split; .*use fewer folds",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_it_refuses(three, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*three)


def test_bad_weights_and_single_rows_are_refused(three):
    X, y = three
    with pytest.raises(CalibrantError, match=r"sample_weight must not be negative; got -1.0 in row 0"):
        CostSensitiveClassifier(GaussianNB(), COST).fit(X, y, sample_weight=-np.ones(len(y)))
    model = CostSensitiveClassifier(GaussianNB(), COST).fit(X, y)
    with pytest.raises(CalibrantError, match=r"X must be a table; got shape \(6,\)\. Reshape your data"):
        model.predict(X[0])


def test_costs_that_the_rule_cannot_use_are_refused_before_anything_is_trained():
    class Untrainable(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("trained in vain")

    X = np.zeros((8, 1))
    with pytest.raises(CalibrantError, match="Mossman's rule must have three classes; got 4"):
        CostSensitiveClassifier(Untrainable(), "rarity", rule="mossman").fit(X, list("abcdabcd"))
