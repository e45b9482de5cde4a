"""Letters and donations: the policy as a decision, and the curve that it stands on."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.decisions import decide, mailing_costs, profit_curve, realised_cost
from calibrant.metrics import mailing_profit

seeds = st.integers(0, 2**32 - 1)


def campaign(seed, n=30):
    rng = np.random.default_rng(seed)
    proba = rng.integers(0, 11, n) / 100
    amount = rng.integers(1, 30, n).astype(float)
    donated = np.where(rng.random(n) < 0.3, rng.integers(1, 40, n), 0).astype(float)
    return proba, amount, donated, rng


@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_the_policy_is_a_decision_with_a_matrix_per_row(seed):
    proba, amount, donated, _ = campaign(seed)
    decisions = decide(np.column_stack([1 - proba, proba]), mailing_costs(amount))
    # Exactly at the cost no letter is sent; rounding may not tip it.
    sent = proba * amount > 0.68 + 1e-12
    np.testing.assert_array_equal(decisions, sent.astype(int))
    true_costs = mailing_costs(donated)
    profit = -realised_cost((donated > 0).astype(int), decisions, true_costs).total
    np.testing.assert_allclose(profit, (donated - 0.68)[sent].sum(), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(seed=seeds)
def test_every_point_of_the_curve_is_the_profit_above_its_threshold(seed):
    proba, amount, donated, _ = campaign(seed)
    curve = profit_curve(proba, amount, donated)
    expected = proba * amount
    assert (curve.threshold[0], curve.mailed[0], curve.profit[0]) == (np.inf, 0, 0)
    assert (np.diff(curve.threshold) < 0).all()
    for threshold, mailed, profit in zip(curve.threshold, curve.mailed, curve.profit, strict=True):
        sent = expected >= threshold
        assert mailed == sent.sum()
        np.testing.assert_allclose(profit, (donated[sent] - 0.68).sum(), atol=1e-9)
    assert curve.policy == mailing_profit(proba, amount, donated)
    place = np.flatnonzero(curve.mailed == curve.policy.mailed)
    np.testing.assert_allclose(curve.profit[place], curve.policy.profit, atol=1e-9)
    assert curve.best.profit == curve.profit.max() >= curve.policy.profit - 1e-9


@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_a_weight_is_a_number_of_copies(seed):
    proba, amount, donated, rng = campaign(seed)
    weights = rng.integers(0, 3, len(proba))
    weights[0] = 1
    weighted = profit_curve(proba, amount, donated, letter=1.5, sample_weight=weights)
    copied = profit_curve(*(np.repeat(column, weights) for column in (proba, amount, donated)), letter=1.5)
    np.testing.assert_allclose(weighted.profit, copied.profit, atol=1e-9)
    np.testing.assert_array_equal(weighted.mailed, copied.mailed)


def test_what_is_refused():
    with pytest.raises(CalibrantError, match="letter must be a finite number; got nan"):
        mailing_costs([1.0], letter=np.nan)
    with pytest.raises(CalibrantError, match=r"amount_hat must be one column; got shape \(1, 2\)"):
        mailing_costs([[1.0, 2.0]])
    with pytest.raises(CalibrantError, match="must have the same number of rows; got 2 and 1 and 2"):
        profit_curve([0.1, 0.2], [1.0], [0.0, 0.0])
