"""What a reliability diagram draws."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from calibrant import CalibrantError
from calibrant.metrics import reliability_bins
from calibrant.plots import reliability_diagram

mpl.use("Agg")


@pytest.fixture
def bins():
    return reliability_bins([0, 0, 1, 1, 0, 1], [0.1, 0.1, 0.2, 0.8, 0.9, 0.9], width=0.5)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_points_diagonal_and_labels(bins):
    ax = reliability_diagram(bins, label="raw")
    diagonal, line = ax.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([bins.mean_score, bins.frac_pos]))
    assert line.get_label() == "raw"
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1), (0, 1))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean forecast in the bin", "observed frequency")


def test_counts_are_written_beside_the_points(bins):
    ax = reliability_diagram(bins, counts=True)
    assert [text.get_text() for text in ax.texts] == ["3", "3"]


def test_several_lines_share_axes_and_one_diagonal(bins):
    ax = plt.figure().add_subplot()
    assert reliability_diagram(bins, ax=ax) is ax
    reliability_diagram(bins, ax=ax, color="red", marker="s")
    assert len(ax.lines) == 3
    assert (ax.lines[2].get_color(), ax.lines[2].get_marker()) == ("red", "s")


def test_without_matplotlib_it_says_how_to_get_it(bins, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        CalibrantError, match=r"needs the package matplotlib.*pip install 'calibrant\[plots\]'"
    ):
        reliability_diagram(bins)
