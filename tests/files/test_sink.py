"""Rows into files: complete or absent, and read back the same."""

import csv
import gzip
import io
import json
import os
import resource
import stat
import sys
import threading
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError, ParameterError
from calibrant.files import open_sink, open_source
from calibrant.files._writers import CsvWriter

TABLE = pa.table(
    {
        "id": ["007", "a,b", 'say "x"', "two\nlines", ""],
        "p": [0.1, 2.5e-300, 1.0, 1 / 3, 0.0],
        "count": [1, 2, 3, 4, None],
        "known": [True, False, None, True, True],
    }
)
ENDINGS = ["csv", "tsv", "csv.gz", "tsv.bz2", "jsonl.zst", "csv.xz", "jsonl", "parquet", "arrow", "feather"]


def names_in(folder):
    return [path.name for path in folder.iterdir()]


def read(path):
    return pa.Table.from_batches(open_source(path).batches())


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_back(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    with open_sink(path) as sink:
        sink.write(TABLE[:2])
        sink.write(TABLE[2:].combine_chunks().to_batches()[0])
        assert not path.exists()
    back = read(path)
    assert back.column_names == TABLE.column_names
    if ending.startswith(("csv", "tsv")):
        assert back["id"].to_pylist() == TABLE["id"].to_pylist()
        assert [float(text) for text in back["p"].to_pylist()] == TABLE["p"].to_pylist()
        assert back["count"].to_pylist() == ["1", "2", "3", "4", ""]
        assert back["known"].to_pylist() == ["true", "false", "", "true", "true"]
    else:
        assert back.to_pydict() == TABLE.to_pydict()
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_rows_but_columns(tmp_path, ending):
    with open_sink(tmp_path / f"out.{ending}") as sink:
        sink.write(TABLE[:0])
    if ending.startswith("jsonl"):
        with pytest.raises(DataError, match="it holds none"):
            open_source(tmp_path / f"out.{ending}").columns  # noqa: B018
        return
    source = open_source(tmp_path / f"out.{ending}")
    assert (source.columns, list(source.batches())) == (TABLE.column_names, [])


def test_csv_has_quotation_marks_only_where_they_are_needed(tmp_path):
    with open_sink(tmp_path / "out.csv") as sink:
        sink.write(TABLE)
    assert (tmp_path / "out.csv").read_text() == (
        'id,p,count,known\n007,0.1,1,true\n"a,b",2.5e-300,2,false\n"say ""x""",1,3,\n'
        '"two\nlines",0.3333333333333333,4,true\n,0,,true\n'
    )


@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
        max_size=12,
    )
)
@settings(max_examples=60)
def test_csv_is_what_python_reads(rows):
    file = io.BytesIO()
    table = pa.table(
        {"a": pa.array([a for a, _ in rows], pa.string()), "b": pa.array([b for _, b in rows], pa.float64())}
    )
    writer = CsvWriter(file, table.schema)
    writer.write(table)
    back = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
    assert back[0] == ["a", "b"]
    assert [(a, float(b)) for a, b in back[1:]] == rows


def test_a_column_alone_keeps_its_empty_rows(tmp_path):
    with open_sink(tmp_path / "out.csv") as sink:
        sink.write(pa.table({"x": ["a", "", None]}))
    assert (tmp_path / "out.csv").read_text() == 'x\na\n""\n""\n'


def test_types_that_have_a_text(tmp_path):
    table = pa.table({"day": [date(2020, 1, 31)], "kind": pa.array(["a"]).dictionary_encode()})
    for ending in ("csv", "jsonl", "parquet"):
        with open_sink(tmp_path / f"out.{ending}") as sink:
            sink.write(table)
    assert (tmp_path / "out.csv").read_text() == "day,kind\n2020-01-31,a\n"
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"day": "2020-01-31", "kind": "a"}
    assert read(tmp_path / "out.parquet").to_pylist() == table.to_pylist()


def refuse_word(word):
    raise AssertionError(f"{word} is no JSON")


def test_json_has_no_word_for_what_is_not_finite(tmp_path):
    numbers = [0.5, float("nan"), float("inf"), -float("inf"), None]
    table = pa.table(
        {
            "x": numbers,
            "list": [numbers] * 5,
            "of": [{"a": number} for number in numbers],
            "text": ["NaN"] * 5,
        }
    )
    with open_sink(tmp_path / "out.jsonl") as sink:
        sink.write(table)
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    rows = [json.loads(line, parse_constant=refuse_word) for line in lines]
    finite = [0.5, None, None, None, None]
    assert [row["x"] for row in rows] == finite
    assert [row["of"]["a"] for row in rows] == finite
    assert all(row["list"] == finite and row["text"] == "NaN" for row in rows)


def test_nested_columns_are_no_csv(tmp_path):
    with (
        pytest.raises(DataError, match="columns of CSV must hold single values; 'x' holds list"),
        open_sink(tmp_path / "o.csv") as sink,
    ):
        sink.write(pa.table({"x": [[1, 2]]}))
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("old", [None, b"what was there"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, DataError])
def test_an_error_leaves_the_old_file_or_none(tmp_path, ending, old, error):
    path = tmp_path / f"out.{ending}"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(error), open_sink(path) as sink:  # noqa: PT012
        sink.write(TABLE)
        raise error
    assert names_in(tmp_path) == ([] if old is None else [path.name])
    assert old is None or path.read_bytes() == old


@pytest.fixture
def small_files():
    """A limit on the size of files, which is what a full disk looks like from inside."""
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_one_line_and_leaves_the_old_file(tmp_path, ending, small_files):
    path = tmp_path / f"out.{ending}"
    path.write_bytes(b"old")
    rng = np.random.default_rng(0)
    with (
        pytest.raises(
            DataError, match=rf"out\.{ending} must be writable, with room on its disk; File too large"
        ),
        open_sink(path) as sink,
    ):
        sink.write(pa.table({"x": rng.random(80_000)}))
    assert names_in(tmp_path) == [path.name]
    assert path.read_bytes() == b"old"


def test_permissions_are_kept_and_new_files_get_the_usual_ones(tmp_path):
    path = tmp_path / "out.csv"
    mask = os.umask(0o027)
    try:
        with open_sink(path) as sink:
            sink.write(TABLE)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        with open_sink(path) as sink:
            sink.write(TABLE)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with open_sink(tmp_path / "link.csv") as sink:
        sink.write(pa.table({"x": [1]}))
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "x\n1\n"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    with open_sink("/dev/null") as sink:
        sink.write(TABLE)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116
    with (
        pytest.raises(DataError, match="/dev/full must be writable, with room on its disk; No space left"),
        open_sink("/dev/full") as sink,
    ):
        sink.write(TABLE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize(
    ("name", "kind", "read"),
    [
        ("pipe", None, pa_csv.read_csv),
        ("pipe.parquet", None, pa_parquet.read_table),
        ("pipe.csv.gz", None, lambda data: pa_csv.read_csv(gzip.GzipFile(fileobj=data))),
        ("pipe", "arrow", lambda data: pa_ipc.open_file(data).read_all()),
    ],
)
def test_a_pipe_is_given_what_its_name_or_the_format_says(tmp_path, name, kind, read):
    path, found = tmp_path / name, []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    with open_sink(path, format=kind) as sink:
        sink.write(TABLE)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert read(io.BytesIO(found[0])).column("p").to_pylist() == TABLE.column("p").to_pylist()


def test_an_open_file_goes_on_where_it_is(tmp_path):
    with (tmp_path / "rows").open("wb") as file:
        file.write(b"before\n")
        file.flush()
        with open_sink(f"/proc/self/fd/{file.fileno()}") as sink:
            sink.write(pa.table({"x": [1]}))
        file.write(b"after\n")
    assert (tmp_path / "rows").read_text() == "before\nx\n1\nafter\n"


class Out:
    def __init__(self):
        self.buffer = io.BytesIO()


@pytest.mark.parametrize("kind", [None, "jsonl", "parquet", "arrow"])
def test_standard_output(monkeypatch, kind):
    out = Out()
    monkeypatch.setattr(sys, "stdout", out)
    with open_sink("-", format=kind) as sink:
        sink.write(TABLE)
    data = out.buffer.getvalue()
    if kind is None:
        assert data.startswith(b"id,p,count,known\n007,0.1,1,true\n")
    elif kind == "jsonl":
        assert json.loads(data.splitlines()[1]) == TABLE.to_pylist()[1]
    elif kind == "parquet":
        assert pa_parquet.read_table(io.BytesIO(data)).to_pydict() == TABLE.to_pydict()
    else:
        assert pa_ipc.open_stream(data).read_all().to_pydict() == TABLE.to_pydict()


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "the output must be a file; .* is a folder"),
        ("out.txt", "the format must be given by the suffix"),
        ("a\0b.csv", "must be writable, with room on its disk; embedded null"),
        ("loop.csv", "must be writable, with room on its disk; Too many levels of symbolic links"),
        ("out.parquet.gz", "Parquet must not be compressed as a whole"),
        (
            "missing/out.csv",
            r"missing/out\.csv must be writable, with room on its disk; No such file or directory",
        ),
    ],
)
def test_places_that_cannot_be_written(tmp_path, where, message):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(DataError, match=message), open_sink(tmp_path / where):
        raise AssertionError("it was opened")


def test_an_unknown_format():
    with pytest.raises(ParameterError, match="format must be one of .*; got 'xls'"):
        open_sink("-", format="xls")


def test_wide_tables_do_not_wait_for_a_million_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.files._writers.GROUP_BYTES", 1 << 16)
    with open_sink(tmp_path / "o.parquet") as sink:
        for _ in range(6):
            sink.write(pa.table({f"c{i}": np.zeros(100) for i in range(50)}))
    assert pa_parquet.ParquetFile(tmp_path / "o.parquet").num_row_groups == 3
