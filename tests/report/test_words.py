"""Numbers in words: nothing rounds to all or to none, and nothing is called 1e-05 points."""

import math

import pytest

from calibrant.report._words import chance, decimal, names, number, percent, points


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
