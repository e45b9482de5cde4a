"""Every Arrow type as a score, a label, a weight, a group, a key and a kept column: right, or one line."""

import csv
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest

from calibrant import CalibrantError
from calibrant.cli import _main
from calibrant.files import Rows, labelled, open_sink, open_source
from calibrant.files._plain import chosen_rows
from cli.calling import here
from files.arrow_types import COLUMNS, LABELS, NUMBERS, PATTERN

N = len(PATTERN)
SCORES = np.linspace(-1, 1, N)
TRUTH = ["no", "yes"] * (N // 2)
#: What a column may be used for, in the order in which they are read.
ROLES = ("score", "label", "weight", "group")


def table_of(column):
    return pa.table({"it": column, "score": SCORES, "label": TRUTH})


def write(table, path):
    """Write a file in batches or row groups of five rows; False where the format has no such type."""
    try:
        if path.suffix == ".parquet":
            pa_parquet.write_table(table, path, row_group_size=5)
        else:
            with pa_ipc.new_file(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=5)
    except pa.ArrowException:
        return False
    return True


def wanted_as(role, skips):
    names = {"score": "score", "label": "label", "weight": None, "group": None} | {role: "it"}
    return {
        "scores": names["score"],
        "label": names["label"],
        "weight": names["weight"],
        "by": names["group"],
        "classes": None if role == "label" else ["no", "yes"],
        "handle_invalid": "skip" if skips else "error",
    }


def in_memory(path, wanted):
    rows = labelled(path, **wanted)
    return parts_of(rows, rows.read())


def in_passes(path, wanted):
    rows = labelled(path, **wanted)
    return parts_of(rows, Rows.joined(list(rows())))


def parts_of(rows, read):
    group = None if rows.by is None else np.array(rows.groups)[read.group]
    return read.scores, rows.classes[read.truth], read.weight, group


def outcome(read, path, wanted):
    """What was read; or why it was refused."""
    try:
        found = read(path, wanted)
    except CalibrantError as error:
        return str(error)
    return found if len(found[0]) else "no row of 'it' can be used"


def assert_one_line(message, name):
    assert "\n" not in message, name
    assert len(message) < 500, name
    assert "'it'" in message or "row" in message, (name, message)


def assert_same(memory, passes):
    for of_memory, of_passes in zip(memory, passes, strict=True):
        np.testing.assert_array_equal(of_memory, of_passes)


def parted(values):
    """Which values are equal, as zeros and ones that begin with zero."""
    numbers = np.unique(values, return_inverse=True)[1]
    return (numbers ^ numbers[0]).tolist()


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("skips", [False, True])
def test_every_type_is_right_or_refused_and_passes_do_as_memory_does(tmp_path, suffix, role, skips):
    path, wanted = tmp_path / f"x{suffix}", wanted_as(role, skips)
    for name, (column, use) in COLUMNS.items():
        if not write(table_of(column), path):
            continue
        memory, passes = outcome(in_memory, path, wanted), outcome(in_passes, path, wanted)
        if isinstance(memory, str):
            assert_one_line(memory, name)
            assert isinstance(passes, str), (name, passes)
            assert_one_line(passes, name)
        else:
            assert_same(memory, passes)
            found = memory[ROLES.index(role)]
            if role in ("score", "weight"):
                assert found.tolist() == PATTERN, name
            elif name != "null":
                assert parted(found) == PATTERN, name
        if suffix == ".arrow":  # of which no type comes back as another
            right = use == NUMBERS or (use == LABELS and role in ("label", "group"))
            nothing = name == "null" and role == "group"  # all rows are in the group of those without one
            assert isinstance(memory, str) != (right or nothing), (name, memory)


def test_every_type_as_a_key_puts_equal_values_into_the_same_fold(tmp_path):
    refused = {}
    for name, (column, _) in COLUMNS.items():
        write(table_of(column), tmp_path / "x.arrow")
        try:
            [rows] = labelled(tmp_path / "x.arrow", scores="score", label="label", key="it")()
        except CalibrantError as error:
            refused[name] = str(error)
            continue
        assert parted(rows.key) == PATTERN, name
    assert {"struct", "null", "interval", "sparse union"} <= set(refused)
    assert not {"uuid", "string_view", "duration ns", "dictionary of text", "runs of text"} & set(refused)
    for name, message in refused.items():
        assert_one_line(message, name)


def written(path):
    """The scores, and a text for every value beside them."""
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [row["score"] for row in rows], [json.dumps(row["it"]) for row in rows]
    back = pa.Table.from_batches(open_source(path).batches())
    kept = back["it"]
    if pa.types.is_timestamp(kept.type):
        kept = kept.cast(pa.int64())  # Python knows no such years and zones
    return back["score"].cast(pa.float64()).to_pylist(), [repr(value) for value in kept.to_pylist()]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".arrow", ".parquet"])
def test_every_type_is_kept_or_refused_and_nothing_is_left_behind(tmp_path, suffix):
    out, refused = tmp_path / f"out{suffix}", {}
    for name, (column, _) in COLUMNS.items():
        try:
            with open_sink(out) as sink:
                sink.write(table_of(column))
        except CalibrantError as error:
            refused[name] = str(error)
            assert list(tmp_path.iterdir()) == [], name
            continue
        scores, kept = written(out)
        assert scores == SCORES.tolist(), name
        if name not in ("null", "runs of lists"):
            assert parted(kept) == PATTERN, name
        out.unlink()
    assert len(refused) < len(COLUMNS) / 2
    assert ("bytes that are no text" in refused) == (suffix in (".csv", ".jsonl"))
    for name, message in refused.items():
        assert "\n" not in message, name
        assert "leave" in message, (name, message)


@pytest.mark.parametrize("chosen", [[3, 4, 7], [0, N - 1], [], range(N)], ids=str)
def test_rows_of_every_type_can_be_left_out(chosen):
    mask = np.isin(np.arange(N), list(chosen))
    views = COLUMNS["string_view"][0]
    columns = {name: column for name, (column, _) in COLUMNS.items()} | {
        "views in lists": pa.ListArray.from_arrays(pa.array(range(N + 1), pa.int32()), views),
        "views in structs": pa.StructArray.from_arrays([views], ["it"]),
    }
    for name, column in columns.items():
        batch = pa.record_batch({"it": column, "score": SCORES})
        left = chosen_rows(batch, mask)
        left.validate(full=True)
        assert left.schema == batch.schema, name
        assert left["score"].to_pylist() == SCORES[mask].tolist(), name
        parts = [column.slice(place, 1) for place in chosen]
        wanted = pa.concat_arrays([column.slice(0, 0), *parts])
        assert left["it"].equals(wanted), name


@pytest.mark.parametrize("how", ["--in-memory", "--in-passes"])
@pytest.mark.parametrize("role", ["--scores", "--label", "--weight"])
def test_the_command_refuses_other_types_in_one_line(tmp_path, monkeypatch, capsys, how, role):
    monkeypatch.chdir(tmp_path)
    usable = (NUMBERS, LABELS) if role == "--label" else (NUMBERS,)
    chosen = {"--scores": "score", "--label": "label"} | {role: "it"}
    options = [word for option in chosen.items() for word in option]
    monkeypatch.setattr(sys, "argv", ["calibrant", "fit", "x.arrow", *options, how, "--out", "m.json"])
    for name, (column, use) in COLUMNS.items():
        if use in usable:
            continue
        write(table_of(column), tmp_path / "x.arrow")
        with pytest.raises(SystemExit) as end:
            _main.run()
        said = capsys.readouterr().err
        assert end.value.code == 1, (name, said)
        assert said.startswith("calibrant: the column 'it' of x.arrow must hold "), (name, said)
        assert said.count("\n") == 1, (name, said)


def test_all_columns_are_kept_and_scores_that_are_kept_are_used_too(folder):
    here("apply", "model.json", "new.csv", "--keep", "*", "--out", "all.csv", cwd=folder)
    with (folder / "all.csv").open() as kept, (folder / "new.csv").open() as given:
        rows, before = list(csv.reader(kept)), list(csv.reader(given))
    n_columns = len(before[0])
    assert [row[:n_columns] for row in rows] == before
    here("apply", "model.json", "new.csv", "--out", "few.csv", cwd=folder)
    with (folder / "few.csv").open() as few:
        plain = list(csv.DictReader(few))
    for name in rows[0][n_columns:]:
        assert [row[name] for row in plain] == [row[rows[0].index(name)] for row in rows[1:]]
