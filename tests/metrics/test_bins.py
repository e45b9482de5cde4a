"""Bins and groups against each other and against NumPy's own."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant.metrics._bins import bins_between, fixed_width_bins, number_alike

cheap = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize("width", [0.05, 0.08, 0.1, 0.15, 0.7, 1.0])
@cheap
@given(values=st.lists(st.integers(-20, 120).map(lambda number: number / 100), min_size=1))
def test_equal_widths_are_edges_at_equal_distances(width, values):
    bins, n_bins = fixed_width_bins(np.array(values), width, 0.0, 1.0)
    edges = np.append(width * np.arange(n_bins), 1.0)
    np.testing.assert_array_equal(bins, bins_between(np.array(values), edges))


@cheap
@given(seed=st.integers(0, 2**32 - 1), n_columns=st.integers(1, 3))
def test_rows_are_alike_if_they_are_equal(seed, n_columns):
    rows = np.random.default_rng(seed).integers(0, 3, (12, n_columns)) / 2
    numbers = number_alike(rows)
    np.testing.assert_array_equal(
        numbers[:, None] == numbers[None, :], (rows[:, None] == rows[None, :]).all(axis=2)
    )
    assert set(numbers.tolist()) == set(range(len(np.unique(rows, axis=0))))


def test_zero_has_no_sign():
    assert number_alike(np.array([[0.0], [-0.0]])).tolist() == [0, 0]
