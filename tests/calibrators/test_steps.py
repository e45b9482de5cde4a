"""The interval look-up against the binary search that it replaces."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant.calibrators._intervals import midpoints
from calibrant.maps import IntervalLookup

numbers = st.one_of(
    st.floats(-1.7e308, 1.7e308), st.integers(-8, 8).map(float), st.sampled_from([0.0, 5e-324, 1e-310, 1e308])
)


@settings(max_examples=200, deadline=None)
@given(edges=st.lists(numbers, max_size=30), scores=st.lists(numbers, max_size=30))
def test_number_of_edges_strictly_below(edges, scores):
    edges, scores = np.sort(np.array(edges, dtype=float)), np.array(scores + edges, dtype=float)
    want = np.array([(edges < score).sum() for score in scores], dtype=int)
    assert IntervalLookup(edges)(scores).tolist() == want.tolist()


@pytest.mark.parametrize("spacing", ["even", "crowded"])
def test_many_edges(spacing):
    rng = np.random.default_rng(0)
    edges = np.sort(rng.random(5000) if spacing == "even" else rng.random(5000) ** 40)
    scores = np.concatenate([rng.random(2000), rng.random(2000) ** 40, edges, [-1, 2]])
    np.testing.assert_array_equal(IntervalLookup(edges)(scores), np.searchsorted(edges, scores))


@settings(max_examples=200, deadline=None)
@given(pair=st.tuples(numbers, numbers).map(sorted).filter(lambda pair: pair[0] < pair[1]))
def test_a_midpoint_separates(pair):
    below, above = np.array(pair[:1]), np.array(pair[1:])
    edge = midpoints(below, above)
    assert below <= edge < above
