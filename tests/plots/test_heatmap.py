"""An accuracy table as a heat map."""

import numpy as np
import pytest
from matplotlib import colors

from calibrant._core._errors import DataError, ParameterError
from calibrant.plots import accuracy_heatmap
from plots.cases import table


def corners(cells):
    """Lower left and upper right corners of the cells drawn."""
    outlines = [path.vertices for path in cells.get_paths()]
    return np.array([outline.min(axis=0) for outline in outlines]), np.array(
        [outline.max(axis=0) for outline in outlines]
    )


def test_cells_have_their_bounds_and_values():
    made = table(width=0.5)
    ax = accuracy_heatmap(made)
    (cells,) = ax.collections
    lower, upper = corners(cells)
    np.testing.assert_allclose(lower, made.lower)
    np.testing.assert_allclose(upper, made.upper)
    np.testing.assert_array_equal(cells.get_array(), made.value)
    assert cells.get_clim() == (0, 1)
    assert ax.get_xlim() == pytest.approx((made.lower[:, 0].min(), made.upper[:, 0].max()))
    assert ax.get_ylim() == pytest.approx((made.lower[:, 1].min(), made.upper[:, 1].max()))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("f1, the highest score", "f2, the score at rank 2")
    assert ax.figure.axes[1].get_ylabel() == "estimated accuracy"


def test_ticks_are_where_cells_meet():
    made = table(width=0.05)
    ax = accuracy_heatmap(made)
    for ticks in (ax.get_xticks(), ax.get_yticks()):
        assert 3 <= len(ticks) <= 11
        np.testing.assert_allclose(ticks / 0.05, np.rint(ticks / 0.05), atol=1e-9)


def test_empty_cells_are_hatched():
    ax = accuracy_heatmap(table(width=0.5))
    (empty,) = ax.patches
    assert empty.get_hatch()
    assert empty.get_label() == "no rows"
    assert empty.get_zorder() < ax.collections[0].get_zorder()
    assert (empty.get_x(), empty.get_x() + empty.get_width()) == pytest.approx(ax.get_xlim())
    assert (empty.get_y(), empty.get_y() + empty.get_height()) == pytest.approx(ax.get_ylim())


@pytest.mark.parametrize(("show", "label"), [("accuracy", "accuracy"), ("count", "rows")])
def test_other_numbers(show, label):
    made = table(width=0.5)
    ax = accuracy_heatmap(made, show=show, numbers=True)
    np.testing.assert_array_equal(ax.collections[0].get_array(), getattr(made, show))
    assert ax.figure.axes[1].get_ylabel() == label
    form = ".2f" if show == "accuracy" else "g"
    assert [text.get_text() for text in ax.texts] == [format(number, form) for number in getattr(made, show)]


def test_counts_in_the_cells():
    made = table(width=0.5)
    ax = accuracy_heatmap(made, counts=True)
    assert ax.texts[0].get_text() == f"{made.value[0]:.2f}\n({made.count[0]:g})"
    middle = (made.lower + made.upper) / 2
    np.testing.assert_allclose([text.get_position() for text in ax.texts], middle)


def test_text_stands_out():
    ax = accuracy_heatmap(table(width=0.5), numbers=True)
    for text, cell in zip(ax.texts, ax.collections[0].to_rgba(ax.collections[0].get_array()), strict=True):
        ink = np.dot(colors.to_rgb(text.get_color()), [0.299, 0.587, 0.114])
        assert abs(ink - np.dot(cell[:3], [0.299, 0.587, 0.114])) > 0.4


def test_numbers_only_if_they_can_be_read():
    assert accuracy_heatmap(table(width=0.5)).texts
    assert not accuracy_heatmap(table(width=0.05)).texts
    assert not accuracy_heatmap(table(width=0.5), numbers=False).texts


def test_one_score():
    made = table("single", width=0.5)
    ax = accuracy_heatmap(made)
    lower, upper = corners(ax.collections[0])
    np.testing.assert_allclose(lower[:, 0], made.lower[:, 0])
    np.testing.assert_allclose(upper[:, 0], made.upper[:, 0])
    assert (set(lower[:, 1]), set(upper[:, 1])) == ({0.0}, {1.0})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("f1, the highest score", "")
    assert len(ax.get_yticks()) == 0


def test_table_that_ranks_share():
    made = table(width=0.5, max_rank=1)
    ax = accuracy_heatmap(made)
    assert ax.get_ylabel() == "f2, the score at rank 2"


def test_one_cell():
    ax = accuracy_heatmap(table(n_cells=1), show="count")
    assert len(ax.collections[0].get_paths()) == 1
    ax.figure.canvas.draw()


def test_three_scores_have_no_picture():
    with pytest.raises(DataError, match="table must be of one or two scores; got 3: f1, f2, f3"):
        accuracy_heatmap(table([1, 2, 3], width=0.5))


def test_unknown_number():
    with pytest.raises(ParameterError, match="show must be one of 'value', 'accuracy', 'count'; got 'lam'"):
        accuracy_heatmap(table(width=0.5), show="lam")
