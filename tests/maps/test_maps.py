"""Maps: one formula, for NumPy and for a graph, for one column and for several at once."""

import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from scipy.special import expit, logit, softmax

from calibrant._core._place import ModelFileError, Place
from calibrant.maps import (
    MAPS,
    NUMPY,
    AnyMap,
    Bounds,
    Constant,
    Graph,
    Identity,
    IntervalLookup,
    Lines,
    Logistic,
    Softmax,
    Steps,
    answers,
    answers_of_rows,
)
from calibrant.maps._pool_row import Curves
from registry_cases import MAP_EXAMPLES

RNG = np.random.default_rng(5)
PROBA = RNG.random(200)
#: Maps of one score, each with what it says, by other means.
ONE_SCORE = {
    "steps": (
        Steps(IntervalLookup(np.array([0.2, 0.5])), np.array([0.1, 0.4, 0.9])),
        lambda p: np.select([p <= 0.2, p <= 0.5], [0.1, 0.4], 0.9),
    ),
    "bounds": (
        Bounds(
            *(IntervalLookup(np.array([0.2])), np.array([0.1, 0.4])),
            *(IntervalLookup(np.array([0.3, 0.6])), np.array([0.5, 0.7, 1.0])),
        ),
        lambda p: (
            (high := np.select([p <= 0.3, p <= 0.6], [0.5, 0.7], 1.0))
            / (1 - np.where(p <= 0.2, 0.1, 0.4) + high)
        ),
    ),
    "lines": (
        Lines.through(np.array([0.2, 0.4, 0.9]), np.array([0.1, 0.3, 0.8])),
        lambda p: np.interp(p, [0.2, 0.4, 0.9], [0.1, 0.3, 0.8]),
    ),
    "clipped lines": (
        Lines.through(np.array([0.2, 0.9]), np.array([0.0, 1.0]), 0.05),
        lambda p: np.clip(np.interp(p, [0.2, 0.9], [0.0, 1.0]), 0.05, 0.95),
    ),
    "logistic": (Logistic((-3.0,), 1.5), lambda p: expit(3 * p - 1.5)),
    "logistic of log-odds": (Logistic((-2.0,), 0.5, "log_odds"), lambda p: expit(2 * logit(p) - 0.5)),
    "logistic of logarithms": (
        Logistic((-2.0, -0.5), 0.25, "logs"),
        lambda p: expit(2 * np.log(p) - 0.5 * np.log1p(-p) - 0.25),
    ),
    "constant": (Constant(0.3), lambda p: np.full_like(p, 0.3)),
    "identity": (Identity(), lambda p: p),
}


def in_graph(maps, scores):
    graph = Graph(len(maps))
    found = answers(graph.scores if len(maps) > 1 else graph.scores.as_vector(), maps)
    found = found if len(maps) > 1 else found.as_column()
    graph.output("answers", "", found, np.float64, len(maps))
    session = onnxruntime.InferenceSession(graph.to_model("maps", "1", {}).SerializeToString())
    return session.run(["answers"], {"scores": scores})[0]


@pytest.mark.parametrize("name", ONE_SCORE)
def test_a_map_says_what_its_formula_says_in_numpy_and_in_a_graph(name):
    one, truth = ONE_SCORE[name]
    np.testing.assert_allclose(one(PROBA), truth(PROBA), rtol=0, atol=1e-14)
    np.testing.assert_allclose(in_graph([one], PROBA[:, None])[:, 0], one(PROBA), rtol=0, atol=1e-15)


def test_maps_of_several_columns_are_those_of_every_column():
    maps = [one for one, _ in ONE_SCORE.values()]
    maps += [
        Steps(IntervalLookup(np.array([0.7])), np.array([0.2, 0.3])),
        Bounds(
            *(IntervalLookup(np.array([0.1, 0.8])), np.array([0.1, 0.4, 0.5])),
            *(IntervalLookup(np.array([])), np.array([0.6])),
        ),
        Logistic((4.0,), -1.0),
        Lines.through(np.array([0.1, 0.3]), np.array([0.5, 0.6])),
        Constant(0.9),
    ]
    order = RNG.permutation(len(maps))
    scores = RNG.random((50, len(maps)))
    together = in_graph([maps[place] for place in order], scores)
    alone = np.column_stack([maps[place](column) for place, column in zip(order, scores.T, strict=True)])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("one", "truth"),
    [
        (Softmax(2.0), lambda x: softmax(2 * x, axis=1)),
        (
            Softmax([1.0, 2.0, 0.5], [0.1, 0.0, -1.0]),
            lambda x: softmax(x * [1, 2, 0.5] + [0.1, 0, -1], axis=1),
        ),
        (Softmax(np.arange(9.0).reshape(3, 3)), lambda x: softmax(x @ np.arange(9.0).reshape(3, 3), axis=1)),
        (Softmax(0.5, features="log"), lambda x: np.sqrt(x) / np.sqrt(x).sum(axis=1, keepdims=True)),
    ],
    ids=["one slope", "a slope for each", "a matrix", "of logarithms"],
)
def test_softmax(one, truth):
    scores = RNG.dirichlet([1, 2, 3], 100)
    np.testing.assert_allclose(one(scores), truth(scores), rtol=0, atol=1e-14)
    graph = Graph(3)
    graph.output("answers", "", answers_of_rows(graph.scores, one), np.float64, 3)
    session = onnxruntime.InferenceSession(graph.to_model("maps", "1", {}).SerializeToString())
    np.testing.assert_allclose(session.run(["answers"], {"scores": scores})[0], one(scores), atol=1e-15)


def test_scores_among_the_greatest_give_certainty():
    huge = 1.7e308
    np.testing.assert_array_equal(Softmax(2.0)(np.array([[huge, 1.0, -huge]])), [[1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(Logistic((-1e300,), 0.0)(np.array([-huge, huge])), [0.0, 1.0])


@pytest.mark.parametrize("name", MAPS)
def test_every_map_has_a_file_and_comes_back(name):
    known = [one for one, _ in ONE_SCORE.values()] + [Softmax([1.0, 2.0], 0.5), MAP_EXAMPLES["pool"]]
    (one, *_) = [each for each in known if each.name == name]
    plain = AnyMap().write(one)
    again = AnyMap().read(plain, Place("file"))
    scores = PROBA if name not in ("softmax", "pool") else PROBA.reshape(-1, 2)
    np.testing.assert_array_equal(again(scores), one(scores))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"map": "spline"}, "file: map must be one of .*, steps, .*; got 'spline'"),
        ({"slope": [1.0, 2.0]}, "file: slope must have 1 entries, one for every feature; got 2"),
        ({"features": "square"}, "file: features must be one of score, log_odds"),
        ({"more": 1}, "file: the document must have the fields map, slope, intercept, features only"),
    ],
)
def test_a_file_of_a_map_is_checked(changed, message):
    plain = AnyMap().write(Logistic((-1.0,), 0.5))
    with pytest.raises(ModelFileError, match=message):
        AnyMap().read(plain | changed, Place("file"))


@pytest.mark.parametrize("n_scores", [5, 5000])
@pytest.mark.parametrize(
    "edges",
    [
        [],
        [0.3],
        [0.3, 0.3],
        [-1.0, -1.0, 0.2, 0.2, 0.2, 0.5, 2.0, 2.0],
        np.arange(30.0).repeat(2),
        np.append(np.zeros(9), 1e300),
        np.append(np.linspace(0, 1e-9, 50).repeat(3), 1.0),
        [-np.inf, 0.0, 0.0, np.inf],
    ],
)
def test_intervals_are_counted_as_by_a_search(edges, n_scores):
    edges = np.array(edges, dtype=np.float64)
    rng = np.random.default_rng(0)
    near = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [0.0, 0.7]])
    scores = np.append(rng.choice(near[np.isfinite(near)], n_scores), rng.normal(size=n_scores))
    np.testing.assert_array_equal(IntervalLookup(edges)(scores), np.searchsorted(edges, scores, side="left"))


def test_a_map_that_was_not_imported_is_found():
    code = (
        "from calibrant.maps import MAPS, AnyMap; from calibrant._core._place import Place; "
        "print('pool' in MAPS); AnyMap().read({'map': 'pool'}, Place('file'))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stdout == "False\n"
    assert "must have the field 'entry'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("n_rows", [7, 500])
def test_lines_through_the_knots_of_columns_are_those_of_numpy(n_rows):
    """At knots and between them, where they are equal, and beyond the ends."""
    random = np.random.default_rng(0)
    knots = [np.sort(random.normal(size=size)) for size in (1, 5, 40)]
    knots[1][2] = knots[1][1]
    values = [np.sort(random.random(len(each))) for each in knots]
    rows = random.normal(size=(n_rows, 3)) * 2
    rows[:3] = [[-np.inf] * 3, [np.inf] * 3, [1e308, 1.0, -1e308]]
    rows[3:6] = [[each[0] for each in knots], [each[-1] for each in knots], [0.5, knots[1][2], knots[2][7]]]
    found = Curves(knots, values).formula(rows, NUMPY)
    wanted = [np.interp(*each) for each in zip(rows.T, knots, values, strict=True)]
    np.testing.assert_allclose(found.T, wanted, rtol=0, atol=1e-14)
