"""Batches of small symmetric systems beside LAPACK."""

import numpy as np
import pytest

from calibrant.codes._symmetric import solve_free, solve_symmetric


def some_systems(k, n=50, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((n, k, k))
    return (roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(k)).transpose(1, 2, 0), rng.standard_normal(
        (k, n)
    )


@pytest.fixture(params=["all at once", "one by one"])
def way(request, monkeypatch):
    """Both ways to solve, whatever the size."""
    monkeypatch.setattr("calibrant.codes._symmetric._LARGE", 1000 if request.param == "all at once" else 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_as_lapack(k):
    matrices, right = some_systems(k)
    lower = np.where(np.tri(k, dtype=bool)[:, :, None], matrices, np.nan)  # the rest is not read
    solution, sound = solve_symmetric(lower, right, 1e-12)
    want = np.linalg.solve(matrices.transpose(2, 0, 1), right.T[:, :, None])[:, :, 0].T
    np.testing.assert_allclose(solution, want, rtol=1e-9, atol=1e-9)
    assert sound.all()


@pytest.mark.usefixtures("way")
def test_held_coordinates_are_zero():
    matrices, right = some_systems(5)
    free = np.random.default_rng(1).random((5, 50)) < 0.6
    free[:, 0] = False
    solution, sound = solve_free(matrices, right, free, 1e-12)
    assert sound.all()
    assert (solution[~free] == 0).all()
    for row in range(50):
        own = free[:, row]
        want = np.linalg.solve(matrices[:, :, row][np.ix_(own, own)], right[own, row])
        np.testing.assert_allclose(solution[own, row], want, rtol=1e-8, atol=1e-9)


@pytest.mark.usefixtures("way")
def test_singular_and_indefinite_matrices_are_told():
    matrices = np.stack(
        [np.eye(2), [[1, 1], [1, 1]], [[1, 2], [2, 1]], [[0, 0], [0, 0]], [[-1, 0], [0, 1]]], axis=2
    )
    solution, sound = solve_symmetric(matrices.astype(float), np.ones((2, 5)), 1e-12)
    assert sound.tolist() == [True, False, False, False, False]
    assert np.isfinite(solution).all()
    everywhere = np.ones((2, 5), dtype=bool)
    assert (
        solve_free(matrices.astype(float), np.ones((2, 5)), everywhere, 1e-12)[1].tolist() == sound.tolist()
    )


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("seed", range(5))
def test_lifted_pivots_keep_the_solution_downhill(seed):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((6, 6, 40))
    matrices = roots + roots.transpose(1, 0, 2)
    right = rng.standard_normal((6, 40))
    solution, _ = solve_symmetric(matrices, right, 1e-12)
    assert (np.einsum("in,in->n", solution, right) > 0).all()
