"""Checks of an order."""

from calibrant.experiments._shape import in_order


def test_every_number_must_be_above_the_one_before():
    assert in_order("s", {"a": 1.0, "b": 2.0}, {"a": 0.0, "b": 0.5}).held is True
    assert in_order("s", {"a": 1.0, "b": 1.0}).held is False
    assert in_order("s", {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}).held is False
    assert in_order("s", {"a": 1.0, "b": float("nan")}).held is False


def test_the_finding_shows_what_is_and_the_reason_only_where_it_fails():
    check = in_order("s", {"a": 1.0, "b": 1000.0, "c": 3.0}, digits=1, reason="c is lazy")
    assert check.finding == "a 1.0 < b 1,000.0 > c 3.0. c is lazy"
    assert in_order("s", {"a": 1.0, "b": 2.0}, digits=0, reason="never").finding == "a 1 < b 2"
    assert in_order("s", {"a": 1.0, "b": 1.0}, digits=0).finding == "a 1 = b 1"


def test_without_numbers_nothing_is_decided():
    check = in_order("s")
    assert (check.held, check.finding) == (None, "the data are not at hand")
