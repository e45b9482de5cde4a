"""The careful solver for single rows."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from calibrant.codes._minimum_norm import minimum_norm_nonnegative


@pytest.mark.parametrize("seed", range(20))
def test_unique_solutions_as_nnls(seed):
    rng = np.random.default_rng(seed)
    system, target = rng.standard_normal((7, 4)), rng.standard_normal(7)
    found, unique = minimum_norm_nonnegative(system, target)
    assert unique
    np.testing.assert_allclose(found, nnls(system, target)[0], atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_among_many_solutions_the_smallest(seed):
    rng = np.random.default_rng(seed)
    system = rng.standard_normal((5, 3)) @ rng.standard_normal((3, 5))
    target = rng.standard_normal(5)
    found, unique = minimum_norm_nonnegative(system, target)
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


def test_a_cycle_would_end(monkeypatch):
    monkeypatch.setattr("calibrant.codes._minimum_norm._STEPS_PER_CLASS", 0)
    found, _ = minimum_norm_nonnegative(np.eye(2), np.ones(2))
    np.testing.assert_array_equal(found, 0.5)


def test_nothing_to_go_by():
    found, unique = minimum_norm_nonnegative(np.zeros((2, 3)), np.ones(2))
    assert not unique
    np.testing.assert_array_equal(found, 0)
