"""The triangle of three probabilities: exact regions, and points where they belong."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from matplotlib import colors
from matplotlib.path import Path

from calibrant._core._errors import DataError, ParameterError
from calibrant.decisions import (
    LachicheFlachRule,
    MossmanRule,
    ParallelPartitionRule,
    boundary_segment,
    decide,
    equal_risk_point,
)
from calibrant.plots import simplex_coordinates, simplex_diagram
from calibrant.plots._triangle import CORNERS, least_risk_regions
from plots.cases import COST, THREE, Y3

costs = st.lists(st.integers(-5, 10), min_size=9, max_size=9).map(lambda flat: np.reshape(flat, (3, 3)) / 2)
ZERO_ONE = 1 - np.eye(3)
reasonable_costs = st.lists(st.integers(1, 20), min_size=9, max_size=9).map(
    lambda flat: np.reshape(flat, (3, 3)) * ZERO_ONE
)


def area(region):
    x, y = (region @ CORNERS).T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


class TestCoordinates:
    def test_corners_centre_and_sides(self):
        height = np.sqrt(3) / 2
        proba = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 3] * 3, [0.5, 0.5, 0]]
        expected = [[0, 0], [1, 0], [0.5, height], [0.5, height / 3], [0.5, 0]]
        np.testing.assert_allclose(simplex_coordinates(proba), expected)

    @pytest.mark.parametrize("proba", [[[0.5, 0.5]], [0.2, 0.3, 0.5], np.full((2, 4), 0.25)])
    def test_other_numbers_of_classes(self, proba):
        with pytest.raises(DataError, match=r"proba must have three columns.*got shape"):
            simplex_coordinates(proba)

    def test_margins(self):
        with pytest.raises(DataError, match=r"proba must lie in \[0, 1\]; got -1.0 in row 0"):
            simplex_coordinates([[-1.0, 1, 1]])


class TestRegions:
    @given(cost=costs)
    def test_points_inside_are_decided_so(self, cost):
        regions = least_risk_regions(cost)
        points = np.random.default_rng(0).dirichlet([1, 1, 1], 200)
        risks = np.sort(points @ cost.T, axis=1)
        clear = points[risks[:, 1] - risks[:, 0] > 1e-6]
        decisions = decide(clear, cost, allow_any=True)
        for number, region in enumerate(regions):
            inside = np.zeros(len(clear), dtype=bool)
            if len(region):
                inside = Path(region @ CORNERS).contains_points(clear @ CORNERS)
            np.testing.assert_array_equal(inside, decisions == number)

    @given(cost=costs)
    def test_they_cover_the_triangle_once(self, cost):
        regions = [region for region in least_risk_regions(cost) if len(region)]
        assert sum(map(area, regions)) == pytest.approx(np.sqrt(3) / 4)

    @given(cost=reasonable_costs)
    def test_their_edges_are_the_boundary_segments(self, cost):
        regions = least_risk_regions(cost)
        for i, k in ((0, 1), (0, 2), (1, 2)):
            segment = boundary_segment(cost, i, k)
            shared = [
                corner
                for corner in regions[i]
                if len(regions[k]) and np.abs(regions[k] - corner).sum(axis=1).min() < 1e-9
            ]
            if segment is None:
                assert len(shared) <= 1
            else:
                for end in segment:
                    assert np.abs(np.array(shared) - end).sum(axis=1).min() < 1e-9

    def test_of_zero_one_costs_meet_in_the_centre(self):
        for number, region in enumerate(least_risk_regions(ZERO_ONE)):
            assert area(region) == pytest.approx(np.sqrt(3) / 12)
            assert any(np.allclose(corner, 1 / 3) for corner in region)
            assert any(np.allclose(corner, np.eye(3)[number]) for corner in region)

    def test_of_equal_decisions_the_first_has_it(self):
        regions = least_risk_regions(np.array([[0.0, 1, 1], [0, 1, 1], [1, 0, 0]]))
        assert [len(region) > 0 for region in regions] == [True, False, True]

    def test_more_decisions_than_classes(self):
        regions = least_risk_regions(np.vstack([ZERO_ONE, [[0.4] * 3]]))
        assert [len(region) for region in regions] == [3, 3, 3, 6]


class TestDiagram:
    def test_regions_labels_and_hatches(self):
        ax = simplex_diagram(COST, classes=["mild", "severe", "grave"])
        regions = [region for region in least_risk_regions(np.array(COST, dtype=float)) if len(region)]
        assert len(ax.patches) == len(regions) == 3
        for patch, region in zip(ax.patches, regions, strict=True):
            np.testing.assert_allclose(patch.get_xy()[:-1], region @ CORNERS)
        assert [patch.get_label() for patch in ax.patches] == ["decide mild", "decide severe", "decide grave"]
        assert len({patch.get_hatch() for patch in ax.patches}) == 3
        assert len({colors.to_hex(patch.get_facecolor()) for patch in ax.patches}) == 3

    def test_a_region_that_does_not_exist_is_not_drawn(self):
        ax = simplex_diagram(np.vstack([ZERO_ONE, [[2.0] * 3]]), actions=[0, 1, 2, "ask"])
        assert [patch.get_label() for patch in ax.patches] == ["decide 0", "decide 1", "decide 2"]

    def test_corners_and_sides_bear_names(self):
        ax = simplex_diagram(classes=["mild", "severe", "grave"])
        texts = {text.get_text(): text for text in ax.texts}
        for name in ("mild", "severe", "grave"):
            assert f"probability of {name}" in texts
        mild, severe, grave = (texts[name].get_position() for name in ("mild", "severe", "grave"))
        assert mild[0] < 0.1
        assert severe[0] > 0.9
        assert grave[1] > 0.8
        assert [text.get_text() for text in ax.texts].count("0.2") == 3

    def test_numbers_on_the_sides_are_probabilities(self):
        ax = simplex_diagram()
        # The scale of class 1 is the lower side, from the corner of class 0 to its own.
        low = {text.get_text(): text.get_position() for text in ax.texts if text.get_position()[1] < 0}
        for share in (0.2, 0.4, 0.6, 0.8):
            assert low[f"{share:g}"][0] == pytest.approx(share, abs=0.03)

    def test_lines_of_equal_probability(self):
        ax = simplex_diagram()
        lines = [line.get_xydata() for line in ax.lines if line.get_alpha()]
        assert len(lines) == 12
        to_proba = np.linalg.inv(np.vstack([CORNERS.T, np.ones(3)]))
        for line in lines:
            ends = (to_proba @ np.vstack([line.T, np.ones(2)])).T
            constant = np.isclose(ends[0], ends[1]) & (ends[0] > 1e-9)
            assert constant.sum() == 1
            assert np.isclose(ends[0][constant], [0.2, 0.4, 0.6, 0.8]).any()

    def test_equal_risk_point(self):
        ax = simplex_diagram(COST)
        (circle,) = [line for line in ax.lines if line.get_label() == "equal risk"]
        point = equal_risk_point(COST).point
        np.testing.assert_allclose(circle.get_xydata(), [point @ CORNERS])

    @pytest.mark.parametrize("cost", [[[0, 1, 6], [1, 0, 1], [6, 1, 0]], np.vstack([ZERO_ONE, [[0.4] * 3]])])
    def test_no_circle_without_such_a_point_inside(self, cost):
        ax = simplex_diagram(cost)
        assert "equal risk" not in [line.get_label() for line in ax.lines]

    def test_points_by_truth(self):
        ax = simplex_diagram(COST, THREE, Y3)
        assert [points.get_label() for points in ax.collections] == ["true 0", "true 1", "true 2"]
        for number, points in enumerate(ax.collections):
            np.testing.assert_allclose(points.get_offsets(), THREE[number == Y3] @ CORNERS)
        shapes = {points.get_paths()[0].vertices.tobytes() for points in ax.collections}
        assert len(shapes) == 3

    def test_points_without_truth_or_rule(self):
        ax = simplex_diagram(proba=THREE, s=3)
        (points,) = ax.collections
        np.testing.assert_allclose(points.get_offsets(), THREE @ CORNERS)
        assert points.get_sizes().tolist() == [3]
        assert not ax.patches

    def test_labels_of_the_classes(self):
        names = np.array(["c", "a", "b"])
        ax = simplex_diagram(COST, THREE, names[Y3], classes=names)
        assert [points.get_label() for points in ax.collections] == ["true c", "true a", "true b"]
        np.testing.assert_allclose(ax.collections[1].get_offsets(), THREE[Y3 == 1] @ CORNERS)

    def test_costs_by_name(self):
        names = ["c", "a", "b"]
        frame = pd.DataFrame(COST, index=names, columns=names)
        shuffled = frame.loc[["a", "b", "c"], ["b", "c", "a"]]
        one, other = (simplex_diagram(cost, classes=names) for cost in (frame, shuffled))
        for patch, partner in zip(one.patches, other.patches, strict=True):
            np.testing.assert_allclose(patch.get_xy(), partner.get_xy())

    @pytest.mark.parametrize("rule", [ParallelPartitionRule(), LachicheFlachRule(), MossmanRule((1, 2, 0))])
    def test_fitted_rules_are_drawn_as_they_decide(self, rule):
        rule.fit(THREE, Y3, COST)
        ax = simplex_diagram(rule)
        points = np.random.default_rng(1).dirichlet([1, 1, 1], 500)
        decisions = rule.decide(points)
        for patch in ax.patches:
            number = int(patch.get_label().split()[-1])
            inside = Path(patch.get_xy()).contains_points(points @ CORNERS)
            assert np.mean(inside != (decisions == number)) < 0.005

    def test_names_of_more_decisions(self):
        cost = np.vstack([ZERO_ONE, [[0.4] * 3]])
        ax = simplex_diagram(cost, actions=["x", "y", "z", "ask"])
        assert [patch.get_label() for patch in ax.patches][-1] == "decide ask"
        ax = simplex_diagram(cost)
        assert [patch.get_label() for patch in ax.patches] == [
            "decide 0", "decide 1", "decide 2", "decide action 3"
        ]  # fmt: skip

    def test_draws_one_triangle_for_several_calls(self, ax):
        simplex_diagram(COST, ax=ax)
        n_texts = len(ax.texts)
        simplex_diagram(proba=THREE, ax=ax)
        assert len(ax.texts) == n_texts
        assert len(ax.patches) == 3
        assert len(ax.collections) == 1


class TestBadInput:
    def test_not_fitted(self):
        with pytest.raises(DataError, match="rule must be fitted; got ParallelPartitionRule without matrix_"):
            simplex_diagram(ParallelPartitionRule())

    def test_rule_of_two_classes(self):
        rule = ParallelPartitionRule().fit([[0.5, 0.5], [0.4, 0.6]], [0, 1], 1 - np.eye(2))
        with pytest.raises(DataError, match="rule must be of three classes; got 2"):
            simplex_diagram(rule)

    def test_costs_of_two_classes(self):
        with pytest.raises(DataError, match=r"got shape \(2, 2\)"):
            simplex_diagram([[0, 1], [1, 0]])

    def test_no_costs(self):
        with pytest.raises(DataError, match="cost must be a matrix; got 7"):
            simplex_diagram(7)

    def test_classes(self):
        with pytest.raises(ParameterError, match=r"classes must be three labels; got \['a', 'b'\]"):
            simplex_diagram(COST, classes=["a", "b"])

    def test_labels_without_probabilities(self):
        with pytest.raises(ParameterError, match="y must come with proba; got y alone"):
            simplex_diagram(COST, y=Y3)

    def test_lengths(self):
        with pytest.raises(
            DataError, match="proba and labels must have the same number of rows; got 100 and 3"
        ):
            simplex_diagram(COST, THREE, Y3[:3])

    def test_unknown_label(self):
        with pytest.raises(DataError, match="labels must be column numbers from 0 to 2; got 3"):
            simplex_diagram(COST, THREE, Y3 + 1)
