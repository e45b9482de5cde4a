"""A float that knows its interval."""

import copy
import json
import math
import pickle

import pytest

from calibrant.metrics import Estimate, plain_record


def test_it_is_a_float():
    loss = Estimate(0.412, 0.399, 0.425, 0.0066)
    assert loss == 0.412
    assert loss + 1 == 1.412
    assert not isinstance(loss + 1, Estimate)
    assert sorted([loss, 0.1]) == [0.1, 0.412]
    assert json.dumps(loss) == "0.412"
    assert f"{loss:.2f}" == "0.41"
    assert hash(loss) == hash(0.412)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_it_travels_with_its_interval(twin):
    loss = Estimate(0.412, 0.399, 0.425, 0.0066, 0.9)
    other = twin(loss)
    assert (other, other.low, other.high, other.error, other.level) == (0.412, 0.399, 0.425, 0.0066, 0.9)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.41234, 0.3993, 0.4254), "0.412 ± 0.013"),
        (Estimate(0.012, 0.0, 0.031), "0.012 [0.000, 0.031]"),
        (Estimate(1.05, 0.83, 1.27), "1.05 ± 0.22"),
        (Estimate(123.4, 100.0, 146.8), "123 ± 23"),
        (Estimate(-0.00012, -0.00035, 0.00011), "-0.00012 ± 0.00023"),
        (Estimate(0.25), "0.25"),
        (Estimate(0.25, 0.25, 0.25), "0.25"),
        (Estimate(math.inf, math.inf, math.inf), "inf"),
        (Estimate(math.nan), "nan"),
    ],
)
def test_it_is_shown_as_exactly_as_it_is_known(estimate, text):
    assert str(estimate) == f"{estimate}" == text


def test_json_has_no_numbers_for_what_is_not_finite():
    record = {
        "known": Estimate(0.5, 0.25, 0.75),
        "unknown": Estimate(math.nan),
        "wide": Estimate(1.0, -math.inf, math.inf),
        "several": (Estimate(0.5, 0.25, 0.75), Estimate(1.0)),
        "plain": 3,
    }
    assert plain_record(record) == {
        "known": 0.5,
        "unknown": None,
        "wide": 1.0,
        "several": [0.5, 1.0],
        "plain": 3,
        "intervals": {"known": [0.25, 0.75], "wide": [None, None], "several": [[0.25, 0.75], None]},
    }
    assert repr(Estimate(0.5, 0.25, 0.75)) == "Estimate(0.5, low=0.25, high=0.75)"
