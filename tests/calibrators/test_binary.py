"""Laws and border checks that hold for every two-class calibrator."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from calibrant import BinningCalibrator, CalibrantError, PAVCalibrator, SigmoidCalibrator

#: The laws hold for any labels, also for those that chance has put the wrong way round.
pytestmark = pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")

CALIBRATORS = [
    PAVCalibrator(),
    PAVCalibrator(between="linear"),
    PAVCalibrator(between="average", increasing=False),
    PAVCalibrator(laplace=True, clip=0.01),
    BinningCalibrator(n_bins=4),
    BinningCalibrator(n_bins=3, smoothing="laplace"),
    BinningCalibrator(n_bins=3, smoothing="m"),
    SigmoidCalibrator(),
]
every = pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=60).round(1)
    return scores, (rng.random(60) < 1 / (1 + np.exp(-2 * scores))).astype(int)


rows = st.lists(
    st.tuples(st.integers(-5, 5).map(lambda i: i / 2), st.booleans(), st.integers(0, 4)),
    min_size=2,
    max_size=25,
).filter(lambda rows: sum(weight for *_, weight in rows) > 0)


@every
def test_rows_are_distributions(calibrator, data):
    proba = clone(calibrator).fit(*data).predict_proba(np.linspace(-9, 9, 50))
    assert proba.shape == (50, 2)
    assert proba.dtype == np.float64
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_array_equal(proba.sum(axis=1), 1.0)


@every
@settings(max_examples=30, deadline=None)
@given(rows=rows)
def test_a_weight_is_a_number_of_copies(calibrator, rows):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    if isinstance(calibrator, BinningCalibrator):
        weights = np.minimum(weights, 1)  # copies move the edges; weights, by definition, do not
        if not weights.any():
            weights[0] = 1
    query = np.linspace(-3, 3, 25)
    weighted = clone(calibrator).fit(scores, labels, weights).predict_proba(query)
    copied = clone(calibrator).fit(np.repeat(scores, weights), np.repeat(labels, weights))
    np.testing.assert_allclose(weighted, copied.predict_proba(query), rtol=0, atol=1e-12)


@every
def test_the_order_of_the_rows_does_not_matter(calibrator, data):
    scores, y = data
    order = np.random.default_rng(2).permutation(len(y))
    query = np.linspace(-3, 3, 25)
    here = clone(calibrator).fit(scores, y).predict_proba(query)
    there = clone(calibrator).fit(scores[order], y[order]).predict_proba(query)
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-12)


@every
@pytest.mark.parametrize(
    "names", [(0, 1), (-1, 1), (1, 2), (False, True), ("no", "yes"), (0.0, 1.0)], ids=str
)
def test_labels_may_be_any_two_values(calibrator, data, names):
    scores, y = data
    fitted = clone(calibrator).fit(scores, np.array(names)[y])
    assert fitted.classes_.tolist() == list(names)
    plain = clone(calibrator).fit(scores, y)
    np.testing.assert_array_equal(fitted.predict_proba(scores), plain.predict_proba(scores))


@every
@pytest.mark.parametrize(
    "wrap",
    [
        list,
        pd.Series,
        pl.Series,
        pa.array,
        lambda column: column[:, None],
        lambda column: pd.DataFrame({"column": column}),
        lambda column: pl.DataFrame({"column": column}),
        lambda column: pa.table({"column": column}),
        lambda column: pd.Series(column).convert_dtypes(),
    ],
)
def test_columns_of_any_kind(calibrator, data, wrap):
    scores, y = data
    fitted = clone(calibrator).fit(wrap(scores), wrap(y), wrap(np.ones(len(y))))
    plain = clone(calibrator).fit(scores, y)
    np.testing.assert_allclose(fitted.predict_proba(wrap(scores)), plain.predict_proba(scores), atol=1e-12)


@every
def test_float32_scores_are_their_float64_values(calibrator, data):
    scores, y = data[0].astype(np.float32), data[1]
    single = clone(calibrator).fit(scores, y).predict_proba(scores)
    double = clone(calibrator).fit(scores.astype(float), y).predict_proba(scores.astype(float))
    np.testing.assert_array_equal(single, double)


@pytest.mark.parametrize(
    "calibrator", [each for each in CALIBRATORS if not isinstance(each, BinningCalibrator)], ids=repr
)
def test_shares_are_rows_of_both_classes(calibrator):
    """A share of 1/4 with weight 4 is one positive and three negatives of the same score."""
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    shares = np.array([0.25, 0.5, 0.25, 0.75])
    fitted = clone(calibrator).fit(scores, shares, np.full(4, 4.0))
    assert fitted.classes_.tolist() == [0, 1]
    split = np.concatenate([scores, scores]), np.repeat([True, False], 4)
    weights = np.concatenate([4 * shares, 4 * (1 - shares)])
    apart = clone(calibrator).fit(*split, weights)
    query = np.linspace(0, 5, 21)
    np.testing.assert_allclose(fitted.predict_proba(query), apart.predict_proba(query), atol=1e-12)


@every
def test_no_rows_to_predict_is_no_error(calibrator, data):
    assert clone(calibrator).fit(*data).predict_proba([]).shape == (0, 2)


@every
def test_input_is_not_changed_and_may_be_read_only(calibrator, data):
    scores, y = data
    before = scores.copy()
    scores.setflags(write=False)
    y.setflags(write=False)
    clone(calibrator).fit(scores, y).predict_proba(scores)
    np.testing.assert_array_equal(scores, before)


@every
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_gives_a_constant(calibrator, label):
    proba = clone(calibrator).fit([1, 2, 3], [label] * 3).predict_proba([-9, 2, 9])[:, 1]
    assert np.ptp(proba) == 0
    assert (proba[0] > 0.5) == label


@every
def test_scikit_learn_can_handle_its_parameters(calibrator):
    name = type(calibrator).__name__
    for check in (
        check_estimator_cloneable,
        check_estimator_repr,
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ):
        check(name, clone(calibrator))
    assert clone(calibrator).get_params() == calibrator.get_params()


@every
def test_it_must_be_fitted_first(calibrator):
    name = type(calibrator).__name__
    with pytest.raises(CalibrantError, match=f"this {name} must be fitted before it is used") as error:
        clone(calibrator).predict_proba([1.0])
    assert isinstance(error.value, NotFittedError)


BAD_FITS = {
    "nan score": ([1, np.nan, 3], [0, 1, 1], None, "scores must be finite; got nan in row 1; drop"),
    "two bad scores": ([np.inf, 2, np.nan], [0, 1, 1], None, "got inf in row 0 and 1 more"),
    "text score": ([1, "x", 3], [0, 1, 1], None, "scores must be numbers; got"),
    "object score": (np.array([1, None, "x"], object), [0, 1, 1], None, "got None in row 1"),
    "matrix": (np.ones((3, 2)), [0, 1, 1], None, r"one column.*got shape \(3, 2\).*OneVsAllCalibrator"),
    "ragged": ([[1], [2, 3]], [0, 1], None, "rows of different lengths"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), [0, 1], None, "got 1 masked ones"),
    "no rows": ([], [], None, "scores must have at least one row; got none"),
    "lengths": ([1, 2, 3], [0, 1], None, "scores and labels must have the same number of rows; got 3 and 2"),
    "three labels": ([1, 2, 3], [0, 1, 2], None, "labels must have two values; got 3: 0, 1, 2; more classes"),
    "many labels": (range(7), list("abcdefg"), None, "got 7: 'a', 'b', 'c', 'd', 'e', ...;"),
    "one odd label": ([1, 2], ["spam", "spam"], None, "got only 'spam', and its partner cannot be guessed"),
    "one odd number": ([1, 2], [7, 7], None, "got only 7, and its partner"),
    "nan label": ([1, 2, 3], [0, np.nan, 1], None, "labels must be finite; got nan in row 1"),
    "missing label": ([1, 2], ["a", None], None, "labels must not be missing; got None in row 1"),
    "share above one": ([1, 2], [0.5, 1.5], None, "got the number 0.5, which can name no class"),
    "label matrix": ([1, 2], [[0, 1], [1, 0]], None, r"labels must be one column; got shape \(2, 2\)"),
    "mixed labels": ([1, 2], np.array(["a", 1], object), None, "of one type; got int and str"),
    "negative weight": ([1, 2], [0, 1], [1, -2], "sample_weight must not be negative; got -2.0 in row 1"),
    "zero weights": ([1, 2], [0, 1], [0, 0], "sample_weight must not be all zero"),
    "nan weight": ([1, 2], [0, 1], [1, np.nan], "sample_weight must be finite; got nan in row 1"),
    "few weights": ([1, 2], [0, 1], [1], r"one weight per row, 2 in all; got shape \(1,\)"),
}


@every
@pytest.mark.parametrize("case", BAD_FITS.values(), ids=BAD_FITS)
def test_bad_rows_are_refused_with_a_reason(calibrator, case):
    *arguments, message = case
    model = clone(calibrator)
    with pytest.raises(CalibrantError, match=message):
        model.fit(*arguments)
    assert not hasattr(model, "classes_")


@every
@pytest.mark.parametrize("scores", [[1, np.nan], [np.inf], ["x"], np.ones((2, 2))], ids=str)
def test_bad_scores_are_refused_after_fit_too(calibrator, data, scores):
    with pytest.raises(CalibrantError, match="scores must be"):
        clone(calibrator).fit(*data).predict_proba(scores)


def test_sparse_and_lazy_input_is_refused():
    from scipy.sparse import csr_array

    with pytest.raises(CalibrantError, match=r"must be dense; got a sparse csr_array; call \.toarray\(\)"):
        PAVCalibrator().fit(csr_array(np.ones((2, 1))), [0, 1])
    with pytest.raises(CalibrantError, match=r"must be in memory; got a lazy frame; call \.collect\(\)"):
        PAVCalibrator().fit(pl.LazyFrame({"s": [1.0, 2.0]}), [0, 1])
