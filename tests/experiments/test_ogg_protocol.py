"""The protocol of O'Brien, Gupta and Gray: folds, estimates that nothing leaks into, MetaCost, costs."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant import CalibrantError
from calibrant.classifiers import MetaCostClassifier
from calibrant.decisions import random_costs
from calibrant.experiments import _ogg_protocol as protocol
from calibrant.experiments._datasets import find
from calibrant.learners import CategoricalNaiveBayes, RegularizedQDA

KINDS = ("ratio", "inverse", "random")


def need(file):
    try:
        find(file)
    except CalibrantError as error:
        pytest.skip(str(error))


def categories(seed=0, n=80, d=4, n_values=5, k=3):
    rng = np.random.default_rng(seed)
    return rng.integers(n_values, size=(n, d)), rng.integers(k, size=n)


@given(st.integers(0, 10**6), st.integers(2, 10), st.integers(1, 4))
def test_every_row_is_in_one_fold_and_no_class_of_two_rows_is_lost(seed, n_folds, k):
    position = np.random.default_rng(seed).permutation(np.repeat(np.arange(k), 2 + seed % 7))
    parts = protocol.folds(position, n_folds, seed)
    assert len(parts) == n_folds
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(position)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for part in parts:
        assert set(np.delete(position, part)) == set(range(k))


def test_folds_differ_between_repetitions_and_not_within_one():
    position = np.repeat([0, 1, 2], 30)
    first, again, other = (protocol.folds(position, 10, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_naive_bayes_for_many_weightings_is_the_learner_for_each(seed):
    X, y = categories(seed)
    asked, _ = categories(seed + 10)
    asked[0] = 6  # values that no model has seen
    weightings = np.random.default_rng(seed).integers(0, 3, size=(23, len(y))).astype(float)
    weightings[0, y == 1] = 0  # a class that a model has not seen
    found = list(protocol.NaiveBayesModels().estimates(X, y, weightings, asked, 3))
    assert len(found) == len(weightings)
    for weights, proba in zip(weightings, found, strict=True):
        learner = CategoricalNaiveBayes().fit(X, y, sample_weight=weights)
        expected = np.zeros((len(asked), 3))
        expected[:, learner.classes_] = learner.predict_proba(asked)
        np.testing.assert_allclose(proba, expected, atol=1e-12)


class Witness:
    """Models that note what they were trained on, and answer with their own number."""

    def __init__(self):
        self.trained_on, self.asked = [], []

    def estimates(self, X, _position, weightings, asked, k):
        for number, weights in enumerate(weightings):
            self.trained_on.append(set(X[weights > 0].ravel()))
            self.asked.append(set(asked.ravel()))
            yield np.full((len(asked), k), float(number))


def test_an_out_of_fold_estimate_comes_from_a_model_of_eight_parts_without_the_row():
    witness = Witness()
    fold = protocol.Fold(witness, np.arange(90)[:, None], np.arange(90) % 2, np.arange(90, 100)[:, None], 2)
    model_of = fold.out_of_fold(seed=3)[:, 0].astype(int)
    assert len(witness.trained_on) == protocol.N_INNER_FOLDS == 9
    assert np.bincount(model_of).tolist() == [10] * 9
    for row, model in enumerate(model_of):
        assert row not in witness.trained_on[model]
        assert len(witness.trained_on[model]) == 80


def test_the_test_rows_are_asked_of_a_model_of_all_training_rows():
    witness = Witness()
    fold = protocol.Fold(witness, np.arange(90)[:, None], np.arange(90) % 2, np.arange(90, 100)[:, None], 2)
    fold.test_estimates()
    assert witness.trained_on == [set(range(90))]
    assert witness.asked == [set(range(90, 100))]


@pytest.mark.parametrize("learner", ["NB", "QDA"])
@pytest.mark.parametrize("use_all", [True, False])
def test_metacost_decides_as_the_classifier_of_the_library(learner, use_all):
    X, y = categories(n=60, n_values=4)
    X_test, y_test = categories(1, n=20, n_values=4)
    if learner == "QDA":
        rng = np.random.default_rng(0)
        X, X_test = X + rng.normal(size=X.shape), X_test + rng.normal(size=X_test.shape)
    fold = protocol.Fold(protocol.LEARNERS[learner], X, y, X_test, 3)
    cost = random_costs(3, random_state=0)
    estimates = protocol.Estimates.of(fold, y_test, n_resamples=7, seed=5)
    rng = np.random.default_rng(5)
    model = MetaCostClassifier(
        CategoricalNaiveBayes() if learner == "NB" else RegularizedQDA(),
        cost,
        use_all=use_all,
        resamples=[rng.integers(60, size=60) for _ in range(7)],
    ).fit(X, y)
    name = "metacost_all" if use_all else "metacost_others"
    np.testing.assert_allclose(estimates.bagged[name], model.training_proba_, atol=1e-12)
    np.testing.assert_array_equal(estimates.metacost_decisions(cost)[name], model.predict(X_test))


def test_labels_of_the_test_rows_change_what_is_paid_and_no_decision():
    X, y = categories()
    X_test, y_test = categories(1, n=20)
    fold = protocol.Fold(protocol.LEARNERS["NB"], X, y, X_test, 3)
    cost = random_costs(3, random_state=0)
    paid = []
    for truth in (y_test, (y_test + 1) % 3):
        estimates = protocol.Estimates.of(fold, truth, n_resamples=5, seed=0)
        one = protocol.Paid()
        one.add(estimates, cost, choice=True)
        paid.append((one, {name: rule.matrix_ for name, rule in estimates.rules(cost).items()}))
    (first, matrices), (second, others) = paid
    assert first.training == second.training
    assert first.test != second.test
    for name, matrix in matrices.items():
        np.testing.assert_array_equal(matrix, others[name])


def test_the_choice_is_the_cheapest_in_its_folds():
    rng = np.random.default_rng(0)
    right = rng.dirichlet([1, 1, 1], size=900)
    y = (rng.random(900)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    cost = np.array([[0, 1, 10], [2, 0, 5], [1, 4, 0]], dtype=float)
    assert protocol.choose(right, y, cost) in protocol.CHOICES
    # Estimates that say the opposite of the truth need a calibrator.
    turned = right[:, [1, 2, 0]]
    assert protocol.choose(turned, y, cost) != (None, "expected")


def test_a_repetition_on_iris():
    need("iris.csv.gz")
    answer = protocol.repetition("iris", "NB", 0, 3, KINDS, choice=True)
    assert (answer["n_rows"], answer["n_classes"], answer["smallest_class"]) == (150, 3, 50)
    assert answer["class_size"] == pytest.approx(45)
    for kind in KINDS:
        assert set(answer[kind]["test"]) == {
            "expected", "parallel", "lachiche_flach", "mossman", "metacost_all", "metacost_others", "chosen",
        }  # fmt: skip
        assert answer[kind]["training"]["parallel"] <= answer[kind]["training"]["expected"]
        assert answer[kind]["n_raised"] == 0
    # Three classes of 45 training rows: a mistake costs 135 / 45, or 45 / 45.
    for name, cost in answer["ratio"]["test"].items():
        assert cost == int(cost)
        assert answer["inverse"]["test"][name] == pytest.approx(3 * cost)
    assert protocol.repetition("iris", "NB", 0, 3, KINDS, choice=True) == answer


def test_what_cannot_be_or_is_not_asked_for_is_left_out():
    need("glass.csv.gz")
    answer = protocol.repetition("glass", "NB", 0, 0, ["random"], choice=False)
    assert set(answer["random"]["test"]) == {"expected", "parallel", "lachiche_flach"}
