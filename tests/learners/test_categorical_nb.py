"""Naive Bayes on categories."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from sklearn.naive_bayes import CategoricalNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.learners import CategoricalNaiveBayes
from golden import assert_golden, golden_cases


@parametrize_with_checks([CategoricalNaiveBayes()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", golden_cases("learners", "categorical_nb"))
def test_golden(case):
    given = case["in"]
    model = CategoricalNaiveBayes(
        given["alpha"], given["prior_alpha"], categories=[np.arange(n) for n in given["card"]]
    )
    model.fit(given["X"], given["y"])
    assert_golden(model.predict_proba(given["query"]).tolist(), case["out"], case["tol"])


def test_it_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(4, size=(200, 3)), rng.integers(3, size=200), rng.gamma(1, size=200)
    ours = CategoricalNaiveBayes(alpha=0.7).fit(X, y, weights).predict_log_proba(X)
    theirs = CategoricalNB(alpha=0.7).fit(X, y, weights).predict_log_proba(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@given(st.integers(0, 1000), st.integers(1, 4))
def test_a_repeated_feature_multiplies_its_evidence(seed, times):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(3, size=(20, 1)), np.arange(20) % 2
    once = CategoricalNaiveBayes().fit(X, y)
    many = CategoricalNaiveBayes().fit(np.repeat(X, times, axis=1), y)
    odds = [
        np.diff(model.predict_log_proba(table))
        for model, table in ((once, X), (many, np.repeat(X, times, 1)))
    ]
    np.testing.assert_allclose(odds[1], times * odds[0], atol=1e-9)


def test_an_unseen_value_leaves_its_feature_out():
    X, y = [["a", 1], ["b", 1], ["a", 2], ["b", 2], ["b", 2]], [0, 1, 0, 1, 0]
    both = CategoricalNaiveBayes().fit(pd.DataFrame(X, columns=["u", "v"]), y)
    only = CategoricalNaiveBayes().fit([[row[0]] for row in X], y)
    query = pd.DataFrame([["a", 9], ["b", 9]], columns=["u", "v"])
    np.testing.assert_allclose(both.predict_proba(query), only.predict_proba([["a"], ["b"]]))
    assert [values.tolist() for values in both.categories_] == [["a", "b"], [1, 2]]


def test_known_categories_without_rows_get_their_share():
    model = CategoricalNaiveBayes(categories=[[0, 1, 2]]).fit([[0], [0], [1]], [0, 0, 1])
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_[0]), [[3 / 5, 1 / 5, 1 / 5], [1 / 4, 2 / 4, 1 / 4]]
    )
    skipped = CategoricalNaiveBayes(categories=[[0, 1]]).fit([[0], [0], [7]], [0, 0, 1])
    np.testing.assert_allclose(np.exp(skipped.feature_log_prob_[0]), [[3 / 4, 1 / 4], [1 / 2, 1 / 2]])


def test_the_prior_can_be_smoothed():
    model = CategoricalNaiveBayes(prior_alpha=1).fit([[0]] * 4, [0, 0, 0, 1])
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [4 / 6, 2 / 6])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CategoricalNaiveBayes(alpha=0), "alpha must be a number above 0; got 0"),
        (CategoricalNaiveBayes(prior_alpha=-1), "prior_alpha must be a number, not negative; got -1"),
    ],
)
def test_what_it_refuses(model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit([[0], [1]], [0, 1])
