"""The graphs of the two-class calibrators against the calibrators, at every knot and one bit beside it."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit

from calibrant import (
    BinningCalibrator,
    CalibrantError,
    IdentityCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators import CodeCalibrator, ConstantAnswer
from calibrant.codes import one_vs_all
from golden import assert_golden, golden_cases
from models.onnx_cases import beside, proba_of, run, scored_rows

BETWEEN = ["nearest", "linear", "average", "lower", "upper"]


@pytest.mark.parametrize("case", golden_cases("pav"))
@pytest.mark.parametrize("between", BETWEEN)
def test_golden(case, between):
    given_, want = case["in"], case["out"]
    pav = PAVCalibrator(between, increasing=given_["increasing"], clip=0)
    pav.fit(given_["s"], given_["y"], given_.get("w"))
    got = proba_of(pav, given_["query"])[:, 1]
    assert_golden(got.tolist(), want["predict"][between], case["tol"])


scores_and_labels = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-4, 4).map(lambda i: i / 2),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("between", BETWEEN)
@settings(max_examples=15)
@given(
    rows=scores_and_labels,
    increasing=st.booleans(),
    laplace=st.booleans(),
    clip=st.sampled_from([None, 0.0, 0.01, 0.2]),
)
def test_isotonic_maps_to_the_last_bit(between, rows, increasing, laplace, clip):
    scores, y = (np.array(column) for column in zip(*rows, strict=True))
    pav = PAVCalibrator(between, increasing=increasing, clip=clip, laplace=laplace).fit(scores, y)
    query = beside(np.unique(np.concatenate([pav.blocks_.lo, pav.blocks_.hi, scores])))
    np.testing.assert_array_equal(proba_of(pav, query), pav.predict_proba(query))


@settings(max_examples=20)
@given(rows=scores_and_labels, n_bins=st.integers(1, 9), smoothing=st.sampled_from([None, "laplace", "m"]))
def test_bins_to_the_last_bit(rows, n_bins, smoothing):
    scores, y = (np.array(column) for column in zip(*rows, strict=True))
    binning = BinningCalibrator(n_bins, smoothing).fit(scores, y)
    query = beside(np.unique(np.concatenate([binning.edges_, scores])))
    np.testing.assert_array_equal(proba_of(binning, query), binning.predict_proba(query))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-9, 1.0, 1e6]), smooth=st.booleans())
def test_sigmoid(seed, scale, smooth):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=60) * scale
    y = rng.random(60) < expit(scores / scale)
    sigmoid = SigmoidCalibrator(smooth=smooth).fit(scores, y)
    middle = -sigmoid.B_ / sigmoid.A_
    query = np.concatenate([scores, scores * 1e3, np.nextafter(middle, [-np.inf, middle, np.inf])])
    got, want = proba_of(sigmoid, query), sigmoid.predict_proba(query)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-15)


def test_the_tails_of_a_sigmoid_keep_their_digits():
    sigmoid = SigmoidCalibrator().fit([-1.0, 1.0], [0, 1])
    query = np.linspace(-600, 600, 101) / sigmoid.A_
    got = proba_of(sigmoid, query)[:, 1]
    np.testing.assert_allclose(got, sigmoid.predict_proba(query)[:, 1], rtol=1e-13)
    assert got[-1] < 1e-259
    np.testing.assert_array_equal(proba_of(sigmoid, [1e308, -1e308])[:, 1], [1.0, 0.0])


@pytest.mark.parametrize("slope", [1 + 1e-8, 1 - 1e-8, np.nextafter(1, 2), 1.0, -1 - 1e-8])
def test_a_slope_that_single_precision_takes_for_one(slope):
    """onnxruntime drops a factor that rounds to 1 in single precision, unless it is kept from doing so."""
    sigmoid = SigmoidCalibrator().fit([-1.0, 1.0], [0, 1])
    sigmoid.A_, sigmoid.B_ = slope, -1e8 * slope + 0.5
    query = 1e8 + np.linspace(-5, 5, 11)
    np.testing.assert_allclose(proba_of(sigmoid, query), sigmoid.predict_proba(query), rtol=0, atol=1e-15)


def test_sigmoid_of_log_odds():
    rng = np.random.default_rng(0)
    proba = rng.random(200)
    sigmoid = SigmoidCalibrator(transform="logit").fit(proba, rng.random(200) < proba)
    query = np.concatenate([proba, [0.0, 1.0, 0.5, -1e-10, 1 + 1e-10, 1e-13, 1 - 1e-13, 1e-300]])
    np.testing.assert_allclose(proba_of(sigmoid, query), sigmoid.predict_proba(query), rtol=0, atol=1e-14)


def test_scores_taken_as_they_are():
    identity = IdentityCalibrator().fit([0.2, 0.9], [0, 1])
    query = np.array([0.0, 1.0, 0.3, -1e-10, 1 + 1e-10, 5e-324])
    np.testing.assert_array_equal(proba_of(identity, query), identity.predict_proba(query))


@pytest.mark.parametrize(
    "calibrator",
    [PAVCalibrator(), PAVCalibrator("linear", clip=0.1), BinningCalibrator(), SigmoidCalibrator()],
    ids=repr,
)
def test_a_score_that_is_no_number_has_no_probability(calibrator):
    calibrator.fit([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])
    got = proba_of(calibrator, [np.nan, 2.0, np.inf, -np.inf])
    assert np.isnan(got).all(axis=1).tolist() == [True, False, True, True]
    np.testing.assert_allclose(got[1], calibrator.predict_proba([2.0])[0], atol=1e-15)


@pytest.mark.parametrize("calibrator", [IdentityCalibrator(), SigmoidCalibrator(transform="logit")], ids=repr)
def test_a_score_that_is_no_probability_has_no_probability(calibrator):
    calibrator.fit([0.1, 0.4, 0.5, 0.9], [0, 1, 0, 1])
    for score in (-2e-9, 1 + 2e-9, np.nan):
        with pytest.raises(CalibrantError):
            calibrator.predict_proba([score])
    got = proba_of(calibrator, [-2e-9, 1 + 2e-9, np.nan, 0.4])
    assert np.isnan(got).all(axis=1).tolist() == [True, True, True, False]


def test_no_rows():
    pav = PAVCalibrator().fit([1.0, 2.0], [0, 1])
    assert proba_of(pav, np.empty((0, 1))).shape == (0, 2)


def test_columns_of_several_kinds_keep_their_places():
    scores, y = scored_rows(300, 5)
    model = OneVsAllCalibrator("sigmoid").fit(scores, y)
    given_ = [PAVCalibrator(), SigmoidCalibrator(), PAVCalibrator("linear"), BinningCalibrator()]
    fitted = [
        each.fit(score, y == place) for place, (each, score) in enumerate(zip(given_, scores.T, strict=False))
    ]
    model.calibrators_ = [*fitted, ConstantAnswer(0.25)]
    np.testing.assert_allclose(proba_of(model, scores), model.predict_proba(scores), rtol=0, atol=1e-15)


def test_a_column_whose_rows_are_all_on_one_side():
    scores, y = scored_rows(200, 3)
    kept = y != 2
    model = CodeCalibrator(one_vs_all(3), "pav", "normalize", classes=[0, 1, 2]).fit(scores[kept], y[kept])
    assert isinstance(model.calibrators_[2], ConstantAnswer)
    np.testing.assert_allclose(proba_of(model, scores), model.predict_proba(scores), rtol=0, atol=1e-15)
    spoilt = scores.copy()
    spoilt[0, 2] = np.inf
    assert np.isnan(proba_of(model, spoilt)[0]).all()


def test_many_rows_at_once():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300_000)
    for between in ("nearest", "linear"):
        pav = PAVCalibrator(between).fit(scores, rng.random(len(scores)) < expit(scores))
        np.testing.assert_array_equal(proba_of(pav, scores), pav.predict_proba(scores))


def test_a_calibrator_of_ones_own_inside():
    class Halved(SigmoidCalibrator):
        def predict_proba(self, scores):
            return super().predict_proba(scores) / 2

    scores, y = scored_rows(50, 3)
    model = OneVsAllCalibrator(Halved()).fit(scores, y)
    with pytest.raises(CalibrantError, match="got a Halved, whose map is not known; fit one of"):
        run(model, scores)
