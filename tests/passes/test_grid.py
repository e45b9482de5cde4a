"""A grid is a monotone map from scores to bins, and knows which scores are in its intervals."""

import numpy as np
from hypothesis import given, strategies as st

from calibrant.passes._grid import ScoreGrid, even_grid, grid_from_sample

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.one_of(FINITE, st.integers(-9, 9).map(float), st.integers(0, 9).map(lambda n: 5e-324 * n))


@st.composite
def interval_grids(draw):
    """Disjoint intervals, some of them single scores, some of them neighbours."""
    ends = np.unique(np.array(draw(st.lists(NEAR, min_size=1, max_size=20))) + 0.0)
    low, high = [], []
    place = 0
    while place < len(ends):
        last = min(place + draw(st.integers(0, 1)), len(ends) - 1)
        low.append(ends[place])
        high.append(ends[last])
        place = last + 1
    size = draw(st.lists(st.integers(1, 4), min_size=len(low), max_size=len(low)))
    return ScoreGrid(np.array(low), np.array(high), np.array(size, dtype=np.int64), covers=False)


@given(interval_grids(), st.lists(NEAR, max_size=30))
def test_contains_is_what_the_intervals_say(grid, others):
    with np.errstate(over="ignore"):
        after = np.nextafter(grid.high, np.inf)
    scores = np.concatenate([grid.low, grid.high, after[np.isfinite(after)], np.array(others)]) + 0.0
    expected = ((grid.low <= scores[:, None]) & (scores[:, None] <= grid.high)).any(axis=1)
    np.testing.assert_array_equal(grid.contains(scores), expected)


def test_no_intervals_contain_nothing():
    nothing = ScoreGrid(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), covers=False)
    assert not nothing.contains(np.array([0.0, 1.0])).any()


@given(interval_grids(), st.lists(NEAR, max_size=30))
def test_bins_of_intervals_are_monotone_and_keep_to_their_interval(grid, others):
    scores = np.sort(np.concatenate([grid.low, grid.high, np.array(others)]) + 0.0)
    scores = scores[grid.contains(scores)]
    bins = grid.bins(scores)
    assert (np.diff(bins) >= 0).all()
    interval = np.searchsorted(grid.low, scores, side="right") - 1
    first = np.append(0, np.cumsum(grid.size))
    assert (first[interval] <= bins).all()
    assert (bins < first[interval + 1]).all()


@given(
    st.lists(NEAR, max_size=40),
    st.lists(NEAR, max_size=40),
    st.integers(1, 60),
    st.sampled_from(["quantile", "uniform"]),
)
def test_a_grid_of_a_sample_covers_all_scores(sample, others, n_bins, edges):
    grid = grid_from_sample(np.array(sample), n_bins, edges)
    scores = np.sort(np.array(sample + others))
    bins = grid.bins(scores)
    assert (np.diff(bins) >= 0).all()
    assert ((bins >= 0) & (bins < grid.n_bins)).all()


def test_pieces_make_no_difference(monkeypatch):
    scores = np.random.default_rng(0).normal(size=1000)
    grid = even_grid(-2.0, 2.0, 50)
    whole = grid.bins(scores)
    monkeypatch.setattr("calibrant.passes._grid.PIECE", 7)
    np.testing.assert_array_equal(grid.bins(scores), whole)
