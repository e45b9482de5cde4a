"""The mailing policy: who gets a letter, and what it earns."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError, ParameterError
from calibrant.metrics import mailing_profit


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 50), st.sampled_from([0.0, 5.0, 20.0]), st.floats(0.1, 3)),
        min_size=1,
        max_size=15,
    ),
    cost=st.floats(0, 5),
)
def test_profit_is_what_a_loop_gives(rows, cost):
    profit = mailed = 0.0
    for proba, amount, donated, weight in rows:
        if proba * amount > cost:
            profit += weight * (donated - cost)
            mailed += weight
    p, amount_hat, received, weights = (list(column) for column in zip(*rows, strict=True))
    got = mailing_profit(p, amount_hat, received, cost=cost, sample_weight=weights)
    assert got.profit == pytest.approx(profit, abs=1e-9)
    assert got.mailed == pytest.approx(mailed)


def test_expecting_exactly_the_cost_is_not_enough():
    assert mailing_profit([0.04], [17.0], [100.0], cost=0.68).mailed == 0
    assert mailing_profit([0.5], [2.0], [100.0], cost=1.0).mailed == 0
    assert mailing_profit([0.5], [2.0], [100.0], cost=0.999).mailed == 1


def test_two_columns_are_not_donating_and_donating():
    matrix = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert mailing_profit(matrix, [5.0, 5.0], [0.0, 7.0]) == mailing_profit(
        [0.1, 0.8], [5.0, 5.0], [0.0, 7.0]
    )


def test_what_it_refuses():
    with pytest.raises(DataError, match=r"proba must lie in \[0, 1\]; got 14\.0 in row 0"):
        mailing_profit([14.0], [0.05], [0.0])
    with pytest.raises(DataError, match=r"proba and amount_hat and donated must have .* got 2 and 1 and 2"):
        mailing_profit([0.1, 0.2], [5.0], [0.0, 0.0])
    with pytest.raises(DataError, match="amount_hat must be finite; got nan in row 0"):
        mailing_profit([0.1], [np.nan], [0.0])
    with pytest.raises(DataError, match="donated must be finite; got inf in row 0"):
        mailing_profit([0.1], [1.0], [np.inf])
    with pytest.raises(DataError, match="proba must have at least one row"):
        mailing_profit([], [], [])
    with pytest.raises(ParameterError, match="cost must be a finite number; got nan"):
        mailing_profit([0.1], [1.0], [0.0], cost=np.nan)
