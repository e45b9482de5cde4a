"""DuckDB."""

from typing import Any

import pyarrow as pa

from calibrant._core._errors import MissingExtraError
from calibrant.files._plain import reason_of
from calibrant.files._query import Database, NoAnswer
from calibrant.files._source import rows_per_batch

#: No files but the database, be it to read or to write; no variables of the program; nothing to be installed.
CLOSED = {"enable_external_access": False}


class Duckdb(Database):
    """A file of DuckDB.

    Parameters
    ----------
    path : str
        The file.
    """

    title = "DuckDB"

    def __init__(self, path: str) -> None:
        try:
            import duckdb  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("duckdb", "sql") from error
        self.name = path
        self.errors = (duckdb.Error, pa.ArrowException, OSError)
        self._module: Any = duckdb
        self._connection: Any = None
        self._reader: Any = None

    def open(self) -> None:
        """Open it for reading only."""
        self._connection = self._module.connect(self.name, read_only=True, config=CLOSED)
        self._connection.execute("set enable_progress_bar = false")  # it would stand among rows that we print

    def ask(self, query: str) -> pa.Schema:
        """Ask; give the columns."""
        statements = self._connection.extract_statements(query)
        if [each.type for each in statements] != [self._module.StatementType.SELECT]:
            raise NoAnswer("what was asked is not one select")
        answer = self._connection.sql(query)
        self._reader = answer.to_arrow_reader(rows_per_batch(len(answer.columns)))
        return self._reader.schema

    def next(self) -> pa.RecordBatch | None:
        """Give some rows."""
        return next((batch for batch in self._reader if batch.num_rows), None)

    def stop(self) -> None:
        """Ask it to give up."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close it."""
        connection, self._connection, self._reader = self._connection, None, None
        if connection is not None:
            connection.close()

    def reason(self, error: BaseException) -> str:
        """Say what went wrong, without the kind of the error before it."""
        text = reason_of(error)
        kind, colon, rest = text.partition("Error: ")
        return rest if colon and len(kind) < 30 else text
