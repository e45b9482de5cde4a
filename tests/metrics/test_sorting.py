"""Sorting in two steps is sorting."""

import numpy as np
import pytest

from calibrant.metrics._sorting import MANY, WINDOW, sort_whole

RNG = np.random.default_rng(0)
N = 3 * MANY + 77

CASES = {
    "few": RNG.integers(0, 100, 1000, dtype=np.uint64),
    "none": np.empty(0, dtype=np.uint64),
    "even": RNG.integers(0, 2**64 - 1, N, dtype=np.uint64),
    "probabilities": RNG.random(N).view(np.uint64) << np.uint64(1),
    "probabilities near one end": (RNG.random(N) ** 9).view(np.uint64),
    "all equal": np.full(N, 7, dtype=np.uint64),
    "many equal": RNG.integers(0, 50, N, dtype=np.uint64),
    "nearly all equal, one far away": np.append(RNG.integers(0, 2**40, N, dtype=np.uint64), 2**63),
    "no more than share their first bits": np.repeat(
        np.arange(N // (WINDOW // 2), dtype=np.uint64) << np.uint64(40), WINDOW // 2
    )
    + np.tile(np.arange(WINDOW // 2, dtype=np.uint64)[::-1], N // (WINDOW // 2)),
    "falling": np.arange(N, dtype=np.uint64)[::-1].copy(),
}


@pytest.mark.parametrize("name", CASES)
def test_is_what_numpy_sorts(name):
    given = CASES[name].copy()
    np.testing.assert_array_equal(sort_whole(given), np.sort(CASES[name]))
    np.testing.assert_array_equal(given, CASES[name])
