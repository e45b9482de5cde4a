"""CSV as spreadsheets of all countries write it: found by the rule, or said."""

import codecs
import io

import numpy as np
import pytest

from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant.files import open_source
from calibrant.files._columns import read_numbers
from calibrant.files._dialect import Dialect, InUtf8

ROWS = [("id", "größe", "s"), ("a", "1", "0.25"), ("b;c", "2", "-1.5e-3"), ('d"e', "3", "7")]


def written(delimiter=",", decimal=".", rows=ROWS, quote=True):
    """The rows as text, cells in quotation marks where they must be."""

    def cell(text, column):
        text = text.replace(".", decimal) if column == 2 else text
        return '"' + text.replace('"', '""') + '"' if quote and set(text) & set(delimiter + '";') else text

    return "".join(delimiter.join(cell(text, place) for place, text in enumerate(row)) + "\n" for row in rows)


def read(path, **said):
    source = open_source(path, **said)
    assert source.columns == ["id", "größe", "s"]
    (batch,) = source.batches()
    return batch.column("id").to_pylist(), read_numbers(batch.column("s"), "s", source, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le with mark"])
@pytest.mark.parametrize(
    ("delimiter", "decimal"), [(",", "."), (";", "."), (";", ","), ("\t", ","), ("|", ".")]
)
def test_what_is_not_said_is_found(tmp_path, delimiter, decimal, encoding):
    text = written(delimiter, decimal)
    data = codecs.BOM_UTF16_LE + text.encode("utf-16-le") if "mark" in encoding else text.encode(encoding)
    (tmp_path / "x.csv").write_bytes(data)
    names, numbers = read(tmp_path / "x.csv")
    assert names == ["a", "b;c", 'd"e']
    np.testing.assert_array_equal(numbers, [0.25, -0.0015, 7.0])


@pytest.mark.parametrize("encoding", ["windows-1252", "latin-1", "utf-16-be", "cp850"])
def test_what_is_said_is_taken(tmp_path, encoding):
    (tmp_path / "x.csv").write_bytes(written(";", ",").encode(encoding))
    assert read(tmp_path / "x.csv", encoding=encoding, delimiter=";", decimal=",")[1].tolist() == [
        0.25,
        -0.0015,
        7,
    ]
    (tmp_path / "x.dat").write_bytes(written("#", ".").encode(encoding))
    found = read(tmp_path / "x.dat", format="csv", encoding=encoding, delimiter="#", decimal=".")
    assert found[1].tolist() == [0.25, -0.0015, 7]


def test_a_large_file_of_another_encoding_is_read_to_its_end(tmp_path):
    n = 200_000
    text = "größe;s\n" + "".join(f"ä{i};{i},5\n" for i in range(n))
    (tmp_path / "x.csv").write_bytes(text.encode("windows-1252"))
    source = open_source(tmp_path / "x.csv", encoding="windows-1252")
    first, total = 0, 0.0
    for batch in source.batches(["s", "größe"]):
        total += read_numbers(batch.column("s"), "s", source, first).sum()
        assert batch.column("größe")[0].as_py() == f"ä{first}"
        first += batch.num_rows
    assert (first, total) == (n, n * (n - 1) / 2 + n / 2)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("s\n1\n2\n", [1, 2]),  # nothing divides the line: one column
        ("s;t\n1,5;2\n", [1.5]),
        ("s;t\n1.5;2,5\n", [1.5]),  # points and commas: points
        ("s\tt\n1,5\t2\n", [1.5]),
        ('"s;t",u\n1,2\n', None),  # the comma divides first
    ],
)
def test_the_rule(tmp_path, text, numbers):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    source = open_source(tmp_path / "x.csv")
    if numbers is None:
        assert source.columns == ["s;t", "u"]
        return
    (batch,) = source.batches(["s"])
    assert read_numbers(batch.column("s"), "s", source, 0).tolist() == numbers


@pytest.mark.parametrize("cell", ["1.500", "1.500,5", "1,5,5", "x"])
def test_beside_a_decimal_comma_a_point_is_no_number(tmp_path, cell):
    (tmp_path / "x.csv").write_text(f"s;t\n1,5;a\n{cell};b\n", encoding="utf-8")
    source = open_source(tmp_path / "x.csv", decimal=",")
    (batch,) = source.batches(["s"])
    with pytest.raises(DataError, match=f"must hold finite numbers; got '{cell}' in row 2"):
        read_numbers(batch.column("s"), "s", source, 0)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"delimiter": ";;"}, "delimiter must be one character, such as ';', .*; got ';;'"),
        ({"delimiter": '"'}, "delimiter must be one character"),
        ({"decimal": "'"}, "decimal must be '.' or ','"),
        ({"delimiter": ",", "decimal": ","}, "delimiter and decimal must differ; got ',' for both"),
        ({"encoding": "klingon"}, "encoding must be one that Python knows, .*; got 'klingon'"),
    ],
)
def test_what_cannot_be_said(tmp_path, said, message):
    (tmp_path / "x.csv").write_text("s\n1\n")
    with pytest.raises(ParameterError, match=message):
        open_source(tmp_path / "x.csv", **said)


def test_only_csv_has_a_dialect(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"s": 1}\n')
    for where in (tmp_path / "x.jsonl", tmp_path, {"s": [1]}):
        with pytest.raises(CalibrantError, match="delimiter, decimal and encoding are for CSV|frame"):
            open_source(where, delimiter=";")


def test_bytes_of_another_encoding_are_refused(tmp_path):
    (tmp_path / "x.csv").write_bytes("größe;s\nä;1\n".encode("windows-1252"))
    with pytest.raises(DataError, match="text in UTF-8; .* say which it has, such as windows-1252"):
        open_source(tmp_path / "x.csv").columns  # noqa: B018
    with pytest.raises(DataError, match="must be text in ascii; got other bytes"):
        open_source(tmp_path / "x.csv", encoding="ascii").columns  # noqa: B018


def test_any_size_of_a_piece_gives_the_same_bytes():
    text = "\ufeffäöü€𝄞" * 50
    for encoding in ("utf-16-le", "utf-8"):
        for size in (1, 2, 3, 7, 1000):
            stream = InUtf8(io.BytesIO(text.encode(encoding)), encoding, "x")
            pieces = []
            while piece := stream.read(size):
                pieces.append(piece)
            assert b"".join(pieces).decode() == text.removeprefix("\ufeff")


def test_a_dialect_says_what_it_found():
    assert Dialect().completed("a;b\n1,5;2\n") == Dialect(";", ",")
    assert Dialect(decimal=",").completed("a,b;c\n") == Dialect(";", ",")
