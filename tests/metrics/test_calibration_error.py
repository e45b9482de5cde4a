"""The expected calibration error, against a slow definition and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import CalibrantError
from calibrant.metrics import expected_calibration_error


def slowly(happened, chance, n_bins, norm=1):
    """The definition, bin by bin: left ends included, the last right end too."""
    total, n = 0.0, len(chance)
    for number in range(n_bins):
        low, high = number / n_bins, (number + 1) / n_bins
        inside = [
            place
            for place, p in enumerate(chance)
            if low - 1e-12 <= p < high - 1e-12 or (number == n_bins - 1 and p >= low)
        ]
        if inside:
            gap = abs(np.mean([chance[i] for i in inside]) - np.mean([happened[i] for i in inside]))
            total += len(inside) / n * gap**norm
    return total if norm == 1 else math.sqrt(total)


@given(
    st.lists(st.tuples(st.integers(0, 100), st.booleans()), min_size=1, max_size=40),
    st.integers(1, 20),
    st.sampled_from([1, 2]),
)
@settings(max_examples=100)
def test_two_classes_are_measured_by_the_definition(rows, n_bins, norm):
    chance, happened = np.array([row[0] / 100 for row in rows]), np.array([row[1] for row in rows])
    found = expected_calibration_error(happened, chance, n_bins=n_bins, norm=norm, classes=[False, True])
    assert found == pytest.approx(slowly(happened, chance, n_bins, norm), abs=1e-12)


def three_classes(n=500, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet([1, 2, 3], n)
    return np.array([rng.choice(3, p=row) for row in proba]), proba


def test_more_classes_by_confidence_and_by_class():
    y, proba = three_classes()
    by_confidence = slowly(y == proba.argmax(axis=1), proba.max(axis=1), 15)
    assert expected_calibration_error(y, proba) == pytest.approx(by_confidence, abs=1e-12)
    by_class = np.mean([slowly(y == k, proba[:, k], 15) for k in range(3)])
    assert expected_calibration_error(y, proba, mode="classwise") == pytest.approx(by_class, abs=1e-12)
    binary = y == 2
    one, two = proba[:, 2], np.column_stack([1 - proba[:, 2], proba[:, 2]])
    for mode in (None, "positive", "top_label", "classwise"):
        assert expected_calibration_error(binary, one, mode=mode) == pytest.approx(
            expected_calibration_error(binary, two, mode=mode), abs=1e-12
        )


@pytest.mark.parametrize(
    "how", [{}, {"bins": "frequency"}, {"corrected": True}, {"norm": 2, "corrected": True}]
)
@pytest.mark.parametrize("mode", ["top_label", "classwise"])
def test_a_weight_is_a_number_of_copies_and_order_does_not_matter(how, mode):
    y, proba = three_classes(200)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = expected_calibration_error(y, proba, mode=mode, sample_weight=weight, **how)
    order = np.random.default_rng(2).permutation(int(weight.sum()))
    copies = np.repeat(y, weight)[order], np.repeat(proba, weight, axis=0)[order]
    assert weighted == pytest.approx(expected_calibration_error(*copies, mode=mode, **how), abs=1e-12)


def test_bins_of_equal_frequency_hold_equal_numbers_and_keep_ties_together():
    chance = np.linspace(0.4, 0.6, 60)
    happened = np.arange(60) % 3 == 0
    gaps = [abs(chance[i : i + 6].mean() - happened[i : i + 6].mean()) for i in range(0, 60, 6)]
    found = expected_calibration_error(happened, chance, n_bins=10, bins="frequency")
    assert found == pytest.approx(np.mean(gaps), abs=1e-12)
    tied = np.repeat([0.2, 0.7], 30)
    assert expected_calibration_error(happened, tied, n_bins=10, bins="frequency") == pytest.approx(
        (abs(0.2 - 1 / 3) + abs(0.7 - 1 / 3)) / 2
    )


@pytest.mark.parametrize("norm", [1, 2])
def test_the_correction_takes_off_what_chance_adds(norm):
    rng = np.random.default_rng(3)
    plain, corrected, off = [], [], []
    for _ in range(300):
        chance = rng.random(200)
        for wrong, found in ((0.0, corrected), (0.1, off)):
            happened = rng.random(200) < np.clip(chance - wrong, 0, 1)
            how = {"n_bins": 10, "norm": norm, "classes": [False, True]}
            if wrong == 0:
                plain.append(expected_calibration_error(happened, chance, **how))
            found.append(expected_calibration_error(happened, chance, corrected=True, **how))
    assert np.mean(plain) > 0.07  # right probabilities, and yet
    assert np.mean(corrected) < 0.65 * np.mean(plain)
    truth = np.mean([abs(p - max(p - 0.1, 0)) ** norm for p in np.linspace(0, 1, 10_001)]) ** (1 / norm)
    assert np.mean(off) == pytest.approx(truth, abs=0.012)


def test_certain_and_few():
    assert expected_calibration_error([0, 1], [0.0, 1.0]) == 0
    assert expected_calibration_error([0, 1], [1.0, 0.0]) == 1
    assert expected_calibration_error([1], [0.25], corrected=True) == 0.75


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number from 1; got 0"),
        ({"bins": "even"}, "bins must be one of 'width', 'frequency'; got 'even'"),
        ({"mode": "all"}, "mode must be one of None, 'positive', 'top_label', 'classwise'; got 'all'"),
        ({"mode": "positive"}, "mode must be 'top_label' or 'classwise' for more than two classes; .* for 3"),
        ({"norm": 3}, "norm must be one of 1, 2; got 3"),
        ({"corrected": "yes"}, "corrected must be True or False; got 'yes'"),
        ({"sample_weight": [1.0]}, "sample_weight must have one weight per row"),
    ],
)
def test_what_it_refuses(how, message):
    with pytest.raises(CalibrantError, match=message):
        expected_calibration_error(*three_classes(20), **how)
