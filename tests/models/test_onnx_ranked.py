"""The graphs of the ranked calibrators against the calibrators: ties, edges of cells, far queries."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning

from calibrant import AccuracyTableCalibrator, CalibrantError, RankedLogisticCalibrator
from calibrant.maps import Graph
from models.onnx_cases import beside, proba_of, run, scored_rows

COMBINATIONS = ["A", "single", "B", "C", [1, 2], [[2], [1, 2, 3]]]


def fitted(calibrator, scores, y):
    """The same calibrator, fitted; ranks that are told apart without error are nothing special here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return calibrator.fit(scores, y)


def assert_same(model, query):
    np.testing.assert_allclose(proba_of(model, query), model.predict_proba(query), rtol=0, atol=1e-15)


@pytest.mark.parametrize("max_rank", [None, 1, 2, 3])
@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_every_combination(combination, max_rank):
    scores, y = scored_rows(250, 4, levels=4)
    query = np.concatenate([scores, 3 * scores, scored_rows(50, 4, seed=1)[0], np.zeros((1, 4))])
    assert_same(fitted(RankedLogisticCalibrator(combination, max_rank=max_rank), scores, y), query)
    if combination != "B" or max_rank in (1, 2):
        assert_same(fitted(AccuracyTableCalibrator(combination, max_rank=max_rank), scores, y), query)


@pytest.mark.parametrize("fallback", ["prior", "half", "nan"])
@pytest.mark.parametrize("smoothing", ["ma_cov", "ma", "median", "lidstone", "laplace", "none"])
def test_every_smoothing_and_fallback(smoothing, fallback):
    scores, y = scored_rows(120, 3)
    table = AccuracyTableCalibrator(smoothing=smoothing, fallback=fallback, width=0.1).fit(scores, y)
    query = np.concatenate([scores, 5 * scores, scored_rows(100, 3, seed=1)[0], [[1e300, 0, -1e300]]])
    want = table.predict_proba(query)
    np.testing.assert_allclose(proba_of(table, query), want, rtol=0, atol=1e-15)
    assert np.isnan(want).any() == (fallback == "nan" and smoothing not in ("lidstone", "laplace"))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 7),
    levels=st.sampled_from([None, 1, 10]),
    max_rank=st.sampled_from([None, 1, 3]),
)
def test_random_models_and_equal_scores(seed, k, levels, max_rank):
    scores, y = scored_rows(60, k, seed, levels)
    query = np.concatenate([scores, scored_rows(40, k, seed + 1, levels)[0], np.zeros((1, k))])
    assert_same(AccuracyTableCalibrator(n_cells=6, max_rank=max_rank).fit(scores, y), query)
    assert_same(fitted(RankedLogisticCalibrator(max_rank=max_rank), scores, y), query)


@pytest.mark.parametrize("sizes", [{"width": 0.25}, {"n_cells": 7}])
def test_scores_on_the_edges_of_cells(sizes):
    scores, y = scored_rows(150, 3, levels=4)
    table = AccuracyTableCalibrator("single", **sizes).fit(scores, y)
    origin, width = table.tables_[0].origin[0], table.tables_[0].width[0]
    edges = beside(origin + np.arange(-20, 21) * width)
    assert_same(table, np.stack([edges, edges - 10, np.full(len(edges), -20.0)], axis=1))


@pytest.mark.parametrize("width", [1 + 1e-8, 1 - 1e-8, np.nextafter(1, 2)])
def test_a_width_that_single_precision_takes_for_one(width):
    rng = np.random.default_rng(0)
    scores = np.column_stack([rng.integers(10**8, 10**8 + 3, 80) * width, np.zeros(80)])
    table = AccuracyTableCalibrator("single", width=width, max_rank=1).fit(scores, rng.integers(0, 2, 80))
    assert_same(table, scores)


@pytest.mark.parametrize("max_rank", [1, 2, None])
@pytest.mark.parametrize("combination", ["A", "C", [1, 2]], ids=str)
def test_tables_too_large_to_be_written_in_full(monkeypatch, combination, max_rank):
    scores, y = scored_rows(200, 4, levels=10)
    query = np.concatenate([scores, 3 * scores, scored_rows(50, 4, seed=1)[0]])
    table = AccuracyTableCalibrator(combination, width=0.05, max_rank=max_rank).fit(scores, y)
    monkeypatch.setattr(Graph, "most_dense", 0)
    assert_same(table, query)


@pytest.mark.parametrize("most_dense", [0, Graph.most_dense])
@pytest.mark.parametrize("smoothing", ["ma_cov", "median", "lidstone"])
def test_tables_of_many_scores_have_their_cells_without_rows(monkeypatch, smoothing, most_dense):
    scores, y = scored_rows(80, 5)
    table = AccuracyTableCalibrator("B", n_cells=4, smoothing=smoothing, max_rank=None).fit(scores, y)
    monkeypatch.setattr(Graph, "most_dense", most_dense)
    query = np.concatenate([scores, scores + 0.4, 3 * scores, scored_rows(200, 5, seed=1)[0]])
    assert_same(table, query)


def test_tables_with_too_many_cells_are_refused(monkeypatch):
    scores, y = scored_rows(80, 4)
    table = AccuracyTableCalibrator("B", width=0.01, max_rank=None).fit(scores, y)
    monkeypatch.setattr("calibrant.calibrators._smoothing.MOST_WRITTEN", 80 * 81 - 1)
    monkeypatch.setattr(Graph, "most_dense", 0)
    with pytest.raises(CalibrantError, match=r"a table over 4 scores must have at most 6,479 .*up to 6,480;"):
        proba_of(table, scores)


def test_a_table_that_is_large():
    scores, y = scored_rows(200, 3)
    table = AccuracyTableCalibrator("C", width=0.002).fit(scores, y)
    assert sum(model.grid.n_keys for model in table.map_.own) > 1e9
    assert_same(table, np.concatenate([scores, scores + 1e-3]))


@pytest.mark.parametrize("max_rank", [None, 1])
def test_rows_whose_estimates_are_all_zero(max_rank):
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [9.0, 8.0, 0.0]])
    table = AccuracyTableCalibrator(
        "single", width=1.0, smoothing="none", max_rank=max_rank, classes=[0, 1, 2]
    )
    table.fit(scores, [0, 0, 2])
    query = np.array([[0.0, 9.0, 1.5], [9.0, 1.5, 1.0], [1.2, 1.7, 9.0], [3.0, 2.0, 1.0]])
    assert (table.predict_raw(query) == 0).all(axis=1).any()
    assert_same(table, query)


@pytest.mark.parametrize("calibrator", [AccuracyTableCalibrator(), RankedLogisticCalibrator()], ids=repr)
def test_a_row_with_a_bad_score_has_no_probabilities(calibrator):
    scores, y = scored_rows(100, 3)
    calibrator.fit(scores, y)
    query = scores[:5].copy()
    query[0, 0], query[1, 1], query[2, 2] = np.nan, np.inf, -np.inf
    got = proba_of(calibrator, query)
    assert np.isnan(got).all(axis=1).tolist() == [True, True, True, False, False]
    np.testing.assert_allclose(got[3:], calibrator.predict_proba(query[3:]), atol=1e-15)


def test_log_odds():
    scores, y = scored_rows(200, 3)
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    model = RankedLogisticCalibrator(transform="logit").fit(proba, y)
    query = np.concatenate([proba, [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]])
    assert_same(model, query)
    got = proba_of(model, [[0.5, 0.5, -1e-8], [0.2, 0.3, 0.5]])
    assert np.isnan(got).all(axis=1).tolist() == [True, False]


def test_many_rows_at_once():
    scores, y = scored_rows(50_000, 6)
    for model in (AccuracyTableCalibrator(), RankedLogisticCalibrator()):
        model.fit(scores[:2000], y[:2000])
        assert_same(model, scores)
        assert list(run(model, scores[:3])) == ["probabilities"]
