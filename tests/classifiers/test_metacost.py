"""MetaCostClassifier: golden cases, the four variants, resamples, weights, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError
from calibrant.classifiers._metacost import MetaCostClassifier, average_estimates
from calibrant.decisions import decide, random_costs, realised_cost
from golden import assert_golden, golden_cases

COST = random_costs(3, random_state=0)


@pytest.fixture(scope="module")
def three():
    X, y = make_classification(150, 5, n_informative=3, n_classes=3, flip_y=0.2, random_state=0)
    return X, np.array(["a", "b", "c"])[y]


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; one that holds after all is an error."""
    if estimator.hard:
        return {}  # votes for well separated classes are the same whatever the resamples
    reason = "resamples are drawn by row number, and copies change which rows they hold"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [
        MetaCostClassifier(GaussianNB(), "rarity", n_resamples=3, random_state=0),
        MetaCostClassifier(
            GaussianNB(), [[0, 2], [1, 0]], n_resamples=3, hard=True, use_all=False, random_state=0
        ),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


class CategoricalBayes(ClassifierMixin, BaseEstimator):
    """The learner of the golden cases: it knows all classes and categories, and adds one everywhere."""

    def __init__(self, n_classes=2, sizes=()):
        self.n_classes = n_classes
        self.sizes = sizes

    def fit(self, X, y):
        self.classes_ = np.arange(self.n_classes)
        totals = np.bincount(y, minlength=self.n_classes)
        self.prior_ = (totals + 1) / (len(y) + self.n_classes)
        self.tables_ = [
            np.array([[((X[:, f] == v) & (y == k)).sum() + 1 for v in range(size)] for k in self.classes_])
            / (totals[:, None] + size)
            for f, size in enumerate(self.sizes)
        ]
        return self

    def predict_proba(self, X):
        joint = np.tile(self.prior_, (len(X), 1))
        for f, table in enumerate(self.tables_):
            joint *= table[:, X[:, f]].T
        return joint / joint.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


@pytest.mark.parametrize("case", golden_cases("metacost", "metacost"))
def test_golden(case):
    given = case["in"]
    X, y = np.array(given["X"]), np.array(given["y"])
    learner = CategoricalBayes(given["K"], given["card"])
    model = MetaCostClassifier(learner, given["c"], use_all=given["use_all"], resamples=given["resamples"])
    model.fit(X, y)
    got = {
        "P": model.training_proba_,
        "relabel": model.training_labels_,
        "final_proba": model.predict_proba(X),
        "final_predict": model.predict(X),
    }
    assert set(got) == set(case["out"])
    assert_golden(got, case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("metacost", "metacost_aggregate"))
def test_golden_averages(case):
    given = case["in"]
    estimates = np.array(given["model_probs"])
    if given["hard"]:
        estimates = np.eye(estimates.shape[2])[estimates.argmax(axis=2)]
    resamples = [np.flatnonzero(in_bag) for in_bag in given["in_bag"]]
    proba = average_estimates(estimates, resamples, estimates.shape[1:], use_all=given["use_all"])
    got = {"P": proba, "relabel": decide(proba, given["c"])}
    assert_golden(got, case["out"], case["tol"])


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("use_all", [False, True])
def test_the_four_variants_by_hand(three, hard, use_all):
    X, y = three
    rng = np.random.default_rng(0)
    resamples = [rng.integers(len(y), size=len(y)) for _ in range(4)]
    model = MetaCostClassifier(GaussianNB(), COST, hard=hard, use_all=use_all, resamples=resamples).fit(X, y)
    total, count = np.zeros((len(y), 3)), np.zeros(len(y))
    everyone = np.zeros((len(y), 3))
    for rows in resamples:
        learner = GaussianNB().fit(X[rows], y[rows])
        says = np.eye(3)[learner.predict_proba(X).argmax(axis=1)] if hard else learner.predict_proba(X)
        everyone += says / 4
        for row in range(len(y)):
            if use_all or row not in set(rows.tolist()):
                total[row] += says[row]
                count[row] += 1
    want = np.array([t / c if c else e for t, c, e in zip(total, count, everyone, strict=True)])
    np.testing.assert_allclose(model.training_proba_, want, atol=1e-12)
    labels = model.classes_[decide(want, COST)]
    np.testing.assert_array_equal(model.training_labels_, labels)
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, labels).predict(X))


def test_a_number_makes_it_repeatable(three):
    X, y = three
    learner = DecisionTreeClassifier(max_features=1)  # has chance of its own
    here, there, other = (
        MetaCostClassifier(learner, COST, n_resamples=5, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(here.training_proba_, there.training_proba_)
    np.testing.assert_array_equal(here.predict(X), there.predict(X))
    assert (here.training_proba_ != other.training_proba_).any()
    together = MetaCostClassifier(learner, COST, n_resamples=5, random_state=1, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(here.training_proba_, together.training_proba_)


def test_dear_mistakes_become_rare():
    X, y = make_classification(1000, 5, n_informative=3, flip_y=0.2, random_state=0)
    cost = np.array([[0, 20], [1, 0]])
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    plain = tree.fit(X[::2], y[::2]).predict(X[1::2])
    model = MetaCostClassifier(tree, cost, n_resamples=20, random_state=0).fit(X[::2], y[::2])
    paid, before = (realised_cost(y[1::2], decided, cost) for decided in (model.predict(X[1::2]), plain))
    assert paid.total < before.total / 2
    assert paid.counts[0, 1] < before.counts[0, 1]


def test_classes_that_no_row_is_relabelled_to_have_probability_zero(three):
    X, y = three
    cost = np.array([[0, 1, 1], [1, 0, 1], [90, 90, 0]])  # never worth deciding c
    model = MetaCostClassifier(GaussianNB(), cost, n_resamples=5, random_state=0).fit(X, y)
    assert "c" not in model.training_labels_
    proba = model.predict_proba(X)
    assert proba.shape == (150, 3)
    assert (proba[:, 2] == 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("learner", [LogisticRegression(), KNeighborsClassifier(3), LinearSVC()])
def test_a_single_new_label_is_always_decided(three, learner):
    """Some learners refuse rows of one class, some do not; the answer is the same."""
    X, y = three
    cost = np.array([[0, 0.1, 0.1], [90, 0, 90], [90, 90, 0]])
    # One of two copies knows only a, so that no row is without a chance of it.
    resamples = [np.flatnonzero(y == "a"), np.arange(len(y))]
    model = MetaCostClassifier(learner, cost, hard=True, resamples=resamples)
    assert set(model.fit(X, y).predict(X)) == {"a"}
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_a_resample_of_one_class_votes_for_it(three):
    X, y = three
    only_a = np.flatnonzero(y == "a")[:5]
    model = MetaCostClassifier(LogisticRegression(), COST, resamples=[only_a]).fit(X, y)
    assert (model.training_proba_ == [1, 0, 0]).all()


def test_learners_without_probabilities_vote(three):
    X, y = three
    model = MetaCostClassifier(LinearSVC(), COST, n_resamples=3, hard=True, random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert not hasattr(model, "predict_proba")


def test_weights_reach_the_learner(three):
    X, y = three
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    kept = weights > 0
    resamples = [np.arange(kept.sum())]
    model = MetaCostClassifier(GaussianNB(), COST, resamples=resamples).fit(X, y, sample_weight=weights)
    learner = GaussianNB().fit(X, y, weights)
    np.testing.assert_allclose(model.training_proba_, learner.predict_proba(X[kept]), atol=1e-9)
    final = GaussianNB().fit(X[kept], model.training_labels_, weights[kept])
    np.testing.assert_allclose(model.predict_proba(X), final.predict_proba(X), atol=1e-9)


def test_costs_by_label_and_one_class():
    X, y = load_iris(return_X_y=True)
    names = np.array(["x", "y", "z"])[y]
    cost = {i: {j: float(i != j) for j in "zyx"} for i in "yzx"}
    model = MetaCostClassifier(GaussianNB(), cost, n_resamples=3, random_state=0).fit(X, names)
    assert (model.predict(X) == names).mean() > 0.9
    single = MetaCostClassifier(GaussianNB(), "rarity").fit(X, ["x"] * 150)
    assert single.predict(X[:2]).tolist() == ["x", "x"]
    assert single.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            MetaCostClassifier(LinearSVC(), COST),
            "estimator must have predict_proba; LinearSVC has none; pass hard=True to let its copies vote",
        ),
        (
            MetaCostClassifier(GaussianNB(), COST, n_resamples=0),
            "n_resamples must be a whole number, 1 or more; got 0",
        ),
        (
            MetaCostClassifier(GaussianNB(), COST, resamples=[[0, 1], [2, 150]]),
            "resamples must hold row numbers from 0 to 149; resample 1 does not",
        ),
        (MetaCostClassifier(GaussianNB(), COST, resamples=[[]]), "resample 0 does not"),
        (MetaCostClassifier(GaussianNB(), COST, resamples=[]), "at least one resample; got none"),
        (
            MetaCostClassifier(FrozenEstimator(GaussianNB()), COST),
            "got a FrozenEstimator, which is trained already",
        ),
        (MetaCostClassifier(GaussianNB(), np.eye(3)), r"got cost\[0, 0\] = 1 and cost\[1, 0\] = 0"),
        (MetaCostClassifier(GaussianNB(), [[0, 1], [1, 0]]), r"Only binary classification is supported\."),
    ],
    ids=str,
)
def test_what_it_refuses(three, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*three)


def test_weights_need_a_learner_that_takes_them(three):
    X, y = three
    with pytest.raises(
        CalibrantError, match="needs a learner whose fit takes it; that of KNeighborsClassifier"
    ):
        MetaCostClassifier(KNeighborsClassifier(), COST).fit(X, y, sample_weight=np.ones(len(y)))


def test_errors_of_the_learner_are_its_own(three):
    X, y = three
    with pytest.raises(ValueError, match="n_neighbors"):
        MetaCostClassifier(KNeighborsClassifier(n_neighbors=-1), COST, n_resamples=2).fit(X, y)
