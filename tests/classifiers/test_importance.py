"""Importance by weights, by rejection and by exchanged labels."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, strategies as st
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from calibrant import CalibrantError
from calibrant.classifiers._importance import (
    WEIGHTINGS,
    acceptance,
    choose_weighting,
    flip_chance,
    threshold_importance,
    weight_parameter,
)
from golden import assert_golden, golden_cases

BOTH = np.array([True, False])


@pytest.mark.parametrize("case", golden_cases("probing", "probe_weights"))
def test_golden_weights(case):
    got = threshold_importance(np.array(case["in"]["y"]) == 1, case["in"]["p"])
    assert_golden(got.tolist(), case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("probing", "acceptance"))
def test_golden_acceptance(case):
    got = acceptance(threshold_importance(BOTH, case["in"]["p"]))
    assert_golden(got.tolist(), case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("probing", "halck_flip"))
def test_golden_flips(case):
    positive, negative = flip_chance(acceptance(threshold_importance(BOTH, case["in"]["p"])), 2)
    assert_golden({"neg_to_pos": negative, "pos_to_neg": positive}, case["out"], case["tol"])


shares = st.integers(1, 99).map(lambda percent: percent / 100)


@given(threshold=shares, truth=shares)
def test_the_decision_moves_to_the_threshold(threshold, truth):
    """Corollary 1, and Halck's noise: the majority is positive exactly where the probability is above p."""
    i_positive, i_negative = threshold_importance(BOTH, threshold)
    weighted = i_positive * truth - i_negative * (1 - truth)
    from_positive, from_negative = flip_chance(acceptance(np.array([i_positive, i_negative])), 2)
    noisy = truth * (1 - from_positive) + (1 - truth) * from_negative - 0.5
    above = truth - threshold
    if abs(above) > 1e-9:
        assert np.sign(weighted) == np.sign(noisy) == np.sign(above)


@given(
    truth=st.lists(st.integers(1, 9), min_size=3, max_size=3),
    importance=st.lists(st.integers(1, 9), min_size=3, max_size=3),
)
def test_exchanged_labels_keep_the_best_class_of_many(truth, importance):
    truth, importance = np.array(truth) / sum(truth), np.array(importance, dtype=float)
    chance = flip_chance(acceptance(importance), 3)
    noisy = truth * (1 - chance) + ((truth * chance).sum() - truth * chance) / 2
    weighted = truth * importance
    gap = noisy[:, None] - noisy
    want = np.sign(np.round(weighted[:, None] - weighted, 12))
    assert (np.sign(np.round(gap, 12)) == want).all()


def test_rejection_keeps_rows_in_proportion_and_none_twice():
    importance = np.tile([4.0, 1.0], 20_000)
    position = np.tile([1, 0], 20_000)
    sample = WEIGHTINGS["rejection"](position, importance, 2, np.random.default_rng(0))
    assert len(np.unique(sample.rows)) == len(sample.rows)
    assert (sample.position == position[sample.rows]).all()
    assert sample.position.sum() == 20_000
    assert (sample.position == 0).sum() == pytest.approx(5000, abs=250)
    assert sample.weights is None


def test_flipping_exchanges_labels_in_proportion():
    importance = np.tile([3.0, 1.0], 20_000)
    position = np.tile([2, 0], 20_000)
    sample = WEIGHTINGS["flip"](position, importance, 3, np.random.default_rng(0))
    assert sample.rows is None
    assert (sample.position[::2] == 2).all()
    # Two thirds of the chance 2/3 to be doubted, half of it for either other class.
    counts = np.bincount(sample.position[1::2], minlength=3)
    assert counts[1:] == pytest.approx([20_000 * 2 / 9] * 2, abs=250)


def test_auto_takes_weights_where_they_are_taken():
    assert choose_weighting(LogisticRegression(), "auto") == "weights"
    assert choose_weighting(KNeighborsClassifier(), "auto") == "rejection"
    assert choose_weighting(LogisticRegression(), "rejection") == "rejection"
    assert choose_weighting(DecisionTreeClassifier(), "auto") == "rejection"
    assert choose_weighting(make_pipeline(StandardScaler(), DecisionTreeClassifier()), "auto") == "rejection"
    assert choose_weighting(DecisionTreeClassifier(), "weights") == "weights"
    pipeline = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), RidgeClassifier()))
    assert choose_weighting(pipeline, "auto") == "weights"
    assert weight_parameter(pipeline) == "pipeline__ridgeclassifier__sample_weight"
    assert choose_weighting(make_pipeline(StandardScaler(), KNeighborsClassifier()), "auto") == "rejection"


def test_with_routing_a_pipeline_takes_weights_if_a_step_asks_for_them():
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True))
        assert weight_parameter(make_pipeline(StandardScaler(), LogisticRegression())) is None
        assert weight_parameter(asks) == "sample_weight"


def test_weights_that_a_learner_does_not_take_are_refused():
    with pytest.raises(
        CalibrantError, match=r"KNeighborsClassifier\.fit takes none; pass weighting='rejection'"
    ):
        choose_weighting(KNeighborsClassifier(), "weights")
    with pytest.raises(
        CalibrantError, match="weighting must be one of 'auto', 'weights', 'rejection', 'flip'; got 'halck'"
    ):
        choose_weighting(KNeighborsClassifier(), "halck")
