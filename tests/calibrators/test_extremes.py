"""Scores of any size, down to the least and up to the greatest: right, or refused in so many words.

No operation may overflow, divide by zero or make a NaN on the way, and no score may change its meaning
because of its size, or because another one is next to it.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from calibrant import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    CalibrantError,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant.files import PassOptions, Rows, fit
from calibrant.metrics import rescale_margin

TINY, GREAT = 5e-324, np.finfo(float).max
#: All sizes of numbers alike, the least and the greatest, and neighbours of each.
SIZES = st.builds(
    lambda exponent, mantissa, sign: sign * np.ldexp(mantissa, exponent),
    st.integers(-1074, 1023),
    st.sampled_from([1.0, 1.25, 1.5, np.nextafter(2.0, 0.0)]),
    st.sampled_from([-1.0, 1.0]),
)
EXTREMES = st.sampled_from(
    [0.0, -0.0, TINY, -TINY, 3e-324, 1e-310, 2.2e-308, 1e-300, 1.0, 1e300, GREAT, -GREAT]
)
NEXT = st.builds(
    lambda value: float(np.nextafter(value, np.inf)), st.sampled_from([0.0, 1.0, 1e-310, -GREAT, 1e300])
)
#: Scores of one size, so that differences matter, or of all sizes.
ONE_SIZE = st.builds(
    lambda exponent, numbers: [float(np.ldexp(number, exponent)) for number in numbers],
    st.integers(-1074, 1020),
    st.lists(st.integers(-7, 7), min_size=2, max_size=12),
)
SCORES = ONE_SIZE | st.lists(SIZES | EXTREMES | NEXT, min_size=2, max_size=12)

TWO_CLASS = [
    SigmoidCalibrator(),
    SigmoidCalibrator(smooth=False),
    BinningCalibrator(2),
    BinningCalibrator(5, smoothing="laplace"),
    *[PAVCalibrator(between=between) for between in ("nearest", "linear", "average", "lower", "upper")],
    PAVCalibrator(increasing=False),
]
MANY_CLASSES = [
    RankedLogisticCalibrator("A", smooth=True),
    RankedLogisticCalibrator("single"),
    AccuracyTableCalibrator(n_cells=3),
    OneVsAllCalibrator(PAVCalibrator()),
    OneVsAllCalibrator(SigmoidCalibrator()),
]
PASSES = [SigmoidCalibrator(), BinningCalibrator(2), PAVCalibrator(), PAVCalibrator(between="linear")]


def strictly(fit):
    """Fit, and predict, with every floating-point fault an error but underflow; None if that is refused."""
    with np.errstate(all="raise", under="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return fit()
        except CalibrantError as error:
            assert "; got" in str(error)  # noqa: PT017
            return None


def assert_probabilities(proba):
    assert np.isfinite(proba).all()
    assert proba.min() >= 0
    assert proba.max() <= 1
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)


def labels(n):
    return st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)


@pytest.mark.parametrize("model", TWO_CLASS, ids=str)
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_one_score(model, data):
    scores = data.draw(SCORES)
    y = data.draw(labels(len(scores)))
    queries = np.sort(data.draw(SCORES) + scores)
    proba = strictly(lambda: model.fit(scores, y).predict_proba(queries))
    if proba is None:
        assert isinstance(model, SigmoidCalibrator)
        assert np.ptp(np.array(scores) / 2) < 1e-290
        return
    assert_probabilities(proba)
    if not isinstance(model, BinningCalibrator):
        steps = np.diff(proba[:, 1])
        falls = getattr(model, "A_", 0) > 0 or not getattr(model, "increasing", True)
        assert (steps <= 1e-15).all() if falls else (steps >= -1e-15).all()


@pytest.mark.parametrize("model", PASSES, ids=str)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_one_score_in_passes(model, data):
    scores = np.array(data.draw(SCORES))
    y = data.draw(labels(len(scores)))
    parts = [Rows(scores[some], y[some].astype(np.intp)) for some in (slice(0, 2), slice(2, None))]
    few = PassOptions(n_bins=20)
    proba = strictly(
        lambda: fit(
            model, lambda: iter(part for part in parts if len(part.scores)), classes=[0, 1], options=few
        ).predict_proba(scores)
    )
    expected = strictly(lambda: model.fit(scores, y).predict_proba(scores))
    assert (proba is None) == (expected is None)
    if proba is not None:
        np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", MANY_CLASSES, ids=str)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_one_score_per_class(model, data):
    rows = [
        (data.draw(SIZES | EXTREMES), data.draw(SIZES | EXTREMES), data.draw(SIZES | EXTREMES))
        for _ in range(data.draw(st.integers(3, 7)))
    ]
    if data.draw(st.booleans()):
        size = data.draw(st.integers(-1074, 1020))
        rows = [
            tuple(float(np.ldexp(np.sign(each) + place, size)) for place, each in enumerate(row))
            for row in rows
        ]
    y = np.resize([0, 1, 2], len(rows))
    proba = strictly(lambda: model.fit(rows, y).predict_proba(rows))
    if proba is not None:
        assert_probabilities(proba)


SCALED = [*TWO_CLASS, AccuracyTableCalibrator(n_cells=3), RankedLogisticCalibrator("A", smooth=True)]


@pytest.mark.parametrize("model", SCALED, ids=str)
@pytest.mark.parametrize("exponent", [-900, -60, 7, 900])
def test_powers_of_two_change_nothing(model, exponent):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    scores = rng.normal(size=60) + y
    if not hasattr(model, "between") and not isinstance(model, SigmoidCalibrator | BinningCalibrator):
        scores = np.column_stack([-scores, rng.normal(size=60)])
    plain = strictly(lambda: model.fit(scores, y).predict_proba(scores))
    scaled = np.ldexp(scores, exponent)
    again = strictly(lambda: model.fit(scaled, y).predict_proba(scaled))
    np.testing.assert_allclose(again, plain, rtol=0, atol=1e-13)


@pytest.mark.parametrize("gap", [TINY, 1e-310, 1e-300])
def test_a_line_across_the_smallest_gap_ends_at_its_ends(gap):
    for low in (0.0, -gap):
        model = PAVCalibrator(between="linear", clip=0).fit([low, low + gap], [0, 1])
        assert model.predict_proba([-GREAT, low, low + gap, GREAT])[:, 1].tolist() == [0, 0, 1, 1]


@settings(max_examples=150)
@given(
    scores=st.lists(SIZES | EXTREMES, min_size=1, max_size=6),
    reference=st.none() | st.lists(SIZES | EXTREMES, min_size=1, max_size=6),
    mode=st.sampled_from(["symmetric", "minmax"]),
)
@example(scores=[0, 1e308], reference=[1.5e308], mode="symmetric")
def test_margins_are_rescaled_as_in_exact_arithmetic(scores, reference, mode):
    with np.errstate(all="raise", under="ignore"):
        got = rescale_margin(scores, reference=reference, mode=mode)
    known = [Fraction(each) for each in (scores if reference is None else reference)]
    high = max(map(abs, known)) if mode == "symmetric" else max(known)
    low = -high if mode == "symmetric" else min(known)
    clipped = [min(max(Fraction(each), low), high) for each in scores]
    expected = [float((each - low) / (high - low)) if low < high else 0.5 for each in clipped]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("size", [TINY, 1e-315, 1e-310])
@pytest.mark.parametrize("model", [SigmoidCalibrator(), SigmoidCalibrator(smooth=False)], ids=str)
def test_a_slope_that_no_number_can_hold_is_refused(model, size):
    scores, y = np.arange(1, 5) * size, np.array([0, 1, 0, 1])
    with (
        np.errstate(all="raise", under="ignore"),
        pytest.raises(CalibrantError, match="slope of a logistic map .* finite; got"),
    ):
        model.fit(scores, y)
    with (
        np.errstate(all="raise", under="ignore"),
        pytest.raises(CalibrantError, match="slope of a logistic map .* finite; got"),
    ):
        fit(model, lambda: iter([Rows(scores, y)]), classes=[0, 1])
    shifted = model.fit(1 + np.arange(1, 5) / 8, y).predict_proba([1.125, 1.5])
    assert_probabilities(shifted)
