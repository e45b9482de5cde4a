"""Laws of what happens on executors, without a cluster: any split, any order, any tree of merges."""

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed; run: pip install 'calibrant[spark]'")

import pyarrow as pa
from hypothesis import given, strategies as st

from calibrant import PAVCalibrator
from calibrant._core._errors import DataError
from calibrant.files import PassOptions, Rows, calibrator_plan, reduce_rows
from calibrant.passes._rows import Fold
from calibrant.passes._sample_pass import TakeSample
from calibrant.spark._partition import (
    Layout,
    TaskText,
    absorb_in_order,
    array_matrix,
    leaf_summaries,
    merge_summaries,
    pack,
    reduce_partition,
    unpack,
)

NONE = np.empty(0, dtype=np.uint64)


def layout_of(**changed):
    fields = {
        "scores": ("s",),
        "width": None,
        "pick": None,
        "label": "y",
        "weight": None,
        "key": None,
        "group": None,
        "groups": (),
        "classes": np.array([0, 1]),
        "skips": False,
        "repeated": NONE,
    }
    return Layout(**fields | changed)


def run_split(plan, table, bounds, merge):
    """Run a plan as a cluster would, with rows cut at the bounds, and summaries merged in pairs if wanted."""
    summary = None
    try:
        while True:
            task = plan.send(summary)
            pieces = [
                table.slice(a, b - a) for a, b in zip([0, *bounds], [*bounds, table.num_rows], strict=True)
            ]
            if task.rows_needed is not None:
                whole = layout_of().rows(table.to_batches(), 0, "all")
                summary = reduce_rows(task, whole)
                continue
            batches = [
                batch
                for number, piece in enumerate(pieces)
                for batch in reduce_partition(piece.to_batches(), TaskText.of(task), layout_of(), number)
            ]
            summaries = pa.Table.from_batches(batches)
            summary = task.empty()
            for number, leaf in enumerate(leaf_summaries(summary)):
                part = summaries.filter(pa.compute.equal(summaries["part"], number))
                if merge:
                    pairs = [part.slice(start, 2) for start in range(0, part.num_rows, 2)]
                    part = pa.concat_tables([merge_summaries(pair, TaskText.of(task)) for pair in pairs])
                absorb_in_order(leaf, part, number)
    except StopIteration as end:
        return end.value


@given(st.data())
def test_any_split_gives_the_fit_in_memory(data):
    n_rows = data.draw(st.integers(2, 60))
    scores = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=n_rows, max_size=n_rows)), dtype=float)
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n_rows, max_size=n_rows)))
    labels[:2] = [0, 1]
    bounds = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
    plan = calibrator_plan(PAVCalibrator(), np.array([0, 1]), PassOptions(n_bins=4), n_rows)
    table = pa.table({"c0": scores, "c1": labels})
    model = run_split(plan, table, bounds, data.draw(st.booleans()))
    expected = PAVCalibrator().fit(scores, labels)
    np.testing.assert_array_equal(model.blocks_.value, expected.blocks_.value)
    np.testing.assert_array_equal(model.blocks_.lo, expected.blocks_.lo)
    np.testing.assert_array_equal(model.blocks_.weight, expected.blocks_.weight)


@given(st.permutations(range(40)), st.integers(1, 40))
def test_folds_do_not_depend_on_the_order_of_rows_in_a_partition(order, batch_rows):
    scores = np.repeat([1.0, 2.0, 3.0, 4.0], 10)
    labels = np.tile([0, 1], 20)
    repeated = np.unique(
        np.concatenate(
            [
                rows.keys()
                for rows in layout_of().rows(pa.table({"c0": scores, "c1": labels}).to_batches(), 0, "")
            ]
        )
    )
    layout = layout_of(repeated=repeated)

    def folds(order):
        table = pa.table({"c0": scores[order], "c1": labels[order]})
        kept = [rows.inside(Fold(0, 3)) for rows in layout.rows(table.to_batches(batch_rows), 7, "")]
        return sorted(
            (score, label) for rows in kept for score, label in zip(rows.scores, rows.truth, strict=True)
        )

    assert folds(np.array(order)) == folds(np.arange(40))
    assert 0 < len(folds(np.arange(40))) < 40


def test_equal_rows_are_spread_over_folds_and_over_partitions():
    table = pa.table({"c0": np.ones(3000), "c1": np.ones(3000, dtype=int)})
    [rows] = layout_of().rows(table.to_batches(), 0, "")
    layout = layout_of(repeated=np.unique(rows.keys()))
    counts = []
    for partition in (0, 1):
        [rows] = layout.rows(table.to_batches(), partition, "")
        counts.append(np.bincount(rows.folds(5), minlength=5))
    assert np.min(counts) > 500
    assert not np.array_equal(*counts)


class Columns:
    """A summary that has nothing but columns."""

    def __init__(self, **columns):
        self._columns = columns

    def columns(self):
        return self._columns


@given(
    st.lists(st.one_of(st.floats(), st.integers(0, 300).map(float), st.just(-0.0)), max_size=5),
    st.lists(st.integers(0, 300), min_size=1, max_size=5),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    st.sampled_from([0, 127, 128, 32767, 32768, 2**31 - 1, 2**31, 2**53]),
)
def test_what_is_packed_comes_out_bit_for_bit(numbers, counts, keys, edge):
    given_columns = [
        np.array(numbers),
        np.array(counts, dtype=np.float64),
        np.array(counts, dtype=np.int64),
        np.array(keys, dtype=np.int64),
        np.array([0, edge], dtype=np.float64),
        np.array([0, edge], dtype=np.int64),
    ]
    for column in given_columns:
        found = unpack(pa.py_buffer(pack(Columns(c=column))))["c"]
        assert found.dtype == column.dtype
        assert found.tobytes() == column.tobytes()


def test_counts_are_packed_in_few_bytes():
    counts = np.arange(100_000) % 100
    assert len(pack(Columns(c=counts.astype(np.float64)))) < 102_000


def test_arrays_as_a_matrix():
    column = pa.array([[1.0, 2.0], None, [3.0, None]], pa.list_(pa.float64()))
    np.testing.assert_array_equal(
        array_matrix(column.slice(0, 3), 2, "v"), [[1, 2], [np.nan, np.nan], [3, np.nan]]
    )
    np.testing.assert_array_equal(array_matrix(column.slice(2, 1), 2, "v"), [[3, np.nan]])
    assert array_matrix(column.slice(0, 0), 2, "v").shape == (0, 2)
    with pytest.raises(DataError, match=r"the column 'v' must hold vectors of length 3; got one of length 2"):
        array_matrix(column, 3, "v")


def test_what_goes_wrong_comes_back_as_a_message():
    task = TakeSample(5, Fold(0, 2))
    table = pa.table({"c0": [1.0, float("nan")], "c1": [0, 1]})
    batches = iter(table.to_batches(1))
    [answer] = reduce_partition(batches, TaskText.of(task), layout_of(), 4)
    message = (
        "the column 's' of partition 4 of the frame must hold finite numbers; got nan in row 2 (the first "
        "row of data is row 1); correct it, or drop that row"
    )
    assert answer["failure"].to_pylist() == [message]
    merged = merge_summaries(pa.Table.from_batches([answer]), TaskText.of(task))
    assert merged["failure"].to_pylist() == answer["failure"].to_pylist()
    assert next(batches, None) is None


def test_rows_with_a_key_keep_it():
    table = pa.table({"c0": [1.0, 2.0, 3.0], "c1": [0, 1, 1], "c2": ["a", "b", "a"]})
    [rows] = layout_of(key="k").rows(table.to_batches(), 0, "")
    assert isinstance(rows, Rows)
    keys = rows.keys()
    assert keys[0] == keys[2] != keys[1]
