"""The careful solver for single rows."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from calibrant.codes._minimum_norm import likely_support, minimum_norm_nonnegative


def guesses(system, target):
    """A good guess of the support, and two bad ones."""
    good = likely_support((system.T @ system)[:, :, None], (system.T @ target)[:, None])[:, 0]
    return good, np.zeros(len(good), dtype=bool), np.ones(len(good), dtype=bool)


@pytest.mark.parametrize("seed", range(20))
def test_unique_solutions_as_nnls(seed):
    rng = np.random.default_rng(seed)
    system, target = rng.standard_normal((7, 4)), rng.standard_normal(7)
    for guess in guesses(system, target):
        found, unique = minimum_norm_nonnegative(system, target, guess)
        assert unique
        np.testing.assert_allclose(found, nnls(system, target)[0], atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_among_many_solutions_the_smallest(seed):
    rng = np.random.default_rng(seed)
    system = rng.standard_normal((5, 3)) @ rng.standard_normal((3, 5))
    target = rng.standard_normal(5)
    found, unique = minimum_norm_nonnegative(system, target, guesses(system, target)[0])
    assert not unique
    reached = nnls(system, target)[0]
    np.testing.assert_allclose(system @ found, system @ reached, atol=1e-8)
    rows = np.linalg.svd(system)[2][:3]
    smallest = minimize(
        lambda x: x @ x,
        reached,
        jac=lambda x: 2 * x,
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda x: rows @ (x - reached), "jac": lambda x: rows},
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(found, smallest.x, atol=1e-5)
    without = minimum_norm_nonnegative(system, target, np.zeros(5, dtype=bool))[0]
    np.testing.assert_allclose(without, found, atol=1e-8)


def test_a_cycle_would_end(monkeypatch):
    monkeypatch.setattr("calibrant.codes._minimum_norm._STEPS_PER_CLASS", 0)
    found, _ = minimum_norm_nonnegative(np.eye(2), np.ones(2), np.zeros(2, dtype=bool))
    np.testing.assert_array_equal(found, 0)


def test_nothing_to_go_by():
    found, unique = minimum_norm_nonnegative(np.zeros((2, 3)), np.ones(2), np.ones(3, dtype=bool))
    assert not unique
    np.testing.assert_array_equal(found, 0)
