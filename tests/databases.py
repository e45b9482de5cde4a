"""Rows written into databases and workbooks, for the tests that read them there."""

import sqlite3
from contextlib import closing

import duckdb
import openpyxl

SQLITE = {"int64": "integer", "double": "real", "string": "text", "bool": "integer"}
POSTGRES = {"int64": "bigint", "double": "double precision", "string": "text", "bool": "boolean"}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _columns(table, types):
    return ", ".join(f"{quoted(field.name)} {types[str(field.type)]}" for field in table.schema)


def to_sqlite(path, table, name="scores"):
    """Write a table to a file of SQLite."""
    marks = ", ".join("?" * table.num_columns)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"create table {quoted(name)} ({_columns(table, SQLITE)})")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"insert into {quoted(name)} values ({marks})", rows)
    return str(path)


def to_duckdb(path, table, name="scores"):
    """Write a table to a file of DuckDB."""
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute(f"create table {quoted(name)} as select * from given")
    return str(path)


def to_postgres(address, table, name="scores"):
    """Write a table to a server."""
    execute(address, f"drop table if exists {quoted(name)}")
    execute(address, f"create table {quoted(name)} ({_columns(table, POSTGRES)})")
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="append")
        connection.commit()
    return address


def execute(address, *statements):
    """Run statements on a server."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def to_excel(path, rows, sheet="Scores"):
    """Write rows, of which the first names the columns, to a workbook."""
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(list(row))
    book.save(path)
    book.close()
    return str(path)


def rows_of_cells(table):
    """A table as rows for a workbook."""
    return [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]
