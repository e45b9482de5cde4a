"""Batches of small non-negative quadratic programmes beside SciPy."""

import numpy as np
import pytest
from scipy.optimize import nnls

from calibrant.codes._nonnegative import minimise_nonnegative


def some_problems(k, n=60, seed=0, extra=0):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((n, k + extra, k))
    targets = rng.standard_normal((n, k + extra))
    return roots, targets


@pytest.mark.parametrize("k", [1, 2, 5, 12])
@pytest.mark.parametrize("start", ["all", "none", "some"])
def test_as_nnls(k, start):
    roots, targets = some_problems(k, extra=2)
    matrices = np.einsum("nmi,nmj->ijn", roots, roots)
    linear = np.einsum("nmi,nm->in", roots, targets)
    guess = np.random.default_rng(1).random(linear.shape) < {"all": 2.0, "none": -1.0, "some": 0.5}[start]
    found = minimise_nonnegative(matrices, linear, guess, 1e-12)
    assert found.solved.all()
    want = np.array([nnls(root, target)[0] for root, target in zip(roots, targets, strict=True)]).T
    np.testing.assert_allclose(found.x, want, atol=1e-8)
    assert ((found.x > 0) <= found.free).all()


def test_the_scale_of_a_coordinate_does_not_matter():
    roots, targets = some_problems(6, extra=3)
    scale = 10.0 ** np.arange(-6, 6, 2)
    matrices = np.einsum("nmi,nmj->ijn", roots, roots)
    linear = np.einsum("nmi,nm->in", roots, targets)
    guess = np.ones(linear.shape, dtype=bool)
    plain = minimise_nonnegative(matrices, linear, guess, 1e-12)
    scaled = minimise_nonnegative(
        matrices * scale[:, None, None] * scale[None, :, None], linear * scale[:, None], guess, 1e-12
    )
    assert scaled.solved.all()
    np.testing.assert_allclose(scaled.x * scale[:, None], plain.x, atol=1e-9)


def test_one_coordinate_at_a_time_also_arrives(monkeypatch):
    monkeypatch.setattr("calibrant.codes._nonnegative._PATIENCE", -1)
    roots, targets = some_problems(4, extra=2)
    matrices = np.einsum("nmi,nmj->ijn", roots, roots)
    linear = np.einsum("nmi,nm->in", roots, targets)
    found = minimise_nonnegative(matrices, linear, np.ones(linear.shape, dtype=bool), 1e-12)
    assert found.solved.all()
    want = np.array([nnls(root, target)[0] for root, target in zip(roots, targets, strict=True)]).T
    np.testing.assert_allclose(found.x, want, atol=1e-8)


def test_rows_given_up_are_told():
    matrices = np.stack([np.eye(2), np.ones((2, 2))], axis=2)
    everywhere = np.ones((2, 2), dtype=bool)
    assert minimise_nonnegative(matrices, np.ones((2, 2)), everywhere, 1e-12).solved.tolist() == [True, False]
    assert not minimise_nonnegative(matrices, -np.ones((2, 2)), everywhere, 1e-12, max_iter=1).solved.any()
