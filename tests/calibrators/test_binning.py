"""Equal-frequency binning against golden cases and the rule walked through row by row."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.model_selection import StratifiedKFold

from calibrant import BinningCalibrator, CalibrantError
from golden import assert_golden, golden_cases


def binning_for(given_):
    smoothing = given_["smoothing"]
    if isinstance(smoothing, list):
        return BinningCalibrator(given_["b"], smoothing="m", m=smoothing[1], base=smoothing[2])
    return BinningCalibrator(given_["b"], smoothing=smoothing)


@pytest.mark.parametrize("case", golden_cases("binning"))
def test_golden(case):
    given_ = case["in"]
    fitted = binning_for(given_).fit(given_["s"], given_["y"], given_.get("w"))
    bins = fitted.bins_
    got = {
        "edges": fitted.edges_.tolist(),
        "bins": [
            {"lo": lo, "hi": hi, "count": count, "value": value}
            for lo, hi, count, value in zip(bins.lo, bins.hi, bins.count, bins.value, strict=True)
        ],
        "predict": fitted.predict_proba(given_["query"])[:, 1].tolist(),
    }
    assert_golden(got, case["out"], case["tol"])


def cuts_row_by_row(scores, n_bins):
    """The pseudo-code of the specification, literally."""
    scores, n = sorted(scores), len(scores)
    b, place, cuts = min(n_bins, n), 0, []
    for j in range(b - 1):
        place += n // b + (j < n % b)
        cut = place
        while cut < n and scores[cut - 1] == scores[cut]:
            cut += 1
        if cut < n and cut not in cuts:
            cuts.append(cut)
    return cuts


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.floats(0.1, 5)), min_size=1, max_size=40),
    n_bins=st.integers(1, 45),
)
def test_edges_counts_and_balance(rows, n_bins):
    scores, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    bins = BinningCalibrator(n_bins).fit(scores, y, weights).bins_
    assert np.cumsum(bins.count)[:-1].tolist() == cuts_row_by_row(scores, n_bins)
    np.testing.assert_allclose(bins.value @ bins.weight, y @ weights, atol=1e-9)
    np.testing.assert_allclose(bins.weight.sum(), weights.sum())


def test_an_edge_belongs_to_the_bin_below():
    fitted = BinningCalibrator(2).fit([1, 2, 3, 4], [0, 0, 1, 1])
    assert fitted.edges_.tolist() == [2.5]
    assert fitted.predict_proba([2.5, np.nextafter(2.5, 3)])[:, 1].tolist() == [0.0, 1.0]


def test_cross_validation_is_the_mean_brier_score_out_of_fold():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=300).round(2)
    y = rng.random(300) < 1 / (1 + np.exp(-3 * scores))
    weights = rng.gamma(1, size=300) + 0.1
    chosen = BinningCalibrator("cv", candidates=[2, 7, 30]).fit(scores, y, weights)
    losses = {}
    for n_bins in (2, 7, 30):
        loss = np.empty(300)
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(scores, y):
            fitted = BinningCalibrator(n_bins).fit(scores[train], y[train], weights[train])
            loss[test] = (y[test] - fitted.predict_proba(scores[test])[:, 1]) ** 2
        losses[n_bins] = np.average(loss, weights=weights)
    assert chosen.cv_scores_ == pytest.approx(losses, abs=1e-12)
    assert chosen.n_bins_ == min(losses, key=losses.get)
    fixed = BinningCalibrator(chosen.n_bins_).fit(scores, y, weights)
    np.testing.assert_array_equal(chosen.predict_proba(scores), fixed.predict_proba(scores))


def test_the_smaller_number_wins_a_tie():
    """Ties leave two bins whatever is asked for, so all candidates are equally good."""
    scores, y = [0] * 20 + [1] * 20, ([0] * 15 + [1] * 5) * 2
    assert BinningCalibrator("cv", candidates=[9, 4, 6]).fit(scores, y).n_bins_ == 4


def test_default_candidates_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    fitted = BinningCalibrator("cv").fit(rng.normal(size=200), rng.random(200) < 0.5)
    assert list(fitted.cv_scores_) == list(range(5, 51))


@pytest.mark.parametrize("y", [[1] * 30, [1] * 29 + [0]])
def test_nothing_to_choose_by(y):
    fitted = BinningCalibrator("cv").fit(range(30), y)
    assert (fitted.n_bins_, fitted.cv_scores_) == (10, {})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bins": 0}, "n_bins must be a whole number from 1, or 'cv'; got 0"),
        ({"n_bins": 2.5}, "n_bins must be a whole number from 1, or 'cv'; got 2.5"),
        ({"smoothing": "lidstone"}, "smoothing must be None or one of 'laplace', 'm'; got 'lidstone'"),
        ({"m": -1}, "m must be a number from 0; got -1"),
        ({"base": 2}, r"base must be None or a number in \[0, 1\]; got 2"),
        (
            {"candidates": [0, 5]},
            r"candidates must be None or a list .* from 1; got \[0, 5\]",
        ),
        ({"candidates": []}, r"candidates must be None or a list of one or more, .*; got \[\]"),
        ({"cv": 1}, "cv must be a whole number from 2; got 1"),
    ],
)
def test_options_that_cannot_be(parameters, message):
    with pytest.raises(CalibrantError, match=message):
        BinningCalibrator(**parameters).fit([1, 2], [0, 1])


@given(st.lists(st.tuples(st.floats(0.01, 3), st.integers(0, 1)), min_size=2, max_size=30))
def test_rounding_of_weights_never_leaves_the_probabilities(rows):
    weight, y = zip(*rows, strict=True)
    value = BinningCalibrator(n_bins=1).fit(np.arange(len(y)), y, sample_weight=weight).bins_.value
    assert ((value >= 0) & (value <= 1)).all()
