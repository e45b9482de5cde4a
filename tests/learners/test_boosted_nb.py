"""Boosted naive Bayes."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.learners import BoostedNaiveBayes, CategoricalNaiveBayes
from calibrant.metrics import cross_entropy
from golden import assert_golden, golden_cases


@parametrize_with_checks([BoostedNaiveBayes(n_rounds=3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", golden_cases("learners", "boosted_nb"))
def test_golden(case):
    given = case["in"]
    base = CategoricalNaiveBayes(given["alpha"], categories=[np.arange(n) for n in given["card"]])
    model = BoostedNaiveBayes(base, n_rounds=given["T"]).fit(given["X"], given["y"])
    got = {
        "proba": model.predict_proba(given["query"])[:, 1].tolist(),
        "log_inv_beta": model.log_inverse_betas_.tolist(),
    }
    assert_golden(got, case["out"], case["tol"])


def test_no_accepted_round_gives_the_base_rate():
    """One value and equal classes: the posterior is 1/2 and its error too."""
    model = BoostedNaiveBayes().fit([[0]] * 4, [0, 1, 0, 1])
    assert model.estimators_ == []
    np.testing.assert_array_equal(model.predict_proba([[0]]), [[0.5, 0.5]])
    weighted = BoostedNaiveBayes(n_rounds=0).fit([[0]] * 4, [0, 1, 0, 1], sample_weight=[3, 1, 3, 1])
    np.testing.assert_array_equal(weighted.predict_proba([[0]]), [[0.75, 0.25]])


def test_logarithms_are_finite_where_probabilities_round_to_one():
    X, y = np.repeat([[0] * 40, [1] * 40], 50, axis=0), np.repeat([0, 1], 50)
    model = BoostedNaiveBayes().fit(X, y)
    proba, log_proba = model.predict_proba(X), model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(log_proba), proba, atol=1e-15)
    assert proba.max() == 1
    assert np.isfinite(log_proba).all()


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(3, size=(60, 3)), rng.integers(2, size=60), rng.integers(0, 4, 60)
    weighted = BoostedNaiveBayes().fit(X, y, sample_weight=weights)
    copied = BoostedNaiveBayes().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X))


def test_rounds_without_errors_do_no_harm():
    X, y = [[0.0], [0.1], [9.0], [9.1]], ["a", "a", "b", "b"]
    model = BoostedNaiveBayes(GaussianNB(), n_rounds=50).fit(X, y)
    np.testing.assert_allclose(model.log_inverse_betas_, -np.log(1e-10))
    assert model.predict(X).tolist() == y


def test_it_learns_what_one_round_cannot():
    X, y = make_classification(1000, 6, n_informative=4, class_sep=0.7, random_state=1)
    single = GaussianNB().fit(X[:500], y[:500]).predict_proba(X[500:])
    boosted = BoostedNaiveBayes(GaussianNB()).fit(X[:500], y[:500]).predict_proba(X[500:])
    assert cross_entropy(y[500:], boosted) < 0.9 * cross_entropy(y[500:], single)


def test_one_class_is_certain():
    assert BoostedNaiveBayes().fit([[0], [1]], ["x", "x"]).predict_proba([[5]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (BoostedNaiveBayes(), [0, 1, 2], "Only binary classification is supported; got 3 classes; wrap"),
        (BoostedNaiveBayes(n_rounds=-1), [0, 1, 0], "n_rounds must be a whole number, 0 or more; got -1"),
    ],
)
def test_what_it_refuses(model, y, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit([[0], [1], [2]], y)
