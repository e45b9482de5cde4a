"""Ranked logistic regression against golden cases, its laws, and what it does where no fit exists."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from calibrant import CalibrantError, RankedLogisticCalibrator
from calibrant.calibrators import score_status_correlation
from calibrant.calibrators._combinations import plan_ranks
from calibrant.metrics import cross_entropy
from golden import assert_golden, golden_cases


@pytest.mark.parametrize("case", golden_cases("ranked_logistic", "combination"))
def test_golden_combinations(case):
    given = case["in"]
    assert list(plan_ranks(given["kind"], None, given["K"]).own[given["rank"] - 1]) == case["out"]


@pytest.mark.parametrize("case", golden_cases("ranked_logistic", "ranked_logistic"))
def test_golden_fits(case):
    given, want = case["in"], case["out"]
    model = RankedLogisticCalibrator(given["kind"], smooth=given["smooth"], classes=range(len(want["theta"])))
    model.fit(given["scores"], given["y"])
    theta = {str(rank): [*each.A, each.B] for rank, each in enumerate(model.maps_, start=1)}
    got = {
        "theta": theta,
        "raw": model.predict_raw(given["query"]).tolist(),
        "normalised": model.predict_proba(given["query"]).tolist(),
    }
    assert_golden(got, want, case["tol"])


@pytest.mark.parametrize("case", golden_cases("ranked_logistic", "score_status_correlation"))
def test_golden_correlations(case):
    given = case["in"]
    table = score_status_correlation(given["scores"], given["y"], classes=range(len(given["scores"][0])))
    best = [rank or None for rank in table.best.tolist()]
    assert_golden({"corr": table.correlation.tolist(), "best": best}, case["out"], case["tol"])


def noisy(n=300, k=5, seed=0, gain=1.0):
    """Scores of a weak model, whose ranks are all right now and then."""
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(k), rng.integers(k, size=n - k))
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), y] += gain
    return scores, y


def statuses(scores, y):
    return np.argsort(-scores, axis=1, kind="stable") == y[:, None]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_nested_combinations_never_fit_worse(seed):
    scores, y = noisy(80, 4, seed)
    losses = {}
    for combination in ("single", "A", "B", "C"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RankedLogisticCalibrator(combination).fit(scores, y)
        if any(each.smoothed for each in model.maps_):
            return
        estimate = model.predict_by_rank(scores).estimate
        losses[combination] = [
            cross_entropy(right, column)
            for right, column in zip(statuses(scores, y).T, estimate.T, strict=True)
        ]
    for rank, (smaller, larger) in itertools.product(
        range(4), [("single", "A"), ("single", "B"), ("single", "C"), ("A", "B")]
    ):
        if (rank, smaller) != (0, "A"):  # at the first rank A has the more scores
            assert losses[larger][rank] <= losses[smaller][rank] + 1e-9
    assert losses["A"][1] == pytest.approx(losses["B"][1])


def test_every_rank_is_a_logistic_regression():
    scores, y = noisy()
    model = RankedLogisticCalibrator().fit(scores, y)
    ranked = -np.sort(-scores, axis=1)
    for rank, right in enumerate(statuses(scores, y).T):
        used = ranked[:, [0, max(rank, 1)]]
        peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(used, right)
        np.testing.assert_allclose(-peer.coef_[0], model.maps_[rank].A, atol=1e-5)
        np.testing.assert_allclose(-peer.intercept_[0], model.maps_[rank].B, atol=1e-5)
        assert model.maps_[rank].scores == ("f1", f"f{max(rank, 1) + 1}")
        assert model.maps_[rank].converged
        assert not model.maps_[rank].smoothed


@pytest.mark.parametrize("combination", ["single", "A", "B", "C", [1, 2]])
def test_later_ranks_share_the_fit_to_all_of_them(combination):
    scores, y = noisy()
    model = RankedLogisticCalibrator(combination, max_rank=2).fit(scores, y)
    ranked = -np.sort(-scores, axis=1)
    columns = {
        "single": lambda rank: [rank],
        "A": lambda rank: [0, rank],
        "B": lambda rank: [0, 1, rank],
        "C": lambda rank: [rank - 1, rank, min(rank + 1, 4)],
    }.get(str(combination), lambda rank: [0, 1])
    used = np.concatenate([ranked[:, columns(rank)] for rank in range(2, 5)])
    right = np.concatenate(list(statuses(scores, y).T[2:]))
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(used, right)
    np.testing.assert_allclose(-peer.coef_[0], model.shared_map_.A, atol=1e-4)
    free = RankedLogisticCalibrator(combination).fit(scores, y)
    for own, other in zip(model.maps_, free.maps_, strict=False):
        np.testing.assert_array_equal(own.A, other.A)


def test_weights_reach_the_shared_fit():
    scores, y = noisy(60, 4)
    weights = np.arange(60) % 3
    weighted = RankedLogisticCalibrator(max_rank=1, classes=range(4)).fit(scores, y, weights)
    copied = RankedLogisticCalibrator(max_rank=1, classes=range(4))
    copied.fit(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.shared_map_.A, copied.shared_map_.A, atol=1e-9)


def test_ranks_always_right_or_wrong_get_the_smoothed_constant_and_a_warning():
    scores = np.array([[3.0, 2, 1], [1, 3, 2], [3, 1, 2], [1, 2, 3]])
    with pytest.warns(ConvergenceWarning, match="at rank 1, 2, 3 the class was always right, always wrong"):
        model = RankedLogisticCalibrator().fit(scores, [0, 1, 0, 2])
    np.testing.assert_allclose(model.predict_by_rank(scores).estimate, [[5 / 6, 1 / 6, 1 / 6]] * 4)
    assert all(each.smoothed and each.converged for each in model.maps_)
    quiet = RankedLogisticCalibrator(smooth=True).fit(scores, [0, 1, 0, 2])
    np.testing.assert_array_equal(quiet.predict_proba(scores), model.predict_proba(scores))


def test_scores_that_tell_right_from_wrong_get_smoothed_targets_and_a_warning():
    scores = np.array([[3.0, 0, 0], [0, 2.9, 0], [0, 0.4, 0.5], [0.4, 0.5, 0], [3, 0.1, 0.2], [0.6, 0, 0.5]])
    y = [0, 1, 1, 0, 0, 2]
    with pytest.warns(
        ConvergenceWarning, match=r"at rank 1, 2, 3 .*Platt's smoothed targets were used there"
    ):
        model = RankedLogisticCalibrator("single").fit(scores, y)
    smooth = RankedLogisticCalibrator("single", smooth=True).fit(scores, y)
    np.testing.assert_array_equal(model.predict_raw(scores), smooth.predict_raw(scores))
    first = model.predict_by_rank(scores).estimate[:, 0]
    assert first.max() < 0.99


def test_a_shared_map_without_a_right_class_warns_too():
    scores = np.array([[3.0, 2, 1], [2.5, 3, 2], [3, 1, 2], [1, 2, 3], [2.0, 3, 1], [3, 2, 0]])
    with pytest.warns(
        ConvergenceWarning, match="at rank .*those after 2 the class was always right, always wro"
    ):
        model = RankedLogisticCalibrator(max_rank=2, classes=[0, 1, 2]).fit(scores, [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(model.shared_map_.A, 0)


def test_long_lists_of_ranks_are_shortened():
    scores = np.eye(9)[np.arange(9)] - np.arange(9) * 0.01
    with pytest.warns(ConvergenceWarning, match=r"at rank 1, 2, 3, \.\.\., 9 the class"):
        RankedLogisticCalibrator().fit(scores, np.arange(9))


def test_probabilities_may_be_used_by_their_log_odds():
    scores, y = noisy()
    odds = np.exp(scores)
    proba = odds / odds.sum(axis=1, keepdims=True)
    by_transform = RankedLogisticCalibrator(transform="logit", max_rank=2).fit(proba, y)
    by_hand = RankedLogisticCalibrator(max_rank=2).fit(logit(proba), y)
    np.testing.assert_allclose(by_transform.predict_proba(proba), by_hand.predict_proba(logit(proba)))
    certain = by_transform.predict_proba([[1.0, 0, 0, 0, 0]])
    assert np.isfinite(certain).all()
    with pytest.raises(
        CalibrantError, match=r"transform='logit' must lie in \[0, 1\]; got 2.0 in row 1; calibrate margins"
    ):
        by_transform.predict_proba([[0.5, 0.5, 0, 0, 0], [2.0, 0, 0, 0, 0]])
    with pytest.raises(CalibrantError, match=r"transform='logit' must lie in \[0, 1\]"):
        RankedLogisticCalibrator(transform="logit").fit(scores, y)
    with pytest.raises(CalibrantError, match="transform must be one of 'identity', 'logit'; got 'log'"):
        RankedLogisticCalibrator(transform="log").fit(scores, y)


def test_no_estimate_is_certain_and_far_scores_do_no_harm():
    scores, y = noisy()
    model = RankedLogisticCalibrator().fit(scores, y)
    raw = model.predict_raw([[1e6, -1e6, 0, 0, 0], [1e300, -1e300, 0, 0, 0]])
    assert np.isfinite(raw).all()
    assert ((raw >= 0) & (raw <= 1)).all()


def test_correlations_are_pearsons():
    scores, y = noisy(60, 4)
    weights = np.arange(60) % 3
    table = score_status_correlation(scores, y, sample_weight=weights)
    ranked = np.repeat(-np.sort(-scores, axis=1), weights, axis=0)
    right = np.repeat(statuses(scores, y), weights, axis=0)
    want = np.corrcoef(right.T, ranked.T)[:4, 4:]
    np.testing.assert_allclose(table.correlation, want, atol=1e-12)
    assert table.best.tolist() == (np.abs(want).argmax(axis=1) + 1).tolist()


def test_a_score_that_never_varies_has_no_correlation():
    table = score_status_correlation([[3.1, 0.7], [2.0, 0.7], [0.7, 1.3]], [0, 1, 1])
    assert np.isnan(table.correlation[:, 1]).all()
    assert table.best.tolist() == [1, 1]


def test_correlations_check_their_input():
    with pytest.raises(
        CalibrantError, match="scores and labels must have the same number of rows; got 1 and 2"
    ):
        score_status_correlation([[1.0, 2]], [0, 1])
    with pytest.raises(CalibrantError, match="scores must have at least one row; got none"):
        score_status_correlation(np.empty((0, 2)), [])
