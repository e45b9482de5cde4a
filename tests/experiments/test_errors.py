"""How sure numbers are, against repeated draws, and which printed numbers are off."""

import math

import numpy as np
import pytest

from calibrant.experiments._errors import auc_error, mean_error, rms_error_of
from calibrant.experiments._experiment import Row
from calibrant.experiments._printed import all_near, error_of_another, is_off
from calibrant.metrics import auc, rms_error


def draw(random, n=300):
    truth = random.beta(1, 3, size=n)
    return (random.random(n) < truth).astype(int), np.clip(truth + random.normal(0, 0.1, n), 0.01, 0.99)


@pytest.mark.parametrize(
    ("measure", "error"),
    [
        (lambda y, p: float(((y - p) ** 2).mean()), lambda y, p, b=None: mean_error((y - p) ** 2, b)),
        (rms_error, rms_error_of),
        (auc, auc_error),
    ],
)
def test_a_standard_error_is_the_spread_over_repeated_draws(measure, error):
    random = np.random.default_rng(0)
    drawn = [draw(random) for _ in range(400)]
    spread = np.std([measure(*each) for each in drawn])
    assert np.mean([error(*each) for each in drawn]) == pytest.approx(spread, rel=0.12)
    # Rows that come four times are no more rows.
    y, p = drawn[0]
    fourfold = error(np.repeat(y, 4), np.repeat(p, 4), np.repeat(np.arange(len(y)), 4))
    assert fourfold == pytest.approx(error(y, p), rel=1e-6)


def test_an_infinite_loss_has_no_standard_error():
    assert math.isnan(mean_error(np.array([1.0, math.inf])))
    assert error_of_another([1.0, math.inf]) is None
    assert error_of_another([1.0]) is None


@pytest.mark.parametrize(
    ("ours", "paper", "error", "off"),
    [
        (1.0, 1.1, 0.06, False),
        (1.0, 1.1, 0.04, True),
        (1.0, 1.1, None, None),
        (1.0, None, 0.1, None),
        (math.inf, math.inf, None, False),
        (math.inf, 1.0, None, True),
    ],
)
def test_off_is_more_than_two_standard_errors_or_one_infinite(ours, paper, error, off):
    assert is_off(ours, paper, error) is off


def test_what_is_off_is_counted_with_its_reason():
    rows = [
        Row(("a", "x"), (1.0, 2.0), (1.0, 5.0), (), (0.1, 0.1)),
        Row(("b", ""), (1.0, 2.0), (1.0, 2.0), (), (0.1, None)),
    ]
    check = all_near(rows, ("one", "two"), {"two": "another learner", "b": "never"})
    assert (check.held, check.finding) == (False, "2 of 3 are. Off: two (1): another learner")
    again = all_near(rows, ("one", "two"), {"two": "the same", "a": "the same"})
    assert again.finding == "2 of 3 are. Off: two (1), a (1): the same"
    assert all_near(rows[1:], ("one", "two"), {}).held is True
    assert all_near([], (), {}).held is None
