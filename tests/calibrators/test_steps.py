"""The interval look-up against the binary search that it replaces."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant.calibrators._intervals import midpoints
from calibrant.maps import IntervalLookup
from calibrant.maps._intervals import FEW

numbers = st.one_of(
    st.floats(-1.7e308, 1.7e308), st.integers(-8, 8).map(float), st.sampled_from([0.0, 5e-324, 1e-310, 1e308])
)


positive = st.one_of(st.floats(5e-324, 1.0), st.floats(-300, 0).map(lambda power: 10.0**power))


@settings(max_examples=400, deadline=None)
@given(
    edges=st.one_of(st.lists(numbers, max_size=30), st.lists(positive, max_size=30)),
    scores=st.lists(st.one_of(numbers, positive, st.just(-0.0)), min_size=1, max_size=30),
)
def test_number_of_edges_strictly_below(edges, scores):
    edges, scores = np.sort(np.array(edges, dtype=float)), np.array(scores + edges, dtype=float)
    want = np.array([(edges < score).sum() for score in scores], dtype=int)
    lookup = IntervalLookup(edges)
    for times in (1, FEW):  # many are looked up in a grid
        assert lookup(np.tile(scores, times)).tolist() == np.tile(want, times).tolist()


@pytest.mark.parametrize("spacing", ["even", "crowded", "near the least"])
def test_many_edges(spacing):
    rng = np.random.default_rng(0)
    edges = np.sort(rng.random(5000) ** {"even": 1, "crowded": 40, "near the least": 700}[spacing])
    scores = np.concatenate([rng.random(2000), rng.random(2000) ** 40, edges, [-1, 2]])
    np.testing.assert_array_equal(IntervalLookup(edges)(scores), np.searchsorted(edges, scores))


def test_what_was_found_for_scores_is_not_kept_in_a_file():
    lookup = IntervalLookup(np.linspace(0.1, 0.2, 50))
    before = pickle.dumps(lookup)
    lookup(np.linspace(0, 1, 10 * FEW))
    assert pickle.dumps(lookup) == before
    again = pickle.loads(before)
    assert again(np.array([0.1, 0.15])).tolist() == lookup(np.array([0.1, 0.15])).tolist()


@settings(max_examples=200, deadline=None)
@given(pair=st.tuples(numbers, numbers).map(sorted).filter(lambda pair: pair[0] < pair[1]))
def test_a_midpoint_separates(pair):
    below, above = np.array(pair[:1]), np.array(pair[1:])
    edge = midpoints(below, above)
    assert below <= edge < above
