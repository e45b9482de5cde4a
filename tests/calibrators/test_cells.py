"""Cells, their neighbours, the smoothings and the choice between them, each against plain arithmetic."""

import numpy as np
import pytest

from calibrant.calibrators._cell_choice import (
    FoldedCells,
    assign_folds,
    choose_lambda,
    held_out_loss,
    information,
)
from calibrant.calibrators._cells import Axis, CellCounter, Cells, Grid
from calibrant.calibrators._ranking import lead, rank_truth
from calibrant.calibrators._smoothing import SMOOTHINGS, lidstone
from golden import assert_golden, golden_cases

ALL = {**SMOOTHINGS, "laplace": lidstone(1.0), "lidstone": lidstone(0.3)}


@pytest.mark.parametrize("case", golden_cases("accuracy_table", "ranked"))
def test_golden_ranks(case):
    scores = np.array(case["in"]["scores"])
    for n_ranks in (scores.shape[1], 1):
        leaders, leading = lead(scores, n_ranks)
        assert leaders.T.tolist() == [row[:n_ranks] for row in case["out"]["classes"]]
        assert leading.T.tolist() == [row[:n_ranks] for row in case["out"]["sorted"]]
    for position in range(scores.shape[1]):
        ranked, rank = rank_truth(scores, np.full(len(scores), position))
        assert ranked.T.tolist() == case["out"]["sorted"]
        assert rank.tolist() == [row.index(position) for row in case["out"]["classes"]]


@pytest.mark.parametrize("case", golden_cases("accuracy_table", "cell"))
def test_golden_cells(case):
    axis = Axis(case["in"]["origin"], case["in"]["width"])
    scores = np.array(case["in"]["f"])
    assert [axis.place(score) for score in scores] == case["out"]
    grid = Grid.over([axis], [(scores.min(), scores.max())])
    assert grid.places(grid.keys([scores]))[:, 0].tolist() == case["out"]


@pytest.mark.parametrize("case", golden_cases("accuracy_table", "choose_lambda"))
def test_golden_lambda(case):
    given = case["in"]
    scores, folds = np.array(given["F"])[:, 0], np.array(given["folds"])
    grid = Grid.over([Axis(0.0, given["width"])], [(scores.min(), scores.max())])
    keys = grid.keys([scores])
    counter = CellCounter(5 * grid.n_keys)
    combined = 5 * keys + folds
    counter.add(combined[:, None], np.where(given["correct"], combined, 0), None)
    lam, losses = choose_lambda(FoldedCells.of(counter.cells(), 5), given["grid"])
    assert_golden({"lambda": lam, "value": losses[lam]}, case["out"], case["tol"])


def test_neighbours_touch_in_every_direction():
    grid = Grid.over([Axis(0, 1.0), Axis(0, 0.5), Axis(0, 2.0)], [(0, 4), (-1, 1), (0, 3)])
    middle = grid.keys([np.array([2.5]), np.array([0.1]), np.array([1.0])])
    around = grid.places(middle + grid.neighbours())
    steps = around - grid.places(middle)
    assert len(np.unique(steps, axis=0)) == 27
    assert set(np.unique(steps)) == {-1, 0, 1}


def test_what_lies_beyond_is_neither_a_cell_nor_a_neighbour():
    grid = Grid.over([Axis(0, 1.0)], [(0, 4)])
    far = grid.keys([np.array([-5.0, -1e300, 7.0, 1e300])])
    assert far.tolist() == [0, 0, grid.n_keys - 1, grid.n_keys - 1]
    reachable = grid.keys([np.array([0.0, 4.0])])[:, None] + grid.neighbours()
    assert reachable.min() > 0
    assert reachable.max() < grid.n_keys - 1


def test_counting_block_by_block_is_counting_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 50, size=(200, 3))
    right = np.where(rng.random(200) < 0.5, keys[:, 1], 0)
    weights = rng.integers(1, 4, size=200).astype(float)
    whole = CellCounter(50)
    whole.add(keys, right, weights)
    parts, sparse = CellCounter(50), CellCounter(1 << 40)
    for rows in (slice(0, 90), slice(90, 91), slice(91, 200)):
        for counter in (parts, sparse):
            counter.add(keys[rows], right[rows], weights[rows])
    for other in (parts.cells(), sparse.cells()):
        for name in ("key", "count", "right"):
            np.testing.assert_array_equal(getattr(other, name), getattr(whole.cells(), name))
    assert whole.cells().key.min() > 0


def scattered(seed=0):
    rng = np.random.default_rng(seed)
    grid = Grid.over([Axis(0, 1.0), Axis(0, 1.0)], [(0, 7), (0, 7)])
    places = np.array([(a, b) for a in range(8) for b in range(a + 1) if rng.random() < 0.7], dtype=float)
    count = rng.integers(1, 9, size=len(places)).astype(float)
    right = np.floor(count * rng.random(len(places)))
    key = grid.keys(list(places.T))
    order = np.argsort(key)
    return grid, Cells(key[order], count[order], right[order])


@pytest.mark.parametrize("name", ALL)
def test_leverage_is_the_derivative_of_the_estimate(name):
    """By the cell's own accuracy; of a median, where no two accuracies are equal."""
    grid, cells = scattered()
    right = cells.count * np.random.default_rng(1).uniform(0.1, 0.9, size=len(cells.key))
    cells, step = Cells(cells.key, cells.count, right), 1e-6
    smoothed = ALL[name](cells, grid)
    before = smoothed.at(cells.key, np.nan)
    leverage = np.zeros(len(cells.key))
    for place in range(len(cells.key)):
        moved = right.copy()
        moved[place] += step * cells.count[place]
        after = ALL[name](Cells(cells.key, cells.count, moved), grid).at(cells.key, np.nan)
        leverage[place] = (after - before)[place] / step
    slots = np.searchsorted(smoothed.key, cells.key)
    np.testing.assert_allclose(smoothed.leverage[slots], leverage, atol=1e-6)
    assert smoothed.leverage.sum() == pytest.approx(leverage.sum(), abs=1e-5)  # 0 where there are no rows
    assert 0 < smoothed.leverage.sum() <= len(cells.key)


def test_the_criteria_of_a_plain_table_are_the_textbook_ones():
    grid, cells = scattered()
    share = cells.right / cells.count
    inner = (share > 0) & (share < 1)
    log_likelihood = np.sum(
        cells.right[inner] * np.log(share[inner])
        + (cells.count - cells.right)[inner] * np.log(1 - share[inner])
    )
    plain = SMOOTHINGS["none"]
    aic = information(cells, plain, grid, "aic")
    bic = information(cells, plain, grid, "bic")
    assert aic == pytest.approx(-2 * log_likelihood + 2 * len(cells.key))
    assert bic == pytest.approx(-2 * log_likelihood + len(cells.key) * np.log(cells.count.sum()))


def test_the_loss_of_the_folds_is_that_of_tables_without_them():
    rng = np.random.default_rng(3)
    grid = Grid.over([Axis(0, 1.0)], [(0, 9)])
    keys, right, folds = grid.keys([rng.uniform(0, 9, size=90)]), rng.random(90) < 0.7, np.arange(90) % 3
    counter = CellCounter(3 * grid.n_keys)
    combined = 3 * keys + folds
    counter.add(combined[:, None], np.where(right, combined, 0), None)
    loss = held_out_loss(FoldedCells.of(counter.cells(), 3), SMOOTHINGS["ma_cov"], grid, lambda cells: 0.5)
    by_hand = 0.0
    for row in range(90):
        near = (folds != folds[row]) & (np.abs(keys - keys[row]) <= 1)
        share = np.clip(right[near].mean() if near.any() else 0.5, 0.001, 0.999)
        by_hand -= np.log(share if right[row] else 1 - share)
    assert loss == pytest.approx(by_hand / 90)


def test_folds_hold_both_outcomes():
    right = np.arange(40) % 4 == 0
    folds = assign_folds(right, 5, 0)
    assert np.bincount(folds[right]).tolist() == [2] * 5
    assert np.bincount(folds[~right]).tolist() == [6] * 5
    assert set(assign_folds(np.arange(9) < 3, 5, 0)) == {0, 1, 2}
    assert assign_folds(np.arange(9) < 1, 5, 0) is None
    assert assign_folds(np.ones(9, dtype=bool), 5, 0) is None
