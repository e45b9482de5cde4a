"""SQLite, by Python's own library."""

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from calibrant.files._query import Database, NoAnswer

#: What a query may do: read.
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
#: Cells that are in memory as objects of Python.
MOST_CELLS, MOST_ROWS = 1 << 18, 1 << 15


class Sqlite(Database):
    """A file of SQLite.

    Parameters
    ----------
    path : str
        The file.
    """

    title = "SQLite"
    errors = (sqlite3.Error, sqlite3.Warning)

    def __init__(self, path: str) -> None:
        self.name = path
        self._connection: sqlite3.Connection | None = None
        self._cursor: Any = None
        self._n_rows = MOST_ROWS

    def open(self) -> None:
        """Open it for reading only."""
        address = f"file:{quote(str(Path(self.name).absolute()))}?mode=ro"
        self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        self._connection.execute("select 1 from sqlite_master limit 1").close()  # opens the file
        self._connection.set_authorizer(_only_reads)

    def ask(self, query: str) -> list[str]:
        """Ask; give the names of the columns."""
        assert self._connection is not None
        self._cursor = self._connection.execute(query)
        if self._cursor.description is None:
            raise NoAnswer("what was asked gives no rows")
        names = [column[0] for column in self._cursor.description]
        self._n_rows = max(1, min(MOST_ROWS, MOST_CELLS // len(names)))
        return names

    def next(self) -> list[tuple[object, ...]] | None:
        """Give some rows."""
        return self._cursor.fetchmany(self._n_rows) or None

    def stop(self) -> None:
        """Ask it to give up."""
        if self._connection is not None:
            self._connection.interrupt()

    def close(self) -> None:
        """Close it."""
        connection, self._connection, self._cursor = self._connection, None, None
        if connection is not None:
            connection.close()


def _only_reads(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY
