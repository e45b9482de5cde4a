"""The ladder of thresholds, and how the loss falls."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron

from calibrant import ProbingClassifier
from calibrant._core._errors import ParameterError
from calibrant.classifiers import Ladder
from calibrant.plots import probing_convergence, probing_ladder
from plots.cases import LADDER, PROBING


class TestLadder:
    def test_bars_are_intervals_and_shares_of_rows(self):
        ax = probing_ladder(LADDER)
        bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in ax.patches]
        np.testing.assert_allclose(bars, [(0, 0.2, 0.1), (0.2, 0.5, 0.5), (0.5, 0.8, 0.0), (0.8, 1, 0.4)])
        assert [text.get_text() for text in ax.texts] == ["10%", "50%", "0%", "40%"]
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("probability of yes", "share of the rows")
        assert ax.get_xlim() == (0, 1)

    def test_marks_are_the_estimates(self):
        (marks,) = probing_ladder(LADDER).lines
        np.testing.assert_array_equal(marks.get_xdata(), LADDER.estimates)
        np.testing.assert_allclose(marks.get_ydata(), LADDER.counts / 10)

    def test_rungs_are_the_intervals_that_were_split(self):
        (rungs,) = probing_ladder(LADDER).child_axes
        across = rungs.collections[0].get_segments()
        np.testing.assert_allclose(across, [[(0, 1), (1, 1)], [(0, 2), (0.5, 2)], [(0.5, 3), (1, 3)]])
        (points,) = rungs.lines
        np.testing.assert_array_equal(points.get_xydata(), [(0.5, 1), (0.2, 2), (0.8, 3)])
        assert [text.get_text() for text in rungs.texts] == ["0.5", "0.2", "0.8"]
        assert rungs.get_ylabel() == "probe"
        low, high = rungs.get_ylim()
        assert low > high, "the first probe stands on top"

    def test_bars_do_not_reach_the_rungs(self):
        ax = probing_ladder(LADDER)
        ax.figure.canvas.draw()
        (rungs,) = ax.child_axes
        top = max(bar.get_window_extent().y1 for bar in ax.patches)
        assert top < rungs.get_window_extent().y0
        assert max(text.get_window_extent().y1 for text in ax.texts) < rungs.get_window_extent().y0

    def test_of_many_probes_has_no_numbers(self):
        X, y = make_classification(300, random_state=0)
        model = ProbingClassifier(Perceptron(), n_probes=30, random_state=0).fit(X, y)
        ladder = model.ladders_[0]
        ax = probing_ladder(ladder)
        (rungs,) = ax.child_axes
        assert not [*ax.texts, *rungs.texts]
        assert len(rungs.collections[0].get_segments()) == len(ladder.thresholds) == len(ax.patches) - 1
        for (start, end), threshold in zip(
            rungs.collections[0].get_segments(), ladder.thresholds, strict=True
        ):
            assert start[0] < threshold < end[0]
        assert (rungs.get_yticks() >= 1).all()

    def test_without_probes(self):
        nothing = np.empty(0)
        ax = probing_ladder(Ladder(1, nothing, nothing, np.array([7.0]), np.array([0.5]), None))
        assert [text.get_text() for text in ax.texts] == ["100%"]
        ax.figure.canvas.draw()

    def test_stays_in_its_place_of_a_figure(self):
        figure, places = plt.subplots(1, 2)
        probing_ladder(LADDER, ax=places[1])
        figure.canvas.draw()
        (rungs,) = places[1].child_axes
        assert rungs.get_window_extent().x0 >= places[0].get_window_extent().x1


class TestConvergence:
    def test_loss_against_probes(self):
        ax = probing_convergence(PROBING, label="tree")
        (line,) = ax.lines
        np.testing.assert_array_equal(line.get_xydata().T, [PROBING.n_probes, PROBING.cross_entropy])
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of probes", "cross entropy")
        assert line.get_label() == "tree"
        assert ax.get_xlim()[0] == 0

    def test_squared_error(self):
        ax = probing_convergence(PROBING, loss="squared_error")
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), PROBING.squared_error)
        assert ax.get_ylabel() == "squared error"

    def test_several(self, ax):
        probing_convergence(PROBING, ax=ax)
        probing_convergence(PROBING, ax=ax, color="red")
        assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
        assert ax.lines[1].get_color() == "red"

    def test_unknown_loss(self):
        with pytest.raises(ParameterError, match="loss must be one of 'cross_entropy', 'squared_error'"):
            probing_convergence(PROBING, loss="auc")
