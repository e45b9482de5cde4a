"""Figures say where things stand: data at their places, inside their frames."""

import math
import re

import pytest

from calibrant.metrics import Estimate, share_estimate
from calibrant.models import MethodResult
from calibrant.report._drawn import Band, Bin, Curve, Reliability, Roc
from calibrant.report._svg import (
    WHISKER_WIDTH,
    Scale,
    coordinate,
    detection_figure,
    found_by_checking,
    path,
    reliability_figure,
    roc_figure,
    shorten,
    whiskers,
)

DRAWN = Reliability(
    name="rain",
    fit=Curve((0.1, 0.4, 0.4, 1.0), (0.0, 0.0, 0.5, 0.5)),
    band=Band((0.1, 1.0), (0.0, 0.8), (0.3, 1.0), 0.9),
    bins=(Bin(0.1, 0.2, 30, 0.15, Estimate(0.1, 0.0, 0.2)), Bin(0.9, 1.0, 10, 1.0, Estimate(0.5))),
    outside=0.25,
    gap=0.1,
    p_value=0.001,
)


def method(name, difference, low, high):
    half = Estimate(0.5)
    return MethodResult(name, half, half, half, half, half, Estimate(difference, low, high), 0.5, 0)


def numbers(text):
    return [float(found) for found in re.findall(r"-?\d+\.?\d*", text)]


def test_a_scale_is_straight_and_may_fall():
    scale = Scale(0, 1, 300, 100)
    assert (scale(0), scale(0.25), scale(1)) == (300, 250, 100)


def test_paths_are_short():
    assert coordinate(12.04) == "12"
    assert coordinate(-0.01) == "0"
    assert path([(0, 0), (0.01, 0), (1.25, 2)]) == "M0,0L1.2,2"
    assert path([(0, 0), (1, 1), (2, 0)], closed=True) == "M0,0L1,1L2,0Z"
    assert path([]) == ""


def test_names_are_cut_to_fit():
    assert shorten("benign") == "benign"
    assert shorten("a" * 30) == "a" * 17 + "…"


@pytest.mark.parametrize("small", [False, True])
def test_a_reliability_diagram_has_its_data_in_place(small):
    figure = reliability_figure(DRAWN, small=small)
    plot = figure.plot
    expected = [
        place for x, y in zip(DRAWN.fit.x, DRAWN.fit.y, strict=True) for place in (plot.x(x), plot.y(y))
    ]
    assert numbers(figure.fit) == pytest.approx(expected, abs=0.06)
    assert figure.dots == tuple((plot.x(bin_.mean_score), plot.y(bin_.frac_pos)) for bin_ in DRAWN.bins)
    assert figure.band.endswith("Z")
    tall, low = figure.bars
    assert tall.height == pytest.approx(3 * low.height)
    assert tall.y + tall.height == pytest.approx(low.y + low.height)
    assert low.y + low.height < plot.height
    assert plot.x(1) < plot.width


def test_roc_curves_without_points_are_left_out():
    curves = [
        Roc("a", Curve((0, 0, 1), (0, 1, 1)), Estimate(1.0)),
        Roc("b", Curve((), ()), Estimate(math.nan)),
    ]
    figure = roc_figure(curves)
    assert [name for name, _ in figure.lines] == ["a"]


def test_bands_are_the_intervals_of_shares_and_only_of_few_curves():
    curve = Curve((0, 0.5, 1), (0, 0.8, 1))
    few = [Roc(name, curve, Estimate(0.9)) for name in "abc"]
    figure = roc_figure(few, dict.fromkeys("abc", 20.0))
    middle = share_estimate(0.8, 20.0)
    assert figure.plot.y(middle.high) == pytest.approx(numbers(figure.bands[0])[3], abs=0.06)
    assert figure.plot.y(middle.low) == pytest.approx(numbers(figure.bands[0])[9], abs=0.06)
    assert detection_figure(curve, 20.0).band == figure.bands[0]
    assert detection_figure(curve).band == ""
    assert roc_figure(few).bands == ()
    assert roc_figure([*few, Roc("d", curve, Estimate(0.9))], dict.fromkeys("abcd", 20.0)).bands == ()


def test_what_checking_finds_lies_on_the_curve():
    curve = Curve((0, 0.2, 1), (0, 0.8, 1))
    assert found_by_checking(curve, 0.1) == pytest.approx(0.4)
    assert found_by_checking(curve, 1.0) == 1
    assert detection_figure(curve).share == pytest.approx(0.4)


def test_whiskers_share_a_scale_and_leave_out_what_is_infinite():
    drawn, zero = whiskers(
        [method("a", 0, 0, 0), method("b", 1, 0.5, 2), method("c", math.inf, math.nan, math.nan)]
    )
    assert drawn[0].low == drawn[0].high == zero == 6
    assert drawn[1].high == WHISKER_WIDTH - 6
    assert drawn[1].high - drawn[1].middle == pytest.approx(2 * (drawn[1].middle - drawn[1].low))
    assert drawn[2] is None
    assert whiskers([method("a", 0, 0, 0)])[0][0].middle == 6
