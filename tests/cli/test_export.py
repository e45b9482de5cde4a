"""`calibrant export`: the file, what is said about it, and what is refused in one line."""

import json
import sqlite3

import numpy as np
import pyarrow.csv as pa_csv
import pytest

from calibrant.models import load
from cli.calling import here, names_in, process
from models.onnx_cases import onnxruntime


@pytest.fixture
def rows(folder):
    """The scores of new rows, and what the model says of them."""
    table = pa_csv.read_csv(folder / "new.csv")
    scores = np.column_stack([table[f"s_{name}"] for name in ("cat", "dog", "fox")])
    model = load(folder / "model.json")
    return scores, model.predict_proba(scores), model.decide(scores).tolist()


def test_python(folder, rows):
    done = here("export", "model.json", "--to", "python", "--out", "animals.py", cwd=folder)
    size = (folder / "animals.py").stat().st_size
    assert done.stdout == f"written  animals.py, {size:,} bytes\ngives    p_cat, p_dog, p_fox, decision\n"
    module = {}
    exec((folder / "animals.py").read_text("utf-8"), module)
    scores, proba, decision = rows
    np.testing.assert_allclose(module["probabilities"](scores), proba, rtol=0, atol=1e-12)
    assert module["decide"](scores) == decision


def test_sql(folder, rows):
    options = ["--dialect", "sqlite", "--table", "zoo.animals", "--keep", "id", "--json"]
    done = here("export", "model.json", "--to", "sql", "--out", "animals.sql", *options, cwd=folder)
    assert json.loads(done.stdout) == {
        "to": "sql",
        "out": "animals.sql",
        "n_bytes": (folder / "animals.sql").stat().st_size,
        "results": ["p_cat", "p_dog", "p_fox", "decision"],
    }
    scores, proba, decision = rows
    database = sqlite3.connect(":memory:")
    database.execute("ATTACH ':memory:' AS zoo")
    database.execute("CREATE TABLE zoo.animals (id, s_cat, s_dog, s_fox)")
    cells = [(number, *row) for number, row in enumerate(scores.tolist())]
    database.executemany("INSERT INTO zoo.animals VALUES (?, ?, ?, ?)", cells)
    found = sorted(database.execute((folder / "animals.sql").read_text("utf-8")).fetchall())
    database.close()
    np.testing.assert_allclose([row[1:4] for row in found], proba, rtol=0, atol=1e-12)
    assert [row[4] for row in found] == decision


def test_onnx(folder, rows):
    here("export", "model.json", "--to", "onnx", "--out", "animals.onnx", cwd=folder)
    session = onnxruntime.InferenceSession(folder / "animals.onnx", providers=["CPUExecutionProvider"])
    scores, proba, decision = rows
    found = session.run(None, {"scores": scores})
    np.testing.assert_allclose(found[0], proba, rtol=0, atol=1e-12)
    assert found[1].tolist() == decision


def test_standard_output_has_the_text_alone(folder):
    here("export", "model.json", "--to", "sql", "--keep", "", "--out", "model.sql", cwd=folder)
    done = process("export", "model.json", "--to", "sql", "--keep", "", "--out", "-", cwd=folder)
    assert (done.returncode, done.stdout) == (0, (folder / "model.sql").read_text("utf-8"))
    assert 'AS "s_cat"' not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--to", "pmml"], 2, "Invalid value for '--to': 'pmml' is not one of 'onnx', 'sql', 'python'"),
        (["--to", "python", "--table", "t"], 2, "--table must be left out for --to 'python'"),
        (["--to", "sql", "--scores", "a,b"], 2, "--scores must name 3 columns; got 2"),
        (
            ["--to", "sql", "--keep", "p_cat"],
            2,
            "--keep must name every column once, and no result; got",
        ),
    ],
)
def test_what_cannot_be_leaves_no_file(folder, arguments, status, said):
    before = names_in(folder)
    done = process("export", "model.json", *arguments, "--out", "out.file", cwd=folder)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"calibrant: {said}")
    assert done.stderr.count("\n") == 1
    assert names_in(folder) == before


def test_a_combination_that_sql_cannot_have(folder):
    here(
        *("fit", "scores.csv", "--label", "label", "--scores", "s_*", "--combine", "coupling"),
        *("--method", "sigmoid", "--out", "coupled.json"),
        cwd=folder,
    )
    done = process("export", "coupled.json", "--to", "sql", "--out", "coupled.sql", cwd=folder)
    assert done.returncode == 1
    assert "without iteration to be written as SQL" in done.stderr
    assert "coupled.sql" not in names_in(folder)
    here("export", "coupled.json", "--to", "python", "--out", "coupled.py", cwd=folder)


def test_the_model_is_never_overwritten(folder):
    done = process("export", "model.json", "--to", "python", "--out", "model.json", cwd=folder)
    assert done.returncode == 2
    load(folder / "model.json")
