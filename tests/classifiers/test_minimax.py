"""Minimax points, regrets and the choice of the interval to be split."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calibrant import CalibrantError
from calibrant.classifiers import CrossEntropy, SquaredError
from calibrant.classifiers._minimax import check_loss, estimates_of, most_urgent, urgencies
from golden import assert_golden, golden_cases

LOSS = {"cross_entropy": CrossEntropy(), "squared": SquaredError()}


def ends(a, b):
    return np.array([a]), np.array([b])


def regret(loss, p, q):
    """The regret by its definition: what q loses more than the truth p does, on average under p."""
    if isinstance(loss, SquaredError):
        return (p - q) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(t > 0, t * np.log(t / f), 0.0) for t, f in ((p, q), (1 - p, 1 - q))]
    return sum(terms)


@pytest.mark.parametrize("case", golden_cases("probing", "minimax_p"))
def test_golden_points(case):
    given = case["in"]
    got = LOSS[given["loss"]].points(*ends(given["a"], given["b"]))[0]
    assert_golden(got, case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("probing", "interval_score"))
def test_golden_urgencies(case):
    given = case["in"]
    count = np.array([given["count"]], dtype=float)
    got = urgencies(LOSS[given["loss"]], given["rule"], *ends(given["a"], given["b"]), count)[0]
    assert_golden(got, case["out"], case["tol"])


@pytest.mark.parametrize("case", golden_cases("probing", "predict_from_votes"))
def test_golden_estimates(case):
    got = estimates_of(LOSS[case["in"]["loss"]], case["in"]["cuts"])[case["in"]["n"]]
    assert_golden(got, case["out"], case["tol"])


intervals = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted).filter(lambda e: e[1] - e[0] > 1e-3)


@pytest.mark.parametrize("loss", LOSS.values(), ids=str)
@given(interval=intervals)
def test_no_other_forecast_is_safer(loss, interval):
    low, high = interval
    point, worst = loss.points(*ends(low, high))[0], loss.regrets(*ends(low, high))[0]
    others = np.linspace(low, high, 101)[1:-1]
    of_others = np.maximum(regret(loss, low, others), regret(loss, high, others))
    assert of_others.min() >= worst * (1 - 1e-9)
    assert regret(loss, low, point) == pytest.approx(worst, rel=1e-7)
    assert regret(loss, high, point) == pytest.approx(worst, rel=1e-7)


@pytest.mark.parametrize("loss", LOSS.values(), ids=str)
@given(interval=intervals)
def test_exchanging_the_classes_mirrors_everything(loss, interval):
    low, high = interval
    point, mirrored = loss.points(*ends(low, high)), loss.points(*ends(1 - high, 1 - low))
    np.testing.assert_allclose(point, 1 - mirrored, rtol=1e-9)
    np.testing.assert_allclose(
        loss.regrets(*ends(low, high)), loss.regrets(*ends(1 - high, 1 - low)), rtol=1e-9
    )


@given(middle=st.floats(0.01, 0.99), exponent=st.integers(4, 13))
def test_narrow_intervals_do_not_cancel(middle, exponent):
    """A narrow interval is split in the middle, and its regret is (b - a)^2 / (8 m (1 - m))."""
    low = middle * (1 - 10.0**-exponent)
    high = 2 * middle - low
    width = high - low
    assert CrossEntropy().points(*ends(low, high))[0] == pytest.approx(middle, rel=1e-6, abs=0)
    want = width**2 / (8 * middle * (1 - middle))
    # The ends are rounded, and with them the width.
    assert CrossEntropy().regrets(*ends(low, high))[0] == pytest.approx(want, rel=1e-3 + 1e-15 / width)


def test_small_intervals_at_zero_are_split_at_a_share_of_one_over_e():
    high = 10.0 ** -np.arange(3, 300, 9)
    point = CrossEntropy().points(np.zeros_like(high), high)
    assert (np.abs(point * np.e / high - 1) <= high + 1e-12).all()


def test_tiny_left_ends_are_no_different_from_zero():
    high = np.array([0.5, 0.5])
    low = np.array([0.0, 5e-324])
    assert CrossEntropy().points(low, high).tolist() == [0.2, 0.2]
    np.testing.assert_allclose(CrossEntropy().regrets(low, high), np.log(5 / 4))


def test_equal_urgencies_go_to_the_left():
    edges = np.array([0.0, 0.5, 1.0])
    for loss in LOSS.values():
        scores = urgencies(loss, "regret", edges[:-1], edges[1:], np.array([7.0, 7.0]))
        assert most_urgent(scores) == 0
    assert most_urgent(np.array([1 - 1e-10, 1.0])) == 0
    assert most_urgent(np.array([1 - 1e-8, 1.0])) == 1


def test_an_empty_interval_is_never_urgent_even_where_no_number_is_left():
    low, high = ends(np.nextafter(1, 0), 1.0)
    assert urgencies(CrossEntropy(), "regret", low, high, np.array([0.0])).tolist() == [0.0]


def test_a_loss_may_be_an_object():
    assert check_loss(SquaredError()) == SquaredError()
    with pytest.raises(
        CalibrantError, match="loss must be one of 'cross_entropy', 'squared_error'; got 'hinge'"
    ):
        check_loss("hinge")
    with pytest.raises(
        CalibrantError, match="or an object with points, regrets, printed_scores and mean; got 3"
    ):
        check_loss(3)
    with pytest.raises(CalibrantError, match="got <class .*SquaredError'>"):
        check_loss(SquaredError)
