"""CostingClassifier: importance without weights."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from calibrant import CalibrantError, CalibratedClassifier, CostingClassifier


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(1000, 5, n_informative=3, flip_y=0.3, random_state=0)
    return X, np.array(["no", "yes"])[y]


REASON = "a sample is drawn anew for copies of a row, so a weight is that many copies on average only"


@parametrize_with_checks(
    [
        CostingClassifier(RidgeClassifier(), n_resamples=3),
        CostingClassifier(GaussianNB(), n_resamples=3, weighting="flip"),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": REASON for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_renamed_columns_are_noticed():
    """A check of scikit-learn's that its common set leaves out."""
    check_dataframe_column_names_consistency(
        "CostingClassifier", CostingClassifier(RidgeClassifier(), n_resamples=2)
    )


@pytest.mark.parametrize("weighting", ["rejection", "flip"])
def test_importance_moves_the_decisions(two, weighting):
    X, y = two
    half = np.arange(len(y)) < 500
    cost = np.where(y == "yes", 9.0, 1.0)

    def mean_cost(model):
        return np.mean(cost[~half] * (model.predict(X[~half]) != y[~half]))

    model = CostingClassifier(DecisionTreeClassifier(max_depth=3), weighting=weighting, random_state=0)
    model.fit(X[half], y[half], sample_weight=cost[half])
    plain = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[half], y[half])
    weighted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[half], y[half], cost[half])
    assert mean_cost(model) < 0.8 * mean_cost(plain)
    assert mean_cost(model) < 1.2 * mean_cost(weighted)


def test_equal_importance_keeps_every_row(two):
    X, y = two
    model = CostingClassifier(GaussianNB(), n_resamples=2).fit(X, y, sample_weight=np.full(len(y), 7.0))
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))
    np.testing.assert_array_equal(CostingClassifier(GaussianNB()).fit(X, y).predict(X), model.predict(X))


def test_most_votes_win_and_equal_ones_go_to_the_first_class(two):
    X, y = two
    weights = np.random.default_rng(0).gamma(1, size=len(y))
    for n_resamples in (4, 5):
        model = CostingClassifier(DecisionTreeClassifier(), n_resamples=n_resamples, random_state=0)
        model.fit(X, y, sample_weight=weights)
        votes = np.sum([member.predict(X) == "yes" for member in model.classifiers_], axis=0)
        np.testing.assert_allclose(model.decision_function(X), votes / n_resamples - 0.5)
        np.testing.assert_array_equal(model.predict(X) == "yes", 2 * votes > n_resamples)


@pytest.mark.parametrize("weighting", ["rejection", "flip"])
def test_many_classes(weighting):
    X, y = load_iris(return_X_y=True)
    y = np.array(["b", "c", "a"])[y]
    weights = np.where(y == "c", 5.0, 1.0)
    model = CostingClassifier(KNeighborsClassifier(), weighting=weighting, random_state=0)
    model.fit(X, y, sample_weight=weights)
    shares = model.decision_function(X)
    assert shares.shape == (150, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (model.predict(X) == model.classes_[shares.argmax(axis=1)]).all()
    assert (model.predict(X) == y).mean() > 0.9


def test_one_class_and_samples_without_a_second_one():
    X = np.arange(8.0)[:, None]
    alone = CostingClassifier(LogisticRegression()).fit(X, ["only"] * 8)
    assert alone.predict(X).tolist() == ["only"] * 8
    weights = np.array([1e-12] * 4 + [1.0] * 4)
    model = CostingClassifier(LogisticRegression(), random_state=0).fit(X, [0] * 4 + [1] * 4, weights)
    assert model.predict(X).tolist() == [1] * 8


def test_the_seed_decides_and_jobs_do_not(two):
    X, y = two
    weights = np.random.default_rng(0).gamma(1, size=len(y))
    with parallel_config(backend="threading"):
        fits = [
            CostingClassifier(DecisionTreeClassifier(), 4, random_state=seed, n_jobs=jobs).fit(X, y, weights)
            for seed, jobs in ((0, None), (0, 2), (1, None))
        ]
    first, again, other = [model.decision_function(X) for model in fits]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_fit_parameters_and_routing(two):
    X, y = two
    seen = []

    class Learner(GaussianNB):
        def fit(self, X, y, group=None):
            seen.append((len(X), len(group)))
            return super().fit(X, y)

    weights = np.random.default_rng(0).gamma(1, size=len(y))
    CostingClassifier(Learner(), 3).fit(X, y, weights, group=np.arange(len(y)))
    with sklearn.config_context(enable_metadata_routing=True):
        model = CostingClassifier(Learner().set_fit_request(group=True), 3)
        model.fit(X, y, sample_weight=weights, group=np.arange(len(y)))
    assert len(seen) == 6
    assert all(rows == groups < len(y) for rows, groups in seen)


def test_its_votes_can_be_calibrated(two):
    X, y = two
    model = CalibratedClassifier(
        CostingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0), cv=3
    )
    proba = model.fit(pd.DataFrame(X), y).predict_proba(pd.DataFrame(X))
    np.testing.assert_allclose(proba.sum(axis=1), 1)


class NoPredict(BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CostingClassifier(NoPredict()), "got NoPredict, which has no predict; pass a classifier"),
        (CostingClassifier(3), "got int, which has no fit and no predict; pass a classifier"),
        (CostingClassifier(StandardScaler()), "got StandardScaler, which has no predict; pass a classifier"),
        (CostingClassifier(GaussianNB(), 0), "n_resamples must be a whole number, 1 or more; got 0"),
        (
            CostingClassifier(GaussianNB(), weighting="weights"),
            "weighting must be one of 'rejection', 'flip'; got 'weights'",
        ),
    ],
    ids=str,
)
def test_what_it_refuses(two, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*two)


def test_bad_importance_is_refused(two):
    X, y = two
    with pytest.raises(CalibrantError, match="sample_weight must not be all zero; got zero for every row"):
        CostingClassifier(GaussianNB()).fit(X, y, sample_weight=np.zeros(len(y)))
