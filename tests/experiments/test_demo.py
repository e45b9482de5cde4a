"""What the demo measures and shows, on one small problem."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from calibrant.experiments._demo import (
    N_DEMO_STEPS,
    SPEED_COSTS,
    DemoForecasts,
    Problem,
    _out_of_fold,
    demo_forecasts,
    problems,
    reports,
)
from calibrant.metrics import brier_decomposition, brier_score, error_rate, log_loss


@pytest.fixture(scope="module")
def diabetes():
    return problems()[1]


def test_the_problems_are_those_that_are_promised(diabetes):
    digits = problems()[0]
    assert digits.X.shape == (1797, 64)
    assert digits.classes == tuple(range(10))
    assert diabetes.X.shape == (442, 10)
    assert (np.bincount(diabetes.y) > 140).all()
    assert set(SPEED_COSTS) == set(diabetes.classes)


def test_every_row_is_judged_by_a_model_that_has_not_seen_it():
    class Memory(GaussianNB):
        def predict_proba(self, X):
            assert not set(X[:, 0]) & self.seen_
            return super().predict_proba(X)

        def fit(self, X, y):
            self.seen_ = set(X[:, 0])
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    problem = Problem("noise", rng.normal(size=(60, 2)), np.tile([0, 1, 2], 20), ("a", "b", "c"), n_folds=3)
    proba = _out_of_fold(problem, Memory(), None)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_lines_of_the_table_are_measures_of_the_library(diabetes):
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=442)
    (line,) = DemoForecasts(diabetes, "guess", {"raw": proba}).evaluations()
    split = brier_decomposition(diabetes.y, proba, isotonic=True, mode="classwise")
    losses = line.losses
    assert losses.brier_score == pytest.approx(brier_score(diabetes.y, proba))
    assert losses.calibration == pytest.approx(split.calibration)
    assert losses.refinement == pytest.approx(split.refinement)
    assert losses.log_loss == pytest.approx(log_loss(diabetes.y, proba))
    assert losses.error_rate == pytest.approx(error_rate(diabetes.y, proba))
    assert losses.log_loss.low < losses.log_loss < losses.log_loss.high
    assert (line.problem, line.learner, line.method) == ("diabetes", "guess", "raw")


def test_progress_counts_every_step(monkeypatch):
    monkeypatch.setattr("calibrant.experiments._demo._out_of_fold", lambda *_: np.ones((1, 1)))
    steps = list(demo_forecasts())
    assert len(steps) == N_DEMO_STEPS
    assert [step.learner for step in steps if step is not None] == ["naive Bayes", "linear SVM"] * 2


def test_the_reports_are_of_what_the_ranking_recommends(diabetes):
    digits = problems()[0]
    rng = np.random.default_rng(0)
    results = []
    for problem in (digits, diabetes):
        k, n = len(problem.classes), len(problem.y)
        good = np.full((n, k), 0.1 / (k - 1))
        good[np.arange(n), np.where(rng.random(n) < 0.9, problem.y, rng.integers(k, size=n))] = 0.9
        results.append(DemoForecasts(problem, "naive Bayes", {"raw": np.full((n, k), 1 / k), "pav": good}))
    found = reports(results)
    assert [summary.title for summary in found.values()] == [
        "Digits: naive Bayes, raw",
        "Digits: naive Bayes, pav",
        "Diabetes: naive Bayes, pav",
    ]
    assert found["diabetes-costs.html"].decisions.given
    assert not found["digits-after.html"].decisions.given
