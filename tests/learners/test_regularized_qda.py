"""Regularised quadratic discriminant analysis."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.learners import RegularizedQDA
from calibrant.learners._regularized_qda import SCHEDULE, first_well_conditioned, regularized_covariance
from golden import assert_golden, golden_cases


@parametrize_with_checks([RegularizedQDA()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", golden_cases("learners", "rda_covariance"))
def test_golden_covariances(case):
    S, pooled, lam, gam = (np.array(case["in"][name]) for name in ("S", "pooled", "lam", "gam"))
    assert_golden(regularized_covariance(S, pooled, lam, gam).tolist(), case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("learners", "rda_schedule"))
def test_golden_schedule(case):
    S, pooled = (np.array(case["in"][name]) for name in ("S", "pooled"))
    t, cov = first_well_conditioned(S, pooled, SCHEDULE, 1e6)
    assert_golden({"t": t, "cov": cov.tolist()}, case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("learners", "rda_qda"))
def test_golden_posteriors(case):
    model = RegularizedQDA().fit(case["in"]["X"], case["in"]["y"])
    got = {"P": model.predict_proba(case["in"]["query"]).tolist(), "t": model.regularization_.tolist()}
    assert_golden(got, case["out"], case["tol"])


def test_posteriors_are_those_of_gaussians():
    X, y = load_wine(return_X_y=True)
    X = X[:, :4]
    model = RegularizedQDA().fit(X, y)
    joint = np.column_stack(
        [
            np.mean(y == k)
            * multivariate_normal(X[y == k].mean(axis=0), np.cov(X[y == k].T, bias=True)).pdf(X)
            for k in range(3)
        ]
    )
    assert model.regularization_.tolist() == [0, 0, 0]
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True), atol=1e-9)


def test_it_agrees_with_scikit_learn_but_for_the_divisor():
    """Scikit-learn divides by N - 1; copies of the rows make that no difference."""
    X, y = load_wine(return_X_y=True)
    X, y = np.tile(X[:, :4], (1000, 1)), np.tile(y, 1000)
    peer = QuadraticDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        RegularizedQDA().fit(X, y).predict_proba(X[:178]), peer.predict_proba(X[:178]), atol=1e-4
    )


def test_a_weight_is_a_number_of_copies():
    X, y = load_wine(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = RegularizedQDA().fit(X, y, sample_weight=weights)
    copied = RegularizedQDA().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.covariances_, copied.covariances_, rtol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-6)


def test_a_lone_row_takes_the_shape_of_the_others():
    """Its own covariance is zero, and a trace of the pooled one is well conditioned already."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.5], [9.0, 9.0]])
    model = RegularizedQDA().fit(X, [0, 0, 0, 0, 1])
    assert model.regularization_.tolist() == [0, 1e-6]
    assert model.predict(X).tolist() == [0, 0, 0, 0, 1]


def test_nothing_but_zeros_gives_the_identity():
    zeros = np.zeros((2, 2))
    amount, covariance = first_well_conditioned(zeros, zeros, SCHEDULE, 1e6)
    assert amount == 1.0
    assert covariance.tolist() == [[1, 0], [0, 1]]
    assert RegularizedQDA().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1]).predict([[1.0, 2.1]]).tolist() == [0]


def test_a_schedule_that_ends_early_gives_its_last_step():
    thin = np.diag([1.0, 1e-9])
    amount, covariance = first_well_conditioned(thin, thin, (0.0, 1e-8), 1e6)
    assert amount == 1e-8
    np.testing.assert_allclose(covariance, regularized_covariance(thin, thin, 1e-8, 1e-8))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RegularizedQDA(schedule=()), r"schedule must hold at least one number, all from 0 to 1; got \[\]"),
        (RegularizedQDA(schedule=(0, 2)), r"all from 0 to 1; got \[0, 2\]"),
        (RegularizedQDA(max_condition=1), "max_condition must be a number above 1; got 1"),
    ],
)
def test_what_it_refuses(model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit([[0.0], [1.0]], [0, 1])
