"""Reliability diagrams: which bin, what is in it, and the diagrams of many classes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binomtest

from calibrant._core._errors import ParameterError
from calibrant.metrics import reliability_at_rank, reliability_bins, reliability_by_class

cheap = settings(max_examples=40, deadline=None)
WIDTHS = [0.05, 0.08, 0.1, 0.15, 0.3, 1.0, 2.0]
two_class_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 100).map(lambda number: number / 100), st.floats(0.1, 5)),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("width", WIDTHS)
@cheap
@given(rows=two_class_rows)
def test_bins_are_what_a_loop_gives(width, rows):
    filled = {}
    n_bins = max(1, math.ceil(1 / width - 1e-9))
    for label, score, weight in rows:
        place = min(math.floor(score / width + 1e-9), n_bins - 1)
        filled.setdefault(place, []).append((label, score, weight))
    y, scores, weights = (list(column) for column in zip(*rows, strict=True))
    bins = reliability_bins(y, scores, width=width, sample_weight=weights)
    assert bins.count.tolist() == [len(filled[place]) for place in sorted(filled)]
    assert bins.count.sum() == len(rows)
    assert bins.weight.sum() == pytest.approx(sum(weights))
    for at, place in enumerate(sorted(filled)):
        total = sum(w for _, _, w in filled[place])
        assert bins.weight[at] == pytest.approx(total)
        assert bins.left[at] == pytest.approx(place * width)
        assert bins.right[at] == pytest.approx(min((place + 1) * width, 1.0))
        assert bins.mean_score[at] == pytest.approx(sum(s * w for _, s, w in filled[place]) / total)
        assert bins.frac_pos[at] == pytest.approx(sum(label * w for label, _, w in filled[place]) / total)


def test_a_score_on_an_edge_belongs_to_the_bin_that_begins_there():
    assert math.floor(0.3 / 0.1) == 2
    bins = reliability_bins([0], [0.3], width=0.1)
    assert bins.left.tolist() == [pytest.approx(0.3)]
    every_tenth = reliability_bins([0] * 10, [tenth / 10 for tenth in range(10)], width=0.1)
    assert every_tenth.count.tolist() == [1] * 10


@pytest.mark.parametrize(("width", "left"), [(0.15, 0.9), (0.08, 0.96)])
def test_last_bin_is_narrower_and_closed(width, left):
    bins = reliability_bins([0, 1], [0.97, 1.0], width=width)
    assert bins.left.tolist() == [pytest.approx(left)]
    assert bins.right.tolist() == [1.0]
    assert bins.count.tolist() == [2]


def test_scores_outside_belong_to_the_ends_as_they_are():
    bins = reliability_bins([0, 1, 0, 1], [-5.0, -0.9, 0.95, 1e308], width=0.5, lo=-1.0, hi=1.0)
    assert bins.left.tolist() == [-1.0, 0.5]
    assert bins.right.tolist() == [-0.5, 1.0]
    assert bins.mean_score[0] == pytest.approx(-2.95)
    assert bins.frac_pos.tolist() == [0.5, 0.5]


def test_narrow_bins_cost_nothing():
    bins = reliability_bins([0, 1], [0.25, 0.75], width=1e-12)
    assert bins.count.tolist() == [1, 1]
    assert bins.mean_score.tolist() == [0.25, 0.75]


def test_float32_scores():
    bins = reliability_bins([0, 1], np.array([0.25, 0.5], dtype=np.float32))
    assert bins.mean_score.dtype == np.float64
    assert bins.mean_score.tolist() == [0.25, 0.5]


@pytest.mark.parametrize("width", [0.0, -0.1, math.inf, math.nan, "wide"])
def test_width_that_cannot_be(width):
    with pytest.raises(ParameterError, match=f"width must be a number above 0; got {width!r}"):
        reliability_bins([0, 1], [0.1, 0.2], width=width)
    with pytest.raises(ParameterError, match=f"width must be a number above 0; got {width!r}"):
        reliability_by_class([0, 1], [[0.5, 0.5]] * 2, width=width)


def test_range_that_cannot_be():
    with pytest.raises(ParameterError, match=r"hi must be a number above lo, which is 0\.5; got 0\.5"):
        reliability_bins([0, 1], [0.1, 0.2], lo=0.5, hi=0.5)
    with pytest.raises(ParameterError, match="lo must be a finite number; got -inf"):
        reliability_bins([0, 1], [0.1, 0.2], lo=-math.inf)


@st.composite
def class_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 12))
    return rng.integers(0, 4, n), rng.multinomial(8, [0.4, 0.3, 0.2, 0.1], n) / 8, rng.uniform(0.1, 3, n)


def assert_same_bins(one, other):
    for name in one.__slots__:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


@cheap
@given(rows=class_rows(), order=st.permutations(range(4)))
def test_one_diagram_per_class(rows, order):
    y, proba, weights = rows
    diagrams = reliability_by_class(y, proba, sample_weight=weights)
    permuted = reliability_by_class(np.argsort(order)[y], proba[:, order], sample_weight=weights)
    for k, diagram in enumerate(diagrams):
        assert_same_bins(diagram, reliability_bins(y == k, proba[:, k], sample_weight=weights))
        assert_same_bins(diagram, permuted[order.index(k)])


@cheap
@given(rows=class_rows(), rank=st.integers(1, 4))
def test_diagram_at_a_rank(rows, rank):
    y, proba, weights = rows
    right, estimates = [], []
    for label, row in zip(y.tolist(), proba.tolist(), strict=True):
        ranked = sorted(range(4), key=lambda c: (-row[c], c))
        right.append(ranked[rank - 1] == label)
        estimates.append(row[ranked[rank - 1]])
    diagram = reliability_at_rank(y, proba, rank, width=0.15, sample_weight=weights)
    assert_same_bins(diagram, reliability_bins(right, estimates, width=0.15, sample_weight=weights))


@pytest.mark.parametrize("rank", [0, 4, 1.5, "first"])
def test_rank_that_cannot_be(rank):
    with pytest.raises(ParameterError, match=f"rank must be a whole number from 1 to 3; got {rank!r}"):
        reliability_at_rank([0], [[0.5, 0.3, 0.2]], rank)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_in_blocks_are_those_of_every_bin(weighted):
    rng = np.random.default_rng(8)
    proba, y = rng.random(100_000), rng.random(100_000) < 0.4
    weight = rng.gamma(1, size=len(y)) if weighted else None
    mass = np.ones(len(y)) if weight is None else weight
    for width in (0.1, 1e-5):  # a few bins, and more than are all kept
        found = reliability_bins(y, proba, width=width, sample_weight=weight)
        for place in rng.integers(0, len(found.left), 5):
            inside = (proba >= found.left[place]) & (proba < found.right[place])
            assert found.count[place] == inside.sum()
            np.testing.assert_allclose(found.weight[place], mass[inside].sum(), rtol=1e-12)
            np.testing.assert_allclose(found.frac_pos[place], np.average(y[inside], weights=mass[inside]))
            np.testing.assert_allclose(
                found.mean_score[place], np.average(proba[inside], weights=mass[inside])
            )
        assert found.count.sum() == len(y)


class TestIntervals:
    def test_are_those_of_the_shares_of_the_rows(self):
        proba = np.repeat([0.05, 0.55, 0.95], [40, 10, 3])
        y = np.concatenate([np.arange(40) < 3, np.arange(10) < 4, np.ones(3)]).astype(int)
        low, high = reliability_bins(y, proba).intervals()
        for place, (hits, n) in enumerate([(3, 40), (4, 10), (3, 3)]):
            wilson = binomtest(hits, n).proportion_ci(method="wilson")
            assert (low[place], high[place]) == pytest.approx((wilson.low, wilson.high))

    def test_a_whole_weight_is_so_many_rows_and_others_are_not(self):
        y, proba = [0, 1, 1, 0], [0.3, 0.3, 0.3, 0.3]
        copied = reliability_bins(np.repeat(y, 2), np.repeat(proba, 2)).intervals()
        np.testing.assert_array_equal(reliability_bins(y, proba, sample_weight=[2] * 4).intervals(), copied)
        plain = reliability_bins(y, proba).intervals()
        found = reliability_bins(y, proba, sample_weight=[0.3] * 4).intervals()
        np.testing.assert_allclose(found, plain)
