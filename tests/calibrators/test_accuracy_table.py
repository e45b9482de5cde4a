"""Accuracy tables against golden cases, brute force in plain Python, and the laws of the smoothings."""

import itertools
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import AccuracyTableCalibrator, CalibrantError, load, save
from calibrant.calibrators import _cells
from golden import assert_golden, golden_cases

SMOOTHINGS = ["none", "laplace", "lidstone", "ma", "median", "ma_cov"]


def as_scores(ranked, right):
    """Ranked scores and statuses as scores and labels: the first class is ranked first."""
    ranked = np.asarray(ranked, dtype=float)
    if ranked.shape[1] == 1:
        ranked = np.column_stack([ranked, ranked.min() - 9 - np.arange(len(ranked))])
    return ranked, 1 - np.asarray(right)


def first_rank(ranked, right, query, weights=None, **parameters):
    """Estimates of the first rank, from as many scores as there are columns; and the table."""
    n_axes = np.shape(ranked)[1]
    scores, y = as_scores(ranked, right)
    model = AccuracyTableCalibrator(
        list(range(1, n_axes + 1)), max_rank=1, classes=range(scores.shape[1]), **parameters
    ).fit(scores, y, weights)
    asked, _ = as_scores(query, np.zeros(len(query)))
    return model.predict_by_rank(asked, n_ranks=1).estimate[:, 0], model.tables_[0]


@pytest.mark.parametrize("case", golden_cases("accuracy_table", "accuracy_table"))
def test_golden_tables(case):
    given, want = case["in"], case["out"]
    assert given["origin"] == 0
    for smoothing, values in want["predict"].items():
        got, table = first_rank(
            given["F"],
            given["correct"],
            given["query"],
            given.get("w"),
            width=given["width"],
            smoothing=smoothing,
            lam=given["lambda"],
            fallback=given["fallback"],
        )
        assert_golden(got.tolist(), values, case["tol"])
    cells = [
        {"cell": [round(bound / given["width"]) for bound in lower], "N": count, "Np": right}
        for lower, count, right in zip(
            table.lower.tolist(), table.count.tolist(), table.right.tolist(), strict=True
        )
    ]
    assert_golden(cells, want["cells"], case["tol"])


def table_by_hand(ranked, right, width, weights):
    cells = {}
    for scores, status, weight in zip(ranked, right, weights, strict=True):
        cell = tuple(math.floor(score / width + 1e-9) for score in scores)
        count, good = cells.get(cell, (0.0, 0.0))
        cells[cell] = count + weight, good + weight * status
    return cells


def estimate_by_hand(cells, query, width, smoothing, lam, fallback):
    target = tuple(math.floor(score / width + 1e-9) for score in query)
    around = [
        cells[cell]
        for step in itertools.product((-1, 0, 1), repeat=len(query))
        if (cell := tuple(np.add(target, step))) in cells
    ]
    count, good = cells.get(target, (0.0, 0.0))
    lam = 1.0 if smoothing == "laplace" else lam
    if smoothing in ("laplace", "lidstone") and lam:
        return (good + lam) / (count + 2 * lam)
    if smoothing in ("none", "lidstone"):
        return good / count if count else fallback
    if not around:
        return fallback
    shares = [good / count for count, good in around]
    if smoothing == "ma_cov":
        return sum(good for _, good in around) / sum(count for count, _ in around)
    return statistics.mean(shares) if smoothing == "ma" else statistics.median(shares)


@pytest.mark.parametrize("n_axes", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("sparse", [False, True])
def test_brute_force(n_axes, smoothing, sparse, monkeypatch):
    if sparse:
        monkeypatch.setattr(_cells, "BLOCK_SIZE", 0)
        monkeypatch.setattr("calibrant.calibrators._table.DENSE", 0)
    rng = np.random.default_rng(n_axes)
    ranked = -np.sort(-rng.normal(size=(150, n_axes)).round(1), axis=1)
    right, weights = rng.random(150) < 0.6, rng.integers(0, 4, size=150) * 0.5
    query = np.concatenate([ranked[:40], -np.sort(-3 * rng.normal(size=(60, n_axes)), axis=1)])
    cells = table_by_hand(ranked[weights > 0], right[weights > 0], 0.3, weights[weights > 0])
    prior = np.average(right, weights=weights)
    for lam, fallback in ((0.3, "prior"), (0.0, "nan"), (2.0, "half")):
        got, table = first_rank(
            ranked, right, query, weights, width=0.3, smoothing=smoothing, lam=lam, fallback=fallback
        )
        instead = {"prior": prior, "half": 0.5, "nan": math.nan}[fallback]
        want = [estimate_by_hand(cells, row, 0.3, smoothing, lam, instead) for row in query]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
        places = np.round(table.lower / 0.3).astype(int)
        held = {
            tuple(place): (count, good)
            for place, count, good in zip(places.tolist(), table.count, table.right, strict=True)
        }
        assert held == cells


@pytest.mark.parametrize("n_axes", [4, 7])
def test_a_table_of_many_scores_keeps_no_more_cells_than_rows(n_axes, tmp_path):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(60, n_axes)), rng.integers(n_axes, size=60)
    model = AccuracyTableCalibrator("B", max_rank=None, n_cells=5, classes=range(n_axes)).fit(scores, y)
    assert [len(table.axes) for table in model.tables_] == list(range(1, n_axes + 1))
    for table, kept in zip(model.tables_[3:], model.map_.own[3:], strict=True):
        assert len(kept.smoothed.key) == len(table.count) <= 60
    save(model, tmp_path / "model.json")
    asked = rng.normal(size=(40, n_axes))
    np.testing.assert_array_equal(
        load(tmp_path / "model.json").predict_proba(asked), model.predict_proba(asked)
    )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.booleans()), min_size=1, max_size=40),
    st.sampled_from([0.1, 0.25, 1.0]),
)
def test_ma_cov_is_the_accuracy_of_all_rows_around(rows, width):
    ranked = np.sort([row[:2] for row in rows], axis=1)[:, ::-1] / 10.0
    right = np.array([int(row[2]) for row in rows])
    got, _ = first_rank(ranked, right, ranked, width=width)
    place = np.floor(ranked / width + 1e-9)
    near = (np.abs(place[:, None] - place[None]) <= 1).all(axis=2)
    np.testing.assert_allclose(got, (near @ right) / near.sum(axis=1), rtol=0, atol=1e-12)


def test_a_number_of_cells_divides_the_range_and_the_end_belongs_to_the_last():
    ranked = np.arange(11.0)[:, None]
    for n_cells in (1, 2, 3, 5, 7, 10, 30, 1000):
        _, table = first_rank(ranked, np.ones(11), ranked, n_cells=n_cells)
        width = 10 / n_cells
        place = [min(math.floor(score / width + 1e-9), n_cells - 1) for score in range(11)]
        assert table.count.sum() == 11
        np.testing.assert_allclose(table.lower[:, 0], np.unique(place) * width, rtol=1e-8)
        np.testing.assert_array_equal(table.count, np.unique(place, return_counts=True)[1])


@pytest.mark.parametrize("shift", [0.0, -3.0, 1e6, -1e-3])
@pytest.mark.parametrize("scale", [1.0, 2.0**-20, 1e7])
def test_a_number_of_cells_means_the_same_at_any_scale_and_origin(shift, scale):
    rng = np.random.default_rng(5)
    ranked = -np.sort(-rng.integers(0, 9, size=(60, 2)), axis=1).astype(float)
    right = rng.random(60) < 0.5
    query = -np.sort(-rng.uniform(-2, 10, size=(40, 2)), axis=1)
    plain, _ = first_rank(ranked, right, query, n_cells=(8, 5))
    moved, _ = first_rank((ranked + shift) * scale, right, (query + shift) * scale, n_cells=(8, 5))
    np.testing.assert_allclose(moved, plain, rtol=0, atol=1e-12)


def test_scores_that_never_vary_are_one_cell():
    got, table = first_rank([[2.0, 1.0]] * 4, [1, 1, 1, 0], [[2.0, 1.0], [9.0, 1.0]], n_cells=5)
    assert got.tolist() == [0.75, 0.75]
    assert table.count.tolist() == [4.0]


def test_each_axis_may_have_its_own_width():
    ranked = [[0.1, 0.05], [0.9, 0.05], [0.9, 0.85]]
    _, table = first_rank(ranked, [1, 0, 1], ranked, width=(1.0, 0.1))
    np.testing.assert_allclose(table.lower, [[0, 0.0], [0, 0.8]])
    np.testing.assert_allclose(table.upper, [[1, 0.1], [1, 0.9]])
    assert table.count.tolist() == [2.0, 1.0]


def test_far_queries_get_the_fallback():
    far = [[1e300, -1e300], [1e6, 0.0], [-1e6, -1e6]]
    for fallback, value in (("prior", 2 / 3), ("half", 0.5), ("nan", math.nan)):
        got, _ = first_rank([[1.0, 0.0]] * 3, [1, 1, 0], far, width=0.5, fallback=fallback)
        np.testing.assert_allclose(got, [value] * 3)
    for smoothing in ("laplace", "lidstone"):
        got, _ = first_rank([[1.0, 0.0]] * 3, [1, 1, 0], far, width=0.5, smoothing=smoothing, lam=0.1)
        assert got.tolist() == [0.5] * 3


def test_a_row_without_any_estimate_has_no_probabilities():
    scores, y = as_scores([[1.0, 0.0]] * 3, [1, 1, 0])
    model = AccuracyTableCalibrator(width=0.5, fallback="nan").fit(scores, y)
    assert np.isnan(model.predict_proba([[50.0, -50.0]])).all()
    assert np.isfinite(model.predict_proba([[1.0, 0.0]])).all()


@pytest.mark.parametrize(("right", "value"), [([1, 1, 1], 1.0), ([0, 0, 0], 0.0)])
def test_a_rank_that_is_always_right_or_never_is_certain_unless_smoothed(right, value):
    ranked = [[0.9, 0.1], [0.8, 0.1], [0.9, 0.2]]
    for smoothing in ("none", "ma", "median", "ma_cov"):
        got, _ = first_rank(ranked, right, ranked, width=0.5, smoothing=smoothing)
        assert got.tolist() == [value] * 3
    for smoothing, lam in (("laplace", 1.0), ("lidstone", 0.25), ("lidstone", "cv")):
        got, table = first_rank(ranked, right, ranked, width=0.5, smoothing=smoothing, lam=lam)
        assert table.lam == (1.0 if lam == "cv" else lam)  # nothing to choose by
        np.testing.assert_allclose(got, (3 * value + table.lam) / (3 + 2 * table.lam))


def test_a_row_of_zeros_gets_the_overall_accuracy_of_the_ranks():
    """Where every rank was wrong in its own cells, and right elsewhere."""
    scores = [[3.0, 0, 0.5], [3, 0.5, 0], [3, 2, 0], [3, 2, 0], [0.5, 0, 3]]
    y = [0, 0, 1, 1, 2]
    model = AccuracyTableCalibrator(width=1.0, smoothing="none", max_rank=1).fit(scores, y)
    np.testing.assert_allclose(model.rank_accuracy_, [0.6])
    np.testing.assert_array_equal(model.predict_raw([[3, 2.5, 2]]), [[0, 1, 1]])
    wrong = AccuracyTableCalibrator("single", width=1.0, smoothing="none", max_rank=None, classes=[0, 1, 2])
    wrong.fit([[3.0, 2, 0], [5, 4, 1]], [2, 0])
    assert wrong.predict_raw([[3.0, 2, 1]]).tolist() == [[0, 0, 0]]
    assert wrong.predict_proba([[3.0, 2, 1]]).tolist() == [[0.5, 0.0, 0.5]]
    one = AccuracyTableCalibrator("single", width=1.0, smoothing="none", max_rank=1, classes=[0, 1, 2])
    one.fit([[3.0, 2, 0], [5, 4, 1]], [2, 0])
    assert one.predict_proba([[3.0, 2, 1]]).tolist() == [[0.5, 0.25, 0.25]]


def test_ranks_have_tables_of_their_own_scores():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(60, 5)), rng.integers(5, size=60)
    model = AccuracyTableCalibrator(n_cells=3, max_rank=2).fit(scores, y)
    assert [table.axes for table in model.tables_] == [("f1", "f2"), ("f1", "f2")]
    assert model.shared_table_.axes == ("f1", "fr")
    assert [table.count.sum() for table in model.tables_] == [60, 60]
    assert model.shared_table_.count.sum() == 180
    total = sum(table.right.sum() for table in [*model.tables_, model.shared_table_])
    assert total == 60
    neighbours = AccuracyTableCalibrator("C", n_cells=3, max_rank=1).fit(scores, y)
    assert neighbours.shared_table_.axes == ("fr-1", "fr", "fr+1")
    every = AccuracyTableCalibrator(n_cells=3, max_rank=None).fit(scores, y)
    assert [table.axes[1] for table in every.tables_] == ["f2", "f2", "f3", "f4", "f5"]
    assert every.shared_table_ is None


@pytest.mark.parametrize("combination", ["A", "single", "C", [1, 2]])
def test_the_shared_table_counts_all_later_ranks(combination):
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=(80, 5)), rng.integers(5, size=80)
    model = AccuracyTableCalibrator(combination, width=0.5, smoothing="none", max_rank=2).fit(scores, y)
    order = np.argsort(-scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    cells = {}
    for row, classes, true in zip(ranked, order, y, strict=True):
        for rank in range(2, 5):
            after = row[min(rank + 1, 4)]
            used = {
                "A": (row[0], row[rank]),
                "single": (row[rank],),
                "C": (row[rank - 1], row[rank], after),
            }.get(str(combination), (row[0], row[1]))
            cell = tuple(math.floor(score / 0.5 + 1e-9) for score in used)
            count, good = cells.get(cell, (0, 0))
            cells[cell] = count + 1, good + (classes[rank] == true)
    table = model.shared_table_
    held = {
        tuple(place): (count, good)
        for place, count, good in zip(
            np.round(table.lower / 0.5).astype(int).tolist(), table.count, table.right, strict=True
        )
    }
    assert held == cells


def test_the_table_is_a_frame():
    _, table = first_rank([[0.9, 0.1], [0.8, 0.1], [0.1, 0.0]], [1, 0, 1], [[0.9, 0.1]], width=0.5)
    frame = pd.DataFrame(table.to_dict())
    bounds = ["f1_from", "f1_to", "f2_from", "f2_to"]
    assert list(frame.columns) == [*bounds, "count", "right", "accuracy", "value"]
    assert frame[bounds].to_numpy().tolist() == [[0, 0.5, 0, 0.5], [0.5, 1, 0, 0.5]]
    assert frame["count"].tolist() == [1, 2]
    assert frame["accuracy"].tolist() == [1, 0.5]
    np.testing.assert_allclose(frame["value"], [2 / 3, 2 / 3])
    assert table.overall_accuracy == pytest.approx(2 / 3)
    assert table.lam is None
    assert table.criterion == {}


def sharp(n, seed=0):
    """Statuses that depend on the second score so finely that wide cells blur them."""
    rng = np.random.default_rng(seed)
    ranked = -np.sort(-rng.uniform(0, 3, size=(n, 2)), axis=1)
    return ranked, rng.random(n) < 0.05 + 0.9 * (np.floor(ranked[:, 1] / 0.3) % 2)


@pytest.mark.parametrize("criterion", ["cv", "aic", "bic"])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_the_size_of_the_cells_is_chosen(criterion, smoothing):
    ranked, right = sharp(3000)
    _, table = first_rank(ranked, right, ranked[:1], width=criterion, smoothing=smoothing)
    assert list(table.criterion) == [0.5, 0.3, 0.2, 0.1, 0.05]
    best = min(table.criterion, key=table.criterion.__getitem__)
    np.testing.assert_allclose(table.upper - table.lower, best)
    assert table.width.tolist() == [best, best]
    assert table.origin.tolist() == [0, 0]
    assert best < 0.5
    noise = np.random.default_rng(1).random(200) < 0.85
    _, table = first_rank(ranked[:200], noise, ranked[:1], n_cells=criterion, smoothing=smoothing)
    assert list(table.criterion) == [5, 7, 10, 15, 20, 30, 40, 60]
    if smoothing in ("laplace", "ma", "ma_cov"):  # the others fall back to the prior, which is right here
        assert min(table.criterion, key=table.criterion.__getitem__) <= 20


def test_candidates_are_tried_from_coarse_to_fine_and_the_coarsest_wins_a_tie():
    ranked, right = [[1.0, 0.0]] * 8, [1, 0] * 4
    _, table = first_rank(ranked, right, ranked, n_cells="cv", candidates=[9, 3, 6])
    assert list(table.criterion) == [3, 6, 9]
    assert len(set(table.criterion.values())) == 1
    _, table = first_rank(ranked, right, ranked, width="bic", candidates=[0.1, 0.4])
    assert list(table.criterion) == [0.4, 0.1]
    assert table.upper[0, 0] - table.lower[0, 0] == pytest.approx(0.4)


@pytest.mark.parametrize("max_rank", [1, None])
@pytest.mark.parametrize("parameters", [{"width": "cv"}, {"n_cells": 9, "smoothing": "lidstone"}], ids=str)
def test_what_is_chosen_does_not_depend_on_how_cells_are_counted(parameters, max_rank, monkeypatch):
    rng = np.random.default_rng(4)
    y = rng.integers(4, size=300)
    scores = rng.normal(size=(300, 4)) + 2 * np.eye(4)[y]
    model = AccuracyTableCalibrator(max_rank=max_rank, **parameters).fit(scores, y)
    monkeypatch.setattr(_cells, "BLOCK_SIZE", 0)
    monkeypatch.setattr("calibrant.calibrators._table.DENSE", 0)
    sparse = AccuracyTableCalibrator(max_rank=max_rank, **parameters).fit(scores, y)
    for one, other in zip(
        [*model.tables_, model.shared_table_], [*sparse.tables_, sparse.shared_table_], strict=True
    ):
        if one is not None:
            assert one.lam == other.lam
            assert one.criterion == pytest.approx(other.criterion)
    np.testing.assert_allclose(model.predict_proba(scores), sparse.predict_proba(scores))


def test_nothing_to_choose_by_takes_the_largest_cells():
    _, table = first_rank([[0.9, 0.1], [0.2, 0.1]], [1, 1], [[0.9, 0.1]], width="cv")
    assert table.criterion == {}
    np.testing.assert_allclose(table.upper - table.lower, 0.5)


def test_every_rank_chooses_for_itself():
    ranked, right = sharp(2000)
    scores = np.column_stack([ranked, ranked[:, 1] - 1])
    model = AccuracyTableCalibrator(width="aic", max_rank=None, classes=[0, 1, 2])
    model.fit(scores, np.where(right, 0, 1 + (np.arange(2000) % 2)))
    assert [len(table.criterion) for table in model.tables_] == [5, 5, 5]


def test_lidstone_by_cross_validation_is_reproducible_and_beats_a_bad_choice():
    ranked, right = sharp(400)
    _, table = first_rank(ranked, right, ranked, width=0.1, smoothing="lidstone")
    _, again = first_rank(ranked, right, ranked, width=0.1, smoothing="lidstone")
    assert table.lam == again.lam
    assert table.lam in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
    crowd = np.zeros((500, 2)), np.arange(500) % 10 > 0
    _, table = first_rank(*crowd, [[0.0, 0.0]], width=0.1, smoothing="lidstone")
    assert table.lam == 0.05
    noise = np.random.default_rng(0).random(400) < 0.5
    _, table = first_rank(ranked, noise, ranked, width=0.1, smoothing="lidstone")
    assert table.lam == 5.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 0}, "width must be above 0, for all axes or one per axis; got 0"),
        ({"width": -0.1}, "width must be above 0, for all axes or one per axis; got -0.1"),
        ({"width": [0.1, 0.0]}, "width must be above 0, for all axes or one per axis; got 0.0"),
        ({"width": math.nan}, "width must be above 0, for all axes or one per axis; got nan"),
        ({"width": "wide"}, "width must be a number or one of 'cv', 'aic', 'bic'; got 'wide'"),
        ({"width": [0.1, 0.1, 0.1]}, "width must be one number, or one per axis, 2 in all; got 3"),
        ({"width": 1e-300}, r"fewer than 2\*\*50 cells over the range of the scores; got 1e-300, 1e-300, wh"),
        (
            {"n_cells": 0},
            "n_cells must be a whole number from 1 to 1000, for all axes or one per axis; got 0",
        ),
        ({"n_cells": 2.5}, "n_cells must be a whole number from 1 to 1000.*got 2.5"),
        ({"n_cells": [5]}, "n_cells must be one number, or one per axis, 2 in all; got 1"),
        ({"n_cells": "aicc"}, "n_cells must be a number or one of 'cv', 'aic', 'bic'; got 'aicc'"),
        ({"width": "cv", "candidates": []}, "candidates must hold at least one size; got none"),
        ({"width": "cv", "candidates": [0.1, 0]}, "candidates must be above 0, for all axes.*got 0"),
        ({"n_cells": "cv", "candidates": [0.1]}, "candidates must be a whole number from 1 to 1000.*got 0.1"),
        ({"smoothing": "loess"}, "smoothing must be one of 'ma_cov', 'ma', 'median', .*; got 'loess'"),
        ({"lam": -1}, "lam must be a number from 0, or 'cv'; got -1"),
        ({"lam": "best"}, "lam must be a number from 0, or 'cv'; got 'best'"),
        ({"fallback": "zero"}, "fallback must be one of 'prior', 'half', 'nan'; got 'zero'"),
        ({"cv": 1}, "cv must be a whole number from 2; got 1"),
        (
            {"combination": [1, 2, 3, 4], "width": 1e-4},
            r"width must leave fewer than 2\*\*50 cells .*; use wider cells, n_cells, or fewer scores",
        ),
        ({"combination": [1, 5]}, r"ranks from 1 to 4, the number of classes; got \[1, 5\]"),
    ],
)
def test_bad_options_are_refused(parameters, message):
    scores = np.random.default_rng(0).normal(size=(9, 4))
    model = AccuracyTableCalibrator(classes=range(4), **parameters)
    with pytest.raises(CalibrantError, match=message):
        model.fit(scores, np.arange(9) % 4)
    assert not hasattr(model, "classes_")


def test_three_axes_will_do_for_b():
    rng = np.random.default_rng(0)
    model = AccuracyTableCalibrator("B", n_cells=4, max_rank=2)
    model.fit(rng.normal(size=(50, 4)), np.arange(50) % 4)
    assert [table.axes for table in model.tables_] == [("f1",), ("f1", "f2")]
    assert model.shared_table_.axes == ("f1", "f2", "fr")
