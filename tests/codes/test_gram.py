"""The small matrices beside their definition."""

import numpy as np
import pytest

from calibrant.codes._gram import product, signed_gram
from codes.cases import CODES


@pytest.mark.parametrize("code", [*CODES.values(), np.array([[1, 1], [-1, -1]]), np.array([[1], [-1], [0]])])
@pytest.mark.parametrize("crossing", [True, False])
def test_sums_over_columns(code, crossing):
    k, n_columns = code.shape
    plus, minus, cross = np.random.default_rng(0).standard_normal((3, n_columns, 4))
    got = signed_gram(code, plus, minus, cross if crossing else None)
    want = np.zeros((k, k, 4))
    for c in range(k):
        for d in range(k):
            for b in range(n_columns):
                if code[c, b] and code[d, b]:
                    opposite = cross[b] if crossing else 0
                    want[c, d] += {2: plus[b], -2: minus[b], 0: opposite}[int(code[c, b]) + int(code[d, b])]
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize("n", [0, 1, 31, 33, 100])
def test_slices_of_a_product(n, monkeypatch):
    monkeypatch.setattr("calibrant.codes._gram._SINGLE_THREAD", 1)
    left, right = np.random.default_rng(0).random((3, 4)), np.random.default_rng(1).random((4, n))
    np.testing.assert_allclose(product(left, right), left @ right)
