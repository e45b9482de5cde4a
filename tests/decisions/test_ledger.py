"""What decisions cost, added up: totals, and intervals of what was paid."""

import numpy as np
import pytest

from calibrant.decisions import Ledger, decide
from calibrant.metrics import paired_difference

COST = np.array([[0.0, 4.0, 9.0], [2.0, 0.0, 3.0], [5.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
ACTIONS = ("a", "b", "c", "ask")


def decided_rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet([1, 1, 1], size=n)
    truth = (rng.random((n, 1)) > proba.cumsum(axis=1)).sum(axis=1)
    return proba, decide(proba, COST), rng.integers(0, 3, size=n).astype(float), truth


def ends(estimate):
    return [float(estimate), estimate.low, estimate.high]


def test_in_batches_as_at_once():
    whole, parts = (Ledger(COST, ACTIONS, ACTIONS[:3], intervals=True) for _ in range(2))
    rows = decided_rows()
    whole.add(*rows)
    for part in np.array_split(np.arange(len(rows[0])), 7):
        parts.add(*(each[part] for each in rows))
    for name in ("expected", "plain_expected"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name))
    for name in ("paid", "plain_paid", "saved"):
        assert ends(getattr(parts, name)) == pytest.approx(ends(getattr(whole, name)))


def test_a_weight_is_a_number_of_copies():
    proba, decided, weights, truth = decided_rows()
    weighted, copied = (Ledger(COST, ACTIONS, ACTIONS[:3], intervals=True) for _ in range(2))
    weighted.add(proba, decided, weights, truth)
    copies = np.repeat(np.arange(len(truth)), weights.astype(int))
    copied.add(proba[copies], decided[copies], np.ones(len(copies)), truth[copies])
    for name in ("paid", "plain_paid", "saved"):
        assert ends(getattr(weighted, name)) == pytest.approx(ends(getattr(copied, name)))


def test_intervals_are_those_of_the_mean_of_each_row():
    proba, decided, _, truth = decided_rows()
    ledger = Ledger(COST, ACTIONS, ACTIONS[:3], intervals=True)
    ledger.add(proba, decided, np.ones(len(truth)), truth)
    paid, plain = COST[decided, truth], COST[proba.argmax(axis=1), truth]
    assert ledger.paid == pytest.approx(paid.sum())
    assert ledger.saved == pytest.approx((plain - paid).sum())
    wanted = paired_difference(plain, paid)
    assert ends(ledger.saved) == pytest.approx([len(truth) * each for each in ends(wanted)])


def test_the_interval_of_a_saving_covers_what_is_saved_in_the_long_run():
    """The mean of very many rows is the truth; 95% of the intervals of 300 rows should cover it."""
    proba, decided, _, truth = decided_rows(200_000, seed=1)
    long_run = (COST[proba.argmax(axis=1), truth] - COST[decided, truth]).mean()
    covered = []
    for seed in range(300):
        proba, decided, _, truth = decided_rows(300, seed=seed + 2)
        ledger = Ledger(COST, ACTIONS, ACTIONS[:3], intervals=True)
        ledger.add(proba, decided, np.ones(300), truth)
        covered.append(ledger.saved.low <= 300 * long_run <= ledger.saved.high)
    assert 0.91 <= np.mean(covered) <= 0.985


def test_without_the_truth_nothing_was_paid():
    proba, decided, weights, _ = decided_rows()
    ledger = Ledger(COST, ACTIONS, ACTIONS[:3], intervals=True)
    ledger.add(proba, decided, weights)
    assert ledger.paid == 0
    assert np.isnan(ledger.paid.low)


def test_classes_that_cannot_be_decided_have_no_plain_cost():
    proba, _, weights, truth = decided_rows()
    ledger = Ledger(COST[2:], ACTIONS[2:], ACTIONS[:3], intervals=True)
    ledger.add(proba, np.zeros(len(truth), dtype=int), weights, truth)
    assert np.isnan(ledger.plain_paid)
    assert np.isnan(ledger.saved)
