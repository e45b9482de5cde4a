"""`calibrant apply`: every row once, in order, whatever it comes in."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant import PAVCalibrator
from calibrant._core._errors import DataError, ParameterError
from calibrant.files import open_sink, open_source
from calibrant.models import load, save
from cli.calling import here, process


def read(path):
    return pa.Table.from_batches(open_source(path).batches())


def convert(path, target):
    """The rows of a CSV file in another format, scores as numbers."""
    table = read(path)
    numbers = [
        column.cast(pa.float64()) if name.startswith("s_") else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    with open_sink(target) as sink:
        sink.write(pa.table(numbers, names=table.column_names))


def test_the_probabilities_are_those_of_the_model(folder):
    rows = read(folder / "new.csv")
    scores = np.column_stack([rows[f"s_{name}"].cast(pa.float64()) for name in ("cat", "dog", "fox")])
    found = read(folder / "probabilities.csv")
    assert found.column_names == ["id", "source", "label", "p_cat", "p_dog", "p_fox"]
    assert found["id"].to_pylist() == rows["id"].to_pylist()
    proba = np.column_stack([found[f"p_{name}"].cast(pa.float64()) for name in ("cat", "dog", "fox")])
    np.testing.assert_array_equal(proba, load(folder / "model.json").predict_proba(scores))


@pytest.mark.parametrize("ending", ["csv.gz", "tsv", "jsonl", "parquet", "arrow", "feather"])
def test_every_format_in_and_out(folder, ending):
    convert(folder / "new.csv", folder / f"in.{ending}")
    here("apply", "model.json", f"in.{ending}", "--out", f"out.{ending}", cwd=folder)
    here("apply", "model.json", f"in.{ending}", "--out", "again.csv", cwd=folder)
    assert (folder / "again.csv").read_text() == (folder / "probabilities.csv").read_text()
    assert read(folder / f"out.{ending}").num_rows == 1000


def test_columns_in_another_order_and_under_other_names(folder):
    rows = read(folder / "new.csv")
    shuffled = rows.select(["s_fox", "id", "s_cat", "s_dog"]).rename_columns(["fox", "id", "cat", "dog"])
    with open_sink(folder / "shuffled.csv") as sink:
        sink.write(shuffled)
    here("apply", "model.json", "shuffled.csv", "--out", "out.csv", cwd=folder)
    expected = read(folder / "probabilities.csv").select(["id", "p_cat", "p_dog", "p_fox"])
    assert read(folder / "out.csv").equals(expected)


def test_batches_make_no_difference(folder, monkeypatch):
    monkeypatch.setattr("calibrant.files._source.MOST_ROWS", 1000)
    (folder / "long.csv").write_text("s_cat,s_dog,s_fox\n" + "1,2,3\n3,2,1\n" * 3000)
    here("apply", "model.json", "long.csv", "--out", "out.csv", cwd=folder)
    lines = (folder / "out.csv").read_text().splitlines()
    assert len(lines) == 6001
    assert len(set(lines[1::2])) == len(set(lines[2::2])) == 1


def test_a_pipe_in_and_out_as_a_real_process(folder):
    data = (folder / "new.csv").read_bytes()
    done = process("apply", "model.json", "-", "--out", "-", cwd=folder, input=data, text=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (folder / "probabilities.csv").read_bytes()


def test_other_formats_in_pipes(folder):
    convert(folder / "new.csv", folder / "in.parquet")
    done = here(
        "apply", "model.json", "-", "--format", "parquet", "--out", "-", "--out-format", "parquet",
        cwd=folder, stdin=(folder / "in.parquet").read_bytes(),
    )  # fmt: skip
    found = pa_parquet.read_table(io.BytesIO(done.stdout_bytes))
    expected = read(folder / "probabilities.csv")
    assert found["p_fox"].to_pylist() == [float(text) for text in expected["p_fox"].to_pylist()]


def test_the_best_classes_and_the_decision(folder):
    here(
        "apply",
        "model.json",
        "new.csv",
        "--top",
        "2",
        "--decide",
        "--keep",
        "id",
        "--out",
        "top.jsonl",
        cwd=folder,
    )
    found = read(folder / "top.jsonl")
    assert found.column_names == [
        "id",
        "top_1",
        "top_1_probability",
        "top_2",
        "top_2_probability",
        "decision",
    ]
    assert found["top_1"].to_pylist() == found["decision"].to_pylist()
    first, second = (found[f"top_{rank}_probability"].to_numpy() for rank in (1, 2))
    assert (first >= second).all()


def test_decisions_beside_the_classes(folder):
    here(
        "fit",
        "scores.csv",
        "--label",
        "label",
        "--scores",
        "s_*",
        "--costs",
        "asking.csv",
        "--out",
        "a.json",
        cwd=folder,
    )
    here("apply", "a.json", "new.csv", "--decide", "--keep", "", "--out", "out.parquet", cwd=folder)
    found = pa_parquet.read_table(folder / "out.parquet")
    assert found.column_names == ["p_cat", "p_dog", "p_fox", "decision"]
    assert set(found["decision"].to_pylist()) == {"cat", "dog", "fox", "ask"}


def test_whole_numbers_as_classes_stay_numbers(tmp_path):
    (tmp_path / "s.csv").write_text("s_10,s_9,y\n" + "1,0,10\n0,1,9\n0.5,0.4,10\n" * 5)
    here("fit", "s.csv", "--label", "y", "--scores", "s_*", "--out", "m.json", cwd=tmp_path)
    here("apply", "m.json", "s.csv", "--top", "1", "--out", "o.parquet", cwd=tmp_path)
    assert pa_parquet.read_table(tmp_path / "o.parquet").schema.field("top_1").type == pa.int64()


def test_a_calibrator_alone_is_a_model(tmp_path):
    save(PAVCalibrator(clip=0).fit([0, 1, 2, 3], ["no", "yes", "no", "yes"]), tmp_path / "pav.json")
    (tmp_path / "s.csv").write_text("Score,id\n-1,a\n9,b\n")
    here("apply", "pav.json", "s.csv", "--out", "p.csv", cwd=tmp_path)
    assert (tmp_path / "p.csv").read_text() == "id,p_no,p_yes\na,1,0\nb,0,1\n"
    (tmp_path / "alone.csv").write_text("x\n-1\n9\n")
    here("apply", "pav.json", "alone.csv", "--out", "p.csv", cwd=tmp_path)
    assert (tmp_path / "p.csv").read_text() == "p_no,p_yes\n1,0\n0,1\n"
    (tmp_path / "s.csv").write_text("x,id\n-1,a\n")
    with pytest.raises(
        DataError, match="the column of scores of s.csv must be named; it has x, id; name it with --sc"
    ):
        here("apply", "pav.json", "s.csv", "--out", "p.csv", cwd=tmp_path)
    with pytest.raises(
        DataError, match="takes one score, so --scores must name one column of s.csv; got 2: x, id"
    ):
        here("apply", "pav.json", "s.csv", "--scores", "*", "--out", "p.csv", cwd=tmp_path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_no_rows_in_no_rows_out(folder, ending):
    (folder / "none.csv").write_text("id,s_cat,s_dog,s_fox\n")
    here("apply", "model.json", "none.csv", "--top", "1", "--decide", "--out", f"out.{ending}", cwd=folder)
    if ending == "csv":
        assert (folder / "out.csv").read_text() == "id,top_1,top_1_probability,decision\n"
    elif ending == "parquet":
        assert pa_parquet.read_table(folder / "out.parquet").num_rows == 0


@pytest.mark.parametrize(
    ("header", "extra", "message"),
    [
        (
            "s_cat,s_dog",
            (),
            "must have a score column for every class of the model, cat, dog, fox, such as 's_cat'",
        ),
        (
            "t_cat,t_dog,t_fox,u_cat,u_dog,u_fox",
            (),
            r"several sets are named like the classes: t_\* and u_\*",
        ),
        (
            "s_cat,s_dog,s_fox,s_wolf",
            ("--scores", "s_*"),
            "that of a class of the model, cat, dog, fox; got 's_wolf'",
        ),
        (
            "s_cat,s_dog",
            ("--scores", "s_*"),
            "the class of the model, 'fox' must be among the classes of the score col",
        ),
        (
            "s_cat,s_dog,s_fox,p_cat",
            (),
            "must have a name of its own; 'p_cat' is in x.csv already; leave it out",
        ),
        ("s_cat,s_dog,s_fox", ("--keep", "nothing"), "x.csv must have a column 'nothing'"),
    ],
)
def test_columns_that_do_not_fit(folder, header, extra, message):
    (folder / "x.csv").write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    with pytest.raises(DataError, match=message):
        here("apply", "model.json", "x.csv", *extra, "--out", "out.csv", cwd=folder)
    assert not (folder / "out.csv").exists()


def test_more_candidates_than_classes(folder):
    with pytest.raises(
        ParameterError, match="--top must be a whole number from 1 to the number of cl.*, 3; got 4"
    ):
        here("apply", "model.json", "new.csv", "--top", "4", "--out", "out.csv", cwd=folder)
