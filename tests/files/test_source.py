"""Rows from files, folders, pipes and frames: the same rows, whatever they live in."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest

from calibrant import CalibrantError
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import open_source
from calibrant.files._bytes import KeptStream

TABLE = pa.table(
    {
        "id": ["007", "a,b", 'say "x"', "two\nlines", "é"],
        "score": [0.1, -2.5e-300, 1e300, 1 / 3, 4.0],
        "label": [0, 1, 1, 0, 1],
    }
)
CSV = (
    'id,score,label\n007,0.1,0\n"a,b",-2.5e-300,1\n"say ""x""",1e+300,1\n'
    '"two\nlines",0.3333333333333333,0\né,4,1\n'
)
COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


def rows_of(source, columns=None, rows=2):
    """All rows as a table, after a look at the sizes of the batches."""
    batches = list(source.batches(columns, rows))
    assert all(0 < batch.num_rows <= rows for batch in batches)
    return pa.Table.from_batches(batches) if batches else None


def as_numbers(table):
    """The rows of a text format, with the types that the table has."""
    return pa.table(
        {
            "id": table["id"],
            "score": table["score"].cast(pa.float64()),
            "label": table["label"].cast(pa.int64()),
        }
    )


@pytest.fixture(
    params=[
        "csv",
        "csv.gz",
        "csv.bz2",
        "csv.xz",
        "csv.zst",
        "tsv",
        "jsonl",
        "ndjson.gz",
        "parquet",
        "arrow",
        "feather",
        "stream.arrow",
        "folder",
        "table",
        "pandas",
        "polars",
        "lazy",
        "reader",
    ]
)
def source(request, tmp_path):
    """The same five rows in every place that rows can live in."""
    kind = request.param
    path = tmp_path / f"rows.{kind}"
    if kind.startswith("csv"):
        path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](CSV.encode()))
    elif kind == "tsv":
        path.write_text(CSV.replace('"a,b"', "a;b").replace(",", "\t").replace("a;b", "a,b"))
    elif kind.endswith(("jsonl", "ndjson.gz")):
        lines = "".join(json_line(row) for row in TABLE.to_pylist())
        path.write_bytes(COMPRESS[path.suffix if path.suffix in COMPRESS else ""](lines.encode()))
    elif kind == "parquet":
        pa_parquet.write_table(TABLE, path, row_group_size=2)
    elif kind == "feather":
        pa_feather.write_feather(TABLE, path, compression="zstd")
    elif kind == "arrow":
        with pa_ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE, max_chunksize=2)
    elif kind == "stream.arrow":
        with pa_ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif kind == "folder":
        path = tmp_path / "folder"
        (path / "inner").mkdir(parents=True)
        pa_parquet.write_table(TABLE[:2], path / "a.parquet")
        pa_parquet.write_table(TABLE[2:], path / "inner" / "b.parquet")
        (path / "_SUCCESS").touch()
    else:
        path = {
            "table": TABLE,
            "pandas": pd.DataFrame(TABLE.to_pydict()),
            "polars": pl.DataFrame(TABLE.to_pydict()),
            "lazy": pl.LazyFrame(TABLE.to_pydict()),
            "reader": lambda: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()),
        }[kind]
    return open_source(path)


def json_line(row):
    return json.dumps(row) + "\n"


def test_the_same_rows_wherever_they_live_and_as_often_as_wanted(source):
    assert source.columns == ["id", "score", "label"]
    assert source.n_rows in (None, 5)
    for _ in range(2):
        assert as_numbers(rows_of(source)).to_pydict() == TABLE.to_pydict()
    assert rows_of(source, ["label", "id"]).column_names == ["label", "id"]


def test_a_missing_column_is_named_with_those_that_are_there(source):
    with pytest.raises(
        DataError, match="must have a column 'scor'; it has id, score, label; did you mean 'score'"
    ):
        list(source.batches(["scor"]))


def test_batches_have_at_least_one_row():
    with pytest.raises(ParameterError, match="rows must be a whole number of 1 or more; got 0"):
        list(open_source(TABLE).batches(rows=0))


def test_a_pattern_of_parquet_files_is_one_source_in_the_order_of_the_names(tmp_path):
    for number in (2, 10, 1):
        pa_parquet.write_table(pa.table({"x": [number]}), tmp_path / f"part-{number:02}.parquet")
    source = open_source(str(tmp_path / "part-*.parquet"))
    assert source.n_rows == 3
    assert rows_of(source)["x"].to_pylist() == [1, 2, 10]


def test_later_files_get_the_types_of_the_first_or_are_named(tmp_path):
    pa_parquet.write_table(pa.table({"x": pa.array([1.5])}), tmp_path / "a.parquet")
    pa_parquet.write_table(pa.table({"x": pa.array([2], pa.int32())}), tmp_path / "b.parquet")
    assert rows_of(open_source(tmp_path))["x"].to_pylist() == [1.5, 2.0]
    pa_parquet.write_table(pa.table({"x": ["three"]}), tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"columns of the same types; those of .*c\.parquet differ"):
        rows_of(open_source(tmp_path))
    pa_parquet.write_table(pa.table({"y": [1.0]}), tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"must have a column 'x'; .*c\.parquet has y"):
        rows_of(open_source(tmp_path))
    (tmp_path / "c.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"c\.parquet must be whole and hold Parquet; it cannot be read"):
        rows_of(open_source(tmp_path))


def test_a_file_whose_rows_are_broken_is_named_though_its_footer_is_whole(tmp_path):
    for name in "abc":
        pa_parquet.write_table(pa.table({"x": np.arange(1000.0)}), tmp_path / f"{name}.parquet")
    content = bytearray((tmp_path / "b.parquet").read_bytes())
    content[4:3000] = bytes(2996)
    (tmp_path / "b.parquet").write_bytes(content)
    source = open_source(tmp_path)
    assert source.n_rows == 3000
    with pytest.raises(DataError, match=r"b\.parquet must be whole and hold Parquet; it cannot be read"):
        rows_of(source)


def test_a_row_of_several_files_is_named_with_its_file(tmp_path):
    for name, n_rows in (("a", 3), ("b", 0), ("c", 2)):
        pa_parquet.write_table(pa.table({"x": np.zeros(n_rows)}), tmp_path / f"{name}.parquet")
    source = open_source(tmp_path)
    rows_of(source)
    counted = "(the first row of data is row 1)"
    places = [(0, "row 1", "a"), (2, "row 3", "a"), (3, "row 1", "c"), (4, "row 2", "c")]
    for row, number, name in places:
        assert source.place(row) == f"{number} of {tmp_path / name}.parquet {counted}"
    assert open_source(tmp_path / "a.parquet").place(2) == f"row 3 {counted}"


class Pipe:
    """Standard input that is a pipe: bytes in, no way back."""

    def __init__(self, data):
        self.buffer = io.BytesIO(data)
        self.buffer.seek = None


@pytest.mark.parametrize("once", [False, True])
def test_standard_input_is_csv(monkeypatch, once):
    monkeypatch.setattr(sys, "stdin", Pipe(CSV.encode()))
    source = open_source("-", once=once)
    assert source.columns == TABLE.column_names
    assert as_numbers(rows_of(source)).to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize("size", [10, 1 << 21])
def test_standard_input_can_be_read_again(monkeypatch, size):
    lines = "x\n" + "".join(f"{number}\n" for number in range(size))
    monkeypatch.setattr(sys, "stdin", Pipe(lines.encode()))
    source = open_source("-")
    first = source.batches()
    assert next(first)["x"][0].as_py() == "0"  # a pass that is given up half-way
    for _ in range(2):
        assert sum(batch.num_rows for batch in source.batches()) == size


class SlowPipe(io.BytesIO):
    def read(self, size=-1):
        at = self.tell()
        found = super().read(size)
        time.sleep(0 if at & (1 << 20) else 0.005)  # what comes later may be there earlier
        return found


def test_a_pass_that_is_given_up_takes_nothing_from_the_others():
    """Its reader may still read ahead, in a thread of its own."""
    data = np.arange(1 << 21, dtype=np.int32).tobytes()
    kept = KeptStream(SlowPipe(data), once=False)

    def read(_):
        return b"".join(kept.part(at, 100_000) for at in range(0, len(data), 100_000))

    with ThreadPoolExecutor(4) as threads:
        assert all(found == data for found in threads.map(read, range(4)))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "jsonl"])
def test_standard_input_in_other_formats(monkeypatch, kind):
    file = io.BytesIO()
    if kind == "parquet":
        pa_parquet.write_table(TABLE, file)
    elif kind == "jsonl":
        file.write("".join(json_line(row) for row in TABLE.to_pylist()).encode())
    else:
        with (pa_ipc.new_file if kind == "arrow" else pa_ipc.new_stream)(file, TABLE.schema) as writer:
            writer.write_table(TABLE)
    monkeypatch.setattr(sys, "stdin", Pipe(file.getvalue()))
    source = open_source("-", format="arrow" if kind == "stream" else kind)
    for _ in range(2):
        assert rows_of(source).to_pydict() == TABLE.to_pydict()
    together = zip(source.batches(rows=1), source.batches(rows=1), strict=True)
    for place, (one, other) in enumerate(together):
        assert one.to_pydict() == other.to_pydict() == TABLE[place : place + 1].to_pydict()
        assert source.n_rows in (None, 5)  # whoever shows progress asks on the way


def test_a_named_pipe_is_read_like_standard_input(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_text, args=(CSV,), kwargs={"encoding": "utf-8"})
    feeder.start()
    source = open_source(path)
    feeder.join()
    for _ in range(2):
        assert as_numbers(rows_of(source)).to_pydict() == TABLE.to_pydict()


def test_parquet_in_one_huge_row_group_is_read_piece_by_piece(tmp_path):
    n = 3_000_000
    pa_parquet.write_table(
        pa.table({"x": np.arange(n, dtype=float)}), tmp_path / "x.parquet", row_group_size=n
    )
    before = pa.total_allocated_bytes()
    greatest = 0
    for batch in open_source(tmp_path / "x.parquet").batches(rows=1 << 14):
        greatest = max(greatest, pa.total_allocated_bytes() - before)
        assert batch.num_rows <= 1 << 14
    assert greatest < 8 << 20 < 8 * n


BAD_PLACES = {
    "missing": ("nowhere.csv", r"the file must exist: .*nowhere\.csv; there is none"),
    "nothing matches": ("part-*.parquet", r"at least one file must match .*part-\*\.parquet; there is none"),
    "suffix": (
        "scores.ods",
        r"the format must be given by the suffix, one of \.csv, .*; got .*scores\.ods",
    ),
    "no suffix": ("scores", "rename the file, or give the format"),
    "empty folder": ("empty", r"the folder .*empty must hold Parquet files; it holds none"),
    "compressed twice": ("x.parquet.gz", "Parquet must not be compressed as a whole"),
    "several csv": ("two-*.csv", r"several files must all be Parquet; .*two-1\.csv is not"),
}


@pytest.mark.parametrize("case", BAD_PLACES)
def test_places_that_cannot_be_read(tmp_path, case):
    name, message = BAD_PLACES[case]
    (tmp_path / "empty").mkdir()
    for there in ("scores.ods", "scores", "x.parquet.gz", "two-1.csv", "two-2.csv"):
        (tmp_path / there).write_text("a\n1\n")
    with pytest.raises(DataError, match=message):
        open_source(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content", "holds"),
    [
        ("a.csv", b"PAR1....", "must hold CSV, as its suffix says; it holds Parquet"),
        # No time in it: every worker of the tests must see the same case.
        ("a.csv", gzip.compress(b"a\n1\n", mtime=0), "must hold CSV, as its suffix says; it holds gzip"),
        ("a.jsonl", "a\n1\n".encode("utf-16"), "it holds text in UTF-16"),
        ("a.parquet", b"ARROW1\0\0", "must hold Parquet, as its suffix says; it holds Arrow"),
        ("a.csv.gz", b"BZh91AY", "must hold gzip, as its suffix says; it holds bz2"),
        ("a.jsonl", b"PK\x03\x04...", "it holds a zip archive or a spreadsheet"),
        ("a.feather", b"FEA1....", "it holds Feather of version 1"),
    ],
)
def test_content_that_is_not_what_the_suffix_says(tmp_path, name, content, holds):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=holds):
        open_source(tmp_path / name)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_truncated_compressed_file_is_an_error(tmp_path, suffix):
    rng = np.random.default_rng(0)
    whole = COMPRESS[suffix](("x\n" + "\n".join(map(str, rng.random(60_000))) + "\n").encode())
    (tmp_path / f"x.csv{suffix}").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="must be whole and hold CSV; it cannot be read|must have 1 cells"):
        list(open_source(tmp_path / f"x.csv{suffix}").batches())


def test_gzip_files_put_after_another_are_one_file(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"x\n1\n") + gzip.compress(b"2\n"))
    assert rows_of(open_source(tmp_path / "x.csv.gz"))["x"].to_pylist() == ["1", "2"]


def test_what_is_no_source():
    with pytest.raises(DataError, match="a source must be a path, .* got int"):
        open_source(3)
    with pytest.raises(DataError, match="a source must be readable more than once; got a RecordBatchReader"):
        open_source(TABLE.to_reader())
    with pytest.raises(DataError, match="must give a pyarrow.RecordBatchReader, .* got list"):
        open_source(list).columns  # noqa: B018
    with pytest.raises(
        ParameterError, match="format must be one of 'csv', 'tsv', 'parquet', 'arrow', 'jsonl'; got 'xml'"
    ):
        open_source("-", format="xml")
    assert issubclass(DataError, CalibrantError)


def test_an_unreadable_file_is_one_line(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "x.csv").write_text("a\n1\n")
    (tmp_path / "x.csv").chmod(0)
    with pytest.raises(DataError, match="must be a file that can be read; Permission denied"):
        open_source(tmp_path / "x.csv")
