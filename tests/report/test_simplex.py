"""Regions and pieces are where `decide` decides so; labels lie inside."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant.decisions import boundary_segment, decide, equal_risk_point, two_class_threshold
from calibrant.report._sections import Sample
from calibrant.report._simplex import (
    HALF_LETTER,
    HALF_LINE,
    label_place,
    line_figure,
    line_pieces,
    place,
    region,
    triangle_figure,
)

NOBODY = Sample((), (), (), ())


def costs(n_actions, n_classes):
    return st.lists(
        st.lists(st.integers(0, 12).map(float), min_size=n_classes, max_size=n_classes),
        min_size=n_actions,
        max_size=n_actions,
    )


def inside(corners, p):
    """Whether a point of the triangle is in a convex polygon; None if it is too near an edge to tell."""
    x, y = place(p)
    turns = []
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if abs(x1 - x0) + abs(y1 - y0) > 1e-9:
            turns.append(((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / np.hypot(x1 - x0, y1 - y0))
    if min(map(abs, turns), default=0) < 1e-6:
        return None
    return all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)


@settings(max_examples=60)
@given(cost=st.integers(1, 5).flatmap(lambda n: costs(n, 3)), seed=st.integers(0, 1000))
def test_a_point_lies_in_the_region_of_its_decision(cost, seed):
    points = np.random.default_rng(seed).dirichlet(np.ones(3), size=20)
    decided = decide(points, cost, allow_any=True)
    for action in range(len(cost)):
        corners = [place(p) for p in region(cost, action)]
        for p, chosen in zip(points, decided, strict=True):
            found = inside(corners, p) if len(corners) >= 3 else False
            if found is not None:
                assert found == (chosen == action)


def test_regions_meet_at_the_segments_and_the_equal_risk_point_of_the_library():
    cost = [[0.0, 4.0, 9.0], [2.0, 0.0, 5.0], [3.0, 2.0, 0.0]]
    corners = {tuple(np.round(p, 9)) for action in range(3) for p in region(cost, action)}
    for i, k in ((0, 1), (0, 2), (1, 2)):
        for end in boundary_segment(cost, i, k):
            assert tuple(np.round(end, 9)) in corners
    drawn = triangle_figure(cost, "abc", "abc", NOBODY)
    assert drawn.equal_risk == pytest.approx(place(equal_risk_point(cost).point))


@settings(max_examples=60)
@given(cost=st.integers(1, 4).flatmap(lambda n: costs(n, 2)), p=st.floats(0, 1))
def test_the_piece_of_a_probability_is_its_decision(cost, p):
    pieces = line_pieces(cost)
    assert pieces[0][1] == 0
    assert pieces[-1][2] == 1
    assert all(before[2] == after[1] for before, after in pairwise(pieces))
    if min(abs(p - end) for piece in pieces for end in piece[1:]) < 1e-9:
        return
    action = next(action for action, low, high in pieces if low <= p <= high)
    assert action == decide([[1 - p, p]], cost, allow_any=True)[0]


def test_two_classes_change_at_the_threshold():
    cost = [[0.0, 9.0], [1.0, 0.0]]
    pieces = line_pieces(cost)
    assert [action for action, *_ in pieces] == [0, 1]
    assert pieces[0][2] == pytest.approx(1 - two_class_threshold(cost))


@settings(max_examples=30)
@given(cost=costs(3, 3), text=st.text("abcdef", min_size=1, max_size=18))
def test_labels_lie_inside_or_are_left_out(cost, text):
    for action in range(3):
        corners = [place(p) for p in region(cost, action)]
        at = label_place(corners, text) if len(corners) >= 3 else None
        if at is None:
            continue
        reach = HALF_LETTER * len(text)
        for dx in (-reach, reach):
            for dy in (-HALF_LINE, HALF_LINE):
                assert _in_polygon(corners, (at[0] + dx, at[1] + dy))


def _in_polygon(corners, point):
    crossings = 0
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (y0 > point[1]) != (y1 > point[1]):
            crossings += point[0] < x0 + (point[1] - y0) * (x1 - x0) / (y1 - y0)
    return crossings % 2 == 1


def test_a_label_that_does_not_fit_is_left_out():
    tiny = [[0.0, 1.0, 1.0], [0.01, 0.0, 1.0], [0.01, 1.0, 0.0]]
    drawn = triangle_figure(tiny, ("a very long name", "b", "c"), "abc", NOBODY)
    labels = {found.action: found.label for found in drawn.regions}
    assert labels[0] is None
    assert labels[1].text == "b"


def test_points_are_where_their_probabilities_are_and_bounded():
    proba = np.random.default_rng(0).dirichlet(np.ones(3), size=900)
    sample = Sample(tuple(range(900)), (0, 1, 2) * 300, tuple(map(tuple, proba)), (1.0,) * 900)
    drawn = triangle_figure(1 - np.eye(3), "abc", "abc", sample)
    assert drawn.n_drawn == 300
    assert sum(marks.count("M") for marks in drawn.marks) == 300
    few = Sample((0,), (1,), ((0.0, 1.0, 0.0),), (1.0,))
    assert triangle_figure(1 - np.eye(3), "abc", "abc", few).marks[1].startswith("M430,402")


def test_the_line_shows_all_rows_of_the_sample():
    sample = Sample((0, 1, 2), (0, 1, 1), ((0.9, 0.1), (0.1, 0.9), (0.0, 1.0)), (1.0, 2.0, 1.0))
    drawn = line_figure([[0.0, 1.0], [1.0, 0.0]], ("no", "yes"), sample)
    assert (len(drawn.negative), len(drawn.positive)) == (1, 2)
    assert drawn.pieces[0].label.text == "no"
    assert max(bar.height for bar in drawn.positive) == 60
