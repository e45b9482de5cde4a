"""What Langford and Zadrozny prove, on random finite distributions with arbitrary classifiers."""

import numpy as np
from hypothesis import given, strategies as st

from calibrant.classifiers import SquaredError
from calibrant.classifiers._importance import threshold_importance
from calibrant.classifiers._minimax import estimates_of
from calibrant.metrics import auc, cross_entropy, rms_error


@st.composite
def worlds(draw):
    """Cells with their frequency and chance of class 1, and a classifier for every threshold of a grid."""
    n_cells, n_thresholds = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    frequency = np.array(draw(st.lists(st.integers(1, 9), min_size=n_cells, max_size=n_cells)), dtype=float)
    steps = draw(st.lists(st.integers(0, n_thresholds), min_size=n_cells, max_size=n_cells))
    row = st.lists(st.booleans(), min_size=n_cells, max_size=n_cells)
    says_positive = np.array(draw(st.lists(row, min_size=n_thresholds, max_size=n_thresholds)))
    return frequency / frequency.sum(), np.array(steps) / n_thresholds, says_positive


def grid(n_thresholds):
    """Uniform thresholds; chances that are multiples of their distance lie in the middle between two."""
    return (np.arange(n_thresholds) + 0.5) / n_thresholds


def excess(frequency, chance, says_positive):
    """Mean over the thresholds of the weighted loss, normalised, beyond the least possible one."""
    total = []
    for threshold, positive in zip(grid(len(says_positive)), says_positive, strict=True):
        i_positive, i_negative = threshold_importance(np.array([True, False]), threshold)
        if_negative, if_positive = i_positive * chance, i_negative * (1 - chance)
        loss = np.where(positive, if_positive, if_negative) - np.minimum(if_positive, if_negative)
        mean_importance = np.dot(frequency, i_positive * chance + i_negative * (1 - chance))
        total.append(np.dot(frequency, loss) / mean_importance)
    return float(np.mean(total))


def bound(frequency, chance, says_positive):
    share = float(np.dot(frequency, chance))
    return 2 * max(share, 1 - share) * excess(frequency, chance, says_positive)


@given(worlds())
def test_theorem_2(world):
    """The squared error of the estimates is at most 2 max(D(1), D(0)) times the classifiers' excess loss."""
    frequency, chance, says_positive = world
    error = np.dot(frequency, (chance - says_positive.mean(axis=0)) ** 2)
    assert error <= bound(*world) + 1e-12


def test_theorem_2_is_tight_for_balanced_classes_and_errors_on_one_side():
    frequency, chance = np.array([1.0]), np.array([0.5])
    right = grid(10) < 0.5
    too_high = right | (grid(10) < 0.8)
    world = frequency, chance, too_high[:, None]
    error = (chance[0] - too_high.mean()) ** 2
    np.testing.assert_allclose(error, bound(*world))
    assert error > 0.08


@given(worlds())
def test_intervals_of_width_d_add_at_most_d_and_a_quarter_of_its_square(world):
    """The estimator reports a point of the interval that the votes lie in, not their share."""
    frequency, chance, says_positive = world
    thresholds = grid(len(says_positive))
    reported = estimates_of(SquaredError(), thresholds)[says_positive.sum(axis=0)]
    width = 1 / len(thresholds)
    error = np.dot(frequency, (chance - reported) ** 2)
    exact = np.dot(frequency, (chance - says_positive.mean(axis=0)) ** 2)
    assert error <= exact + width + width**2 / 4 + 1e-12
    assert error <= bound(*world) + width + width**2 / 4 + 1e-12


@given(worlds())
def test_estimates_are_ranked_by_labels_as_by_the_truth(world):
    """E(y - estimate)^2 is E(estimate - chance)^2 and what no estimate can change."""
    frequency, chance, says_positive = world
    estimate = says_positive.mean(axis=0)
    of_labels = np.dot(frequency, chance * (1 - estimate) ** 2 + (1 - chance) * estimate**2)
    noise = np.dot(frequency, chance * (1 - chance))
    np.testing.assert_allclose(of_labels, np.dot(frequency, (chance - estimate) ** 2) + noise, atol=1e-12)


def test_there_is_no_such_bound_for_the_ranking_and_the_cross_entropy():
    """One positive row at 0 among n negative ones at 1/n: next to no squared error, and all is lost."""
    for n in (10, 100, 1000):
        y, estimate = np.array([1] + [0] * n), np.array([0.0] + [1 / n] * n)
        assert rms_error(y, estimate) ** 2 < 1.2 / n
        assert auc(y, estimate) == 0
        assert cross_entropy(y, estimate) == np.inf
