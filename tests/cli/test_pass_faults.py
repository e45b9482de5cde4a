"""What goes wrong with inputs larger than memory, as real processes: one line, and nothing is written."""

import json
import os
import pty
import re
import shutil
import signal
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import DataError
from cli.calling import here, names_in, process, start

N_FILES, N_ROWS = 1000, 1000
FIT = ("fit", "parts", "--label", "y", "--scores", "score", "--in-passes", "--out", "m.json")


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A million rows in a thousand files, and the same rows in one."""
    folder = tmp_path_factory.mktemp("thousand")
    (folder / "parts").mkdir()
    rng = np.random.default_rng(0)
    score = rng.normal(size=N_FILES * N_ROWS).round(4)
    y = (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(np.int8)
    content = pa.table({"score": score, "y": y})
    for number in range(N_FILES):
        part = content.slice(number * N_ROWS, N_ROWS)
        pa_parquet.write_table(part, folder / "parts" / f"{number:04}.parquet")
    pa_parquet.write_table(content, folder / "all.parquet")
    return folder


@pytest.fixture
def parts(thousand, tmp_path):
    """Ten of the files, which a test may change."""
    (tmp_path / "parts").mkdir()
    for number in range(10):
        shutil.copy(thousand / "parts" / f"{number:04}.parquet", tmp_path / "parts")
    return tmp_path


def test_a_million_rows_in_a_thousand_files(thousand):
    here(*FIT, cwd=thousand)
    many = json.loads((thousand / "m.json").read_text())
    here("fit", "all.parquet", *FIT[2:], cwd=thousand)
    one = json.loads((thousand / "m.json").read_text())
    (thousand / "m.json").unlink()
    assert many["training"]["n_rows"] == N_FILES * N_ROWS
    assert many == one


def read_terminal(leader, until, seconds=60):
    """What a terminal shows, until something is on it or nobody writes any more."""
    shown, deadline = b"", time.monotonic() + seconds
    while not until(shown) and time.monotonic() < deadline:
        try:
            piece = os.read(leader, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    return shown


def test_ctrl_c_in_the_middle_of_a_pass(thousand):
    """The bar tells rows, rate and time left on a terminal; an interruption there leaves no file."""
    before = names_in(thousand)
    leader, follower = pty.openpty()
    run = start(
        *FIT[:-1],
        "n.json",
        "--method",
        "sigmoid",
        cwd=thousand,
        stderr=follower,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(follower)
    shape = re.compile(rb"pass (\d+): ([\d,]+) of 1,000,000 rows.*?%.*?rows/s.*?\d:\d\d")
    shown = read_terminal(leader, until=shape.search)
    assert shape.search(shown), shown
    run.send_signal(signal.SIGINT)
    rest = read_terminal(leader, until=lambda _: False)
    printed = run.stdout.read()
    run.stdout.close()
    assert run.wait(timeout=60) == 130
    os.close(leader)
    assert rest.rstrip().endswith(b"calibrant: interrupted; no file was written")
    assert printed == b""
    assert names_in(thousand) == before


def assert_one_line(done, said):
    assert done.returncode == 1
    assert re.fullmatch(rf"calibrant: {said}\n", done.stderr), done.stderr
    assert done.stdout == ""


def test_a_corrupt_file_in_the_folder_is_named(parts):
    """The footer is whole: only who reads the rows sees it."""
    file = parts / "parts" / "0006.parquet"
    content = bytearray(file.read_bytes())
    content[4:2000] = np.random.default_rng(0).bytes(1996)
    file.write_bytes(content)
    before = names_in(parts)
    said = r"parts/0006\.parquet must be whole and hold Parquet; it cannot be read: .*"
    assert_one_line(process(*FIT, cwd=parts), said)
    assert names_in(parts) == before


@pytest.mark.parametrize(
    ("command", "damage"),
    [
        (FIT, lambda content: content[:-3]),
        (("evaluate", "parts", "--label", "y", "--scores", "score"), lambda content: b""),
        (
            ("apply", "m.json", "parts", "--scores", "score", "--out", "out.parquet"),
            lambda content: content[: len(content) // 2],
        ),
    ],
)
def test_a_file_without_its_end_is_named(thousand, parts, command, damage):
    here("fit", "all.parquet", *FIT[2:], cwd=thousand)
    (thousand / "m.json").rename(parts / "m.json")
    file = parts / "parts" / "0003.parquet"
    file.write_bytes(damage(file.read_bytes()))
    before, model = names_in(parts), (parts / "m.json").read_bytes()
    with pytest.raises(DataError, match=r"parts/0003\.parquet must be whole and hold Parquet"):
        here(*command, cwd=parts)
    assert names_in(parts) == before
    assert (parts / "m.json").read_bytes() == model


def bad_rows(**columns):
    """A part of which row 5 is bad."""
    whole = {"score": pa.array([0.5] * 8), "y": pa.array([0, 1] * 4, pa.int8())}
    changed = {
        name: [*whole[name].to_pylist()[:4], value, *whole[name].to_pylist()[5:]]
        for name, value in columns.items()
    }
    return pa.table(whole | {name: pa.array(values, whole[name].type) for name, values in changed.items()})


@pytest.mark.parametrize("how", ["--in-passes", "--in-memory"])
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"score": None}, r"the column 'score' of parts must hold finite numbers; got an empty cell in"),
        ({"score": np.nan}, r"the column 'score' of parts must hold finite numbers; got nan in"),
        ({"score": -np.inf}, r"the column 'score' of parts must hold finite numbers; got -inf in"),
        ({"y": None}, r"the column 'y' of parts must hold a label in every row; got none in"),
    ],
)
def test_a_bad_row_is_named_with_its_file(parts, how, columns, said):
    pa_parquet.write_table(bad_rows(**columns), parts / "parts" / "0007.parquet")
    with pytest.raises(
        DataError, match=said + r" row 5 of parts/0007\.parquet \(the first row of data is row 1\)"
    ):
        here(*FIT[:-3], how, *FIT[-2:], cwd=parts)
    assert not (parts / "m.json").exists()


def test_an_unknown_label_is_named_with_its_file_and_row(parts):
    pa_parquet.write_table(bad_rows(y=7), parts / "parts" / "0007.parquet")
    before = names_in(parts)
    said = (
        r"the column 'y' of parts must hold one of the classes 0, 1; got '7' in row 5 of parts/0007\.parquet"
    )
    assert_one_line(process(*FIT, cwd=parts), said + " .*")
    assert names_in(parts) == before
    shown = here(*FIT, "--classes", "0,1", "--invalid", "skip", "--json", cwd=parts).stdout
    assert json.loads(shown)["n_skipped"] == 1
