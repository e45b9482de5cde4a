"""Any byte of any input may be anything: the process lives, and says in one line which file is damaged."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest

from calibrant import CalibrantError
from calibrant._core._errors import DataError
from calibrant.files import open_sink, open_source
from cli.calling import names_in, process

N = 60
LABELS = ["no", "yes"] * (N // 2)
DAMAGE = Path(__file__).with_name("damage.py")
FIT = ("fit", "x.arrow", "--label", "label", "--scores", "score", "--out", "m.json")


def child(*arguments, cwd):
    """A process of its own, in which a crash is a negative status."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)], check=False, capture_output=True, text=True, cwd=cwd
    )


def test_no_damage_ends_the_process(tmp_path):
    done = child(DAMAGE, tmp_path, 30, 0, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), (names_in(tmp_path), done.stderr[-2000:])


def replaced(content, old, new):
    assert content.count(old) == 1
    return content.replace(old, new)


@pytest.mark.parametrize(
    ("new", "wrong", "how"),
    [
        (pa_ipc.new_file, "offset", "--in-memory"),
        (pa_ipc.new_file, "index", "--in-passes"),
        (pa_ipc.new_stream, "offset", "--in-passes"),
        (pa_ipc.new_stream, "index", "--in-memory"),
    ],
)
def test_a_string_or_an_index_that_points_outside(tmp_path, new, wrong, how):
    coded = wrong == "index"
    labels = pa.array(LABELS).dictionary_encode() if coded else pa.array(LABELS)
    table = pa.table({"score": np.linspace(-1, 1, N), "label": labels})
    with new(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    if coded:
        good = np.arange(N, dtype="<i4") % 2
    else:
        good = np.concatenate([[0], np.cumsum([len(label) for label in LABELS])]).astype("<i4")
    bad = good.copy()
    bad[7] = 0x7FFFFFFF
    path = tmp_path / "x.arrow"
    path.write_bytes(replaced(path.read_bytes(), good.tobytes(), bad.tobytes()))
    done = process(*FIT, how, cwd=tmp_path)
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1
    assert "x.arrow must hold whole values; the column 'label', of type " in done.stderr
    assert names_in(tmp_path) == ["x.arrow"]


SHORTEN = """
import os
from calibrant.files import open_source

batches = open_source("x.arrow").batches(rows=1000)
next(batches)
os.truncate("x.arrow", 5000)
try:
    for batch in batches:
        batch.to_pydict()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_file_that_is_shortened_while_it_is_read(tmp_path):
    table = pa.table({"score": np.linspace(0, 1, 200_000)})
    with pa_ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=20_000)
    done = child("-c", SHORTEN, cwd=tmp_path)
    assert done.returncode == 0, done
    assert done.stdout.startswith("DataError x.arrow must be whole and hold Arrow; it cannot be read: ")
    assert done.stdout.count("\n") == 1


def end_of_pages(path):
    """Where the last page of a file of one column ends."""
    chunk = pa_parquet.read_metadata(path).row_group(0).column(0)
    begin = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return begin + chunk.total_compressed_size


def test_a_flipped_bit_is_found_by_the_checksums_that_are_written(tmp_path):
    path = tmp_path / "x.parquet"
    with open_sink(path) as sink:
        sink.write(pa.table({"score": np.linspace(-1, 1, N)}))
    content = bytearray(path.read_bytes())
    content[end_of_pages(path) - 1] ^= 1 << 4
    path.write_bytes(content)
    for read in (lambda: list(open_source(path).batches()), lambda: list(open_source(tmp_path).batches())):
        with pytest.raises(DataError, match=r"x\.parquet must be whole and hold Parquet; .*CRC checksum"):
            read()


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_no_flipped_bit_of_a_page_gives_other_numbers(tmp_path, codec):
    path = tmp_path / "x.parquet"
    scores = np.linspace(-1, 1, N)
    pa_parquet.write_table(
        pa.table({"score": scores}),
        path,
        compression=codec,
        use_dictionary=False,
        write_page_checksum=True,
    )
    content = path.read_bytes()
    end = end_of_pages(path)
    for at in range(end - 200, end):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.raises(DataError, match=r"CRC checksum"):
            list(open_source(path).batches())


def test_a_parquet_file_that_has_other_rows_than_it_says(tmp_path):
    path = tmp_path / "x.parquet"
    pa_parquet.write_table(pa.table({"score": [0.5] * 77}), path)
    content = bytearray(path.read_bytes())
    # In the footer the number of rows, 77, is a varint: 154, 1. The first is that of the file.
    at = content.index(bytes([154, 1]), len(content) - int.from_bytes(content[-8:-4], "little") - 8)
    content[at] = 156
    path.write_bytes(content)
    with pytest.raises(CalibrantError, match=r"x\.parquet must be whole and hold Parquet; .*78 rows"):
        list(open_source(path).batches())


@pytest.mark.parametrize("command", ["fit", "apply"])
def test_closed_standard_input(folder, command):
    arguments = {
        "fit": ["fit", "-", "--label", "label", "--scores", "s_*", "--out", "out.json"],
        "apply": ["apply", "model.json", "-", "--out", "out.csv"],
    }[command]
    before = names_in(folder)
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "calibrant", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("calibrant: standard input must ")
    assert done.stderr.count("\n") == 1
    assert names_in(folder) == before


def test_a_named_pipe_is_read_though_standard_input_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", "printf 'score\\n1\\n2\\n' > pipe"], cwd=tmp_path)
    [batch] = open_source(tmp_path / "pipe").batches()
    assert writer.wait() == 0
    assert batch.to_pydict() == {"score": ["1", "2"]}
    with pytest.raises(DataError, match="standard input must be open; it is closed"):
        open_source("-")


def test_a_header_that_does_not_end(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"name," * (1 << 20))
    with pytest.raises(
        DataError, match=r"the first line of .*x\.csv, which names the columns, must be short"
    ):
        open_source(tmp_path / "x.csv").columns  # noqa: B018


def test_a_line_of_json_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.files._json.LINE_BYTES", 1 << 23)
    (tmp_path / "x.jsonl").write_bytes(b'{"text": "' + b"a" * (1 << 24))
    with pytest.raises(DataError, match=r"every line of .*x\.jsonl must be shorter than 8,388,608 bytes"):
        open_source(tmp_path / "x.jsonl").columns  # noqa: B018
