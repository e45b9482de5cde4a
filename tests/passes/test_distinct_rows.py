"""Rows of too many different scores: who is kept, by whoever answers."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from calibrant import StackCalibrator
from calibrant.files import read_summary, reduce_rows
from calibrant.passes import Cases, DistinctRows, PassOptions, Rows, _distinct_rows
from calibrant.passes._distinct_rows import KeepDistinct, content_hashes
from calibrant.passes._driver import run_plan
from calibrant.passes._heavy import HeavyContents
from calibrant.passes._problem import AllScores
from calibrant.passes._questions import RowsInPasses

MOST = 40


def rows_of(seed, weighted, n_rows=600):
    """Rows of which some are heavy: by their weight, or as there are many copies."""
    rng = np.random.default_rng(seed)
    scores = np.stack([rng.integers(0, 300, n_rows) / 8, rng.integers(0, 2, n_rows) / 4], axis=1)
    often = rng.choice(n_rows, n_rows // 3)
    scores[often] = scores[rng.choice(often[:3], len(often))]
    weight = rng.choice([0.5, 1.0, 2.0], n_rows)
    weight[rng.choice(n_rows, 3)] = 100.0
    return Rows(scores, rng.integers(0, 2, n_rows), weight if weighted else None)


def in_batches(rows, size=37):
    return [rows.take(np.arange(start, min(start + size, len(rows)))) for start in range(0, len(rows), size)]


def content(kept):
    """The weight of every kept pair of class and scores, as it counts."""
    found = defaultdict(float)
    for truth, row, *weight in zip(kept.truth, kept.scores, kept.weight, kept.count, kept.part, strict=True):
        found[int(truth), *row.tolist()] += math.prod(weight)
    return found


def in_passes(rows, monkeypatch, most=MOST):
    monkeypatch.setattr(_distinct_rows, "WAITING", 1)  # rows are thrown away again and again
    plan = DistinctRows(most).in_passes(RowsInPasses(AllScores(), rows, PassOptions()))
    passes = []

    def batches():
        passes.append(len(passes))
        return in_batches(rows)

    return run_plan(plan, batches), len(passes)


@pytest.fixture
def short(monkeypatch):
    """Memory for few rows."""
    monkeypatch.setattr(_distinct_rows, "SHORTEST", 1)
    return monkeypatch


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_passes_keep_what_memory_keeps(seed, weighted, short):
    rows = rows_of(seed, weighted)
    there = DistinctRows(MOST).of_cases(Cases(rows.scores, rows.truth, rows.weight))
    here, n_passes = in_passes(rows, short)
    assert content(here) == pytest.approx(content(there), rel=1e-14)
    assert here.total == pytest.approx(there.total, rel=1e-14)
    assert n_passes == 2
    assert len(np.unique(content_hashes(here.scores))) == MOST


@pytest.mark.parametrize("seed", range(6))
def test_no_score_is_left_out_that_weighs_more_than_one_that_is_kept_stands_for(seed):
    rows = rows_of(seed, weighted=True)
    kept = DistinctRows(MOST).of_cases(Cases(rows.scores, rows.truth, rows.weight))
    mass = defaultdict(float)
    for row, weight in zip(rows.scores.tolist(), rows.weight, strict=True):
        mass[tuple(row)] += weight
    heavy = {row for row, weight in mass.items() if weight > kept.total / MOST}
    assert len(heavy) >= 3
    here = {tuple(row) for row in kept.scores.tolist()}
    assert heavy <= here
    # They count as the others do: each by the part of the light ones' weight that is kept.
    light = sum(weight for row, weight in mass.items() if row not in heavy)
    part = sum(mass[row] for row in here - heavy) / light
    for row, each in zip(kept.scores.tolist(), kept.part, strict=True):
        assert each == pytest.approx(part if tuple(row) in heavy else 1.0, rel=1e-12)


def test_where_nothing_is_heavy_one_pass_will_do(short):
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(500, 2)), rng.integers(0, 2, 500))
    kept, n_passes = in_passes(rows, short)
    assert n_passes == 1
    least = np.argsort(content_hashes(rows.scores))[:MOST]
    assert {tuple(row) for row in kept.scores} == {tuple(row) for row in rows.scores[least]}
    assert (kept.part == 1).all()


def test_summaries_merge_in_any_order(short):
    short.setattr(_distinct_rows, "WAITING", 1)
    rows = rows_of(3, weighted=True)
    task = KeepDistinct(AllScores(), MOST)
    parts = [reduce_rows(task, [part]) for part in in_batches(rows)]
    one = task.empty()
    for part in parts[::-1]:
        one = read_summary(part.to_bytes()).merge(one)
    whole = reduce_rows(task, [rows])
    np.testing.assert_array_equal(one.rows(), whole.rows())
    assert one.total == whole.total
    limit = one.total / MOST
    heavy = {int(each) for each in whole.heavy.above(limit)}
    assert one.heavy.taken_off < limit / 2
    mass = defaultdict(float)
    for number, weight in zip(content_hashes(rows.scores), rows.weight, strict=True):
        mass[int(number)] += weight
    certain = {number for number, weight in mass.items() if weight > limit}
    assert certain <= heavy
    assert certain <= {int(each) for each in one.heavy.above(limit)}


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(0, 30), max_size=40), max_size=8), st.integers(1, 6))
def test_a_sum_is_too_low_by_no_more_than_was_taken_off(parts, most):
    found = HeavyContents(most)
    for part in parts:
        found.add(np.array(part, np.uint64), np.ones(len(part)))
    every = np.array([each for part in parts for each in part], dtype=int)
    assert len(found.sums) <= most
    assert found.taken_off * (most + 1) <= len(every)
    sums = dict(zip(found.hashes.tolist(), found.sums.tolist(), strict=True))
    for number in range(31):
        true = int((every == number).sum())
        assert true - found.taken_off <= sums.get(number, 0.0) <= true


def test_a_heavy_weight_is_copies_beyond_the_rows_that_are_used():
    """Equal bits: the same rows with the same sums, of whole numbers, go through the same operations."""
    rng = np.random.default_rng(0)
    p = rng.random(210_000)
    y = (rng.random(len(p)) < p).astype(int)
    weight = np.ones(len(p), dtype=int)
    weight[:50] = 400
    weighted = StackCalibrator(members=["start", "vector"]).fit(p, y, weight)
    copied = StackCalibrator(members=["start", "vector"]).fit(np.repeat(p, weight), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict_proba(p[:99]), copied.predict_proba(p[:99]))
