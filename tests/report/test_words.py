"""Numbers in words: nothing rounds to all or to none, and nothing is called 1e-05 points."""

import math

import pytest

from calibrant.metrics import Estimate
from calibrant.report._words import (
    chance,
    decimal,
    estimate,
    names,
    number,
    percent,
    percent_estimate,
    points,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.5, "50%"),
        (0.9731, "97.3%"),
        (0.9996, "more than 99.9%"),
        (0.0004, "less than 0.1%"),
        (math.nan, "unknown"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (0.14, "14 points"),
        (0.0999, "10 points"),
        (0.032, "3.2 points"),
        (0.01, "1 point"),
        (0.0001, "less than 0.1 points"),
    ],
)
def test_points(gap, text):
    assert points(gap) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1736.0, "1,736"),
        (1243.6149, "1,243.61"),
        (-2.5, "-2.5"),
        (1234567.89, "1,234,570"),
        (0.000012345, "1.2345e-05"),
        (math.inf, "infinite"),
        (math.nan, "unknown"),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_decimal_and_chance():
    assert decimal(0.12345) == "0.1235"
    assert decimal(math.inf) == "infinite"
    assert decimal(math.nan) == "none"
    assert chance(0.0099) == "less than 1%"
    assert chance(0.25) == "about 25%"


def test_names_are_quoted_and_few():
    assert names(["a"]) == "“a”"
    assert names(["a", "b", "c"]) == "“a”, “b” and “c”"
    assert names(list("abcdefgh")) == "“a”, “b”, “c”, “d”, “e” and 3 more"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Estimate(0.41234, 0.39939, 0.42529), ("0.412", "± 0.013")),
        (Estimate(0.012, 0.0, 0.031), ("0.012", "[0.000, 0.031]")),
        (Estimate(-0.031, -0.04, -0.022), ("-0.0310", "± 0.0090")),
        (Estimate(0.25), ("0.2500", "")),
        (Estimate(math.inf, math.inf, math.inf), ("infinite", "")),
        (Estimate(-math.inf), ("-infinite", "")),
        (Estimate(math.nan), ("none", "")),
    ],
)
def test_a_measure_has_the_decimals_that_its_interval_allows(value, text):
    assert estimate(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Estimate(0.267, 0.232, 0.302), ("26.7%", "± 3.5%")),
        (Estimate(0.0, 0.0, 0.04), ("0.0%", "[0.0%, 4.0%]")),
        (Estimate(0.9996), ("more than 99.9%", "")),
    ],
)
def test_a_share_is_in_percent_with_its_interval(share, text):
    assert percent_estimate(share) == text
