"""Rules and methods side by side."""

from dataclasses import replace

import numpy as np

from calibrant.decisions import RuleComparison, RuleResult
from calibrant.metrics import Estimate
from calibrant.models import compare_methods
from calibrant.plots import ranking_diagram, saving_diagram
from plots.cases import METHODS, RULES, SCORES, Y, methods


def points_and_bars(ax):
    """Centre and half-width of every bar with a point."""
    found = []
    for container in ax.containers:
        line, _, bars = container.lines
        widths = [np.ptp(bar.get_segments()[0][:, 0]) / 2 for bar in bars]
        found.append((line.get_xdata()[0], line.get_ydata()[0], widths[0] if widths else None))
    return found


class TestSaving:
    def test_points_intervals_and_folds(self):
        ax = saving_diagram(RULES)
        for row, (result, (at, height, half)) in enumerate(
            zip(RULES.results, points_and_bars(ax), strict=True)
        ):
            assert height == row
            np.testing.assert_allclose(
                [at, 2 * half], [result.saving, result.saving.high - result.saving.low]
            )
        folds = [line for line in ax.lines if line.get_marker() == "|" and len(line.get_xdata()) == 3]
        np.testing.assert_array_equal(
            [line.get_xdata() for line in folds], [result.fold_savings for result in RULES.results]
        )

    def test_first_on_top_with_names(self):
        ax = saving_diagram(RULES)
        assert [text.get_text() for text in ax.get_yticklabels()] == [result.name for result in RULES.results]
        low, high = ax.get_ylim()
        assert low > high
        assert ax.get_xlabel() == "saving against the plain rule, percent of its cost"

    def test_where_the_plain_rule_costs_nothing(self):
        nothing = RuleResult("parallel", Estimate(0.0), Estimate(np.nan), np.zeros(3), np.full(3, np.nan))
        ax = saving_diagram(RuleComparison((nothing,), nothing))
        assert [text.get_text().strip() for text in ax.texts] == ["the plain rule costs nothing"]
        ax.figure.canvas.draw()

    def test_a_saving_may_have_no_interval(self):
        result = RuleResult("parallel", Estimate(9.0), Estimate(10.0), np.array([9.0]), np.array([10.0]))
        ((at, _, half),) = points_and_bars(saving_diagram(RuleComparison((result,), result)))
        assert (at, half) == (10, None)


class TestRanking:
    def test_differences_with_intervals(self):
        ax = ranking_diagram(METHODS)
        np.testing.assert_allclose(
            points_and_bars(ax), [(0, 0, 0), (0.01, 1, 2 * 0.004), (0.02, 2, 2 * 0.004)]
        )
        assert ax.get_xlabel() == "log loss above that of the best method"

    def test_best_on_top(self):
        ax = ranking_diagram(METHODS)
        assert [text.get_text() for text in ax.get_yticklabels()] == ["pav", "sigmoid", "binning"]
        low, high = ax.get_ylim()
        assert low > high
        best, other, _ = (container.lines[0] for container in ax.containers)
        assert best.get_marker() != other.get_marker()

    def test_the_recommended_one_is_bold(self):
        weights = {
            text.get_text(): text.get_fontweight() for text in ranking_diagram(METHODS).get_yticklabels()
        }
        assert weights == {"pav": "normal", "sigmoid": "bold", "binning": "normal"}

    def test_says_how_often_each_comes_first(self):
        texts = [text.get_text() for text in ranking_diagram(METHODS).texts]
        assert [text for text in texts if text.endswith("%")] == ["70%", "30%", "0%"]

    def test_a_lopsided_interval_is_drawn_so(self):
        (best, other, *_), sides = METHODS.results, Estimate(0.01, 0.004, 0.03)
        lopsided = replace(METHODS, results=(best, replace(other, difference=sides)))
        bar = ranking_diagram(lopsided).containers[1].lines[2][0]
        np.testing.assert_allclose(bar.get_segments()[0][:, 0], [sides.low, sides.high])

    def test_without_interval(self):
        alone = methods(("a", 0.0, np.nan, 1.0), recommended="a")
        ((at, _, width),) = points_and_bars(ranking_diagram(alone))
        assert (at, width) == (0, None)

    def test_of_real_methods(self):
        found = compare_methods(SCORES, Y)
        ax = ranking_diagram(found)
        assert [at for at, _, _ in points_and_bars(ax)] == [each.difference for each in found.results]
