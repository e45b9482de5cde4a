"""What a reliability diagram draws."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from calibrant._core._errors import ParameterError
from calibrant.metrics import isotonic_reliability, reliability_bins
from calibrant.plots import reliability_diagram
from plots.cases import PROBA, Y


@pytest.fixture
def bins():
    return reliability_bins([0, 0, 1, 1, 0, 1], [0.1, 0.1, 0.2, 0.8, 0.9, 0.9], width=0.5)


def test_points_diagonal_and_labels(bins):
    ax = reliability_diagram(bins, label="raw")
    diagonal, line = ax.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([bins.mean_score, bins.frac_pos]))
    assert line.get_label() == "raw"
    assert line.get_marker() == "o"
    assert (ax.get_xlim(), ax.get_ylim()) == ((-0.02, 1.02), (-0.02, 1.02))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean forecast in the bin", "observed frequency")
    assert not ax.texts


def test_counts_are_written_beside_the_points(bins):
    ax = reliability_diagram(bins, counts=True)
    assert [text.get_text() for text in ax.texts] == ["3", "3"]
    assert [text.xy for text in ax.texts] == [
        pytest.approx(point) for point in zip(bins.mean_score, bins.frac_pos, strict=True)
    ]


def test_several_lines_share_axes_and_one_diagonal(bins, ax):
    assert reliability_diagram(bins, ax=ax) is ax
    reliability_diagram(bins, ax=ax)
    reliability_diagram(bins, ax=ax, color="red", marker="x")
    assert len(ax.lines) == 4
    _, first, second, third = ax.lines
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()
    assert (third.get_color(), third.get_marker()) == ("red", "x")


def test_other_lines_on_the_axes_do_not_matter(bins, ax):
    ax.plot([0, 1], [1, 0])
    reliability_diagram(bins, ax=ax)
    assert ax.get_xlabel() == "mean forecast in the bin"
    assert len(ax.lines) == 3


def test_intervals_stand_behind_the_points_in_their_colour(bins, ax):
    reliability_diagram(bins, ax=ax)
    reliability_diagram(bins, ax=ax, color="red")
    first, second = ax.collections
    low, high = bins.intervals()
    np.testing.assert_array_equal(
        [segment.tolist() for segment in first.get_segments()],
        [[[x, below], [x, above]] for x, below, above in zip(bins.mean_score, low, high, strict=True)],
    )
    assert to_hex(first.get_color()[0]) == to_hex(ax.lines[1].get_color())
    assert to_hex(second.get_color()[0]) == to_hex("red")
    assert first.get_zorder() < ax.lines[1].get_zorder()


def test_without_intervals(bins):
    assert not reliability_diagram(bins, intervals=False).collections


class TestWithoutBins:
    def test_corners_and_band(self):
        fit = isotonic_reliability(Y, PROBA)
        ax = reliability_diagram(fit, label="raw")
        _, line = ax.lines
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([fit.score, fit.frequency]))
        (band,) = ax.collections
        outline = band.get_paths()[0].vertices
        for ends in (fit.lower, fit.upper):
            for point in np.column_stack([fit.band_score, ends]):
                assert np.abs(outline - point).sum(axis=1).min() < 1e-12
        assert outline[:, 1].min() == fit.lower.min()
        assert outline[:, 1].max() == fit.upper.max()
        assert [line.get_label(), band.get_label()] == ["raw", "90% consistency band, raw"]
        assert ax.get_xlabel() == "forecast"

    def test_without_a_name(self):
        ax = reliability_diagram(isotonic_reliability(Y, PROBA, level=0.5))
        assert ax.collections[0].get_label() == "50% consistency band"

    def test_without_a_band(self):
        ax = reliability_diagram(isotonic_reliability(Y, PROBA, n_resamples=0))
        assert len(ax.lines) == 2
        assert not ax.collections

    def test_two_have_bands_that_can_be_told_apart(self, ax):
        for _ in range(2):
            reliability_diagram(isotonic_reliability(Y, PROBA), ax=ax)
        one, other = ax.collections
        assert one.get_linestyle() != other.get_linestyle()

    def test_has_no_counts(self):
        with pytest.raises(ParameterError, match="counts must be False for a fit without bins; got True"):
            reliability_diagram(isotonic_reliability(Y, PROBA), counts=True)
