"""The screen is attacked: whatever the bins, no corner of the exact solution is inside a closed point."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import PAVCalibrator
from calibrant.files import PassOptions, Rows, calibrator_plan, fit, reduce_rows
from calibrant.passes._bins_pass import CountBins
from calibrant.passes._fetch_pass import FetchRows
from calibrant.passes._points import Points
from calibrant.passes._screen import open_points

#: The laws hold for any labels, also for those that chance has put the wrong way round.
pytestmark = pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")


def exact_values(scores, positive, weight):
    """Isotonic regression in exact arithmetic: the value of every score, and where blocks end."""
    points = {}
    for score, label, mass in zip(scores.tolist(), positive.tolist(), weight.tolist(), strict=True):
        sums = points.setdefault(score + 0.0, [Fraction(0), Fraction(0)])
        sums[0] += Fraction(mass) * label
        sums[1] += Fraction(mass)
    stack = []
    for score in sorted(points):
        stack.append([*points[score], [score]])
        while len(stack) > 1 and stack[-2][0] * stack[-1][1] >= stack[-1][0] * stack[-2][1]:
            sums, mass, members = stack.pop()
            stack[-1] = [stack[-1][0] + sums, stack[-1][1] + mass, stack[-1][2] + members]
    values = {score: block[0] / block[1] for block in stack for score in block[2]}
    return values, {block[2][-1] for block in stack[:-1]}


def gathered(scores, positive, weight, cuts, exact):
    """Points between arbitrary cuts of the axis."""
    order = np.argsort(scores, kind="stable")
    scores, positive, weight = scores[order], positive[order], weight[order]
    bins = np.searchsorted(np.sort(cuts), scores, side="right")
    starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
    ends = np.append(starts[1:], len(scores)) - 1
    return Points(
        scores[starts],
        scores[ends],
        np.add.reduceat(np.where(positive, weight, 0.0), starts),
        np.add.reduceat(np.where(positive, 0.0, weight), starts),
        (ends - starts + 1).astype(float),
        np.zeros(len(starts), dtype=bool),
        exact,
    )


WEIGHTS = {
    "none": lambda rng, n: np.ones(n),
    "spread": lambda rng, n: rng.gamma(0.3, size=n) + 1e-6,
    "huge and tiny": lambda rng, n: 10.0 ** rng.integers(-150, 150, n),
    "one giant": lambda rng, n: np.where(np.arange(n) == rng.integers(n), 1e17, 1.0),
    "powers": lambda rng, n: 2.0 ** rng.integers(-40, 40, n),
}
SHAPES = {
    "rising": lambda rank: rank,
    "falling": lambda rank: 1 - rank,
    "flat": lambda rank: np.full_like(rank, 0.5),
    "waves": lambda rank: (np.sin(20 * rank) + 1) / 2,
    "rare": lambda rank: rank**8,
    "steps": lambda rank: np.where(rank < 0.5, 0.1, 0.9),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@given(
    n=st.integers(1, 60),
    n_cuts=st.integers(0, 12),
    shape=st.sampled_from(sorted(SHAPES)),
    grid=st.sampled_from([0, 3, 20]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_no_corner_is_inside_a_closed_point(weights, n, n_cuts, shape, grid, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    scores = np.round(scores * grid) / grid if grid else scores
    rank = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / n
    positive = rng.random(n) < SHAPES[shape](rank)
    weight = WEIGHTS[weights](rng, n)
    cuts = rng.choice(scores, min(n_cuts, n)) if rng.integers(2) else rng.normal(size=n_cuts)
    points = gathered(scores, positive, weight, cuts, exact=weights == "none")
    _, corners = exact_values(scores, positive, weight)
    closed = ~open_points(points)
    for low, high in zip(points.lo[closed], points.hi[closed], strict=True):
        inside = [corner for corner in corners if low <= corner < high]
        assert not inside, (low, high, inside)


@pytest.mark.parametrize("weights", ["huge and tiny", "one giant", "powers"])
@given(n=st.integers(1, 50), n_bins=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_the_fit_is_as_close_to_the_exact_one_as_the_fit_in_memory(weights, n, n_bins, seed):
    rng = np.random.default_rng(seed)
    scores, positive, weight = rng.normal(size=n), rng.random(n) < 0.5, WEIGHTS[weights](rng, n)
    rows = [Rows(scores, positive.astype(np.intp), weight)]
    options = PassOptions(n_bins=n_bins, max_rows=int(rng.choice([1, 1000])))
    fitted = fit("pav", lambda: rows, classes=[0, 1], options=options)
    values, _ = exact_values(scores, positive, weight)
    exact = np.array([float(values[score]) for score in scores.tolist()])
    in_memory = PAVCalibrator().fit(scores, positive, weight)
    allowed = max(1e-12, 1.001 * np.abs(in_memory.predict_proba(scores)[:, 1] - exact).max())
    assert np.abs(fitted.predict_proba(scores)[:, 1] - exact).max() <= allowed


@pytest.mark.parametrize("negative", [1.0, 6.0, 7.0])
def test_the_bound_is_sharp(negative):
    """A point is open as soon as its negatives, all of them first, could carry the path below the line."""
    # One block of slope p: the path comes to the point 4 - 4 p above the line, and can dip by p * negative.
    points = Points(
        lo=np.array([0.0, 1.0, 4.0]),
        hi=np.array([0.5, 3.0, 5.0]),
        positive=np.array([4.0, 1.0, 0.0]),
        negative=np.array([0.0, negative, 8.0 - negative]),
        count=np.array([4.0, 1.0 + negative, 8.0 - negative]),
        settled=np.zeros(3, dtype=bool),
        exact=True,
    )
    slope = 5 / 13
    dips_below = 4 - 4 * slope < slope * negative  # 6.4 negatives would be just enough
    assert open_points(points).tolist() == [False, dips_below, False]
    # The path that goes as low as it can has a corner inside exactly then.
    labels = np.repeat([1, 0, 1, 0], [4, int(negative), 1, 8 - int(negative)])
    scores = np.arange(13.0)
    _, corners = exact_values(scores, labels, np.ones(13))
    assert (3 + negative in corners) == dips_below


def test_points_that_cannot_dip_are_closed():
    def screen(**changes):
        one = {
            "lo": np.array([0.0]),
            "hi": np.array([1.0]),
            "positive": np.array([3.0]),
            "negative": np.array([3.0]),
            "count": np.array([6.0]),
            "settled": np.array([False]),
            "exact": True,
        }
        return bool(open_points(Points(**one | changes))[0])

    assert screen()
    assert not screen(hi=np.array([0.0]))  # one score
    assert not screen(negative=np.array([0.0]))
    assert not screen(positive=np.array([0.0]))
    assert not screen(settled=np.array([True]))
    # The slope underflows, and yet a corner may be inside.
    assert screen(positive=np.array([1e-300]), negative=np.array([1e300]), exact=False)


def test_a_positive_of_tiny_weight_above_a_giant_negative_keeps_its_own_value():
    rows = [Rows(np.array([0.0, 1.0]), np.array([0, 1]), np.array([1e300, 1e-300]))]
    fitted = fit("pav", lambda: rows, classes=[0, 1], options=PassOptions(n_bins=1))
    assert fitted.blocks_.value.tolist() == [0.0, 1.0]


SCORES = {
    "denormal": np.arange(40) * 5e-324,
    "zeros of both signs": np.tile([0.0, -0.0, 1e-320, -1e-320], 10),
    "last bits": 1.0 + np.arange(40) * np.spacing(1.0),
    "all doubles": np.concatenate([-np.geomspace(1.7e308, 1e-300, 20), np.geomspace(1e-300, 1.7e308, 20)]),
    "constant": np.full(40, 3.0),
    "single precision": np.float64(np.linspace(0, 1, 40, dtype=np.float32)),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("edges", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 64])
def test_scores_at_the_limits_of_floating_point(kind, edges, n_bins):
    rng = np.random.default_rng(n_bins)
    scores = rng.permutation(SCORES[kind])
    position = (rng.random(40) < 0.5).astype(np.intp)
    batches = [Rows(scores[:7], position[:7]), Rows(scores[7:], position[7:])]
    options = PassOptions(n_bins=n_bins, edges=edges, max_rows=3)
    fitted = fit("pav", lambda: batches, classes=[0, 1], options=options)
    expected = PAVCalibrator().fit(scores, position)
    for name in ("lo", "hi", "value", "weight"):
        np.testing.assert_array_equal(getattr(fitted.blocks_, name), getattr(expected.blocks_, name))


@pytest.mark.parametrize("n_batches", [1, 2, 12])
def test_ties_across_every_border_end_in_one_point(n_batches):
    scores = np.repeat(np.arange(4.0), 12)
    position = np.tile([0, 1, 1], 16)
    order = np.argsort(np.tile(np.arange(12), 4), kind="stable")  # every batch has every score
    batches = [Rows(scores[part], position[part]) for part in np.array_split(order, n_batches)]
    n_passes = []
    fitted = fit("pav", lambda: batches, classes=[0, 1], progress=lambda seen: n_passes.append(seen.number))
    expected = PAVCalibrator().fit(scores, position)
    np.testing.assert_array_equal(fitted.blocks_.value, expected.blocks_.value)
    np.testing.assert_array_equal(fitted.blocks_.weight, expected.blocks_.weight)
    assert max(n_passes) == 2  # the sample, and the bins: there is nothing to fetch


def test_skewed_scores_are_refined_until_few_rows_are_fetched():
    rng = np.random.default_rng(0)
    scores = np.exp(12 * rng.normal(size=20_000))  # an even grid puts nearly all of them into its first bin
    position = (rng.random(20_000) < 0.02).astype(np.intp)
    rows = [Rows(scores, position)]
    n_passes = []
    fitted = fit(
        "pav",
        lambda: rows,
        classes=[0, 1],
        options=PassOptions(n_bins=500, edges="uniform", max_rows=3000),
        progress=lambda seen: n_passes.append(seen.number),
    )
    np.testing.assert_array_equal(fitted.blocks_.hi, PAVCalibrator().fit(scores, position).blocks_.hi)
    assert max(n_passes) > 3


@pytest.mark.parametrize("n_bins", [100, 500])
def test_memory_has_bounds_however_many_rows_there_are(n_bins):
    """Far too few bins: they are refined a portion at a time, and no more rows are fetched than may be."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30_000)
    position = (rng.random(30_000) < 1 / (1 + np.exp(-scores))).astype(np.intp)
    plan = calibrator_plan(PAVCalibrator(), np.array([0, 1]), PassOptions(n_bins=n_bins, max_rows=2000))
    fetched, counted = [], []

    def reduced(task):
        summary = reduce_rows(task, [Rows(scores, position)])
        if isinstance(task, FetchRows):
            fetched.append(int(summary.points().count.sum()))
        if isinstance(task, CountBins):
            counted.append(task.grid.n_bins)
        return summary

    fitted = run(plan, reduced)
    expected = PAVCalibrator().fit(scores, position)
    for name in ("lo", "hi", "value", "weight"):
        np.testing.assert_array_equal(getattr(fitted.blocks_, name), getattr(expected.blocks_, name))
    assert len(fetched) == 1
    assert fetched[0] <= 2000
    assert 2 < len(counted) < 40
    assert max(counted) < 5 * n_bins


def run(plan, reduced):
    summary = None
    try:
        while True:
            summary = reduced(plan.send(summary))
    except StopIteration as end:
        return end.value
