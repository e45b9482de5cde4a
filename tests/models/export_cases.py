"""What the tests of exports share: asking a module, and asking databases."""

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa

from calibrant.models import to_python, to_sql

#: How far answers about scores as far away as can be may differ: sums of numbers of 1e9 that cancel.
FAR = 1e-8
#: How far answers may differ that the library finds by other steps.
BY_STEPS = 1e-9


def module_of(model):
    """The names of the module of a model."""
    names = {}
    exec(compile(to_python(model), "exported", "exec"), names)
    return names


def table_of(scores):
    """Scores as a table whose rows have numbers; None where a score is missing."""
    matrix = [[None if each is None else float(each) for each in row] for row in _lists(scores)]
    columns = {
        f"s{number}": pa.array(column, pa.float64())
        for number, column in enumerate(zip(*matrix, strict=True))
    }
    return pa.table({"id": pa.array(range(len(matrix)), pa.int64())} | columns)


def _lists(scores):
    return [
        row if isinstance(row, list | tuple) else [row] for row in np.asarray(scores, dtype=object).tolist()
    ]


def answers_of(model, scores, engine, postgres=None, **options):
    """What a database says of scores: the results of every row, in order."""
    table = table_of(scores)
    names = table.column_names[1:]
    statement = to_sql(model, "scores", names, dialect=engine, keep=["id"], **options)
    if engine == "duckdb":
        with duckdb.connect() as database:
            database.register("scores", table)
            rows = database.execute(statement).fetchall()
    elif engine == "sqlite":
        database = sqlite3.connect(":memory:")
        marks = ", ".join("?" * table.num_columns)
        database.execute(f"CREATE TABLE scores (id INTEGER, {', '.join(f'{name} REAL' for name in names)})")
        cells = zip(*(column.to_pylist() for column in table.columns), strict=True)
        database.executemany(f"INSERT INTO scores VALUES ({marks})", cells)
        rows = database.execute(statement).fetchall()
        database.close()
    else:
        rows = postgres(table, statement)
    return [row[1:] for row in sorted(rows)]


def exported_proba(model, scores, engine, postgres=None):
    """The probabilities that an export of a model gives."""
    if engine == "python":
        return np.array(module_of(model)["probabilities"](np.asarray(scores).tolist()))
    answers = answers_of(model, scores, engine, postgres)
    return np.array([row[: len(model.classes_)] for row in answers], dtype=np.float64)
