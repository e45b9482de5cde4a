from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import metrics
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import PassOptions, Rows, evaluate_in_passes
from calibrant.files._evaluate import evaluation_plan
from files.scatter import run_scattered


@st.composite
def forecasts(draw, n_columns):
    n = draw(st.integers(1, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k = max(n_columns, 2)
    proba = rng.dirichlet(np.full(k, 0.5), n)
    if draw(st.booleans()):
        proba = np.round(proba * 10) / 10
    weight = rng.choice([0.0, 0.5, 1.0, 2.5], n) if draw(st.booleans()) else None
    if weight is not None and not weight.any():
        weight[0] = 1.0
    position = rng.integers(0, k, n)
    return Rows(proba[:, 1] if n_columns == 1 else proba, position, weight)


@pytest.mark.parametrize("n_columns", [1, 2, 4])
@given(data=st.data())
@settings(max_examples=20)
def test_metrics_are_those_of_memory(n_columns, data):
    rows = data.draw(forecasts(n_columns))
    k = max(n_columns, 2)
    options = PassOptions(n_bins=data.draw(st.integers(1, 50)), max_rows=data.draw(st.integers(1, 200)))
    found = run_scattered(evaluation_plan(k, 0.15, options, None), rows, data.draw(st.integers(0, 99)))
    how = {"sample_weight": rows.weight, "classes": np.arange(k)}
    y, proba = rows.truth, rows.scores
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(found.log_loss, metrics.log_loss(y, proba, **how), **close)
    np.testing.assert_allclose(found.error_rate, metrics.error_rate(y, proba, **how), **close)
    parts = metrics.brier_decomposition(y, proba, isotonic=True, mode="classwise", **how)
    for name in ("brier", "calibration", "refinement", "resolution", "uncertainty"):
        np.testing.assert_allclose(getattr(found.brier, name), getattr(parts, name), **close)
    weights = np.ones(len(y)) if rows.weight is None else rows.weight
    assert found.n_rows == (weights > 0).sum()
    np.testing.assert_allclose(found.confusion.sum(), weights.sum())
    np.testing.assert_allclose(
        np.trace(found.confusion) / found.confusion.sum(), 1 - found.error_rate, **close
    )
    for column in range(n_columns):
        is_of_class = y == (column if n_columns > 1 else 1)
        shown = proba[:, column] if n_columns > 1 else proba
        expected = metrics.reliability_bins(is_of_class, shown, width=0.15, sample_weight=rows.weight)
        for name in ("left", "right", "count", "mean_score", "frac_pos", "weight"):
            np.testing.assert_allclose(
                getattr(found.reliability[column], name), getattr(expected, name), **close
            )
        area = metrics.auc(is_of_class, shown, sample_weight=rows.weight)
        low, high = found.auc[column]
        assert np.isnan([low, high, area]).all() or low - 1e-12 <= area <= high + 1e-12


@pytest.mark.parametrize("n_columns", [1, 3])
@given(data=st.data())
@settings(max_examples=15)
def test_groups_and_columns_are_measured_each_for_itself(n_columns, data):
    rows = data.draw(forecasts(n_columns))
    k, n_groups = max(n_columns, 2), 3
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    group = rng.integers(0, n_groups + 1, len(rows))  # the rows of the last are of no group
    counted = np.ones(len(rows), dtype=bool) if rows.weight is None else rows.weight > 0
    numbers = {g: number for number, g in enumerate(np.unique(group[counted & (group < n_groups)]))}
    key = np.array([numbers.get(g, 99) for g in group], dtype=np.uint64)
    keyed = Rows(rows.scores, rows.truth, rows.weight, key)
    options = PassOptions(n_bins=data.draw(st.integers(1, 50)), max_rows=data.draw(st.integers(1, 200)))
    plan = evaluation_plan(k, 0.1, options, None, len(numbers))
    found = run_scattered(plan, keyed, data.draw(st.integers(0, 99)))
    assert len(found.groups) == len(numbers)
    for number, each in enumerate(found.groups):
        of_group = key == number
        alone = evaluate_in_passes(lambda chosen=of_group: [rows.take(chosen)], classes=range(k))
        for name in ("n_rows", "weight", "log_loss", "impossible", "error_rate"):
            np.testing.assert_allclose(getattr(each, name), getattr(alone, name), rtol=1e-12, atol=1e-12)
        for mine, its in zip(each.columns, alone.columns, strict=True):
            np.testing.assert_allclose(astuple(mine), astuple(its), rtol=1e-12, atol=1e-12)
    for column, parts in enumerate(found.columns):
        is_of_class = rows.truth == (column if n_columns > 1 else 1)
        shown = rows.scores[:, column] if n_columns > 1 else rows.scores
        expected = metrics.brier_decomposition(is_of_class, shown, isotonic=True, sample_weight=rows.weight)
        for name in ("brier", "calibration", "refinement"):
            np.testing.assert_allclose(getattr(parts, name), getattr(expected, name), rtol=1e-12, atol=1e-12)


def test_bounds_of_the_area_are_narrow():
    rng = np.random.default_rng(0)
    proba = rng.random(50_000)
    y = (rng.random(50_000) < proba).astype(np.intp)
    found = evaluate_in_passes(lambda: [Rows(proba, y)], classes=[0, 1], n_rows=50_000)
    low, high = found.auc[0]
    assert high - low < 1e-3
    assert low <= metrics.auc(y, proba) <= high


def test_impossible_rows_are_counted():
    rows = [Rows(np.array([0.0, 1.0, 0.5]), np.array([1, 1, 0]))]
    found = evaluate_in_passes(lambda: rows, classes=["a", "b"])
    assert found.impossible == 1
    assert found.log_loss == np.inf


def test_scores_that_are_no_probabilities_are_refused():
    rows = [Rows(np.array([0.5, 1.5]), np.array([1, 0]))]
    with pytest.raises(DataError, match=r"scores must lie in \[0, 1\]; got 1.5"):
        evaluate_in_passes(lambda: rows, classes=[0, 1])


def test_no_rows_and_no_classes_are_refused():
    with pytest.raises(DataError, match="scores must have at least one row; got none"):
        evaluate_in_passes(list, classes=[0, 1])
    with pytest.raises(ParameterError, match="classes must be given where rows have only the numbers"):
        evaluate_in_passes(list)
