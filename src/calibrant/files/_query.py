"""Rows that a query gives, of any database: asked once, kept for further passes, and never written to."""

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from calibrant._core._errors import DataError, ParameterError
from calibrant.files._answer import AnswerSource, CellSource
from calibrant.files._patience import patiently
from calibrant.files._plain import may_be_labels, reason_of

T = TypeVar("T")

#: How the addresses of a server begin.
SERVERS = ("postgresql://", "postgres://")
#: The suffixes of files that are databases.
SUFFIXES = (".duckdb", ".sqlite", ".sqlite3", ".db")
#: Where a database has its mark, and what it says.
_SQLITE, _DUCKDB = (0, b"SQLite format 3\x00"), (8, b"DUCK")


class NoAnswer(Exception):  # noqa: N818  (a reason, of which an error is made)
    """What was asked is no query."""


class Database(ABC):
    """A database that is asked one query, and cannot be changed by it.

    Attributes
    ----------
    name : str
        What messages call it.
    title : str
        Its kind, for messages.
    errors : tuple of exception types
        What it raises.
    """

    name: str
    title: str
    errors: tuple[type[Exception], ...]
    #: What to do if it cannot be opened.
    remedy = "check that it is the file that you mean, and that nobody writes to it"

    @abstractmethod
    def open(self) -> None:
        """Open it for reading only."""

    @abstractmethod
    def ask(self, query: str) -> pa.Schema | list[str]:
        """Ask; give the columns of the answer, with their types or, if only cells have these, without."""

    @abstractmethod
    def next(self) -> pa.RecordBatch | list[tuple[object, ...]] | None:
        """Give some rows of the answer; None after the last."""

    @abstractmethod
    def stop(self) -> None:
        """Ask it, from another thread, to give up what it does."""

    @abstractmethod
    def close(self) -> None:
        """Close it; more than once does no harm."""

    def foreign(self, field: pa.Field) -> str | None:
        """Name the type of a column if nobody can use it."""
        return None if may_be_labels(field.type) else str(field.type)

    def reason(self, error: BaseException) -> str:
        """Say in one line what went wrong."""
        return reason_of(error)


class Asked:
    """A query and the database that it is put to, with errors of one line.

    Parameters
    ----------
    database : Database
        The database.
    query : str
        The query.
    """

    def __init__(self, database: Database, query: str) -> None:
        self._database = database
        self._query = query
        self._failed = False
        weakref.finalize(self, database.close)

    def begin(self) -> pa.Schema | list[str]:
        """Open the database and ask."""
        database = self._database
        self._call(database.open, None, "be a database that can be opened", database.remedy)
        return self._call(lambda: database.ask(self._query), database.stop, *self._answering)

    def next(self) -> pa.RecordBatch | list[tuple[object, ...]] | None:
        """Give some rows; None after the last, when the database is closed."""
        if self._failed:
            raise DataError(
                f"{self._database.name} must answer the query to its end; it was stopped before; open it "
                "again"
            )
        rows = self._call(self._database.next, self._database.stop, *self._answering)
        if rows is None:
            self._database.close()
        return rows

    @property
    def _answering(self) -> tuple[str, str]:
        return "answer the query", "correct it; a query may only read"

    def _call(self, step: Callable[[], T], stop: Callable[[], None] | None, must: str, remedy: str) -> T:
        database = self._database
        try:
            return patiently(step, stop)
        except BaseException as error:
            self._failed = True
            database.close()
            if not isinstance(error, (NoAnswer, *database.errors)):
                raise
            reason = database.reason(error)
            raise DataError(f"{database.name} must {must}; it says: {reason}; {remedy}") from error


class QuerySource(AnswerSource):
    """The answer of a database that knows the types of columns.

    Parameters
    ----------
    database : Database
        The database.
    query : str
        The query.
    once : bool
        Whether one pass is enough, so that nothing need be kept.
    """

    def __init__(self, database: Database, query: str, once: bool) -> None:
        super().__init__(database.name, f"an answer of {database.title}", once)
        self._database = database
        self._asked = Asked(database, query)
        self._strange: dict[str, str] = {}

    def _names(self) -> list[str]:
        schema = self._asked.begin()
        assert isinstance(schema, pa.Schema)
        self._strange = {field.name: kind for field in schema if (kind := self._database.foreign(field))}
        return list(schema.names)

    def _foreign(self) -> dict[str, str]:
        return self._strange

    def _next(self) -> pa.RecordBatch | None:
        return self._asked.next()


class CellQuerySource(CellSource):
    """The answer of a database in which every cell has a type of its own.

    Parameters
    ----------
    database : Database
        The database.
    query : str
        The query.
    """

    def __init__(self, database: Database, query: str) -> None:
        super().__init__(database.name, f"an answer of {database.title}")
        self._asked = Asked(database, query)

    def _names(self) -> list[str]:
        return list(self._asked.begin())

    def _next(self) -> pa.RecordBatch | None:
        rows = self._asked.next()
        return None if rows is None else self._batch(rows)


def is_database(where: str) -> bool:
    """Whether rows of this must be asked for."""
    return where.startswith(SERVERS) or Path(where).suffix.lower() in SUFFIXES


def query_source(where: str, query: str | None, table: str | None, once: bool) -> AnswerSource:
    """Open the answer of a database to a query."""
    asked = _one_query(query, table, where)
    if where.startswith(SERVERS):
        from calibrant.files._postgres import Postgres  # noqa: PLC0415  (only who asks it pays for it)

        return QuerySource(Postgres(where), asked, once)
    kind = _kind(where)
    if kind == _DUCKDB:
        from calibrant.files._duckdb import Duckdb  # noqa: PLC0415

        return QuerySource(Duckdb(where), asked, once)
    from calibrant.files._sqlite import Sqlite  # noqa: PLC0415

    return CellQuerySource(Sqlite(where), asked)


def _one_query(query: str | None, table: str | None, where: str) -> str:
    """The query that is meant."""
    given = query if table is None else table
    if (query is None) == (table is None) or not isinstance(given, str):
        came = (
            "neither" if given is None else "both" if query is not None and table is not None else repr(given)
        )
        raise ParameterError(
            "the rows of a database must be asked for by one of query and table, a text; got "
            f"{came}{_of(where)}; give one of them"
        )
    if not given.strip() or "\x00" in given:
        raise ParameterError(f"query and table must be text that a database can read; got {given!r}")
    return given if table is None else f"select * from {quoted(table)}"


def _of(where: str) -> str:
    return "" if where.startswith(SERVERS) else f" for {where}"  # an address may hold a password


def quoted(name: str) -> str:
    """A name in a query, whatever its letters."""
    return '"' + name.replace('"', '""') + '"'


def _kind(path: str) -> tuple[int, bytes]:
    """Which database a file is, by the mark in its first bytes."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(16)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"{path} must be a database that can be read; {why}; check the name, and the folder it is looked "
            "for in"
        ) from error
    for place, mark in (_SQLITE, _DUCKDB):
        if start[place:].startswith(mark):
            return place, mark
    raise DataError(
        f"{path} must be a database of SQLite or DuckDB; its first bytes are of neither; query and table are "
        "for databases"
    )
