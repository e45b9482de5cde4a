"""The search tree against NumPy's binary search."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import CalibrantError
from calibrant.maps import _onnx_graph
from calibrant.maps._onnx_graph import Graph
from models.onnx_cases import beside, run


def places(edges, query):
    """The interval of every score in every column, by the tree."""
    graph = Graph(len(edges))
    scores = graph.scores.as_vector() if len(edges) == 1 else graph.scores
    graph.output(
        "place", "", scores.intervals(edges).cast(np.int64), np.int64, *([len(edges)] * (len(edges) > 1))
    )
    found = run(graph, np.repeat(query[:, None], len(edges), axis=1))["place"]
    return found[:, None] if len(edges) == 1 else found


def searched(edges, query):
    before = np.cumsum([0, *(len(each) + 1 for each in edges[:-1])])
    return np.stack(
        [np.searchsorted(each, query) + start for each, start in zip(edges, before, strict=True)], axis=1
    )


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-3, 3).map(float)


@settings(max_examples=60)
@given(edges=st.lists(st.lists(numbers, max_size=12).map(sorted), min_size=1, max_size=3))
def test_every_edge_and_its_neighbours(edges):
    edges = [np.array(each) for each in edges]
    query = beside(np.concatenate([*edges, [1.0]]))
    np.testing.assert_array_equal(places(edges, query), searched(edges, query))


@pytest.mark.parametrize("n_edges", [*range(18), 31, 32, 33, 1000, 20_001])
def test_every_shape_of_the_tree(n_edges):
    edges = [np.sort(np.random.default_rng(n_edges).normal(size=n_edges))]
    query = beside(np.append(edges[0], 0.5))
    np.testing.assert_array_equal(places(edges, query), searched(edges, query))


def test_as_many_intervals_as_single_precision_can_count(monkeypatch):
    monkeypatch.setattr(_onnx_graph, "MOST_INTERVALS", 6)
    assert places([np.array([1.0, 2.0]), np.array([3.0, 4.0])], np.array([9.0])).tolist() == [[2, 5]]
    with pytest.raises(CalibrantError, match=r"at most 6 steps or cells; got 7; calibrate by a sigmoid"):
        places([np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])], np.array([9.0]))
