"""CalibratedClassifier with a code matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import CalibrantError, CalibratedClassifier, SigmoidCalibrator
from calibrant.calibrators import ConstantAnswer
from calibrant.codes import all_pairs, coupling, one_vs_all, random_dense
from calibrant.metrics import brier_score, error_rate

CODES = ["one_vs_all", "all_pairs", "exhaustive", "ordinal", "random_dense", "random_sparse"]
PAIRS = [(code, combine) for code in CODES for combine in ("least_squares", "coupling")]
PAIRS.append(("one_vs_all", "normalize"))


@pytest.fixture(scope="module")
def three():
    return load_iris(return_X_y=True)


@parametrize_with_checks(
    [
        CalibratedClassifier(GaussianNB(), "sigmoid", code, combine, cv=2, random_state=0)
        for code, combine in PAIRS
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("code", "combine"), PAIRS)
@pytest.mark.parametrize("calibrator", ["pav", "sigmoid", "binning"])
def test_every_code_with_every_combination(three, code, combine, calibrator):
    X, y = three
    model = CalibratedClassifier(GaussianNB(), calibrator, code, combine, cv=3, random_state=0).fit(X, y)
    proba = model.predict_proba(X)
    assert model.code_.shape[0] == 3
    assert len(model.columns_) == model.code_.shape[1] == len(model.calibrator_.counts_)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-9)
    assert np.mean(model.predict(X) == y) > 0.9


def test_a_column_is_calibrated_on_its_own_rows_out_of_fold(three):
    X, y = three
    model = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling", cv=3).fit(X, y)
    folds = np.empty(len(y), dtype=int)
    for number, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
        folds[test] = number
    answers = []
    for column in all_pairs(3).T:
        rows = np.flatnonzero(column[y])
        label = (column[y[rows]] > 0).astype(int)
        splits = [(np.flatnonzero(folds[rows] != f), np.flatnonzero(folds[rows] == f)) for f in range(3)]
        scores = cross_val_predict(GaussianNB(), X[rows], label, cv=splits, method="predict_proba")[:, 1]
        final = GaussianNB().fit(X[rows], label).predict_proba(X)[:, 1]
        answers.append(SigmoidCalibrator().fit(scores, label).predict_proba(final)[:, 1])
    want = coupling(all_pairs(3), np.column_stack(answers), model.calibrator_.counts_)
    np.testing.assert_allclose(model.predict_proba(X), want, atol=1e-9)
    assert model.calibrator_.counts_.tolist() == [100, 100, 100]


def test_two_classes_need_no_code(three):
    X, y = three[0][:100], three[1][:100]
    coded = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling").fit(X, y)
    plain = CalibratedClassifier(GaussianNB(), "sigmoid").fit(X, y)
    np.testing.assert_array_equal(coded.predict_proba(X), plain.predict_proba(X))
    assert coded.code_ is None


def test_relabelling_permutes_the_columns(three):
    X, y = three
    names = np.array(["c", "a", "b"])
    plain = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling").fit(X, y)
    named = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling").fit(X, names[y])
    np.testing.assert_allclose(named.predict_proba(X), plain.predict_proba(X)[:, [1, 2, 0]], atol=1e-6)


def test_a_matrix_of_ones_own(three):
    X, y = three
    matrix = random_dense(3, random_state=1)
    by_matrix = CalibratedClassifier(GaussianNB(), "sigmoid", matrix, "least_squares").fit(X, y)
    np.testing.assert_array_equal(by_matrix.code_, matrix)
    by_name = CalibratedClassifier(GaussianNB(), "sigmoid", "random_dense", "least_squares", random_state=1)
    np.testing.assert_array_equal(by_name.fit(X, y).predict_proba(X), by_matrix.predict_proba(X))


def test_jobs_change_nothing(three):
    X, y = three
    alone = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling").fit(X, y)
    together = CalibratedClassifier(GaussianNB(), "sigmoid", "all_pairs", "coupling", n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))


def test_a_weight_is_a_number_of_copies(three):
    X, y = three
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    half = np.arange(len(y)) % 2 == 0
    copied = np.repeat(half, weights)
    splits, copied_splits = (
        [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (rows, ~rows)] for rows in (half, copied)
    )
    options = {"calibrator": "sigmoid", "code": "all_pairs", "combine": "coupling"}
    weighted = CalibratedClassifier(GaussianNB(), cv=splits, **options).fit(X, y, sample_weight=weights)
    repeated = CalibratedClassifier(GaussianNB(), cv=copied_splits, **options)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_a_class_with_one_row_keeps_its_place(three):
    """Its columns lack a side in the fold that it is scored in, and in no other."""
    X, y = three
    rows = np.append(np.flatnonzero(y < 2), 149)
    for code in ("one_vs_all", "all_pairs"):
        model = CalibratedClassifier(GaussianNB(), "sigmoid", code, "coupling", cv=3)
        proba = model.fit(X[rows], y[rows]).predict_proba(X)
        assert model.classes_.tolist() == [0, 1, 2]
        np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_a_column_with_rows_on_one_side_is_constant(three):
    """A frozen order of classes cannot make one; a training part without a class can."""
    X, y = three
    split = [(np.flatnonzero(y != 2), np.arange(len(y)))]
    model = CalibratedClassifier(GaussianNB(), "sigmoid", "one_vs_all", "least_squares", cv=split).fit(X, y)
    assert model.columns_[2] is None
    assert model.calibrator_.calibrators_[2] == ConstantAnswer((50 + 1) / (150 + 2))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_sparse_rows():
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 4] > 8, y[y < 4]
    dense = CalibratedClassifier(BernoulliNB(), "sigmoid", "all_pairs", "coupling", cv=2).fit(X, y)
    sparse = CalibratedClassifier(BernoulliNB(), "sigmoid", "all_pairs", "coupling", cv=2).fit(
        csr_array(X), y
    )
    np.testing.assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-9)


def test_raw_answers_can_be_combined_too():
    """The baseline rows of ZE02 table 4: no calibration, then each combination; PAV beats all of them."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    for combine in ("normalize", "least_squares", "coupling"):
        losses = [
            brier_score(
                y_test,
                CalibratedClassifier(GaussianNB(), calibrator, "one_vs_all", combine, cv=3)
                .fit(X_train, y_train)
                .predict_proba(X_test),
            )
            for calibrator in ("identity", "pav")
        ]
        assert losses[1] < losses[0]


def test_the_successor_of_probability_svc():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = CalibratedClassifier(SVC(), "sigmoid", "all_pairs", "coupling", cv=3).fit(X_train, y_train)
    assert error_rate(y_test, model.predict_proba(X_test)) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"code": "pairs"}, "code must be one of 'one_vs_all', .*got 'pairs'"),
        ({"code": one_vs_all(4)}, "code must have one row per class, 3 in all; got 4 rows"),
        ({"code": "all_pairs", "combine": "normalize"}, "code must be one_vs_all for combine='normalize'"),
        (
            {"code": "all_pairs", "combine": "coupling", "calibrator": "accuracy_table"},
            "must take one score for the columns of a code; got 'accuracy_table'.*use code=None",
        ),
        ({"code": "all_pairs", "combine": "mean"}, "combine must be one of .*got 'mean'"),
    ],
)
def test_what_it_refuses(three, parameters, message):
    with pytest.raises(CalibrantError, match=message):
        CalibratedClassifier(GaussianNB(), **parameters).fit(*three)


def test_a_frozen_learner_cannot_learn_columns(three):
    X, y = three
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(CalibrantError, match="a code needs a learner that can be trained.*use code=None"):
        CalibratedClassifier(frozen, code="all_pairs", combine="coupling").fit(X, y)
