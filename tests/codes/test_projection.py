"""Projection on the simplex beside its definition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

from calibrant.codes._projection import project_on_simplex


def by_bisection(point, weights):
    """p = max(r - t / w, 0), with t found by a root finder."""
    widest = (np.abs(point).max() + 2) * weights.max()
    t = brentq(
        lambda t: np.maximum(point - t / weights, 0).sum() - 1, -widest, widest, xtol=1e-15, rtol=1e-14
    )
    return np.maximum(point - t / weights, 0)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-2, 2, width=16))
)
def test_as_by_bisection(points):
    proba = project_on_simplex(points)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    want = [by_bisection(point, np.ones(len(point))) for point in points]
    np.testing.assert_allclose(proba, want, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_weighted(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.random((20, 6)), rng.uniform(0.1, 4, 6)
    want = [by_bisection(point, weights) for point in points]
    np.testing.assert_allclose(project_on_simplex(points, weights), want, atol=1e-9)
    equal = project_on_simplex(points, np.full(6, 3.0))
    np.testing.assert_allclose(equal, project_on_simplex(points), atol=1e-12)
