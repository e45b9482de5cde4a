"""Rows that a query gives: the same as in a file, in every pass, and nothing is written."""

import os
import signal
import sqlite3
import sys
import threading
import time
from contextlib import closing

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from calibrant._core._errors import DataError, MissingExtraError, ParameterError
from calibrant.files import _kept, evaluate, fit, labelled, open_source
from calibrant.files._patience import patiently
from databases import execute, quoted, to_duckdb, to_postgres, to_sqlite

RNG = np.random.default_rng(17)
N = 5000
STRANGE = "sco\"re; drop table scores; -- é'"
TABLE = pa.table(
    {
        "id": pa.array(np.arange(N) + 2**60),
        "label": pa.array(np.where(RNG.uniform(size=N) < 0.4, "jä", "nein")),
        "score": pa.array(RNG.normal(size=N)),
        STRANGE: pa.array(RNG.normal(size=N)),
    }
)
KINDS = ("sqlite", "duckdb", "postgres")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def write(kind, tmp_path, request):
    """Write a table into a database; give what opens it."""

    def written(table, name="scores"):
        if kind == "postgres":
            return to_postgres(request.getfixturevalue("postgres"), table, name)
        return (to_sqlite if kind == "sqlite" else to_duckdb)(tmp_path / f"rows.{kind}", table, name)

    return written


@pytest.fixture
def where(write):
    return write(TABLE)


def whole(source, columns=None, rows=None):
    return pa.Table.from_batches(list(source.batches(columns, rows)))


def message_of(call):
    with pytest.raises(DataError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


def content(kind, where, query="select count(*), sum(score) from scores"):
    """What a database holds, asked by other means."""
    if kind == "sqlite":
        with closing(sqlite3.connect(where)) as connection:
            return connection.execute(query).fetchall()
    if kind == "duckdb":
        with duckdb.connect(where) as connection:
            return connection.execute(query).fetchall()
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(where) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def test_all_rows_of_a_table_come_in_every_pass(where):
    source = open_source(where, table="scores")
    assert source.columns == TABLE.column_names
    for rows in (None, 100):
        assert whole(source, rows=rows).equals(TABLE)
    assert source.n_rows == N
    assert whole(source, [STRANGE, "id"]).equals(TABLE.select([STRANGE, "id"]))


def test_a_query_chooses_and_names_columns(where):
    query = (
        f'select {quoted(STRANGE)} as "ü x", score * 2 as twice from scores where score > 1 -- the best\n;'
    )
    source = open_source(where, query=query, once=True)
    best = TABLE.filter(pa.compute.greater(TABLE["score"], 1))
    assert sorted(whole(source)["twice"].to_pylist()) == sorted((best["score"].to_numpy() * 2).tolist())
    assert source.columns == ["ü x", "twice"]


def test_the_query_runs_once_whatever_happens_to_the_database(kind, where):
    """An order by chance is another one at every run."""
    source = open_source(where, query="select id, score from scores order by random()")
    first = next(source.batches(rows=10))  # a pass that ends early
    one = whole(source)
    if kind == "sqlite":
        with closing(sqlite3.connect(where)) as connection, connection:
            connection.execute("delete from scores")
    elif kind == "duckdb":
        with duckdb.connect(where) as connection:  # which may write, as ours has ended
            connection.execute("delete from scores")
    else:
        execute(where, "delete from scores")
    assert one.slice(0, 10).equals(pa.Table.from_batches([first]))
    assert whole(source).equals(one)
    assert sorted(one["id"].to_pylist()) == TABLE["id"].to_pylist()


def test_two_passes_at_the_same_time_see_the_same_rows(where):
    source = open_source(where, table="scores")
    for one, other in zip(source.batches(rows=999), source.batches(rows=999), strict=True):
        assert one.equals(other)


def test_one_pass_that_was_promised_is_all_there_is(kind, where):
    source = open_source(where, table="scores", once=True)
    assert whole(source).equals(TABLE)
    if kind == "sqlite":  # where the types of the columns are known when all rows have come
        assert whole(source).equals(TABLE)
    else:
        assert "must be read once, as was said" in message_of(lambda: whole(source))


def test_passes_give_what_memory_gives(where):
    rows = labelled(open_source(where, table="scores"), scores="score", label="label")
    same = labelled(TABLE, scores="score", label="label")
    scores = np.linspace(-3, 3, 50)
    one, other = (fit("pav", each).predict_proba(scores) for each in (rows, same))
    np.testing.assert_array_equal(one, other)  # counts, which are exact


def test_no_rows_are_allowed_until_rows_are_needed(where):
    source = open_source(where, query="select * from scores where 1 = 0")
    assert source.columns == TABLE.column_names
    assert list(source.batches()) == []
    assert source.n_rows == 0
    with pytest.raises(DataError, match="must have at least one row; it has none"):
        labelled(source, scores="score", label="label").read()


# What is written, and where


WRITING = (
    "insert into scores (score) values (1)",
    "delete from scores",
    "update scores set score = 0",
    "drop table scores",
    "create table other as select 1 as x",
    "create temp table other as select 1 as x",
    "select 1; drop table scores",
    "drop table scores; select 1",
)
WRITING_OF = {
    "sqlite": ("vacuum into 'copy.db'", "attach 'copy.db' as copy", "pragma user_version = 7"),
    "duckdb": ("copy scores to 'copy.csv'", "attach 'copy.db'", "export database 'copy'"),
    "postgres": (
        "insert into scores (score) values (1) returning score",
        "with gone as (delete from scores returning id) select * from gone",
        "copy scores to '/tmp/calibrant-copy.csv'",
        "set transaction read write",
        "select set_config('transaction_read_only', 'off', false); drop table scores",
        "select nextval('numbers')",
    ),
}


def test_a_query_cannot_write(kind, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if kind == "postgres":
        execute(where, "drop sequence if exists numbers", "create sequence numbers")
    before = content(kind, where)
    there = sorted(tmp_path.iterdir())
    for query in (*WRITING, *WRITING_OF[kind]):
        source = open_source(where, query=query)
        assert "a query may only read" in message_of(lambda source=source: whole(source)), query
    assert content(kind, where) == before
    assert sorted(tmp_path.iterdir()) == there
    assert not os.path.exists("/tmp/calibrant-copy.csv")  # noqa: PTH110


@pytest.mark.parametrize("name", [STRANGE, 'scores"; drop table scores; --', "two words", "日本"])
def test_a_table_is_one_name_whatever_its_letters(kind, write, name):
    where = write(TABLE)
    before = content(kind, where)
    missing = open_source(where, table=f"{name}?")
    assert "must answer the query" in message_of(lambda: missing.columns)
    assert content(kind, where) == before
    write(TABLE.slice(0, 3), name)
    assert whole(open_source(where, table=name)).equals(TABLE.slice(0, 3).combine_chunks())


def test_many_rows_are_kept_in_a_file_that_nobody_sees(where, tmp_path, monkeypatch):
    monkeypatch.setattr(_kept, "IN_MEMORY", 1000)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    source = open_source(where, table="scores")
    batches = source.batches(rows=10)
    next(batches)
    assert source._kept._file._rolled
    assert list(folder.iterdir()) == []
    assert whole(source).equals(TABLE)


def test_a_full_disk_is_named(where, monkeypatch):
    monkeypatch.setattr(_kept, "SpooledTemporaryFile", lambda max_size: open("/dev/full", "w+b", 0))  # noqa: PTH123, SIM115
    source = open_source(where, table="scores")
    said = message_of(lambda: whole(source))
    assert "the folder for temporary files must have room for the rows of" in said
    assert "No space left on device; set TMPDIR to another" in said


# Types


def test_cells_of_sqlite_have_the_type_of_their_column(tmp_path):
    path = str(tmp_path / "cells.db")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "create table cells (whole, broken numeric, text, mixed, bytes blob, empty, flag boolean)"
        )
        connection.executemany(
            "insert into cells values (?, ?, ?, ?, ?, ?, ?)",
            [
                (n, n if n < 40_000 else 0.5, "é", n if n < 49_999 else "x", b"\xff", None, n % 2)
                for n in range(50_000)
            ],
        )
        connection.execute("insert into cells (whole) values (null)")
    table = whole(open_source(path, table="cells"))
    assert [str(field.type) for field in table.schema] == [
        "int64",
        "double",
        "string",
        "string",
        "binary",
        "null",
        "int64",
    ]
    assert table["mixed"].to_pylist() == [*map(str, range(49_999)), "x", None]
    assert table["broken"].to_pylist() == [*map(float, range(40_000)), *[0.5] * 10_000, None]


DUCKDB_TYPES = {
    "1.50::decimal(10, 2)": ("decimal128(10, 2)", "1.50"),
    "true": ("bool", "True"),
    "date '2026-03-31'": ("date32[day]", "2026-03-31"),
    "timestamp '2026-03-31 01:02:03'": ("timestamp[us]", "2026-03-31 01:02:03"),
    "time '01:02:03'": ("time64[us]", "01:02:03"),
    "'NaN'::double": ("double", "nan"),
    "1.5::real": ("float", "1.5"),
    "7::utinyint": ("uint8", "7"),
    "'é'": ("string", "é"),
    "null::double": ("double", "None"),
    "'a'::enum('a', 'b')": ("dictionary<values=string, indices=uint8, ordered=0>", "a"),
}
POSTGRES_TYPES = {
    "1.50::numeric(10, 2)": ("double", "1.5"),
    "'NaN'::numeric": ("double", "nan"),
    "null::numeric": ("double", "None"),
    "true": ("bool", "True"),
    "date '2026-03-31'": ("date32[day]", "2026-03-31"),
    "timestamp '2026-03-31 01:02:03'": ("timestamp[us]", "2026-03-31 01:02:03"),
    "timestamptz '2026-03-31 01:02:03+00'": ("timestamp[us, tz=UTC]", "2026-03-31 01:02:03+00:00"),
    "time '01:02:03'": ("time64[us]", "01:02:03"),
    "'NaN'::float8": ("double", "nan"),
    "1.5::real": ("float", "1.5"),
    "7::smallint": ("int16", "7"),
    "'é'::text": ("string", "é"),
    "'a'::char(3)": ("string", "a"),
    "null::text": ("string", "None"),
    "'00000000-0000-0000-0000-00000000000a'::uuid": ("string", "00000000-0000-0000-0000-00000000000a"),
    "'{\"a\": 1}'::jsonb": ("string", '{"a": 1}'),
}


@pytest.mark.parametrize("value", DUCKDB_TYPES)
def test_types_of_duckdb(value, tmp_path):
    where = to_duckdb(tmp_path / "x.db", TABLE)
    [column] = whole(open_source(where, query=f"select {value} as x")).columns
    assert (str(column.type), str(column[0])) == DUCKDB_TYPES[value]


def test_duckdb_prints_nothing_among_our_rows(tmp_path):
    """For a long query it would show a bar, on standard output."""
    where = to_duckdb(tmp_path / "x.db", TABLE)
    source = open_source(where, query="select current_setting('enable_progress_bar') as bar")
    assert whole(source).to_pydict() == {"bar": [False]}


@pytest.mark.parametrize("value", POSTGRES_TYPES)
def test_types_of_postgres(value, postgres):
    [column] = whole(open_source(postgres, query=f"select {value} as x")).columns
    assert (str(column.type), str(column[0])) == POSTGRES_TYPES[value]


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("duckdb", "[1, 2]", "list"),
        ("duckdb", "interval 1 day", "month_day_nano_interval"),
        ("duckdb", "{'a': 1}", "struct"),
        ("postgres", "array[1, 2]", "list"),
        ("postgres", "interval '1 day'", "month_day_nano_interval"),
        ("postgres", "inet '1.1.1.1'", "inet"),
        ("postgres", "1::money", "money"),
    ],
)
def test_columns_of_other_types_are_refused_by_name_when_they_are_read(kind, write, value, said):
    source = open_source(write(TABLE), query=f'select 1 as x, {value} as "odd one"')
    assert whole(source, ["x"]).to_pydict() == {"x": [1]}
    told = message_of(lambda: whole(source))
    assert "the column 'odd one' of " in told
    assert f"it holds {said}" in told


def test_decimal_numbers_that_no_double_holds_are_refused(postgres):
    source = open_source(postgres, query="select 12345678901234567890::numeric as id")
    told = message_of(lambda: whole(source))
    assert "'id'" in told
    assert "12345678901234567890; convert it in the query, to text or to double precision" in told


# Errors


def test_a_missing_score_is_named_with_its_row(kind, write):
    where = write(pa.table({"label": ["a", "b", "a"], "score": pa.array([0.5, None, 1.0])}))
    with pytest.raises(DataError, match=r"column 'score' of .* got an empty cell in row 2"):
        evaluate(labelled(open_source(where, table="scores"), scores="score", label="label"))


def test_scores_may_be_text_that_is_a_number(kind, write):
    where = write(pa.table({"label": ["b", "a", "a"], "score": [" 0.5", "1e-3", "x"]}))
    texts = open_source(where, query="select * from scores where score <> 'x'")
    model = fit("pav", labelled(texts, scores="score", label="label"))
    assert model.predict_proba([0.5])[0, 1] == 0.75  # half a row of two below 1
    with pytest.raises(DataError, match=r"column 'score' of .* got 'x' in row 3"):
        fit("pav", labelled(open_source(where, table="scores"), scores="score", label="label"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selec 1", "selec"),
        ("select * from nowhere", "nowhere"),
        ("select nothing from scores", "nothing"),
        ("select 1 as x; select 2 as x", "must answer the query"),
        ("-- nothing", "must answer the query"),
    ],
)
def test_what_the_database_refuses_is_said_in_one_line(where, query, said):
    told = message_of(lambda: open_source(where, query=query).columns)
    assert said in told
    assert told.endswith("; correct it; a query may only read")
    assert "LINE 1" not in told


HALFWAY = {
    "sqlite": ("select abs(id) as x from scores", "integer overflow"),  # of the least number
    "duckdb": ("select if(range > 3e6, error('too many'), range) as x from range(4000000)", "too many"),
    "postgres": ("select 1 / (200000 - g) as x from generate_series(1, 300000) g", "division by zero"),
}


def test_a_query_that_fails_halfway_fails_in_every_pass(kind, where):
    query, said = HALFWAY[kind]
    if kind == "sqlite":
        with closing(sqlite3.connect(where)) as connection, connection:
            connection.execute(f"insert into scores (id) values ({-(2**63)})")
    source = open_source(where, query=query)
    assert f"must answer the query; it says: {said}; correct it" in message_of(lambda: whole(source))
    assert "it was stopped before; open it again" in message_of(lambda: whole(source))


def test_one_of_query_and_table_must_be_given(where, tmp_path):
    for given, came in (
        ({}, "neither"),
        ({"query": "select 1", "table": "scores"}, "both"),
        ({"query": 7}, "7"),
    ):
        with pytest.raises(ParameterError, match=rf"by one of query and table, a text; got {came}"):
            open_source(where, **given)
    for given in ({"query": " "}, {"table": ""}, {"table": "a\0b"}):
        with pytest.raises(ParameterError, match="must be text that a database can read"):
            open_source(where, **given)
    with pytest.raises(ParameterError, match="sheet is for Excel workbooks; got a database"):
        open_source(where, table="scores", sheet="x")
    with pytest.raises(ParameterError, match="format is for files whose suffix does not tell it"):
        open_source(where, table="scores", format="csv")
    with pytest.raises(ParameterError, match="delimiter, decimal and encoding are for CSV; got a database"):
        open_source(where, table="scores", delimiter=";")
    with pytest.raises(ParameterError, match="query is for databases; got a frame"):
        open_source(TABLE, query="select 1")


def test_files_that_are_no_databases(tmp_path):
    (tmp_path / "x.db").write_bytes(b"SQLite format 4\0....")
    said = message_of(lambda: open_source(tmp_path / "x.db", table="t"))
    assert "must be a database of SQLite or DuckDB; its first bytes are of neither" in said
    assert "No such file" in message_of(lambda: open_source(tmp_path / "y.db", table="t"))
    assert "Is a directory" in message_of(lambda: open_source(tmp_path, table="t"))
    for mark, name in ((b"SQLite format 3\0", "a.db"), (b"........DUCK", "b.db")):
        (tmp_path / name).write_bytes(mark + b"\xff" * 5000)
        source = open_source(tmp_path / name, table="t")
        assert "must be a database that can be opened" in message_of(lambda source=source: source.columns)


def test_which_database_a_file_is_its_content_says(tmp_path):
    for write, name in ((to_sqlite, "one.duckdb"), (to_duckdb, "two.sqlite")):
        assert whole(open_source(write(tmp_path / name, TABLE), table="scores")).equals(TABLE)


def test_a_server_that_does_not_let_us_in(postgres):
    nobody = postgres.replace("calibrant@", "stranger:hush-hush@")
    said = message_of(lambda: open_source(nobody, table="scores").columns)
    assert said == (
        "postgresql://stranger@/postgres must be a database that can be opened; it says: role "
        '"stranger" does not exist; '
        "check the address, that the server runs, and that the user may enter"
    )
    to_postgres(postgres, TABLE)
    execute(postgres, "drop role if exists guest", "create role guest login")
    guest = open_source(postgres.replace("calibrant@", "guest@"), table="scores")
    assert "permission denied for table scores" in message_of(lambda: guest.columns)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://user:hush-hush@localhost:1/x",
        "postgres://user:hush%2Dhush@localhost:1/x",
        "postgresql://user@localhost:1/x?password=hush-hush",
        "postgresql://user:hush-hush/@localhost/x",
        "postgresql://user:@hush-hush@localhost:1/x",
        "postgresql://user:7?hush-hush@localhost/x",
        "postgresql://user:7/hush-hush@localhost/x",
        "postgresql://user:7#hush-hush@localhost/x",
        "postgresql://user:x@localhost:hush-hush/x",
    ],
)
def test_passwords_are_in_no_message(address):
    for given in ({"table": "scores"}, {}):
        with pytest.raises((DataError, ParameterError)) as caught:
            open_source(address, **given).columns  # noqa: B018
        assert "hush-hush" not in str(caught.value).replace("localhost:hush-hush", "")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "package", "where"),
    [
        ("duckdb", "duckdb", "x.db"),
        ("adbc_driver_postgresql.dbapi", "adbc-driver-postgresql", "postgresql://localhost/x"),
    ],
)
def test_what_is_not_installed_is_named(module, package, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.db").write_bytes(b"........DUCK")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"needs the package {package}; .*'calibrant\[sql\]'"):
        open_source(where, table="t")


# Interruptions


ENDLESS = {
    "sqlite": "with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n",
    "duckdb": "select count(*) from range(10000000) a, range(10000000) b where a.range * b.range % 7 = 1",
    "postgres": "select pg_sleep(600)::text",
}


class StopIt(BaseException):
    """An interruption."""


def test_an_interruption_comes_through_while_the_database_works(kind, where):
    def stop(*_):
        raise StopIt

    usual = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        begun = time.monotonic()
        with pytest.raises(StopIt):
            whole(open_source(where, query=ENDLESS[kind]))
        assert time.monotonic() - begun < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
    assert whole(open_source(where, table="scores")).equals(TABLE)


def test_what_is_waited_for_is_told_to_stop_only_if_it_works():
    told = threading.Event()
    assert patiently(lambda: 7, told.set) == 7
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 1 / 0, told.set)
    assert not told.is_set()
