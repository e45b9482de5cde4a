"""CSV as it comes: nothing guessed, nothing lost, every error with its row."""

import csv
import io

import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError
from calibrant.files import open_source
from calibrant.files._bytes import KeptStream
from calibrant.files._csv import BLOCK_BYTES, CsvSource


def source_of(data, kind="csv"):
    return CsvSource("x.csv", KeptStream(io.BytesIO(data), once=False), kind)


def read(data, kind="csv"):
    source = source_of(data, kind)
    cells = {name: [] for name in source.columns}
    for batch in source.batches():
        for name, column in batch.to_pydict().items():
            cells[name] += column
    return cells


@pytest.mark.parametrize(
    ("data", "cells"),
    [
        (b"a,b\n01,NA\ntrue,null\n", {"a": ["01", "true"], "b": ["NA", "null"]}),
        (b"a,b\n1,\n,2\n", {"a": ["1", ""], "b": ["", "2"]}),
        (b'a,b\n"x\ny",1\n', {"a": ["x\ny"], "b": ["1"]}),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", {"a": ["1"], "b": ["2"]}),
        (b"a,b\r1,2\r", {"a": ["1"], "b": ["2"]}),
        (b"a,b\n1,2\n\n3,4\n\n", {"a": ["1", "3"], "b": ["2", "4"]}),
        (b"\na,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        (b"a\n1\n\n3\n", {"a": ["1", "", "3"]}),
        (b'"a,1","b ""q"""\n1,2\n', {"a,1": ["1"], 'b "q"': ["2"]}),
        (b"a,b\n1,2", {"a": ["1"], "b": ["2"]}),
        (b"a,b\n", {"a": [], "b": []}),
        (b"a,b", {"a": [], "b": []}),
        (b"a,b\n1\0,2\n", {"a": ["1\0"], "b": ["2"]}),
        (b"a,\n1,2\n", {"a": ["1"], "": ["2"]}),
    ],
)
def test_every_cell_as_it_was_written(data, cells):
    assert read(data) == cells


def test_a_column_may_change_its_kind_late_in_the_file():
    data = b"x,y\n" + b"1,2\n" * 2_000_000 + b"0.5,word\n"
    column = read(data)
    assert (column["x"][-1], column["y"][-1], len(column["x"])) == ("0.5", "word", 2_000_001)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x.csv must begin with a line that names the columns; it is empty"),
        (b"\n\n", "it is empty"),
        (
            b"a,b\n1,2\n3\n",
            r"must have 2 cells, as the first line has; got 1 in row 2 \(the first row of data is row 1\)",
        ),
        (b"a,b\n" + b"1,2\n" * 1_500_000 + b"3,4,5\n", "got 3 in row 1500001"),
        (b'a,b\n1,2\n"3,4\n5,6\n', "got 1 in row 2"),
        (b"a,b\n1,2\n\xe9,4\n", "must be text in UTF-8; got other bytes in row 2"),
        (b"a,b\xe9\n1,2\n", "must be text in UTF-8; got other bytes in the first line"),
        (
            b"a,b\n1,2\n3," + b"4" * (2 * BLOCK_BYTES + 10),
            "must be shorter than 1,048,576 bytes; one after row . is not",
        ),
        (b"a,b,a\n1,2,3\n", "must have a name of its own; got 'a' more than once"),
        (b"0.1,0.2\n0.3,0.4\n", None),
    ],
)
def test_what_is_wrong_and_where(data, message):
    if message is None:
        with pytest.raises(
            DataError, match="the first line must name the columns, and here it holds numbers"
        ):
            list(source_of(data).batches(["label"]))
        return
    with pytest.raises(DataError, match=message):
        read(data)


def test_tabs():
    assert read(b'a\tb\n"1,5"\t2\n', "tsv") == {"a": ["1,5"], "b": ["2"]}


@given(
    rows=st.lists(
        st.lists(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
            min_size=2,
            max_size=2,
        ),
        max_size=20,
    )
)
@settings(max_examples=60)
def test_whatever_python_writes_is_read_back(rows):
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([["a", "b"], *rows])
    assert read(text.getvalue().encode()) == {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}


@given(data=st.data())
@settings(max_examples=150)
def test_a_corrupted_file_is_read_right_or_refused_in_one_line(data):
    """Change, insert or cut bytes: what is read is what Python's own reader reads, or the error is ours."""
    content = bytearray(b'id,s_a,s_b,label\n1,0.25,-3e5,a\n2,1.5,"2",b\n"x,y",0,1,"a"\n' * 3)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["change", "insert", "cut"]))
        if how == "change":
            content[place] = data.draw(st.integers(0, 255))
        elif how == "insert":
            content.insert(place, data.draw(st.sampled_from([0, 10, 13, 34, 44, 255, 65])))
        else:
            del content[place:]
            content = content or bytearray(b"a\n")
    try:
        cells = read(bytes(content))
    except DataError as error:
        refusal = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert "\n" not in refusal
        assert "x.csv" in refusal
        return
    lines = [
        line for line in csv.reader(io.StringIO(bytes(content).decode("utf-8-sig"), newline=None)) if line
    ]
    assert list(cells) == lines[0]
    if b'"' not in bytes(content).replace(b',"', b"").replace(b'",', b"").replace(b'"\n', b""):
        n_rows = {len(column) for column in cells.values()}
        assert n_rows == {len(lines) - 1}


def test_how_much_of_a_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.files._csv.BLOCK_BYTES", 1 << 16)
    monkeypatch.setattr("calibrant.files._csv.HEADER_BYTES", 1 << 10)
    (tmp_path / "x.csv").write_bytes(b"x\n" + b"1\n" * 2_000_000)
    source = open_source(tmp_path / "x.csv")
    shares = [source.share_read for _ in source.batches()]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1


def test_very_many_columns():
    names = [f"column_{number}" for number in range(50_000)]
    row = ",".join(["0.12345678901234567"] * len(names))
    cells = read(f"{','.join(names)}\n{row}\n{row}\n".encode())
    assert len(cells) == 50_000
    assert cells["column_49999"] == ["0.12345678901234567"] * 2
