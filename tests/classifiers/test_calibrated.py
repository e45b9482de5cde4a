"""CalibratedClassifier: the protocols, the scores, weights, frames, and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import (
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

from calibrant import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    CalibrantError,
    CalibratedClassifier,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant.metrics import brier_score, log_loss


@pytest.fixture(scope="module")
def two():
    X, y = make_classification(400, 6, n_informative=3, flip_y=0.2, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def three():
    return load_iris(return_X_y=True)


def expected_failures(estimator):
    """Checks that cannot hold, with the reason; one that holds after all is an error."""
    reason = ""
    if estimator.calibrator == "binning":
        reason = "weights change the values of bins, not their edges: docs/methods/calibration.md"
    if estimator.data == "holdout":
        reason = "which rows are held out depends on their number, and copies change it"
    checks = ("dense", "sparse") if reason else ()
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in checks}


@parametrize_with_checks(
    [
        CalibratedClassifier(LogisticRegression(), "sigmoid"),
        CalibratedClassifier(GaussianNB(), "pav"),
        CalibratedClassifier(LogisticRegression(), "binning", data="train"),
        CalibratedClassifier(DecisionTreeClassifier(random_state=0), data="holdout", random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_renamed_columns_are_noticed():
    """A check of scikit-learn's that its common set leaves out."""
    check_dataframe_column_names_consistency(
        "CalibratedClassifier", CalibratedClassifier(LogisticRegression())
    )


def test_out_of_fold_scores_and_a_final_fit_on_all_rows(two):
    X, y = two
    model = CalibratedClassifier(LogisticRegression(), "pav").fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=StratifiedKFold(5), method="decision_function")
    by_hand = PAVCalibrator().fit(scores, y)
    final = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.calibrator_.blocks_.value, by_hand.blocks_.value)
    want = by_hand.predict_proba(final.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), want)
    assert model.response_method_ == "decision_function"


def test_many_classes_are_calibrated_one_by_one(three):
    X, y = three
    model = CalibratedClassifier(GaussianNB(), "sigmoid", cv=3).fit(X, y)
    scores = cross_val_predict(GaussianNB(), X, y, cv=StratifiedKFold(3), method="predict_proba")
    answers = np.column_stack(
        [
            SigmoidCalibrator()
            .fit(scores[:, c], y == c)
            .predict_proba(GaussianNB().fit(X, y).predict_proba(X)[:, c])[:, 1]
            for c in range(3)
        ]
    )
    want = answers / answers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-12)
    assert isinstance(model.calibrator_, OneVsAllCalibrator)


@pytest.mark.parametrize(
    ("given", "calibrator"),
    [
        ("accuracy_table", AccuracyTableCalibrator()),
        (RankedLogisticCalibrator(smooth=True), RankedLogisticCalibrator(smooth=True)),
    ],
)
def test_calibrators_of_whole_rows_get_the_scores_of_all_classes(three, two, given, calibrator):
    X, y = three
    learner = make_pipeline(StandardScaler(), LinearSVC())
    model = CalibratedClassifier(learner, given).fit(X, y)
    scores = cross_val_predict(learner, X, y, cv=StratifiedKFold(5), method="decision_function")
    by_hand = calibrator.fit(scores, y)
    want = by_hand.predict_proba(learner.fit(X, y).decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-9)
    proba = CalibratedClassifier(learner, given).fit(*two).predict_proba(two[0])
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_train_protocol_scores_the_rows_that_it_was_trained_on(two):
    X, y = two
    model = CalibratedClassifier(GaussianNB(), "pav", data="train").fit(X, y)
    raw = GaussianNB().fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict_proba(X), PAVCalibrator().fit(raw, y).predict_proba(raw))


def test_holdout_protocol_keeps_a_third_from_training(two):
    X, y = two
    seen = []

    class Recorder(GaussianNB):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    model = CalibratedClassifier(Recorder(), data="holdout", random_state=3).fit(X, y)
    assert seen == [266]
    again = CalibratedClassifier(Recorder(), data="holdout", random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    CalibratedClassifier(Recorder(), data="holdout", holdout_size=0.5).fit(X, y)
    assert seen[-1] == 200


def test_a_frozen_learner_is_not_trained_again(two):
    X, y = two
    learner = LogisticRegression().fit(X[:200], y[:200])
    before = learner.coef_.copy()
    model = CalibratedClassifier(FrozenEstimator(learner), "sigmoid").fit(X[200:], y[200:])
    np.testing.assert_array_equal(learner.coef_, before)
    margin = learner.decision_function
    want = SigmoidCalibrator().fit(margin(X[200:]), y[200:]).predict_proba(margin(X))
    np.testing.assert_array_equal(model.predict_proba(X), want)


def test_a_frozen_learner_keeps_classes_that_do_not_come_up(three):
    X, y = three
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    model = CalibratedClassifier(frozen, "pav").fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert 0 < model.predict_proba(X[y < 2])[:, 2].max() < 0.01
    with pytest.raises(CalibrantError, match=r"labels must be among the classes \[0, 1, 2\]; got 7 in row 0"):
        CalibratedClassifier(frozen).fit(X, np.full(len(y), 7))


@pytest.mark.parametrize(
    ("learner", "method"),
    [(LinearSVC(), "decision_function"), (GaussianNB(), "predict_proba"), (SVC(), "decision_function")],
)
def test_the_score_is_found_and_recorded(two, learner, method):
    assert CalibratedClassifier(learner).fit(*two).response_method_ == method


def test_the_score_can_be_chosen(two):
    X, y = two
    learner = LogisticRegression()
    chosen = CalibratedClassifier(learner, "sigmoid", response_method="predict_proba").fit(X, y)
    assert chosen.response_method_ == "predict_proba"
    # The margin of a logistic regression is its log-odds, so these two must agree.
    margin = CalibratedClassifier(learner, "sigmoid").fit(X, y).predict_proba(X)
    log_odds = CalibratedClassifier(learner, "sigmoid", response_method="log_odds").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(log_odds, margin, atol=1e-9)


def test_log_odds_keep_the_order_where_probabilities_round_to_one():
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X, y, test_size=0.5, random_state=0)
    X_train, X_test, y_train, y_test = parts
    loss = {
        method: brier_score(
            y_test,
            CalibratedClassifier(GaussianNB(), "pav", response_method=method)
            .fit(X_train, y_train)
            .predict_proba(X_test),
        )
        for method in ("predict_proba", "log_odds")
    }
    assert loss["log_odds"] < loss["predict_proba"]


@pytest.mark.parametrize("learner", [GaussianNB(), LinearSVC(), RandomForestClassifier(30, random_state=0)])
@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "binning"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_real_data_become_believable(learner, calibrator, load):
    """On held-out rows the probabilities beat the base rates, and stay distributions."""
    X, y = load(return_X_y=True)
    learner = make_pipeline(StandardScaler(), learner)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = CalibratedClassifier(learner, calibrator, cv=3).fit(X_train, y_train)
    proba = model.predict_proba(X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    base = np.broadcast_to(np.bincount(y_train) / len(y_train), proba.shape)
    assert brier_score(y_test, proba, convention="sum") < 0.5 * brier_score(y_test, base, convention="sum")
    assert (model.predict(X_test) == model.classes_[proba.argmax(axis=1)]).all()
    assert log_loss(y_test, proba, clip=1e-3) < log_loss(y_test, base)


def test_relabelling_permutes_the_columns(three):
    X, y = three
    names = np.array(["c", "a", "b"])
    plain = CalibratedClassifier(GaussianNB()).fit(X, y)
    named = CalibratedClassifier(GaussianNB()).fit(X, names[y])
    assert named.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(named.predict_proba(X), plain.predict_proba(X)[:, [1, 2, 0]], atol=1e-12)
    assert (named.predict(X) == names[plain.predict(X)]).all()


def test_a_weight_is_a_number_of_copies(two):
    X, y = two
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    half = np.arange(len(y)) < 200
    copied = np.repeat(half, weights)
    splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (half, ~half)]
    copied_splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (copied, ~copied)]
    learner = GaussianNB()
    weighted = CalibratedClassifier(learner, cv=splits).fit(X, y, sample_weight=weights)
    repeated = CalibratedClassifier(learner, cv=copied_splits)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    # The learner's scores differ by rounding, and the searches of the stack end by a tolerance.
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=5e-6)


def test_weights_that_the_learner_cannot_take_still_calibrate(two):
    X, y = two
    weights = np.where(y == "yes", 9.0, 1.0)
    model = CalibratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), "sigmoid")
    with pytest.warns(UserWarning, match=r"Pipeline\.fit takes no sample_weight.*calibration alone"):
        model.fit(X, y, sample_weight=weights)
    assert model.predict_proba(X)[:, 1].mean() > 0.8
    # By its own parameter the learner gets them as well.
    assert clone(model).fit(X, y, logisticregression__sample_weight=weights).predict_proba(X).shape == (
        400,
        2,
    )


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_metadata_routing_reaches_learner_and_splitter(two):
    X, y = two
    groups = np.arange(len(y)) % 7
    weights = np.random.default_rng(0).gamma(1, size=len(y))
    seen = []

    class Splitter(GroupKFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    class Learner(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(sample_weight))
            return super().fit(X, y, sample_weight)

    learner = Learner().set_fit_request(sample_weight=True)
    model = CalibratedClassifier(learner, cv=Splitter(3).set_split_request(groups=True))
    model.set_fit_request(sample_weight=True)
    model.fit(X, y, sample_weight=weights, groups=groups)
    np.testing.assert_array_equal(seen[0], groups)
    assert seen[-1] == len(y)
    want = CalibratedClassifier(GaussianNB().set_fit_request(sample_weight=True), cv=model.cv)
    want.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weights, groups=groups)
    np.testing.assert_array_equal(model.predict_proba(X), want.predict_proba(X))


def test_inside_scikit_learns_own_tools(two):
    X, y = two
    scores = cross_val_score(CalibratedClassifier(GaussianNB(), cv=3), X, y, cv=3, scoring="neg_log_loss")
    assert scores.shape == (3,)
    params = CalibratedClassifier(LogisticRegression(), PAVCalibrator()).get_params()
    assert {"estimator__C", "calibrator__between", "cv"} <= set(params)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_the_learner_as_frames(two, frame):
    X, y = two
    table = frame({f"x{i}": X[:, i] for i in range(6)})
    by_name = make_column_transformer((StandardScaler(), ["x0", "x1", "x2"]))
    model = CalibratedClassifier(make_pipeline(by_name, LogisticRegression()), "sigmoid").fit(table, y)
    plain = CalibratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), "sigmoid")
    plain.fit(X[:, :3], y)
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(X[:, :3]), atol=1e-9)
    assert model.feature_names_in_.tolist() == [f"x{i}" for i in range(6)]


def test_sparse_rows_and_texts():
    texts = ["good fine", "bad poor", "fine", "poor bad bad", "good good", "bad"] * 5
    y = [1, 0, 1, 0, 1, 0] * 5
    words = CountVectorizer().fit(texts)
    sparse = csr_array(words.transform(texts))
    of_texts = CalibratedClassifier(make_pipeline(CountVectorizer(), BernoulliNB()), "sigmoid").fit(texts, y)
    of_counts = CalibratedClassifier(BernoulliNB(), "sigmoid").fit(sparse, y)
    np.testing.assert_allclose(of_texts.predict_proba(texts), of_counts.predict_proba(sparse), atol=1e-9)


def test_jobs_change_nothing(three):
    X, y = three
    alone = CalibratedClassifier(GaussianNB(), n_jobs=None).fit(X, y).predict_proba(X)
    together = CalibratedClassifier(GaussianNB(), n_jobs=2).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(alone, together)


def test_a_calibrator_object_is_copied_and_not_fitted(two):
    calibrator = BinningCalibrator(n_bins=4)
    model = CalibratedClassifier(GaussianNB(), calibrator).fit(*two)
    assert model.calibrator_.n_bins_ == 4
    assert not hasattr(calibrator, "classes_")


def test_a_class_missing_from_a_fold_keeps_its_place(three):
    """The single row of class 2 is scored only by a learner that has never seen its class."""
    X, y = three
    rows = np.append(np.flatnonzero(y < 2), 149)
    model = CalibratedClassifier(GaussianNB(), "sigmoid", cv=3).fit(X[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2]
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba[:, 2] > 0).all()


def test_one_class_is_certain():
    X = np.arange(8.0)[:, None]
    model = CalibratedClassifier(LogisticRegression()).fit(X, ["only"] * 8)
    assert model.predict(X).tolist() == ["only"] * 8
    assert model.predict_proba(X).tolist() == [[1.0]] * 8


def test_two_classes_need_both_in_every_training_fold():
    X, y = np.arange(12.0)[:, None], np.array([0] * 11 + [1])
    message = (
        r"every training fold must hold at least two classes; fold 1 holds only 0; "
        r"the rarest class is 1 with 1 of 12 rows; use fewer folds"
    )
    with pytest.raises(CalibrantError, match=message):
        CalibratedClassifier(GaussianNB()).fit(X, y)
    with pytest.raises(
        CalibrantError, match=r"n_splits=5 greater than .*n_samples=4.*the rarest class is 0 with 2 of 4"
    ):
        CalibratedClassifier(GaussianNB()).fit(X[:4], [0, 0, 1, 1])
    assert CalibratedClassifier(GaussianNB(), data="train").fit(X, y).classes_.tolist() == [0, 1]


class OddLearner(ClassifierMixin, BaseEstimator):
    """Gives what it was told to give, whatever was asked."""

    def __init__(self, gives=None):
        self.gives = gives

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.full((len(X), *np.shape(self.gives)), self.gives)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            CalibratedClassifier(Perceptron(), response_method="predict_proba"),
            "response_method='predict_proba' needs a learner with predict_proba; Perceptron has none",
        ),
        (
            CalibratedClassifier(LinearSVC(), response_method="log_odds"),
            "response_method='log_odds' needs a learner with predict_log_proba; LinearSVC has none",
        ),
        (CalibratedClassifier(StandardScaler()), "StandardScaler has neither; choose another learner"),
        (
            CalibratedClassifier(OddLearner(np.nan)),
            "decision_function of OddLearner must be finite; got nan in row 0 and 79 more",
        ),
        (
            CalibratedClassifier(OddLearner([1.0, 2.0, 3.0])),
            "decision_function must give one score per class, 2 in all; OddLearner gave 3 columns",
        ),
        (
            CalibratedClassifier(GaussianNB(), "plait"),
            "calibrator must be one of 'auto', 'pav', 'sigmoid', .*got 'plait'",
        ),
        (
            CalibratedClassifier(GaussianNB(), PAVCalibrator),
            "calibrator must be a name or an object with fit",
        ),
        (
            CalibratedClassifier(GaussianNB(), data="test"),
            "data must be one of 'cv', 'train', 'holdout'; got 'test'",
        ),
        (
            CalibratedClassifier(GaussianNB(), data="holdout", holdout_size=1.5),
            "holdout_size must be a share between 0 and 1; got 1.5",
        ),
        (
            CalibratedClassifier(GaussianNB(), response_method="predict"),
            "response_method must be one of 'auto', .*got 'predict'",
        ),
    ],
    ids=str,
)
def test_what_it_refuses(two, model, message):
    with pytest.raises(CalibrantError, match=message):
        model.fit(*two)


def test_a_pairwise_svm_is_told_what_to_do():
    X, y = load_digits(return_X_y=True)
    model = CalibratedClassifier(SVC(decision_function_shape="ovo"), cv=2)
    with pytest.raises(
        CalibrantError, match=r"10 in all; SVC gave 45 columns.*decision_function_shape='ovr'"
    ):
        model.fit(X, y)


def test_bad_weights_are_refused(two):
    X, y = two
    with pytest.raises(CalibrantError, match=r"sample_weight must not be negative; got -1.0 in row 0"):
        CalibratedClassifier(GaussianNB()).fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(CalibrantError, match="one weight per row, 400 in all"):
        CalibratedClassifier(GaussianNB()).fit(X, y, sample_weight=[1, 2])
