"""Numbers beside points, where they can be read."""

import numpy as np
from hypothesis import given, settings, strategies as st
from matplotlib import pyplot as plt

from calibrant.metrics import reliability_bins
from calibrant.plots import reliability_diagram


def boxes(ax):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in ax.texts]


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_all_inside_the_axes(seed):
    rng = np.random.default_rng(seed)
    proba = rng.random(300) ** rng.integers(1, 6)
    bins = reliability_bins(rng.random(300) < rng.random(), proba, width=0.1)
    ax = reliability_diagram(bins, counts=True)
    frame = ax.get_window_extent()
    for box in boxes(ax):
        assert box.x0 >= frame.x0 - 2
        assert box.x1 <= frame.x1 + 2
        assert box.y0 >= frame.y0 - 2
        assert box.y1 <= frame.y1 + 2
    plt.close("all")


def test_two_lines_with_points_in_the_same_place():
    y = [0] * 30 + [1] * 30
    ax = None
    for shift in (0.0, 0.01):
        bins = reliability_bins(y, np.repeat([0.3 + shift, 0.7 - shift], 30), width=0.5)
        ax = reliability_diagram(bins, ax=ax, counts=True)
    texts = boxes(ax)
    assert len(texts) == 4
    assert not any(one.overlaps(other) for number, one in enumerate(texts) for other in texts[number + 1 :])


def test_one_above_the_diagonal_has_its_number_above():
    ax = reliability_diagram(reliability_bins([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]), counts=True)
    (text,) = ax.texts
    assert text.get_position() == (-5.0, 4.0)
    ax = reliability_diagram(reliability_bins([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]), counts=True)
    (text,) = ax.texts
    assert text.get_position() == (5.0, -4.0)


def test_a_crowd_is_written_all_the_same():
    ax = None
    for _ in range(6):
        ax = reliability_diagram(reliability_bins([0, 1], [0.5, 0.5]), ax=ax, counts=True)
    assert [text.get_text() for text in ax.texts] == ["2"] * 6
