"""Isotonic calibration against golden cases, brute force, and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits
from sklearn.isotonic import IsotonicRegression
from sklearn.naive_bayes import GaussianNB

from calibrant import CalibrantError, PAVCalibrator
from golden import assert_golden, golden_cases

#: The laws hold for any labels, also for those that chance has put the wrong way round.
pytestmark = pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")

RULES = ["nearest", "linear", "average", "lower", "upper"]


@pytest.mark.parametrize("case", golden_cases("pav"))
@pytest.mark.parametrize("between", RULES)
def test_golden(case, between):
    given_, want = case["in"], case["out"]
    pav = PAVCalibrator(between=between, increasing=given_["increasing"], clip=0)
    pav.fit(given_["s"], given_["y"], given_.get("w"))
    blocks = [
        dict(zip(("lo", "hi", "value", "weight"), block, strict=True))
        for block in zip(pav.blocks_.lo, pav.blocks_.hi, pav.blocks_.value, pav.blocks_.weight, strict=True)
    ]
    assert_golden(blocks, want["blocks"], case["tol"])
    got = pav.predict_proba(given_["query"])[:, 1]
    assert_golden(got.tolist(), want["predict"][between], case["tol"])


def max_min_means(scores, target, weights):
    """Isotonic regression by its closed form, g_i = max over a <= i of min over b >= i of mean(a..b)."""
    distinct = np.unique(scores)
    mass = np.array([weights[scores == s].sum() for s in distinct])
    sums = np.array([(weights * target)[scores == s].sum() for s in distinct])
    places = range(len(distinct))
    mean = {(a, b): sums[a : b + 1].sum() / mass[a : b + 1].sum() for a in places for b in places if a <= b}
    best = [max(min(mean[a, b] for b in places if b >= i) for a in places if a <= i) for i in places]
    return distinct, np.array(best)


cells = st.tuples(st.integers(-6, 6).map(lambda i: i / 4), st.booleans(), st.floats(0.1, 9))


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(cells, min_size=1, max_size=20), shares=st.booleans(), increasing=st.booleans())
def test_the_best_monotone_map(rows, shares, increasing):
    scores, target, weights = (np.array(column) for column in zip(*rows, strict=True))
    if shares:
        target = np.append(np.abs(np.sin(9 * np.arange(len(target))))[1:], 0.5)
    pav = PAVCalibrator(increasing=increasing, clip=0).fit(scores, target, weights)
    sign = 1 if increasing else -1
    distinct, best = max_min_means(sign * scores, target, weights)
    np.testing.assert_allclose(pav.predict_proba(sign * distinct)[:, 1], best, atol=1e-12)
    values = pav.blocks_.value[::sign]
    assert (np.diff(values) > 0).all()
    np.testing.assert_allclose(pav.blocks_.value @ pav.blocks_.weight, target @ weights, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 400), levels=st.sampled_from([3, 20, 10**6]))
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_is_scikit_learn(weighted, seed, n, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, n) / levels
    y = (rng.random(n) < scores).astype(int)
    weights = rng.gamma(1, size=n) + 0.01 if weighted else None
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y, weights)
    ours = PAVCalibrator(between="linear", clip=0).fit(scores, y, weights)
    query = np.concatenate([scores, rng.uniform(-0.2, 1.2, 200)])
    np.testing.assert_allclose(ours.predict_proba(query)[:, 1], theirs.predict(query), atol=1e-12)


@pytest.mark.parametrize("between", RULES)
@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.tuples(st.floats(-1e300, 1e300), st.booleans()), min_size=1, max_size=40))
def test_monotone_over_all_scores(between, rows):
    scores, y = (np.array(column) for column in zip(*rows, strict=True))
    query = np.sort(np.concatenate([scores, scores / 2, -scores, [0.0, 1e308, -1e308]]))
    proba = PAVCalibrator(between=between, clip=0).fit(scores, y).predict_proba(query)[:, 1]
    assert (np.diff(proba) >= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=2, max_size=40),
    cost=st.tuples(st.integers(1, 9), st.integers(1, 9)),
)
def test_a_threshold_on_the_answers_costs_as_little_as_the_best_on_the_scores(rows, cost):
    """A false positive costs a, a false negative b; it is then a / (a + b): docs/methods/calibration.md."""
    scores, y = (np.array(column) for column in zip(*rows, strict=True))
    per_fp, per_fn = cost

    def paid(decided):
        return per_fp * np.sum(decided & ~y) + per_fn * np.sum(~decided & y)

    best = min(paid(scores > cut) for cut in np.append(scores, -1))
    proba = PAVCalibrator(clip=0).fit(scores, y).predict_proba(scores)[:, 1]
    assert paid(proba > per_fp / (per_fp + per_fn)) == best


def test_scores_that_differ_in_the_last_bit_are_different():
    close = np.array([1.0, np.nextafter(1.0, 2)])
    for between in RULES:
        pav = PAVCalibrator(between=between, clip=0).fit(close, [0, 1])
        assert pav.predict_proba(close)[:, 1].tolist() == [0.0, 1.0]
    tiny = np.array([0.0, 5e-324, 1e-323])
    assert PAVCalibrator(clip=0).fit(tiny, [0, 0, 1]).predict_proba(tiny)[:, 1].tolist() == [0.0, 0.0, 1.0]


def test_the_largest_finite_scores_are_scores():
    huge = np.array([-1.7e308, 0.0, 1.7e308])
    for between in RULES:
        proba = PAVCalibrator(between=between, clip=0).fit(huge, [0, 1, 1]).predict_proba(huge)[:, 1]
        assert proba.tolist() == [0.0, 1.0, 1.0]


def test_pressed_scores_keep_their_order():
    """Naive Bayes presses scores against 0; exact order keeps the error that pooling them would raise."""
    X, y = load_digits(return_X_y=True)
    scores = GaussianNB().fit(X, y == 8).predict_proba(X)[:, 1]
    ours = PAVCalibrator(between="linear", clip=0).fit(scores, y == 8).predict_proba(scores)[:, 1]
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y == 8).predict(scores)
    ours_wrong, theirs_wrong = (np.mean((proba > 0.5) != (y == 8)) for proba in (ours, theirs))
    assert ours_wrong <= theirs_wrong
    assert np.mean((ours - (y == 8)) ** 2) <= np.mean((theirs - (y == 8)) ** 2)


def test_equal_neighbours_are_one_block():
    """Shares that differ by less than 1e-12 are reported together, but a chain of them is not."""
    pav = PAVCalibrator(clip=0).fit([1, 2, 3], [0.5, 0.5 + 1e-13, 0.9])
    assert len(pav.blocks_.value) == 2
    chain = 0.5 + 4e-13 * np.arange(9)
    pav = PAVCalibrator(clip=0).fit(np.arange(9), chain)
    np.testing.assert_allclose(pav.predict_proba(np.arange(9))[:, 1], chain, rtol=0, atol=1e-12)
    assert len(pav.blocks_.value) == 3


def test_degenerate_answers():
    assert PAVCalibrator(clip=0).fit([3], [1]).predict_proba([0, 9])[:, 1].tolist() == [1.0, 1.0]
    assert PAVCalibrator(clip=0).fit([4, 3, 2, 1], [0, 0, 1, 1]).blocks_.value.tolist() == [0.5]
    assert PAVCalibrator(clip=0).fit([1, 2, 3, 4], [0, 0, 1, 1]).blocks_.value.tolist() == [0.0, 1.0]
    assert PAVCalibrator(clip=0).fit([5, 5, 5, 5], [0, 1, 1, 1]).blocks_.value.tolist() == [0.75]


def test_clip_and_laplace():
    fit = [1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1]
    clipped = PAVCalibrator(clip=0.1).fit(*fit).predict_proba([1, 3.5, 6])[:, 1]
    np.testing.assert_allclose(clipped, [0.1, 0.5, 0.9])
    softened = PAVCalibrator(laplace=True, clip=0).fit(*fit).predict_proba([1, 3.5, 6])[:, 1]
    np.testing.assert_allclose(softened, [1 / 4, 1 / 2, 3 / 4])


@pytest.mark.parametrize("between", ["nearest", "linear", "average", "lower", "upper"])
@pytest.mark.parametrize("weight", [None, [3.0, 1, 2, 1, 1, 4]])
def test_by_default_answers_stay_half_a_row_away_from_certainty(between, weight):
    fit, asked = ([1, 2, 3, 4, 5, 6], [0, 0, 1, 0, 1, 1], weight), [0, 1, 2.5, 3, 4.5, 5, 9]
    half = 1 / (2 * (6 if weight is None else sum(weight)))
    paper = PAVCalibrator(between, clip=0).fit(*fit)
    default = PAVCalibrator(between).fit(*fit)
    wanted = np.clip(paper.predict_proba(asked)[:, 1], half, 1 - half)
    np.testing.assert_array_equal(default.predict_proba(asked)[:, 1], wanted)
    np.testing.assert_array_equal(default.blocks_.value, paper.blocks_.value)  # what the rows say, unchanged
    plain = PAVCalibrator(between, clip=None).fit(*fit)
    np.testing.assert_array_equal(plain.predict_proba(asked), paper.predict_proba(asked))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"between": "cubic"}, "between must be one of 'nearest', 'linear', .* got 'cubic'"),
        ({"clip": 0.5}, r"clip must be None or a number in \[0, 0.5\), or 'auto'; got 0.5"),
    ],
)
def test_options_that_cannot_be(parameters, message):
    with pytest.raises(CalibrantError, match=message):
        PAVCalibrator(**parameters).fit([1, 2], [0, 1])


def test_the_smallest_gap_there_is_is_no_division_by_zero():
    model = PAVCalibrator(between="linear", clip=0).fit([0.0, 0.0, 5e-324], [0, 1, 1])
    left, right, beyond = model.predict_proba([0.0, 5e-324, 1.0])[:, 1]
    assert left == 0.5 <= right <= beyond == 1.0
