"""Tiny batches are put together where they are read; very many names are looked up, not compared."""

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError
from calibrant.files import choose_columns, open_source
from calibrant.files._apply import kept_columns, refuse_twice
from calibrant.files._columns import match_classes
from calibrant.files._source import BATCH_BYTES, FEW_ROWS, Columns


def source_of(batches):
    schema = batches[0].schema
    return open_source(lambda: pa.RecordBatchReader.from_batches(schema, batches))


def numbered(sizes):
    ends = np.cumsum(sizes)
    return [
        pa.record_batch({"n": np.arange(end - size, end), "t": [f"{n % 7}" for n in range(end - size, end)]})
        for size, end in zip(sizes, ends, strict=True)
    ]


@given(
    sizes=st.lists(st.one_of(st.integers(0, 3), st.integers(0, 3000)), min_size=1, max_size=30),
    rows=st.one_of(st.integers(1, 50), st.integers(1, 5000)),
)
@settings(max_examples=60, deadline=None)
def test_the_same_rows_in_order_in_few_batches_of_no_more_than_wanted(sizes, rows):
    batches = list(source_of(numbered(sizes)).batches(rows=rows))
    assert [n for batch in batches for n in batch["n"].to_pylist()] == list(range(sum(sizes)))
    lengths = [batch.num_rows for batch in batches]
    assert all(0 < length <= rows for length in lengths)
    # Two neighbours are more than one batch may have, or one of them is the rest of a larger one.
    assert len(lengths) <= 2 * (sum(sizes) // min(rows, FEW_ROWS) + 1) + sum(size > rows for size in sizes)


@pytest.mark.parametrize("kind", ["arrow", "stream", "parquet", "folder", "table"])
def test_batches_of_one_row_are_read_as_one(tmp_path, kind):
    table = pa.table({"n": range(300), "t": pa.array(["a", "b", "c"] * 100).dictionary_encode()})
    path = tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    if kind == "parquet":
        pa_parquet.write_table(table, path, row_group_size=1)
    elif kind == "folder":
        path = tmp_path
        for n in range(0, 300, 10):
            pa_parquet.write_table(table.slice(n, 10), tmp_path / f"{n:03}.parquet")
    elif kind == "table":
        path = pa.Table.from_batches(table.to_batches(max_chunksize=1))
    else:
        new = pa_ipc.new_file if kind == "arrow" else pa_ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=1)
    [batch] = open_source(path).batches()
    assert batch["n"].to_pylist() == list(range(300))


def test_long_texts_are_not_gathered_beyond_the_bytes_of_a_batch():
    text = "x" * (BATCH_BYTES // 4)
    batches = [pa.record_batch({"t": [text]}) for _ in range(20)]
    read = list(source_of(batches).batches())
    assert sum(batch.num_rows for batch in read) == 20
    assert max(batch.nbytes for batch in read) <= BATCH_BYTES + 100


def test_dictionaries_that_together_outgrow_their_index_stay_apart():
    words = [[f"{part}{n}" for n in range(100)] for part in "ab"]
    kind = pa.dictionary(pa.int8(), pa.string())
    batches = [pa.record_batch({"t": pa.array(texts).cast(kind)}) for texts in words]
    read = list(source_of(batches).batches())
    assert [text for batch in read for text in batch["t"].to_pylist()] == words[0] + words[1]


class Name(str):
    """A name that counts with how many others it is compared."""

    n_compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.n_compared += 1
        return str.__eq__(self, other)


class Wide(Columns):
    """Columns of so many names."""

    def __init__(self, n_columns, twice=False):
        super().__init__("x.csv", "CSV")
        self._all = [Name(f"s_{number}") for number in range(n_columns)] + [Name("s_0")] * twice

    def _names(self):
        return self._all


def by_pattern(source):
    assert len(choose_columns(source, "s_*").columns) == 20_000


def by_names(source):
    assert len(choose_columns(source, ",".join(source.columns)).columns) == 20_000


def kept(source):
    scores = [Name(name) for name in source.columns[::2]]
    assert len(kept_columns(source, None, scores)) == 10_000
    refuse_twice(source.columns, [Name(f"p_{number}") for number in range(20_000)], source)


def classes(source):
    texts = source.columns
    assert match_classes([Name(text) for text in texts[::-1]], texts, "", "")[0] == 19_999


@pytest.mark.parametrize("look_up", [by_pattern, by_names, kept, classes])
def test_a_header_of_very_many_names_is_not_compared_all_with_all(look_up):
    source = Wide(20_000)
    Name.n_compared = 0
    look_up(source)
    assert Name.n_compared < 10 * 20_000


def test_a_name_twice_among_very_many_is_found_without_comparing_all():
    source = Wide(20_000, twice=True)
    Name.n_compared = 0
    with pytest.raises(DataError, match="got 's_0' more than once"):
        source.columns  # noqa: B018
    assert Name.n_compared < 10 * 20_000
