"""Scores that point the wrong way are told from scores that tell nothing."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import mannwhitneyu

from calibrant.metrics import auc
from calibrant.metrics._direction import (
    LEVEL,
    RIGHT_WAY,
    direction,
    directions_of,
    mostly_wrong,
    sides_of,
    wrong_columns,
)

rows = st.lists(
    st.tuples(st.integers(-4, 4), st.booleans(), st.integers(1, 4)), min_size=4, max_size=40
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


def columns(rows):
    scores, labels, weights = (np.array(each) for each in zip(*rows, strict=True))
    return scores.astype(float), labels.astype(bool), weights.astype(float)


@given(rows)
@settings(max_examples=100, deadline=None)
def test_a_whole_weight_is_a_number_of_copies(rows):
    scores, labels, weights = columns(rows)
    copies = np.repeat(np.arange(len(scores)), weights.astype(int))
    weighted = direction(scores, labels, weights)
    copied = direction(scores[copies], labels[copies], None)
    assert weighted.area == pytest.approx(copied.area, abs=1e-12)
    assert weighted.chance == pytest.approx(copied.chance, rel=1e-9, abs=1e-300)
    assert weighted.area == pytest.approx(auc(labels, scores, sample_weight=weights), abs=1e-12)


@given(rows, st.floats(1e-300, 1e300))
@settings(max_examples=100, deadline=None)
def test_weights_that_are_no_counts_have_no_unit(rows, unit):
    scores, labels, weights = columns(rows)
    weights = weights + 0.25
    one, other = direction(scores, labels, weights), direction(scores, labels, weights * unit)
    if not np.all(weights * unit == np.floor(weights * unit)):
        assert one.chance == pytest.approx(other.chance, rel=1e-6, abs=1e-300)


def test_equal_weights_that_are_no_counts_are_none():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=50), rng.random(50) < 0.4
    plain = direction(scores, labels, None)
    assert direction(scores, labels, np.full(50, 0.3)).chance == pytest.approx(plain.chance, rel=1e-9)


@pytest.mark.parametrize("levels", [None, 2, 5])
def test_large_samples_have_the_chance_of_mann_and_whitney(levels):
    rng = np.random.default_rng(1)
    labels = rng.random(400) < 0.45
    for shift in (0.0, 0.1, 0.3, 0.5):
        scores = rng.normal(size=400) - shift * labels
        scores = scores if levels is None else np.floor(scores * levels / 4)
        truth = mannwhitneyu(scores[labels], scores[~labels], alternative="less", method="asymptotic")
        # Ours steps by half the least gap between ranks, theirs by half a rank.
        assert direction(scores, labels, None).chance == pytest.approx(truth.pvalue, rel=0.25, abs=1e-12)


@pytest.mark.parametrize(
    "scores", [np.arange(14.0), np.repeat([0.0, 1, 2, 3], [2, 5, 5, 2]), np.r_[0.0, np.ones(13)]]
)
def test_few_rows_are_significant_no_sooner_than_they_should(scores):
    """All labellings with seven positives, or with three: how often the chance is below the level."""
    for n_positive in (3, 7):
        found = []
        for chosen in combinations(range(14), n_positive):
            labels = np.zeros(14, dtype=bool)
            labels[list(chosen)] = True
            found.append(direction(scores, labels, None).chance)
        assert np.mean(np.array(found) < LEVEL) <= LEVEL


@pytest.mark.parametrize(
    ("n_rows", "n_positive", "draw"),
    [
        (20, 10, lambda rng, n: rng.normal(size=n)),
        (1000, 5, lambda rng, n: rng.normal(size=n)),
        (1000, 500, lambda rng, n: rng.normal(size=n)),
        (1000, 5, lambda rng, n: (rng.random(n) > 0.01).astype(float)),  # nearly always the same
        (300, 20, lambda rng, n: rng.poisson(0.05, n).astype(float)),
    ],
)
def test_scores_that_tell_nothing_raise_no_alarm(n_rows, n_positive, draw):
    rng, alarms = np.random.default_rng(2), 0
    labels = np.zeros(n_rows, dtype=bool)
    labels[:n_positive] = True
    for _ in range(1000):
        alarms += direction(draw(rng, n_rows), labels, None).chance < LEVEL
    assert alarms <= 5  # more come in 6 of 10,000 runs if the rate is one in a thousand


def test_weights_of_all_sizes_raise_no_alarm_on_noise():
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(1000):
        labels = rng.random(300) < 0.2
        alarms += direction(rng.normal(size=300), labels, rng.pareto(2.0, 300) + 1).chance < LEVEL
    assert alarms <= 5


def test_one_class_or_one_score_tells_nothing():
    for scores, labels in ([1.0, 2, 3], [1, 1, 1]), ([2.0, 2, 2], [0, 1, 0]), ([1.0, 0], [0, 1]):
        assert direction(np.array(scores), np.array(labels, dtype=bool), None).chance >= 0.5


def test_shares_count_as_the_rows_that_they_stand_for():
    shares = np.linspace(0.9, 0.1, 9)
    scores = np.arange(9.0)
    rows = direction(
        np.repeat(scores, 10), np.concatenate([np.arange(10) < 10 * s - 0.5 for s in shares]), None
    )
    found = direction(scores, shares, np.full(9, 10.0))
    assert found.area == pytest.approx(rows.area, abs=1e-12)
    assert found.chance == pytest.approx(rows.chance, rel=1e-6)


def distances(rng, n, k, strength):
    labels = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), labels] -= strength
    return [direction(scores[:, column], labels == column, None) for column in range(k)]


def test_distances_are_told_apart_from_noise():
    rng = np.random.default_rng(4)
    assert mostly_wrong(distances(rng, 300, 3, 1.0), one_per_class=True)
    assert mostly_wrong(distances(rng, 500, 100, 1.0), one_per_class=True)  # five rows per class
    assert not any(mostly_wrong(distances(rng, 200, 5, 0.0), one_per_class=True) for _ in range(500))
    assert not any(mostly_wrong(distances(rng, 200, 3, -1.0), one_per_class=True) for _ in range(20))


def test_the_joint_spread_bounds_that_of_labels_dealt_anew():
    """Two scores that are each other's mirror, and others that go together."""
    rng = np.random.default_rng(5)
    one = rng.normal(size=60)
    for scores in (np.stack([one, -one], axis=1), np.stack([one, one, rng.normal(size=60)], axis=1)):
        labels = rng.integers(0, scores.shape[1], 60)
        totals = []
        for _ in range(800):
            rng.shuffle(labels)
            found = [direction(column, labels == place, None) for place, column in enumerate(scores.T)]
            totals.append(sum(each.shift for each in found))
        assert np.std(totals) <= 1.1 * math.hypot(*(each.joint for each in found))


def test_one_wrong_column_among_many_is_named_and_no_more():
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 4, 800)
    scores = rng.normal(size=(800, 4))
    scores[np.arange(800), labels] += 1.0
    scores[:, 2] *= -1
    found = [direction(scores[:, column], labels == column, None) for column in range(4)]
    assert wrong_columns(found) == [2]
    assert not mostly_wrong(found, one_per_class=True)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_what_bins_show_is_what_sorting_shows(n_columns, monkeypatch):
    monkeypatch.setattr("calibrant.metrics._direction.N_BINS", 64)
    rng, seen = np.random.default_rng(n_columns), set()
    for trial in range(200):
        n_rows, n_classes = int(rng.integers(64, 200)), max(2, n_columns)
        sides = sides_of(n_classes, n_columns)
        position = rng.integers(0, n_classes, n_rows)
        scores = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4)
        scores += rng.choice([-1, 0, 1, 3], n_columns) * (sides[position] > 0) * scores.std()
        scores = np.round(scores) if trial % 3 else scores
        weights = (None, rng.random(n_rows), rng.integers(0, 3, n_rows).astype(float))[trial % 3]
        found = directions_of(scores, position, weights)
        sorted_ = [
            direction(score, side[position] > 0, weights)
            for score, side in zip(scores.T, sides.T, strict=True)
        ]
        for one, other in zip(found, sorted_, strict=True):
            seen.add(one is RIGHT_WAY)
            assert other.area > 0.5 if one is RIGHT_WAY else repr(one) == repr(other)
        assert wrong_columns(found) == wrong_columns(sorted_)
        for one_per_class in (True, False):
            assert mostly_wrong(found, one_per_class=one_per_class) == mostly_wrong(
                sorted_, one_per_class=one_per_class
            )
    assert seen == {True, False}
