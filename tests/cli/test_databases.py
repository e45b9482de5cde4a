"""The command on workbooks and databases: the same model and the same answers as from a file."""

import os
import re
import signal
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from calibrant._core._errors import DataError, ParameterError
from cli.calling import here, names_in, process, start
from databases import execute, rows_of_cells, to_duckdb, to_excel, to_postgres, to_sqlite

SOURCES = ("scores.xlsx", "scores.sqlite", "scores.duckdb", "postgres")
LABELLED = ("--label", "label", "--scores", "s *")
RNG = np.random.default_rng(17)
N = 3000


def _table(labels):
    position = RNG.integers(0, 3, N)
    # As many digits as openpyxl writes.
    scores = (RNG.normal(size=(N, 3)) + np.eye(3)[position]).round(9)
    names = {f"s {name}": scores[:, place] for place, name in enumerate(labels)}
    return pa.table(
        {"key": [f"{n:05}" for n in range(N)], "label": [labels[each] for each in position], **names}
    )


TABLES = {"text": _table(["jä", 'na"', "x;y"]), "numbers": _table([1, 2, 10])}


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param]


@pytest.fixture
def folder(tmp_path, table):
    pa_parquet.write_table(table, tmp_path / "scores.parquet")
    return tmp_path


@pytest.fixture(params=SOURCES)
def asked(request, folder, table):
    """Where the rows are, and what says so."""
    if request.param == "postgres":
        return (to_postgres(request.getfixturevalue("postgres"), table), "--query", "select * from scores")
    if request.param == "scores.xlsx":
        return (to_excel(folder / request.param, rows_of_cells(table)), "--sheet", "Scores")
    write = to_sqlite if request.param == "scores.sqlite" else to_duckdb
    return (write(folder / request.param, table), "--table", "scores")


@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_the_same_rows_give_the_same_model_and_the_same_answers(folder, asked, way):
    for name, where in (("file", ("scores.parquet",)), ("asked", asked)):
        here("fit", *where, *LABELLED, way, "--out", f"{name}.json", cwd=folder)
        here("apply", f"{name}.json", *where, "--out", f"{name}.csv", cwd=folder)
    assert (folder / "asked.json").read_bytes() == (folder / "file.json").read_bytes()
    assert (folder / "asked.csv").read_bytes() == (folder / "file.csv").read_bytes()


@pytest.mark.parametrize("way", ["--in-memory", "--in-passes"])
def test_the_same_probabilities_are_as_good(folder, asked, way, table):
    here("fit", *asked, *LABELLED, "--out", "m.json", cwd=folder)
    here("apply", "m.json", *asked, "--out", "p.parquet", cwd=folder)
    proba = pa_parquet.read_table(folder / "p.parquet").drop_columns(["key"])
    where, by, _ = asked
    if by == "--sheet":  # whose writer keeps 16 digits
        proba = pa.table(
            {name: _rounded(column) for name, column in zip(proba.column_names, proba.columns, strict=True)}
        )
        pa_parquet.write_table(proba, folder / "p.parquet")
        there = (to_excel(folder / "p.xlsx", rows_of_cells(proba)),)
    elif by == "--query":
        there = (to_postgres(where, proba, "p"), "--query", "select * from p order by ctid")
    else:
        there = ((to_sqlite if "sqlite" in where else to_duckdb)(where, proba, "p"), "--table", "p")
    options = ("--label", "label", "--scores", "p_*", "--json", way)
    said = here("evaluate", *there, *options, cwd=folder).stdout
    assert said == here("evaluate", "p.parquet", *options, cwd=folder).stdout


def _rounded(column):
    return pa.array(column.to_numpy().round(9)) if pa.types.is_floating(column.type) else column


@pytest.mark.parametrize("table", ["text"], indirect=True)
def test_what_is_read_is_never_written(folder, asked):
    where, *how = asked
    if where.startswith("postgresql"):
        pytest.skip("a server is no file")
    before = (folder / where).read_bytes()
    os.link(where, folder / "another.json")
    for out in (where, "another.json"):
        with pytest.raises(ParameterError, match="--out must not be a file that is read"):
            here("fit", where, *how, *LABELLED, "--out", out, cwd=folder)
    assert (folder / where).read_bytes() == before


@pytest.mark.parametrize("table", ["text"], indirect=True)
def test_a_password_is_on_no_page_and_in_no_message(folder, postgres, table):
    to_postgres(postgres, table)
    where = postgres.replace("calibrant@", "calibrant:hush-hush@")
    given = (where, "--table", "scores", *LABELLED)
    done = process("fit", *given, "--out", "m.json", "--report", "page.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Probabilities from postgresql://calibrant@/postgres" in (folder / "page.html").read_text("utf-8")
    said = [
        done.stdout,
        done.stderr,
        *((folder / name).read_text("utf-8") for name in ("m.json", "page.html")),
    ]
    execute(postgres, "drop table scores")
    failed = process("fit", *given, "--out", "m.json", cwd=folder)
    assert re.fullmatch(r"calibrant: [^\n]*relation \"scores\" does not exist[^\n]*\n", failed.stderr)
    assert all("hush-hush" not in each for each in (*said, failed.stderr))


@pytest.mark.parametrize("table", ["text"], indirect=True)
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ((), "must be asked for by one of query and table"),
        (("--query", "select 1", "--table", "scores"), "got both"),
        (("--table", "scores", "--sheet", "x"), "sheet is for Excel workbooks"),
        (("--table", "scores", "--delimiter", ";"), "delimiter, decimal and encoding are for CSV"),
        (
            ("--table", "scores", "--engine", "spark", "--master", "local"),
            "--table is for files that are read",
        ),
        (("--query", "drop table scores"), "a query may only read"),
        (("--query", "select label from scores"), "must match a column"),
    ],
)
def test_what_does_not_go_together_is_said_in_one_line(folder, table, said, message):
    to_sqlite(folder / "scores.db", table)
    with pytest.raises((DataError, ParameterError), match=message):
        here("fit", "scores.db", *said, *LABELLED, "--out", "m.json", cwd=folder)
    assert "m.json" not in names_in(folder)


ENDLESS = {
    "scores.sqlite": "with recursive n(s) as (values (1) union all select s + 1 from n) "
    "select s, 1 as label from n",
    "scores.duckdb": "select range as s, 1 as label from range(1000000000000)",
    "postgres": "select generate_series(1, 1000000000000) as s, 1 as label",
}


@pytest.mark.parametrize("table", ["text"], indirect=True)
@pytest.mark.parametrize("asked", ENDLESS, indirect=True)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_it_and_leaves_nothing(folder, asked, number, request):
    where, kind = asked[0], request.node.callspec.params["asked"]
    (folder / "temporary").mkdir()
    before = names_in(folder)
    with start(
        *("fit", where, "--query", ENDLESS[kind], "--label", "label", "--scores", "s", "--in-passes"),
        *("--classes", "0,1", "--out", "m.json"),
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "temporary")},
    ) as run:
        try:
            time.sleep(3)  # well into the rows
            assert run.poll() is None, run.stderr.read()
            assert names_in(folder / "temporary") == []
            run.send_signal(number)
            _, error = run.communicate(timeout=60)
        finally:
            run.kill()
    assert run.returncode != 0
    assert b"Traceback" not in error
    assert names_in(folder) == before
    assert names_in(folder / "temporary") == []
