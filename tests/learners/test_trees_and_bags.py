"""Laplace trees and bagged votes, which scikit-learn does most of."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.learners import BaggedVotesClassifier, LaplaceTreeClassifier, PrunedTreeClassifier
from calibrant.learners._pruned_tree import expected_errors
from calibrant.metrics import log_loss


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; one that holds after all is an error."""
    if not isinstance(estimator, BaggedVotesClassifier):
        return {}
    reason = "bootstrap samples are drawn anew for copies of a row; scikit-learn's bagging declares the same"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        LaplaceTreeClassifier(),
        # Scikit-learn's least number of rows in a leaf does not look at weights.
        PrunedTreeClassifier(min_samples_leaf=1, random_state=0),
        BaggedVotesClassifier(RidgeClassifier(), n_estimators=3),
        BaggedVotesClassifier(n_estimators=3, aggregate="mean"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["b", "c", "a"])[y]


def test_leaves_are_counted_with_one_more_of_every_class(three):
    X, y = three
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    tree = LaplaceTreeClassifier(max_depth=2, random_state=0).fit(X, y, sample_weight=weights)
    leaves = tree.apply(X)
    for leaf in np.unique(leaves):
        inside = leaves == leaf
        counts = np.array([weights[inside & (y == name)].sum() for name in tree.classes_])
        want = (counts + 1) / (counts.sum() + 3)
        np.testing.assert_allclose(tree.predict_proba(X[inside]), np.tile(want, (inside.sum(), 1)))


def test_decisions_are_those_of_the_plain_tree(three):
    X, y = three
    ours = LaplaceTreeClassifier(random_state=0).fit(X[::2], y[::2])
    plain = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    np.testing.assert_array_equal(ours.predict(X), plain.predict(X))
    truth = np.searchsorted(ours.classes_, y[1::2])
    assert log_loss(truth, plain.predict_proba(X[1::2])) == np.inf
    assert log_loss(truth, ours.predict_proba(X[1::2])) < 0.5


def test_a_tree_for_several_targets(three):
    X, y = three
    both = LaplaceTreeClassifier(max_depth=1, random_state=0).fit(
        X, np.column_stack([y, y == "b"]).astype(str)
    )
    first, second = both.predict_proba(X)
    assert first.shape == (150, 3)
    assert second.shape == (150, 2)
    np.testing.assert_allclose(first.sum(axis=1), 1)
    np.testing.assert_allclose(second.max(), 101 / 102)


def test_votes_are_shares_of_models(three):
    X, y = three
    model = BaggedVotesClassifier(DecisionTreeClassifier(max_depth=1), 15, random_state=0).fit(X, y)
    labels = np.array([model.classes_[member.predict(X).astype(int)] for member in model.estimators_])
    want = np.column_stack([(labels == name).mean(axis=0) for name in model.classes_])
    np.testing.assert_allclose(model.predict_proba(X), want)
    assert (model.predict(X) == model.classes_[want.argmax(axis=1)]).all()


def test_means_are_scikit_learns(three):
    X, y = three
    ours = BaggedVotesClassifier(LinearDiscriminantAnalysis(), 4, aggregate="mean", random_state=0).fit(X, y)
    theirs = BaggingClassifier(LinearDiscriminantAnalysis(), 4, random_state=0).fit(X, y)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X))


def test_votes_have_logarithms_but_no_margins(three):
    X, y = three
    model = BaggedVotesClassifier(LinearDiscriminantAnalysis(), 4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert (model.predict_log_proba(X) == -np.inf).any()
    assert not hasattr(model, "decision_function")
    assert not hasattr(BaggedVotesClassifier(DecisionTreeClassifier(), aggregate="mean"), "decision_function")


def test_what_it_refuses(three):
    with pytest.raises(CalibrantError, match="aggregate must be one of 'vote', 'mean'; got 'median'"):
        BaggedVotesClassifier(aggregate="median").fit(*three)


@pytest.mark.parametrize(
    ("n", "errors", "more"),
    # Quinlan's book works these out for a confidence of 0.25; the last two by the exact binomial limit.
    [(6, 0, 6 * 0.206), (9, 0, 9 * 0.143), (1, 0, 0.75), (16, 1, 16 * 0.157)],
)
def test_expected_errors_are_those_of_c45(n, errors, more):
    found = expected_errors(np.array([float(n)]), np.array([float(errors)]), 0.25)
    np.testing.assert_allclose(found, more, rtol=0.02)


def test_a_pruned_tree_is_a_top_of_the_plain_one_and_expects_no_more_errors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] > 0) != (rng.random(400) < 0.2)
    plain = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0).fit(X, y)
    leaves = []
    for confidence in (0.5, 0.25, 0.05, 0.0):
        pruned = PrunedTreeClassifier(confidence, random_state=0).fit(X, y)
        # Rows that the plain tree has in one leaf are together in the pruned one.
        pairs = np.unique(np.column_stack([plain.apply(X), pruned.apply(X)]), axis=0)
        assert len(pairs) == plain.get_n_leaves()
        assert len(np.unique(pairs[:, 1])) == pruned.get_n_leaves()
        leaves.append(pruned.get_n_leaves())
        assert pruned.get_depth() <= plain.get_depth()
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[1] > leaves[-1] == 1
    assert PrunedTreeClassifier(0.0).fit(X, y).get_depth() == 0


def test_every_bootstrap_sample_is_pruned_for_itself():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.1
    assert PrunedTreeClassifier(random_state=0).fit(X, y).get_n_leaves() == 1
    bags = BaggedVotesClassifier(PrunedTreeClassifier(), 20, aggregate="mean", random_state=0).fit(X, y)
    assert len({tree.get_n_leaves() for tree in bags.estimators_}) > 3


def test_a_pruned_tree_refuses_confidence_in_nothing(three):
    with pytest.raises(CalibrantError, match="confidence must be a number from 0 to 0.5; got 0.7"):
        PrunedTreeClassifier(0.7).fit(*three)
