import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError
from calibrant.files import Rows, read_summary, reduce_rows, task_from_json
from calibrant.passes._bins_pass import CountBins
from calibrant.passes._class_pass import CountClasses
from calibrant.passes._grid import ScoreGrid, even_grid, grid_from_sample
from calibrant.passes._problem import Problem
from calibrant.passes._rows import Fold
from calibrant.passes._sample_pass import TakeSample
from calibrant.passes._together import Together, together
from calibrant.passes._travel import from_document, to_document

SIDES = np.array([-1, 1], dtype=np.int8)
RNG = np.random.default_rng(0)
ROWS = Rows(RNG.normal(size=100), RNG.integers(0, 2, 100))


def test_a_task_travels_as_json_bit_by_bit():
    grid = ScoreGrid(np.array([0.1, 1 / 3]), np.array([0.2, 5e-324 + 1]), np.array([3, 4]), True)
    task = Together((CountBins(Problem(0, SIDES), grid), CountClasses(2)))
    again = task_from_json(task.to_json())
    assert again.to_json() == task.to_json()
    assert again.tasks[0].grid.high.tobytes() == grid.high.tobytes()
    assert again.tasks[0].problem.left_out is None


def test_documents_of_other_things_are_refused():
    with pytest.raises(DataError, match="kind must be one of .*; got 'Wizard'"):
        from_document({"kind": "Wizard"})
    with pytest.raises(DataError, match="the text must be that of a task; got that of Problem"):
        task_from_json(json.dumps(to_document(Problem(0, SIDES))))


def test_a_table_without_its_task_is_refused():
    with pytest.raises(DataError, match="the table must carry the task of its summary"):
        read_summary(pa.table({"bin": [1]}))


def test_summaries_of_different_tasks_do_not_merge():
    one, other = CountClasses(2).empty(), CountClasses(3).empty()
    with pytest.raises(DataError, match="summaries must be of the same pass to be merged"):
        one.merge(other)
    with pytest.raises(DataError, match="summaries must be of the same pass"):
        Together((CountClasses(2),)).empty().merge(Together((CountClasses(3),)).empty())


def test_the_empty_summary_changes_nothing():
    task = CountBins(Problem(0, SIDES), even_grid(-3, 3, 10))
    whole = reduce_rows(task, [ROWS])
    merged = task.empty().merge(read_summary(whole.to_bytes())).merge(task.empty())
    for name, column in whole.columns().items():
        np.testing.assert_array_equal(merged.columns()[name], column)


def test_tables_put_after_each_other_are_merged():
    task = CountBins(Problem(0, SIDES), even_grid(-3, 3, 10))
    halves = [
        reduce_rows(task, [Rows(ROWS.scores[part], ROWS.truth[part])]).to_arrow()
        for part in (slice(0, 40), slice(40, 100))
    ]
    both, whole = read_summary(pa.concat_tables(halves)), reduce_rows(task, [ROWS])
    for name, column in whole.columns().items():
        np.testing.assert_array_equal(both.columns()[name], column)


def test_rows_with_and_without_weights_add_up():
    task = CountBins(Problem(0, SIDES), even_grid(-3, 3, 4))
    weighted = Rows(ROWS.scores, ROWS.truth, np.full(100, 0.5))
    one = reduce_rows(task, [ROWS, weighted])
    other = reduce_rows(task, [weighted]).merge(reduce_rows(task, [ROWS]))
    for summary in (one, other):
        points = summary.points()
        assert points.count.sum() == 200
        assert points.weight.sum() == 150
        assert not points.exact


def test_a_sample_of_all_rows_does_not_depend_on_their_order():
    task = TakeSample(20)
    order = RNG.permutation(100)
    samples = []
    for chosen in (np.arange(100), order):
        summary = task.empty()
        for part in np.array_split(chosen, 7):
            summary.update(Rows(ROWS.scores[part], ROWS.truth[part]))
        samples.append(np.sort(summary.rows().scores[:, 0]))
    np.testing.assert_array_equal(*samples)
    assert len(samples[0]) == 20


def test_a_sample_of_a_fold_is_fair_to_equal_rows():
    """Rounded scores make many equal rows; these must not be kept or dropped together."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 10, 50_000).astype(np.float64)
    rows = Rows(scores, (scores > 4).astype(np.intp))
    kept = reduce_rows(TakeSample(2000, Fold(1, 4)), [rows]).rows()
    counts = np.bincount(kept.scores[:, 0].astype(int), minlength=10)
    assert counts.sum() == 2000
    assert (abs(counts - 200) < 5 * np.sqrt(200)).all()


def test_a_pass_for_a_sample_ends_early():
    seen = []

    def endless():
        while True:
            seen.append(None)
            yield ROWS

    assert len(reduce_rows(TakeSample(150), endless()).rows()) == 150
    assert len(seen) == 3


def test_plans_of_different_lengths_run_together():
    def plan(n_passes):
        for _ in range(n_passes):
            yield CountClasses(2)
        return n_passes

    sizes = []

    def count(task):
        sizes.append(len(task.tasks))
        return task.empty()

    def run(running):
        task = next(running)
        while True:
            task = running.send(count(task))

    with pytest.raises(StopIteration) as end:
        run(together([plan(0), plan(3), plan(1)]))
    assert end.value.value == [0, 3, 1]
    assert sizes == [2, 1, 1]


@pytest.mark.parametrize("edges", ["uniform", "quantile"])
@pytest.mark.parametrize(
    "sample",
    [
        RNG.normal(size=1000),
        np.zeros(50),
        np.empty(0),
        np.concatenate([np.zeros(500), RNG.exponential(size=500)]),
        np.exp(50 * RNG.normal(size=1000)),
        np.array([-1.7e308, 1.7e308]),
        np.array([5e-324, 0.0, -5e-324]),
        RNG.choice([-0.0, 0.0, 1.0], 100),
    ],
)
def test_bins_are_a_monotone_map_of_all_doubles(edges, sample):
    grid = grid_from_sample(sample, 300, edges)
    far = np.concatenate([sample, np.nextafter(sample, np.inf), np.nextafter(sample, -np.inf)])
    asked = np.sort(np.concatenate([far, [-1.7e308, -1.0, 0.0, 5e-324, 1.0, 1.7e308], RNG.normal(size=100)]))
    bins = grid.bins(asked)
    assert (np.diff(bins) >= 0).all()
    assert bins.min() >= 0
    assert bins.max() < grid.n_bins
    np.testing.assert_array_equal(grid.bins(np.array([0.0])), grid.bins(np.array([-0.0])))


def test_a_score_of_many_rows_has_a_bin_of_its_own():
    sample = np.concatenate([np.zeros(500), RNG.exponential(size=500)])
    grid = grid_from_sample(sample, 200, "quantile")
    zero = grid.bins(np.zeros(1))[0]
    assert grid.bins(np.array([5e-324]))[0] > zero
    assert grid.bins(np.array([-1e-300]))[0] <= zero


def test_intervals_contain_their_ends_and_nothing_between():
    grid = ScoreGrid(np.array([0.0, 2.0]), np.array([1.0, 2.0]), np.array([1, 1]), False)
    asked = np.array([-0.1, 0.0, 0.5, 1.0, 1.1, 2.0, 2.1])
    assert grid.contains(asked).tolist() == [False, True, True, True, False, True, False]
    nothing = ScoreGrid(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), False)
    assert not nothing.contains(asked).any()


def test_a_task_is_known_in_a_process_that_has_imported_nothing_of_it():
    text = Together((CountBins(Problem(0, SIDES), even_grid(-3, 3, 10)), CountClasses(2))).to_json()
    program = """
import sys
from calibrant.passes import task_from_json
sys.stdout.write(task_from_json(sys.stdin.read()).to_json())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout == text
