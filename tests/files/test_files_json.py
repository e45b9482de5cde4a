"""JSON lines: the types of the whole file, every error with its row."""

import io
import json

import pytest
from hypothesis import given, settings, strategies as st

from calibrant._core._errors import DataError
from calibrant.files._bytes import KeptStream
from calibrant.files._json import BLOCK_BYTES, JsonLinesSource


def source_of(data):
    return JsonLinesSource("x.jsonl", KeptStream(io.BytesIO(data), once=False))


def read(data, columns=None):
    return [row for batch in source_of(data).batches(columns) for row in batch.to_pylist()]


def test_a_number_that_becomes_a_fraction_in_the_last_line_is_one_from_the_first():
    line = json.dumps({"x": 1, "padding": "p" * 1000}) + "\n"
    data = (line * (BLOCK_BYTES // len(line) + 10)).encode() + b'{"x": 1.5}\n'
    source = source_of(data)
    assert source.columns == ["x", "padding"]
    values = [value for batch in source.batches(["x"]) for value in batch["x"].to_pylist()]
    assert (values[0], values[-1], len(values)) == (1.0, 1.5, source.n_rows)
    assert isinstance(values[0], float)


def test_text_that_looks_like_a_date_stays_text():
    assert read(b'{"label": "2020-01-01"}\n') == [{"label": "2020-01-01"}]


def test_missing_keys_are_empty_and_blank_lines_are_none():
    assert read(b'{"a": 1}\n\n{"b": true}\n  \n') == [{"a": 1, "b": None}, {"a": None, "b": True}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must hold one JSON object per line; it holds none"),
        (
            b'{"a": 1}\n{"a": \n',
            r"got something else in row 2 \(the first row of data is row 1\): Invalid value",
        ),
        (b'{"a": 1}\n{"a": 2', "in row 2"),
        (b'{"a": 1}\n{"a": "x"}\n', "in row 2 .*changed from number to string"),
        (b'[{"a": 1}]\n', "in row 1"),
        (b'{"a": 1, "a": 2}\n', "specified twice"),
        (b'{"a": "\xe9"}\n', "must be text in UTF-8"),
    ],
)
def test_what_is_wrong_and_where(data, message):
    with pytest.raises(DataError, match=message):
        read(data)


def test_a_column_of_two_kinds_is_named():
    line = json.dumps({"x": 1, "padding": "p" * 1000}) + "\n"
    data = (line * (BLOCK_BYTES // len(line) + 10)).encode() + b'{"x": "one", "padding": ""}\n'
    with pytest.raises(
        DataError,
        match=r"one kind of value per column; .* in row 41\d\d .*\(/x\) changed from number to string",
    ):
        read(data)


def test_a_column_of_two_kinds_far_apart_is_named():
    lines = [json.dumps({"x": x, "padding": "p" * (BLOCK_BYTES - 100)}) for x in (1, 2, "three", "four")]
    with pytest.raises(DataError, match="every column of x.jsonl must hold one kind of value; .*x"):
        read("\n".join(lines).encode())


@given(data=st.data())
@settings(max_examples=100)
def test_a_corrupted_file_is_read_right_or_refused_in_one_line(data):
    content = bytearray(b'{"id": 1, "s": 0.25, "y": "a"}\n{"id": 2, "s": -3e5, "y": "b"}\n')
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content[place] = data.draw(st.integers(0, 255))
        else:
            del content[place]
    try:
        rows = read(bytes(content))
    except DataError as error:
        refusal = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert "\n" not in refusal
        assert "x.jsonl" in refusal
        return
    for row, line in zip(
        rows, [line for line in bytes(content).decode().splitlines() if line.strip()], strict=False
    ):
        try:
            written = json.loads(line)
        except json.JSONDecodeError:
            continue  # two objects on a line, or a line break inside one, are understood too
        assert {key: value for key, value in row.items() if value is not None} == pytest.approx(
            {key: value for key, value in written.items() if value is not None}
        )
