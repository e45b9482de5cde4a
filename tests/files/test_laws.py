"""Any split of the rows, in any order, through Arrow and merged in any tree, gives the model of memory."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import (
    AccuracyTableCalibrator,
    BinningCalibrator,
    IdentityCalibrator,
    OneVsAllCalibrator,
    PAVCalibrator,
    RankedLogisticCalibrator,
    SigmoidCalibrator,
)
from calibrant.calibrators import CodeCalibrator, fit_rows
from calibrant.files import PassOptions, Rows, calibrator_plan
from files.scatter import run_scattered

#: The laws hold for any labels, also for those that chance has put the wrong way round.
pytestmark = pytest.mark.filterwarnings("ignore::calibrant.ScoreDirectionWarning")

TWO = np.array(["no", "yes"])
OPTIONS = st.builds(
    PassOptions,
    n_bins=st.integers(1, 60),
    edges=st.sampled_from(["quantile", "uniform"]),
    max_rows=st.sampled_from([1, 5, 10_000]),
)


@st.composite
def scored(draw, n_columns=None, n_classes=2, least=1, tiny=1e-310):
    """Rows of scores with and without ties, of every scale."""
    n = draw(st.integers(least, 120))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (n,) if n_columns is None else (n, n_columns)
    scores = rng.normal(size=shape)
    kind = draw(
        st.sampled_from(["smooth", "ties", "skewed", "constant", "reversed", "huge", "tiny", "single"])
    )
    scores = {
        "smooth": lambda: scores,
        "ties": lambda: np.round(scores * 2) / 2,
        "skewed": lambda: np.exp(6 * scores),
        "constant": lambda: np.zeros(shape),
        "reversed": lambda: -scores,
        "huge": lambda: scores * 1e300,
        "tiny": lambda: scores * tiny,
        "single": lambda: scores.astype(np.float32).astype(np.float64),
    }[kind]()
    if n_columns is None:
        rank = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / max(n - 1, 1)
        odds = 1 - rank if kind == "reversed" else rank
        position = (rng.random(n) < odds).astype(np.intp)
    else:
        position = rng.integers(0, n_classes, n)
    weight = rng.choice([0.0, 0.25, 1.0, 3.7], n) if draw(st.booleans()) else None
    if weight is not None and not weight.any():
        weight[0] = 1.0
    return Rows(scores, position, weight)


def in_memory(calibrator, rows, classes):
    if rows.scores.ndim == 1:
        calibrator.fit(rows.scores, rows.truth == 1, rows.weight)
        calibrator.classes_ = classes
        return calibrator
    return fit_rows(calibrator, rows, classes)


def assert_same(one, other, rows):
    if rows.weight is None and hasattr(one, "blocks_"):
        for name in ("lo", "hi", "value", "weight"):
            np.testing.assert_array_equal(getattr(one.blocks_, name), getattr(other.blocks_, name))
    if hasattr(one, "bins_"):
        for name in ("lo", "hi", "count"):
            np.testing.assert_array_equal(getattr(one.bins_, name), getattr(other.bins_, name))
        np.testing.assert_array_equal(one.edges_, other.edges_)
    spread = rows.scores.max() - rows.scores.min()
    asked = np.concatenate([rows.scores, rows.scores + 0.1 * np.nan_to_num(spread)])
    asked = np.clip(asked, -1e308, 1e308)
    np.testing.assert_allclose(one.predict_proba(asked), other.predict_proba(asked), rtol=0, atol=1e-12)


@given(scored(), OPTIONS, st.sampled_from([True, False]), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_pav_is_that_of_memory(rows, options, increasing, laplace, seed):
    make = lambda: PAVCalibrator(increasing=increasing, laplace=laplace)  # noqa: E731
    fitted = run_scattered(calibrator_plan(make(), TWO, options, len(rows)), rows, seed)
    assert_same(fitted, in_memory(make(), rows, TWO), rows)
    assert fitted.classes_ is TWO


@given(
    scored(),
    OPTIONS,
    st.integers(1, 20),
    st.sampled_from([None, "laplace", "m"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=80)
def test_binning_is_that_of_memory(rows, options, n_bins, smoothing, seed):
    make = lambda: BinningCalibrator(n_bins, smoothing)  # noqa: E731
    fitted = run_scattered(calibrator_plan(make(), TWO, options, len(rows)), rows, seed)
    assert_same(fitted, in_memory(make(), rows, TWO), rows)


@given(scored(tiny=1e-200), st.integers(0, 2**32 - 1))  # the slope for 1e-310 would not be a number
@settings(max_examples=60)
def test_sigmoid_is_that_of_memory(rows, seed):
    fitted = run_scattered(calibrator_plan(SigmoidCalibrator(), TWO, PassOptions()), rows, seed)
    assert_same(fitted, in_memory(SigmoidCalibrator(), rows, TWO), rows)
    assert fitted.converged_


@given(st.integers(5, 80), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_sigmoid_of_log_odds_and_identity_are_those_of_memory(n, weighted, seed):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    weight = rng.gamma(1, size=n) if weighted else None
    rows = Rows(scores, (rng.random(n) < scores).astype(np.intp), weight)
    for make in (lambda: SigmoidCalibrator(transform="logit"), IdentityCalibrator):
        fitted = run_scattered(calibrator_plan(make(), TWO, PassOptions()), rows, seed)
        expected = in_memory(make(), rows, TWO)
        np.testing.assert_allclose(
            fitted.predict_proba(scores), expected.predict_proba(scores), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("method", ["pav", "sigmoid", "binning"])
@given(data=st.data())
@settings(max_examples=15)
def test_one_vs_all_is_that_of_memory(method, data):
    k = data.draw(st.integers(2, 4))
    rows = data.draw(scored(n_columns=k, n_classes=k, least=k, tiny=1e-200))
    combine = data.draw(st.sampled_from(["normalize", "least_squares", "coupling"]))
    classes = np.arange(k)
    make = lambda: OneVsAllCalibrator(method, combine)  # noqa: E731
    plan = calibrator_plan(make(), classes, data.draw(OPTIONS), len(rows))
    fitted = run_scattered(plan, rows, data.draw(st.integers(0, 2**32 - 1)))
    expected = in_memory(make(), rows, classes)
    for one, other in zip(fitted.calibrators_, expected.calibrators_, strict=True):
        assert_same(one, other, Rows(rows.scores[:, 0], rows.truth, rows.weight))
    if combine != "coupling":  # its tolerance is 1e-8
        assert_same(fitted, expected, rows)


@pytest.mark.parametrize("code", ["all_pairs", "ordinal", "one_vs_all"])
@given(data=st.data())
@settings(max_examples=15)
def test_columns_of_a_code_are_those_of_memory(code, data):
    k = data.draw(st.integers(3, 4))
    n_columns = {"all_pairs": k * (k - 1) // 2, "ordinal": k - 1, "one_vs_all": k}[code]
    n_present = data.draw(st.integers(1, k))  # columns with one side only, or with none
    rows = data.draw(scored(n_columns=n_columns, n_classes=n_present))
    classes = np.arange(k)
    make = lambda: CodeCalibrator(code, "pav", "least_squares")  # noqa: E731
    plan = calibrator_plan(make(), classes, data.draw(OPTIONS), len(rows))
    fitted = run_scattered(plan, rows, data.draw(st.integers(0, 2**32 - 1)))
    expected = in_memory(make(), rows, classes)
    np.testing.assert_allclose(fitted.counts_, expected.counts_, rtol=1e-12)
    assert_same(fitted, expected, rows)


@given(st.data())
@settings(max_examples=60)
def test_accuracy_tables_are_those_of_memory(data):
    k = data.draw(st.integers(2, 5))
    rows = data.draw(scored(n_columns=k, n_classes=k, least=3))
    how = data.draw(
        st.sampled_from(
            [
                {},
                {"n_cells": 4, "smoothing": "ma"},
                {"width": 0.5, "smoothing": "median"},
                {"n_cells": "bic", "candidates": [2, 3, 7]},
                {"n_cells": "aic", "smoothing": "laplace"},
                {"n_cells": 5, "smoothing": "lidstone", "lam": 0.5},
                {"n_cells": (3, 4), "combination": [1, 2], "smoothing": "none"},
                {"n_cells": 100, "combination": "C", "max_rank": 1},
                {"n_cells": 3, "combination": [[1, 2], [1]], "max_rank": None},
            ]
        )
    )
    if "width" in how and not np.abs(rows.scores).max() < 1e3:
        rows = Rows(np.clip(rows.scores, -5, 5), rows.truth, rows.weight)
    classes = np.arange(k)
    fitted = run_scattered(
        calibrator_plan(AccuracyTableCalibrator(**how), classes, PassOptions()),
        rows,
        data.draw(st.integers(0, 2**32 - 1)),
    )
    expected = in_memory(AccuracyTableCalibrator(**how), rows, classes)
    np.testing.assert_allclose(fitted.rank_accuracy_, expected.rank_accuracy_, rtol=0, atol=1e-12)
    exact = np.testing.assert_array_equal if rows.weight is None else np.testing.assert_allclose
    for one, other in zip(fitted.tables_, expected.tables_, strict=True):
        exact(one.count, other.count)
        exact(one.right, other.right)
        np.testing.assert_array_equal(one.lower, other.lower)
    exact(fitted.predict_proba(rows.scores), expected.predict_proba(rows.scores))


@given(st.data())
@settings(max_examples=40)
def test_ranked_logistic_is_that_of_memory(data):
    k = data.draw(st.integers(2, 4))
    n = data.draw(st.integers(10, 150))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 10.0 ** data.draw(st.integers(-3, 3)) + data.draw(st.integers(-5, 5))
    weight = rng.gamma(2, size=n) if data.draw(st.booleans()) else None
    rows = Rows(scores, rng.integers(0, k, n), weight)
    how = {
        "combination": data.draw(st.sampled_from(["A", "B", "C", "single", [1, 2], [[1], [1, 2]]])),
        "smooth": data.draw(st.booleans()),
        "max_rank": data.draw(st.sampled_from([None, 1, 2])),
    }
    if how["combination"] == [[1], [1, 2]] and how["max_rank"] == 1 and k > 2:
        how["max_rank"] = None
    classes = np.arange(k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ranks that are told apart: both say so
        plan = calibrator_plan(RankedLogisticCalibrator(**how), classes, PassOptions())
        fitted = run_scattered(plan, rows, seed)
        expected = in_memory(RankedLogisticCalibrator(**how), rows, classes)
    for one, other in zip(fitted.maps_, expected.maps_, strict=True):
        assert one.smoothed == other.smoothed
    np.testing.assert_allclose(fitted.predict_raw(scores), expected.predict_raw(scores), rtol=0, atol=1e-12)
