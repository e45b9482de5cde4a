"""PostgreSQL, by the driver of Arrow's database connectivity."""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import numpy as np
import pyarrow as pa

from calibrant._core._errors import DataError, MissingExtraError, ParameterError
from calibrant._core._late import compute as pc
from calibrant.files._cells import EXACT
from calibrant.files._plain import entries, reason_of
from calibrant.files._query import Database, NoAnswer

#: Where the driver says the type of a column.
TYPE, OTHER = b"POSTGRESQL:type", b"ADBC:postgresql:typname"
#: What the server says, after what the driver does.
SAID = re.compile(r"(?:ERROR|FATAL):\s*(.*)")
DRIVER = re.compile(r"^([A-Z_]+: )?(\[libpq\] )?(Failed to connect: )?")


class Postgres(Database):
    """A database of a server.

    Parameters
    ----------
    address : str
        Its URL, of which messages show neither the password nor the options.
    """

    title = "PostgreSQL"
    remedy = "check the address, that the server runs, and that the user may enter"

    def __init__(self, address: str) -> None:
        try:
            import adbc_driver_postgresql.dbapi as driver  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("adbc-driver-postgresql", "sql") from error
        self.name = _without_secrets(address)
        self.errors = (driver.Error, pa.ArrowException, OSError)
        self._address = address
        self._driver: Any = driver
        self._connection: Any = None
        self._cursor: Any = None
        self._reader: Any = None
        self._secrets = _secrets(address)

    def open(self) -> None:
        """Connect, and begin a transaction that can only read."""
        self._connection = self._driver.connect(self._address)
        self._cursor = self._connection.cursor()
        self._cursor.execute("set transaction isolation level repeatable read, read only")

    def ask(self, query: str) -> pa.Schema:
        """Ask; give the columns.

        They are asked for first: what gives no rows, such as COPY to a file of the server, is not run.
        """
        # The driver puts the query in parentheses: a comment at its end must end before.
        query = query.rstrip().rstrip(";") + "\n"
        if not self._cursor.adbc_execute_schema(query).names:
            raise NoAnswer("what was asked gives no rows")
        self._cursor.execute(query)
        self._reader = self._cursor.fetch_record_batch()
        return self._reader.schema

    def foreign(self, field: pa.Field) -> str | None:
        """Name the type of a column if nobody can use it."""
        kind = _type(field)
        if kind in ("numeric", "uuid"):
            return None
        is_opaque = OTHER in (field.metadata or {})
        return kind if is_opaque or kind == "money" else super().foreign(field)

    def next(self) -> pa.RecordBatch | None:
        """Give some rows."""
        batch = next((batch for batch in self._reader if batch.num_rows), None)
        if batch is None:
            return None
        arrays = [self._plain(*each) for each in zip(batch.schema, batch.columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)

    def _plain(self, field: pa.Field, column: pa.Array) -> pa.Array:
        """A column in a type that the rest knows."""
        kind = _type(field)
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage
        if kind == "numeric":
            return self._doubles(field.name, column)
        if kind == "uuid":
            return pa.array([value and str(UUID(bytes=value)) for value in column.to_pylist()], pa.string())
        # Blanks at the end of char(n) are no part of the value.
        return pc.utf8_rtrim(column, " ") if kind == "bpchar" else column

    def _doubles(self, name: str, column: pa.Array) -> pa.Array:
        """Decimal numbers, which come as text, as doubles; one of too many digits is refused."""
        numbers = column.cast(pa.float64())
        values = entries(numbers)
        large = np.isfinite(values) & (np.abs(values) >= EXACT)
        if large.any():
            raise DataError(
                f"the column {name!r} of {self.name} must hold numbers of at most 15 digits before the "
                f"point; got {column[int(np.argmax(large))]}; convert it in the query, to text or to double "
                "precision"
            )
        return numbers

    def stop(self) -> None:
        """Ask it to give up."""
        if self._cursor is not None:
            self._cursor.adbc_cancel()

    def close(self) -> None:
        """Close it; nothing is committed."""
        reader, cursor, connection = self._reader, self._cursor, self._connection
        self._reader = self._cursor = self._connection = None
        for each in (reader, cursor, connection):
            if each is not None:
                with suppress(*self.errors):  # a connection that is lost cannot be left in order
                    each.close()

    def reason(self, error: BaseException) -> str:
        """Say what the server says, without the password in any case."""
        text = str(error)
        said = SAID.search(text)
        line = said[1] if said else DRIVER.sub("", text)
        for secret in self._secrets:
            line = line.replace(secret, "***")
        return reason_of(Exception(line))


def _type(field: pa.Field) -> str:
    said = field.metadata or {}
    return (said.get(OTHER) or said.get(TYPE) or b"").decode()


def _without_secrets(address: str) -> str:
    """An address as messages show it: without password and options."""
    return re.sub(r"//([^:/?@]*):.*@", r"//\1@", address, flags=re.DOTALL).partition("?")[0]


def _secrets(address: str) -> list[str]:
    """The passwords of an address, as they are written there and as they are."""
    try:
        parts = urlsplit(address)
        if address.count("@") != parts.netloc.count("@") or parts.netloc.count("@") > 1:
            raise ValueError("a sign @ that divides nothing")  # noqa: TRY301
        if "," not in parts.netloc:  # of several hosts libpq takes the first that answers
            _ = parts.port  # which must be a number
        given = [parts.password or "", *parse_qs(parts.query).get("password", [])]
    except ValueError as error:
        raise ParameterError(
            "the address of a database must be postgresql://USER@HOST:PORT/DATABASE, with % and two digits "
            f"for signs such as / and @ in its parts; got {_without_secrets(address)}, whose parts cannot be "
            "told"
        ) from error
    return [address, *filter(None, {*given, *map(unquote, given)})]
