"""The split of the Brier score: identities, plain loops, and what the parts mean."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.isotonic import IsotonicRegression

from calibrant._core._errors import ParameterError
from calibrant.metrics import brier_decomposition, brier_score

cheap = settings(max_examples=40, deadline=None)
EDGES = [0.0, 0.25, 0.3, 0.75, 1.0]
TINY = 1e-12
two_class_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 20).map(lambda number: number / 20), st.floats(0.1, 5)),
    min_size=1,
    max_size=20,
)


@st.composite
def class_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 20))
    return rng.integers(0, 3, n), rng.multinomial(4, [0.5, 0.3, 0.2], n) / 4, rng.uniform(0.1, 3, n)


def columns(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def assert_identities(parts, brier):
    assert parts.brier == pytest.approx(brier, abs=TINY)
    within = parts.within_bin_variance - parts.within_bin_covariance
    assert parts.brier == pytest.approx(parts.calibration + parts.refinement + within, abs=TINY)
    assert parts.refinement == pytest.approx(parts.uncertainty - parts.resolution, abs=TINY)
    assert parts.calibration >= 0
    assert parts.refinement >= 0


OPTIONS = [{}, {"edges": EDGES}, {"isotonic": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=["exact", "binned", "isotonic"])
@cheap
@given(rows=two_class_rows)
def test_two_class_identities(options, rows):
    y, p, w = columns(rows)
    parts = brier_decomposition(y, p, sample_weight=w, **options)
    assert_identities(parts, brier_score(y, p, convention="positive", sample_weight=w))
    if "edges" not in options:
        assert (parts.within_bin_variance, parts.within_bin_covariance) == (0.0, 0.0)
    # Both columns hold the same twice.
    both = brier_decomposition(y, np.column_stack([1 - p, p]), sample_weight=w, mode="classwise", **options)
    assert both.brier == pytest.approx(2 * parts.brier, abs=TINY)
    if "edges" not in options:
        assert both.calibration == pytest.approx(2 * parts.calibration, abs=TINY)
        joint = brier_decomposition(y, np.column_stack([1 - p, p]), sample_weight=w, **options)
        assert joint.calibration == pytest.approx(2 * parts.calibration, abs=TINY)


@pytest.mark.parametrize(
    "options",
    [
        {"edges": edges, "mode": mode}
        for edges, mode in itertools.product([None, EDGES], ["joint", "classwise"])
    ]
    + [{"isotonic": True, "mode": "classwise"}],
    ids=str,
)
@cheap
@given(rows=class_rows(), order=st.permutations(range(3)))
def test_multiclass_identities(options, rows, order):
    y, proba, weights = rows
    parts = brier_decomposition(y, proba, sample_weight=weights, **options)
    assert_identities(parts, brier_score(y, proba, sample_weight=weights))
    renamed = brier_decomposition(np.argsort(order)[y], proba[:, order], sample_weight=weights, **options)
    for name in parts.__slots__:
        assert getattr(renamed, name) == pytest.approx(getattr(parts, name), abs=TINY)


@cheap
@given(rows=class_rows())
def test_joint_calibration_is_never_below_the_classwise_one(rows):
    y, proba, weights = rows
    joint = brier_decomposition(y, proba, sample_weight=weights)
    classwise = brier_decomposition(y, proba, mode="classwise", sample_weight=weights)
    assert joint.calibration >= classwise.calibration - TINY
    assert joint.uncertainty == pytest.approx(classwise.uncertainty)
    binary = [brier_decomposition(y == k, proba[:, k], sample_weight=weights).calibration for k in range(3)]
    assert classwise.calibration == pytest.approx(sum(binary), abs=TINY)


def split_by_loop(rows, group_of):
    """The split written down term by term."""
    total = sum(w for _, _, w in rows)
    base = sum(y * w for y, _, w in rows) / total
    groups = {}
    for row in rows:
        groups.setdefault(group_of(row[1]), []).append(row)
    parts = dict.fromkeys(("calibration", "refinement", "resolution", "variance", "covariance"), 0.0)
    for members in groups.values():
        mass = sum(w for _, _, w in members)
        ybar = sum(y * w for y, _, w in members) / mass
        pbar = sum(p * w for _, p, w in members) / mass
        parts["calibration"] += mass / total * (pbar - ybar) ** 2
        parts["refinement"] += mass / total * ybar * (1 - ybar)
        parts["resolution"] += mass / total * (ybar - base) ** 2
        parts["variance"] += sum(w * (p - pbar) ** 2 for _, p, w in members) / total
        parts["covariance"] += 2 * sum(w * (y - ybar) * (p - pbar) for y, p, w in members) / total
    return parts | {"uncertainty": base * (1 - base)}


@pytest.mark.parametrize("edges", [None, EDGES], ids=["exact", "binned"])
@cheap
@given(rows=two_class_rows)
def test_parts_are_what_a_loop_gives(edges, rows):
    def bin_of(p):
        return max(j for j in range(len(EDGES) - 1) if p >= EDGES[j] - 1e-12)

    want = split_by_loop(rows, bin_of if edges else lambda p: p)
    y, p, w = columns(rows)
    parts = brier_decomposition(y, p, edges=edges, sample_weight=w)
    for name in ("calibration", "refinement", "resolution", "uncertainty"):
        assert getattr(parts, name) == pytest.approx(want[name], abs=TINY)
    assert parts.within_bin_variance == pytest.approx(want["variance"], abs=TINY)
    assert parts.within_bin_covariance == pytest.approx(want["covariance"], abs=TINY)


@cheap
@given(rows=two_class_rows)
def test_isotonic_calibration_is_what_recalibration_gains(rows):
    y, p, w = columns(rows)
    parts = brier_decomposition(y, p, isotonic=True, sample_weight=w)
    fitted = IsotonicRegression().fit_transform(p, y, sample_weight=w)
    after = brier_score(y, fitted, convention="positive", sample_weight=w)
    assert parts.refinement == pytest.approx(after, abs=TINY)
    assert parts.calibration == pytest.approx(parts.brier - after, abs=TINY)
    again = brier_decomposition(y, fitted, isotonic=True, sample_weight=w)
    assert again.calibration == pytest.approx(0.0, abs=TINY)
    assert again.refinement == pytest.approx(parts.refinement, abs=TINY)
    # Groups of equal probabilities can follow the truth more closely than a rising function can.
    assert parts.calibration <= brier_decomposition(y, p, sample_weight=w).calibration + TINY


def test_bins_are_those_of_the_reliability_diagram():
    edges = np.linspace(0, 1, 11)
    assert edges[3] > 0.3
    binned = brier_decomposition([0, 1], [0.3, 0.35], edges=edges)
    assert binned.within_bin_variance > 0  # both are in the bin that begins at 0.3
    assert brier_decomposition([0, 1], [0.29, 0.31], edges=edges).within_bin_variance == 0.0


def test_outside_the_edges_belongs_to_the_ends():
    parts = brier_decomposition([0, 1, 0, 1], [0.0, 0.3, 0.7, 1.0], edges=[0.2, 0.5, 0.8])
    assert parts.within_bin_variance == pytest.approx(0.15**2)


def test_joint_bins_are_vectors_of_bins():
    proba = [[0.6, 0.4, 0.0], [0.55, 0.45, 0.0], [0.6, 0.0, 0.4]]
    parts = brier_decomposition([0, 1, 2], proba, edges=[0.0, 0.5, 1.0])
    together = brier_decomposition([0, 1, 2], proba, edges=[0.0, 1.0])
    assert parts == together  # every row is (high, low, low)
    apart = brier_decomposition([0, 1, 2], proba, edges=[0.0, 0.3, 0.5, 1.0])
    assert apart.resolution > parts.resolution


def test_what_the_parts_mean():
    y = [0, 0, 0, 1] * 10
    honest = brier_decomposition(y, [0.25] * 40)
    assert (honest.calibration, honest.resolution) == (0.0, 0.0)
    assert honest.brier == honest.refinement == honest.uncertainty == 0.1875
    perfect = brier_decomposition(y, y)
    assert (perfect.brier, perfect.calibration, perfect.refinement) == (0.0, 0.0, 0.0)
    upside_down = brier_decomposition(y, [1 - label for label in y], isotonic=True)
    assert upside_down.resolution == 0.0  # no rising function can use it
    assert upside_down.calibration == pytest.approx(1 - 0.1875)


def test_one_class_only():
    parts = brier_decomposition([1, 1], [0.5, 0.75])
    assert (parts.uncertainty, parts.resolution, parts.refinement) == (0.0, 0.0, 0.0)
    assert parts.calibration == parts.brier


def test_parts_can_be_compared_but_not_changed():
    parts = brier_decomposition([0, 1], [0.5, 0.5])
    assert parts == brier_decomposition([0, 1], [0.5, 0.5])
    with pytest.raises(AttributeError):
        parts.brier = 0.0


def test_edges_or_isotonic():
    with pytest.raises(ParameterError, match="isotonic must be False where edges are given; got True"):
        brier_decomposition([0, 1], [0.5, 0.5], edges=[0, 1], isotonic=True)


@pytest.mark.parametrize(
    ("edges", "got"),
    [
        ([0.0, 0.5, 0.5, 1.0], r"rising; got 0\.5 and then 0\.5"),
        ([0.0, math.nan, 1.0], "rising; got 0.0 and then nan"),
        ([0.0, math.inf], "rising; got 0.0 and then inf"),
        ([0.5], r"at least two numbers in one row; got shape \(1,\)"),
        ([[0.0, 1.0]], r"at least two numbers in one row; got shape \(1, 2\)"),
    ],
)
def test_edges_that_cannot_be(edges, got):
    with pytest.raises(ParameterError, match=got):
        brier_decomposition([0, 1], [0.5, 0.5], edges=edges)


def test_mode():
    with pytest.raises(ParameterError, match="mode must be one of 'joint', 'classwise'; got 'both'"):
        brier_decomposition([0, 1], [0.5, 0.5], mode="both")
    with pytest.raises(ParameterError, match=r"mode must be 'classwise' .* got 'joint' for 3 classes"):
        brier_decomposition([0, 1], [[0.5, 0.3, 0.2]] * 2, isotonic=True)
