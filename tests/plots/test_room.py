"""What holds for every figure: its axes, its labels, and matplotlib only when someone draws."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import colors, pyplot as plt

from calibrant import CalibrantError, plots
from calibrant._core._errors import DataError
from calibrant.plots._style import COLORS, HATCHES, LINES, MARKERS, TINTS, series, tint
from plots.cases import DRAWINGS, PROBA, SIGMOID

each_drawing = pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)


def test_there_is_a_drawing_of_every_figure():
    drawn = {name.split()[0] for name in DRAWINGS}
    assert drawn | {"simplex_coordinates"} == set(plots.__all__)


@each_drawing
def test_draws_on_the_axes_given_and_gives_them_back(draw, ax):
    other = ax.figure.add_subplot(1, 2, 2)
    assert draw(ax) is ax
    assert ax.has_data()
    assert not other.has_data()
    assert len(plt.get_fignums()) == 1


@each_drawing
def test_makes_a_figure_of_its_own(draw):
    first, second = draw(None), draw(None)
    assert first.figure is not second.figure


@each_drawing
def test_says_what_is_shown(draw):
    ax = draw(None)
    named = [text.get_text() for text in ax.texts if text.get_text().startswith("probability of")]
    assert ax.get_xlabel() or len(named) == 3, "a triangle has its names along its sides"


@each_drawing
def test_without_matplotlib_it_says_how_to_get_it(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        CalibrantError, match=r"needs the package matplotlib.*pip install 'calibrant\[plots\]'"
    ):
        draw(None)


@each_drawing
def test_nothing_is_written_outside_the_figure(draw):
    ax = draw(None)
    ax.figure.canvas.draw()
    drawn, whole = ax.get_tightbbox(), ax.figure.bbox
    assert (drawn.min >= whole.min - 1).all()
    assert (drawn.max <= whole.max + 1).all()


def test_import_does_not_import_matplotlib():
    code = "import sys, calibrant.plots; assert 'matplotlib' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            plots.accuracy_heatmap,
            "table must be what a calibrator with accuracy tables, as tables_.0., gives",
        ),
        (plots.detection_diagram, "curve must be what detection_curve or likely_errors with labels gives"),
        (plots.monitor_chart, "monitor must be what CalibrationMonitor gives"),
        (plots.probing_convergence, "curve must be what probing_curve gives"),
        (plots.probing_ladder, "ladder must be what ProbingClassifier, as ladders_.0., gives"),
        (plots.ranking_diagram, "comparison must be what compare_methods or compare_forecasts gives"),
        (
            plots.reliability_diagram,
            "reliability must be what reliability_bins or isotonic_reliability gives",
        ),
        (plots.roc_diagram, "curve must be what roc_points gives"),
        (plots.saving_diagram, "comparison must be what compare_rules gives"),
        (lambda bins: plots.calibration_map(SIGMOID, bins), "bins must be what reliability_bins gives"),
        (
            lambda it: plots.calibration_map(it, it),
            "calibrator must be what the fit of a calibrator of one score gives",
        ),
    ],
)
def test_refuses_plain_numbers(draw, message):
    with pytest.raises(DataError, match=rf"{message}; got ndarray; call that first"):
        draw(PROBA)
    assert not plt.get_fignums()


class TestStyle:
    def test_lines_on_the_same_axes_differ_without_colours(self, ax):
        for _ in COLORS:
            ax.plot([0, 1], [0, 1], **series(ax, {}))
        looks = {(line.get_marker(), line.get_linestyle(), line.get_color()) for line in ax.lines}
        assert len(looks) == len({marker for marker, _, _ in looks}) == len(COLORS)
        assert len({repr(line) for line in LINES[:6]}) == 6

    def test_the_user_has_the_last_word_also_in_short(self, ax):
        (line,) = ax.plot([0, 1], [0, 1], **series(ax, {"c": "red", "ls": ":", "marker": "x", "lw": 3}))
        assert (line.get_color(), line.get_linestyle(), line.get_marker()) == ("red", ":", "x")
        assert line.get_linewidth() == 3

    def test_as_many_of_each(self):
        assert len({len(MARKERS), len(HATCHES), len(COLORS), len(TINTS), len(LINES)}) == 1
        assert len(set(HATCHES)) == len(HATCHES)

    def test_neighbouring_areas_differ_in_grey(self):
        grey = [np.dot(colors.to_rgb(tint(number)), [0.299, 0.587, 0.114]) for number in range(3)]
        assert np.abs(np.diff(grey)).min() > 0.02
