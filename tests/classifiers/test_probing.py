"""ProbingClassifier: the ladder, the learners it works around, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score, train_test_split
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks

from calibrant import CalibrantError, CalibratedClassifier, ProbingClassifier
from calibrant.classifiers import CrossEntropy, SquaredError, _hard, probing_curve
from calibrant.classifiers._importance import Sample
from calibrant.metrics import brier_score, cross_entropy, log_loss
from golden import assert_golden, golden_cases


class Table(ClassifierMixin, BaseEstimator):
    """For every value of x the weighted majority, strictly; for a new value that of all rows."""

    def fit(self, X, y, sample_weight=None):
        x, weights = np.ravel(X), np.ones(len(y)) if sample_weight is None else sample_weight
        self.overall = self.positive(y, weights)
        self.table = {value: self.positive(y[x == value], weights[x == value]) for value in np.unique(x)}
        return self

    @staticmethod
    def positive(y, weights):
        return int(weights[y == 1].sum() > weights[y == 0].sum())

    def predict(self, X):
        return np.array([self.table.get(value, self.overall) for value in np.ravel(X)])


class Stump(ClassifierMixin, BaseEstimator):
    """The best cut of one number, in either direction."""

    def fit(self, X, y, sample_weight=None):
        x, weights = np.ravel(X), np.ones(len(y)) if sample_weight is None else sample_weight
        values = np.unique(x)
        cuts = [-np.inf, *(values[1:] + values[:-1]) / 2]
        rules = [(sign, cut) for sign in (1, -1) for cut in cuts]
        errors = [weights[((x > cut) == (sign > 0)) != (y == 1)].sum() for sign, cut in rules]
        self.sign, self.cut = rules[int(np.argmin(np.round(errors, 12)))]
        return self

    def predict(self, X):
        return ((np.ravel(X) > self.cut) == (self.sign > 0)).astype(int)


LOSS = {"cross_entropy": "cross_entropy", "squared": "squared_error"}
CLASSIFIER = {"table": Table, "stump": Stump}


def column(values):
    return np.array(values, dtype=float)[:, None]


@pytest.mark.parametrize("case", golden_cases("probing", "probing"))
def test_golden(case):
    given = case["in"]
    # The golden cases count rows, not their weight: the rows of training serve as plain reference rows.
    model = ProbingClassifier(
        CLASSIFIER[given["classifier"]](),
        n_probes=given["t"],
        loss=LOSS[given["loss"]],
        rule=given["rule"],
        reference=column(given.get("x_weighting", given["x"])),
    )
    model.fit(column(given["x"]), given["y"], sample_weight=given.get("sample_weight"))
    (ladder,) = model.ladders_
    got = {
        "probed": ladder.thresholds,
        "counts": ladder.split_counts,
        "cuts": ladder.cuts,
        "predict": model.predict_proba(column(given["query"]))[:, 1],
    }
    assert_golden({name: values.tolist() for name, values in got.items()}, case["out"], case["tol"])


def test_exact_tables_find_the_frequencies_of_their_cells():
    positives = np.array([0, 1, 30, 55, 98, 100])
    frequency = positives / 100
    x = np.repeat(np.arange(6), 100)
    y = np.concatenate([np.arange(100) < n for n in positives]).astype(int)
    errors = []
    for n_probes in (4, 16, 64):
        model = ProbingClassifier(Table(), n_probes=n_probes).fit(column(x), y)
        votes = np.searchsorted(model.ladders_[0].estimates, model.predict_proba(column(np.arange(6)))[:, 1])
        low, high = model.ladders_[0].intervals[votes].T
        assert (low <= frequency).all()
        assert (frequency <= high).all()
        errors.append(np.abs(model.predict_proba(column(np.arange(6)))[:, 1] - frequency).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(400, 6, n_informative=3, flip_y=0.2, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def three():
    return load_iris(return_X_y=True)


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; one that holds after all is an error."""
    if estimator.weighting == "auto":
        return {}
    reason = "a sample is drawn anew for copies of a row, so a weight is that many copies on average only"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        ProbingClassifier(RidgeClassifier(), n_probes=4),
        ProbingClassifier(GaussianNB(), n_probes=4, loss="squared_error", multiclass="symmetric"),
        ProbingClassifier(DecisionTreeClassifier(max_depth=4), n_probes=4, weighting="rejection"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_renamed_columns_are_noticed():
    """A check of scikit-learn's that its common set leaves out."""
    check_dataframe_column_names_consistency(
        "ProbingClassifier", ProbingClassifier(LogisticRegression(), n_probes=2)
    )


class NoWeights(BaseEstimator):
    """A learner with fit and predict and nothing else, not even a return value."""

    def fit(self, X, y):
        self.inner_ = RidgeClassifier().fit(X, y)

    def predict(self, X):
        return self.inner_.predict(X)


class BlackBox:
    """Not a scikit-learn estimator at all."""

    def fit(self, X, y):
        self.inner = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)

    def predict(self, X):
        return self.inner.predict(X).tolist()


@pytest.mark.parametrize(
    ("learner", "weighting"),
    [
        (make_pipeline(StandardScaler(), KNeighborsClassifier(15)), "rejection"),
        (make_pipeline(StandardScaler(), Perceptron()), "weights"),
        (make_pipeline(StandardScaler(), LinearSVC()), "weights"),
        (make_pipeline(StandardScaler(), RidgeClassifier()), "weights"),
        (make_pipeline(StandardScaler(), NoWeights()), "rejection"),
        (DecisionTreeClassifier(min_samples_leaf=5), "rejection"),
        (NoWeights(), "rejection"),
        (BlackBox(), "rejection"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_any_learner_becomes_an_estimator_of_probabilities(learner, weighting):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = ProbingClassifier(learner, n_probes=15, random_state=0).fit(X_train, y_train)
    assert model.weighting_ == weighting
    proba = model.predict_proba(X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    base_rate = np.full(len(y_test), y_train.mean())
    assert cross_entropy(y_test, proba) < 0.5 * cross_entropy(y_test, base_rate)
    assert (model.predict(X_test) == y_test).mean() > 0.9


@pytest.mark.parametrize("weighting", ["weights", "rejection", "flip"])
def test_every_weighting_estimates_the_same_probabilities(weighting):
    """Three cells with known frequencies, many rows, and a learner that is exact."""
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=6000)
    y = (rng.random(6000) < np.array([0.1, 0.4, 0.9])[x]).astype(int)
    model = ProbingClassifier(Table(), n_probes=20, weighting=weighting, random_state=0).fit(column(x), y)
    frequency = [y[x == cell].mean() for cell in range(3)]
    np.testing.assert_allclose(model.predict_proba(column([0, 1, 2]))[:, 1], frequency, atol=0.05)


def test_a_weight_is_a_number_of_copies(two):
    X, y = two
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ProbingClassifier(GaussianNB(), n_probes=12).fit(X, y, sample_weight=weights)
    copied = ProbingClassifier(GaussianNB(), n_probes=12)
    copied.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(weighted.ladders_[0].counts, copied.ladders_[0].counts, atol=1e-9)


def test_relabelling_mirrors_two_classes(two):
    """The regrets are symmetric; only ties, which go left, are not, and weights avoid them here."""
    X, y = two
    weights = np.random.default_rng(1).gamma(5, size=len(y))
    model = ProbingClassifier(GaussianNB(), n_probes=12).fit(X, y, sample_weight=weights)
    turned = np.where(y == "no", "zero", "one")
    mirrored = ProbingClassifier(GaussianNB(), n_probes=12).fit(X, turned, sample_weight=weights)
    np.testing.assert_allclose(mirrored.predict_proba(X), model.predict_proba(X)[:, ::-1], atol=1e-9)


def test_two_classes_keep_their_names(two):
    """A learner with class weights by name would not survive others."""
    X, y = two
    learner = DecisionTreeClassifier(max_depth=3, class_weight={"no": 1, "yes": 3}, random_state=0)
    model = ProbingClassifier(learner, n_probes=5).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.classifiers_[0][0].models[0].classes_.tolist() == ["no", "yes"]


def test_stages_end_with_the_prediction(two, three):
    for X, y in (two, three):
        model = ProbingClassifier(GaussianNB(), n_probes=9).fit(X, y)
        stages = list(model.staged_predict_proba(X))
        assert len(stages) == 9
        np.testing.assert_array_equal(stages[-1], model.predict_proba(X))
        early = ProbingClassifier(GaussianNB(), n_probes=3).fit(X, y)
        np.testing.assert_array_equal(stages[2], early.predict_proba(X))


def test_the_curve_is_the_loss_of_the_stages(two, three):
    X, y = two
    model = ProbingClassifier(GaussianNB(), n_probes=6).fit(X, y)
    curve = probing_curve(model, X, y)
    assert curve.n_probes.tolist() == list(range(7))
    assert curve.cross_entropy[0] == pytest.approx(np.log(2))
    assert curve.squared_error[0] == pytest.approx(0.25)
    for stage, proba in enumerate(model.staged_predict_proba(X), start=1):
        assert curve.cross_entropy[stage] == pytest.approx(cross_entropy(y, proba))
        assert curve.squared_error[stage] == pytest.approx(brier_score(y, proba, convention="positive"))
    X, y = three
    many = probing_curve(ProbingClassifier(GaussianNB(), n_probes=20).fit(X, y), X, y)
    assert many.cross_entropy[-1] < many.cross_entropy[5] < many.cross_entropy[0]


def test_the_ladder_tells_where_the_rows_are(two):
    X, y = two
    (ladder,) = ProbingClassifier(GaussianNB(), n_probes=10).fit(X, y).ladders_
    assert ladder.positive == "yes"
    assert ladder.counts.sum() == len(y)
    assert ladder.split_counts[0] == len(y)
    assert ladder.intervals.shape == (11, 2)
    assert (ladder.intervals[1:, 0] == ladder.cuts).all()
    assert (ladder.intervals[:, 0] < ladder.estimates).all()
    assert (ladder.estimates < ladder.intervals[:, 1]).all()
    assert ladder.held_out_loss is None


@pytest.mark.parametrize(
    "learner", [DecisionTreeClassifier(max_depth=5), KNeighborsClassifier(), GaussianNB()], ids=str
)
@pytest.mark.parametrize("how", [{"batch_size": 5}, {"n_jobs": 2}, {"n_jobs": 2, "batch_size": 3}], ids=str)
def test_jobs_and_batches_change_nothing(two, learner, how):
    X, y = two
    alone = ProbingClassifier(learner, n_probes=25, random_state=0).fit(X, y)
    together = ProbingClassifier(learner, n_probes=25, random_state=0, **how).fit(X, y)
    np.testing.assert_array_equal(alone.ladders_[0].thresholds, together.ladders_[0].thresholds)
    np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))


def test_jobs_may_be_processes(two):
    X, y = two
    model = ProbingClassifier(DecisionTreeClassifier(), n_probes=3, weighting="rejection", random_state=0)
    alone = model.fit(X, y).predict_proba(X)
    with parallel_config(backend="loky"):
        together = model.set_params(n_jobs=2).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(alone, together)


def test_few_classifiers_are_trained_ahead_in_vain(two):
    X, y = two
    trained = []

    class Recorder(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            trained.append(sample_weight.sum())
            return super().fit(X, y, sample_weight)

    ProbingClassifier(Recorder(), n_probes=40, batch_size=4).fit(X, y)
    assert len(set(trained)) == len(trained)
    assert 40 <= len(trained) <= 44


@pytest.mark.parametrize("seed", [0, np.random.RandomState(0), np.random.default_rng(0)], ids=str)
def test_the_seed_decides_everything(two, seed):
    X, y = two
    make = {int: lambda: 0, np.random.RandomState: lambda: np.random.RandomState(0)}.get(
        type(seed), lambda: np.random.default_rng(0)
    )
    learner = RandomForestClassifier(3, max_depth=3)
    fits = [
        ProbingClassifier(learner, n_probes=5, weighting="rejection", random_state=make()).fit(X, y)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
    other = ProbingClassifier(learner, n_probes=5, weighting="rejection").fit(X, y)
    assert not np.array_equal(fits[0].predict_proba(X), other.predict_proba(X))


def test_a_seed_of_the_learner_is_left_alone(two):
    model = ProbingClassifier(DecisionTreeClassifier(random_state=3), n_probes=2, random_state=0).fit(*two)
    seeded = ProbingClassifier(make_pipeline(DecisionTreeClassifier()), n_probes=2, random_state=0).fit(*two)
    assert {committee.models[0].random_state for committee in model.classifiers_[0]} == {3}
    assert len({committee.models[0][-1].random_state for committee in seeded.classifiers_[0]}) == 2


def test_several_resamples_vote(two):
    X, y = two
    model = ProbingClassifier(KNeighborsClassifier(3), n_probes=4, n_resamples=3, random_state=0).fit(X, y)
    committee = model.classifiers_[0][1]
    votes = [member.predict(X) == "yes" for member in committee.models]
    np.testing.assert_array_equal(committee.votes(X), np.sum(votes, axis=0) >= 2)
    half = _hard.Committee(committee.models[:2], committee.labels)
    np.testing.assert_array_equal(half.votes(X), votes[0] & votes[1])
    weighted = ProbingClassifier(GaussianNB(), n_probes=2, n_resamples=3).fit(X, y)
    assert [len(committee.models) for committee in weighted.classifiers_[0]] == [1, 1]


def test_prediction_goes_in_blocks(two, monkeypatch):
    X, y = two
    asked = []

    class Recorder(GaussianNB):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    model = ProbingClassifier(Recorder(), n_probes=3).fit(X, y)
    whole, stages = model.predict_proba(X), list(model.staged_predict_proba(X))
    asked.clear()
    monkeypatch.setattr(_hard, "BLOCK", 150)
    np.testing.assert_array_equal(model.predict_proba(X), whole)
    assert asked == [150] * 6 + [100] * 3
    np.testing.assert_array_equal(list(model.staged_predict_proba(X)), stages)
    frame = pd.DataFrame(X)
    np.testing.assert_array_equal(
        ProbingClassifier(GaussianNB(), n_probes=3).fit(frame, y).predict_proba(frame), whole
    )


def test_transductive_reference_rows_draw_the_thresholds(two):
    X, y = two
    score = GaussianNB().fit(X, y).predict_proba(X)[:, 1]
    sure = X[score > np.quantile(score, 0.8)]
    (train,) = ProbingClassifier(GaussianNB(), n_probes=20).fit(X, y).ladders_
    (transductive,) = ProbingClassifier(GaussianNB(), n_probes=20, reference=sure).fit(X, y).ladders_
    assert transductive.counts.sum() == len(sure)
    assert np.mean(transductive.thresholds > 0.8) > 2 * np.mean(train.thresholds > 0.8)


def test_out_of_fold_votes_are_not_fooled_by_a_learner_that_memorises(two):
    X, y = two
    half = np.arange(len(y)) < 200
    losses = {}
    for reference in ("train", "oof"):
        tree = DecisionTreeClassifier(random_state=0)
        model = ProbingClassifier(tree, n_probes=20, weighting="weights", reference=reference)
        model.fit(X[half], y[half])
        losses[reference] = cross_entropy(y[~half], model.predict_proba(X[~half]))
        counts = model.ladders_[0].counts
        memorised = counts[0] + counts[-1]
        assert memorised == 200 if reference == "train" else memorised < 180
    assert losses["oof"] < losses["train"]


def test_out_of_fold_votes_by_hand(two):
    X, y = two
    model = ProbingClassifier(KNeighborsClassifier(), n_probes=1, reference="oof", cv=KFold(4)).fit(X, y)
    # At the threshold 1/2 rejection keeps every row.
    votes = np.concatenate(
        [KNeighborsClassifier().fit(X[train], y[train]).predict(X[test]) for train, test in KFold(4).split(X)]
    )
    assert model.ladders_[0].counts.tolist() == [np.sum(votes == "no"), np.sum(votes == "yes")]


def test_folds_as_row_numbers_survive_rows_of_weight_zero(two):
    X, y = two
    weights = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    splits = list(KFold(4).split(X))
    model = ProbingClassifier(GaussianNB(), n_probes=4, reference="oof", cv=splits)
    kept = weights > 0
    number = np.cumsum(kept) - 1
    left = [(number[train[kept[train]]], number[test[kept[test]]]) for train, test in splits]
    fewer = ProbingClassifier(GaussianNB(), n_probes=4, reference="oof", cv=left).fit(X[kept], y[kept])
    np.testing.assert_array_equal(
        model.fit(X, y, sample_weight=weights).predict_proba(X), fewer.predict_proba(X)
    )


def test_it_stops_when_the_held_out_loss_stops_improving(two):
    X, y = two
    seen = []

    class Recorder(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(y))
            return super().fit(X, y, sample_weight)

    model = ProbingClassifier(Recorder(), n_iter_no_change=5, validation_fraction=0.25, random_state=0)
    model.fit(X, y)
    (ladder,) = model.ladders_
    assert set(seen) == {300}
    assert 5 < len(ladder.thresholds) < 100
    losses = ladder.held_out_loss
    assert len(losses) == len(ladder.thresholds)
    assert losses[-5:].min() > losses[:-5].min() - 1e-4
    for end in range(6, len(losses)):
        assert losses[end - 5 : end].min() <= losses[: end - 5].min() - 1e-4
    patient = ProbingClassifier(Recorder(), n_probes=7, n_iter_no_change=50, random_state=0).fit(X, y)
    assert len(patient.ladders_[0].thresholds) == 7


@pytest.mark.parametrize("multiclass", ["clip_renormalise", "raw", "project", "symmetric"])
def test_many_classes_are_probed_one_by_one(three, multiclass):
    X, y = three
    y = np.array(["b", "c", "a"])[y]
    model = ProbingClassifier(GaussianNB(), n_probes=10, multiclass=multiclass).fit(X, y)
    probed = ["a", "b", "c"] if multiclass == "symmetric" else ["a", "b"]
    assert [ladder.positive for ladder in model.ladders_] == probed
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    assert (proba >= 0).all() or multiclass == "raw"
    for number, name in enumerate(probed):
        single = ProbingClassifier(GaussianNB(), n_probes=10).fit(X, y == name).predict_proba(X)[:, 1]
        if multiclass == "raw":
            np.testing.assert_allclose(proba[:, number], single)
    assert (model.predict(X) == y).mean() > 0.9


def test_the_most_frequent_class_may_be_left_out(three):
    X, y = three
    X, y = X[20:], y[20:]
    model = ProbingClassifier(
        GaussianNB(), n_probes=5, multiclass="clip_renormalise", left_out="most_frequent"
    )
    assert [ladder.positive for ladder in model.fit(X, y).ladders_] == [0, 2]
    weights = np.where(y == 0, 9.0, 1.0)
    assert [ladder.positive for ladder in model.fit(X, y, sample_weight=weights).ladders_] == [1, 2]


def test_clip_keeps_estimates_from_the_ends(two):
    X, y = two
    tree = DecisionTreeClassifier(random_state=0)
    model = ProbingClassifier(tree, n_probes=40, weighting="weights").fit(X, y)
    assert model.predict_proba(X).min() < 1e-4
    clipped = ProbingClassifier(tree, n_probes=40, weighting="weights", clip=0.001).fit(X, y)
    assert clipped.predict_proba(X).min() == pytest.approx(0.001)
    assert clipped.predict_proba(X).max() == pytest.approx(0.999)


def test_the_printed_rule_differs_for_the_squared_error_only(two):
    X, y = two

    def thresholds(loss, rule):
        model = ProbingClassifier(GaussianNB(), n_probes=30, loss=loss, rule=rule).fit(X, y)
        return model.ladders_[0].thresholds.tolist()

    assert thresholds("cross_entropy", "paper") == thresholds(CrossEntropy(), "regret")
    assert thresholds("squared_error", "paper") != thresholds(SquaredError(), "regret")


def test_without_probes_everyone_gets_one_half(two):
    X, y = two
    model = ProbingClassifier(GaussianNB(), n_probes=0).fit(X, y)
    assert (model.predict_proba(X) == 0.5).all()
    assert list(model.staged_predict_proba(X)) == []
    assert set(model.predict(X)) == {"no"}


@pytest.mark.parametrize("label", [0, 1, True, -1.0])
def test_one_class_whose_partner_is_known(label):
    """Every classifier is constant, the learner is never asked, and the estimate runs to the end."""
    X = np.arange(8.0)[:, None]
    model = ProbingClassifier(LogisticRegression(), n_probes=5).fit(X, np.full(8, label))
    assert model.predict(X).tolist() == [label] * 8
    of_label = model.predict_proba(X)[:, model.classes_.tolist().index(label)]
    np.testing.assert_allclose(of_label, 1 - 0.0038284053694859627)


def test_probing_one_class_stops_when_no_number_is_left():
    for label, at_most in ((0, 800), (1, 60)):
        model = ProbingClassifier(GaussianNB(), n_probes=2000).fit(np.arange(4.0)[:, None], np.full(4, label))
        (ladder,) = model.ladders_
        assert 30 < len(ladder.thresholds) < at_most
        assert cross_entropy([label] * 4, model.predict_proba(np.arange(4.0)[:, None])[:, 1]) < 1e-15


def test_one_class_without_a_partner_is_certain():
    X = np.arange(8.0)[:, None]
    model = ProbingClassifier(LogisticRegression(), n_probes=5).fit(X, ["only"] * 8)
    assert model.predict_proba(X).tolist() == [[1.0]] * 8
    assert model.predict(X).tolist() == ["only"] * 8
    assert model.ladders_ == []


def test_a_one_sided_sample_is_a_constant_answer():
    """Two negatives among many positives: at low thresholds rejection sees positives alone."""
    X = np.arange(40.0)[:, None]
    y = (np.arange(40) >= 2).astype(int)
    model = ProbingClassifier(KNeighborsClassifier(1), n_probes=30, random_state=0).fit(X, y)
    models = {
        type(committee.models[0]).__name__: committee.models[0].predict(X)
        for committee in model.classifiers_[0]
    }
    assert set(models) == {"ConstantModel", "KNeighborsClassifier"}
    assert np.isfinite(cross_entropy(y, model.predict_proba(X)))


def test_an_empty_sample_answers_with_the_weightier_class(monkeypatch):
    def nobody(position, importance, n_classes, rng):
        return Sample(np.zeros(0, dtype=int), position[:0], None)

    monkeypatch.setitem(_hard.WEIGHTINGS, "nobody", nobody)
    position, labels = np.array([0, 0, 1]), np.array(["n", "p"])
    lesson = _hard.Lesson(KNeighborsClassifier(1), np.zeros((3, 1)), position, labels, {}, "nobody")
    for importance, want in (([5.0, 4.0, 8.0], "n"), ([5.0, 4.0, 10.0], "p"), ([5.0, 4.0, 9.0], "n")):
        model = _hard.train(lesson, np.array(importance), np.random.SeedSequence(0))
        assert model == _hard.ConstantModel(want)


def test_frames_sparse_rows_and_texts(two):
    X, y = two
    frame = pd.DataFrame(X, columns=list("abcdef"))
    plain = ProbingClassifier(LogisticRegression(), n_probes=4).fit(X, y).predict_proba(X)
    model = ProbingClassifier(LogisticRegression(), n_probes=4, reference=frame).fit(frame, y)
    np.testing.assert_allclose(model.predict_proba(frame), plain)
    assert model.feature_names_in_.tolist() == list("abcdef")
    sparse = csr_array(np.maximum(X, 0))
    of_sparse = ProbingClassifier(BernoulliNB(), n_probes=4).fit(sparse, y).predict_proba(sparse)
    of_dense = ProbingClassifier(BernoulliNB(), n_probes=4).fit(sparse.toarray(), y).predict_proba(X)
    np.testing.assert_allclose(of_sparse, of_dense)
    texts = ["good fine", "bad poor", "fine", "poor bad bad", "good good", "bad"] * 5
    model = ProbingClassifier(
        make_pipeline(CountVectorizer(), BernoulliNB()), n_probes=4, reference=texts[:7]
    )
    assert model.fit(texts, [1, 0] * 15).predict(texts).tolist() == [1, 0] * 15


def test_fit_parameters_are_cut_to_the_sample(two):
    X, y = two
    seen = []

    class Learner(KNeighborsClassifier):
        def fit(self, X, y, group=None, note=None):
            seen.append((len(X), len(group), note))
            return super().fit(X, y)

    ProbingClassifier(Learner(), n_probes=3, random_state=0).fit(X, y, group=np.arange(400), note="x")
    assert all(rows == groups and note == "x" for rows, groups, note in seen)
    assert min(rows for rows, _, _ in seen) < 400


def test_metadata_routing_reaches_the_learner(two):
    X, y = two
    seen = []

    class Learner(GaussianNB):
        def fit(self, X, y, sample_weight=None, group=None):
            seen.append(group)
            return super().fit(X, y, sample_weight)

    with sklearn.config_context(enable_metadata_routing=True):
        learner = Learner().set_fit_request(group=True)
        model = ProbingClassifier(learner, n_probes=2).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        params = {"sample_weight": np.ones(400), "group": np.arange(400)}
        assert len(cross_val_score(model, X, y, cv=3, params=params)) == 3
    assert all(len(group) in (266, 267) for group in seen)


@pytest.mark.parametrize("code", [None, "all_pairs"])
def test_it_is_a_learner_for_calibration(three, code):
    """Also as the two-class learner of every column of a code."""
    X, y = three
    probing = ProbingClassifier(DecisionTreeClassifier(max_depth=3), n_probes=6, random_state=0)
    model = CalibratedClassifier(probing, "sigmoid", cv=3, code=code, combine="coupling")
    assert log_loss(y, model.fit(X, y).predict_proba(X)) < 0.35
    assert (model.predict(X) == y).mean() > 0.9


def test_verbose_tells_of_every_probe(two, capsys):
    ProbingClassifier(GaussianNB(), n_probes=2, verbose=1).fit(*two)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ProbingClassifier: probe 1 of 2 for 'yes' at 0.5"
    assert len(lines) == 2
    ProbingClassifier(GaussianNB(), n_probes=2).fit(*two)
    assert capsys.readouterr().err == ""


class Says(ClassifierMixin, BaseEstimator):
    """Answers what it was told to answer, whatever was asked."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answer if np.ndim(self.answer) else np.full(len(X), self.answer)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            ProbingClassifier(StandardScaler()),
            "estimator must be an object with fit and predict; got StandardScaler, which has no predict",
        ),
        (
            ProbingClassifier(GaussianNB),
            r"got the class GaussianNB; pass an object of it, GaussianNB\(\)",
        ),
        (
            ProbingClassifier(FrozenEstimator(GaussianNB())),
            "must be a learner that can be trained many times; got a FrozenEstimator",
        ),
        (ProbingClassifier(GaussianNB(), n_probes=-1), "n_probes must be a whole number, 0 or more; got -1"),
        (
            ProbingClassifier(GaussianNB(), n_probes=2.5),
            "n_probes must be a whole number, 0 or more; got 2.5",
        ),
        (
            ProbingClassifier(GaussianNB(), n_resamples=0),
            "n_resamples must be a whole number, 1 or more; got 0",
        ),
        (
            ProbingClassifier(GaussianNB(), batch_size=0),
            "batch_size must be a whole number, 1 or more; got 0",
        ),
        (
            ProbingClassifier(GaussianNB(), n_iter_no_change=0),
            "n_iter_no_change must be a whole number, 1 or more; got 0",
        ),
        (
            ProbingClassifier(GaussianNB(), validation_fraction=1.0),
            "validation_fraction must be a share between 0 and 1; got 1.0",
        ),
        (
            ProbingClassifier(GaussianNB(), n_iter_no_change=3, validation_fraction=0.001),
            "the rows must allow a part of them to be held out; .*; pass n_iter_no_change=None",
        ),
        (
            ProbingClassifier(GaussianNB(), multiclass="ecoc"),
            "multiclass must be one of 'raw', 'clip_renormalise', 'project', 'symmetric'; got 'ecoc'",
        ),
        (
            ProbingClassifier(GaussianNB(), left_out="first"),
            "left_out must be one of 'last', 'most_frequent'; got 'first'",
        ),
        (
            ProbingClassifier(GaussianNB(), reference=None),
            "reference must be 'train', 'oof' or rows like those of X; got None",
        ),
        (ProbingClassifier(GaussianNB(), tol=-1), "tol must be a number, not negative; got -1"),
        (
            ProbingClassifier(GaussianNB(), clip=0.5),
            "clip must be None or a number from 0 to below 0.5; got 0.5",
        ),
        (ProbingClassifier(GaussianNB(), rule="gain"), "rule must be one of 'regret', 'paper'; got 'gain'"),
        (ProbingClassifier(GaussianNB(), loss="log"), "loss must be one of 'cross_entropy', .*got 'log'"),
        (
            ProbingClassifier(GaussianNB(), reference="test"),
            "reference must be 'train', 'oof' or rows like those of X; got 'test'",
        ),
        (
            ProbingClassifier(GaussianNB(), reference=np.zeros((3, 5))),
            "reference must have the columns of X; X has 5 features, but .* is expecting 6 features",
        ),
        (
            ProbingClassifier(GaussianNB(), reference=np.zeros((0, 6))),
            "reference must have at least one row; got none",
        ),
        (
            ProbingClassifier(GaussianNB(), reference="oof", cv=500),
            "the rows must allow the split; .*n_splits=500.*; use fewer folds",
        ),
        (
            ProbingClassifier(GaussianNB(), reference="oof", cv=ShuffleSplit(3, random_state=0)),
            r"cv must test every row exactly once for reference='oof'; row \d+ is tested \d times",
        ),
        (
            ProbingClassifier(Says("maybe")),
            r"with; labels must be among the classes \['no', 'yes'\]; got 'maybe' in row 0; mend its predict",
        ),
        (
            ProbingClassifier(Says(np.resize(["no", "yes", "both"], 400))),
            r"Says\.predict must give labels that it was trained with; .*got 'both' in row 2",
        ),
        (
            ProbingClassifier(Says(0.3)),
            r"Says\.predict must give labels that it was trained with; labels must",
        ),
        (
            ProbingClassifier(Says(np.zeros((400, 2)))),
            r"Says\.predict must give one label per row, 400 in all; got shape \(400, 2\)",
        ),
        (
            ProbingClassifier(KNeighborsClassifier(), weighting="weights"),
            r"weighting='weights' needs .*KNeighborsClassifier\.fit takes none; pass weighting='rejection'",
        ),
    ],
    ids=str,
)
def test_what_it_refuses(two, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*two)


def test_bad_rows_are_refused(two):
    X, y = two
    with pytest.raises(CalibrantError, match=r"sample_weight must not be negative; got -1.0 in row 0"):
        ProbingClassifier(GaussianNB()).fit(X, y, sample_weight=-np.ones(len(y)))
    model = ProbingClassifier(GaussianNB(), n_probes=1).fit(X, y)
    with pytest.raises(CalibrantError, match=r"X must be a table; got shape \(6,\)"):
        model.predict_proba(X[0])
