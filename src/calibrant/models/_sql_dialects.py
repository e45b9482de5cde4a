"""What differs between databases: how names, texts and numbers are written, and what functions are called."""

import math
from abc import ABC
from typing import Any, ClassVar

from calibrant._core._checks import check_option
from calibrant.maps import ExportError

#: Powers of two up to this one are whole numbers of 64 bits.
_TWO = 62


class Dialect(ABC):
    """A database's SQL; the base has what most of them agree on."""

    name: ClassVar[str]
    functions: ClassVar[dict[str, str]] = {"max": "greatest", "min": "least", "log": "ln"}
    real = "DOUBLE PRECISION"
    #: What stands before the body of a table that is named ahead.
    named = "AS"
    #: How deep expressions may be nested, and how many columns a query may have.
    deepest, most_columns = 40, 100_000
    #: What keeps a database from writing one query into another, and computing everything many times over.
    fence = ""

    def identifier(self, name: str) -> str:
        """A name, whatever it holds."""
        return '"' + _text(name).replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """A text, whatever it holds."""
        return "'" + _text(value).replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A number: exactly this one, of 64 bits."""
        if isinstance(value, int):
            return str(value) if value >= 0 else f"({value})"
        return self._real(value) if value >= 0 else f"({self._real(value)})"

    def _real(self, value: float) -> str:
        return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"

    @property
    def minus_infinity(self) -> str:
        """The number below all others."""
        return f"CAST('-Infinity' AS {self.real})"

    def label(self, value: Any) -> str:
        """A label."""
        return self.text(value) if isinstance(value, str) else self.number(value)

    def as_real(self, expression: str) -> str:
        """A column as a number of 64 bits, whatever it was."""
        return f"CAST({expression} AS {self.real})"


class DuckDB(Dialect):
    """DuckDB, in which a number with an exponent is a double, and one without is a decimal."""

    name = "duckdb"
    real = "DOUBLE"
    named = "AS NOT MATERIALIZED"


class PostgreSQL(Dialect):
    """PostgreSQL, in which plain numbers are decimals, and OFFSET 0 keeps queries apart."""

    name = "postgresql"
    most_columns = 1600
    fence = " OFFSET 0"

    def text(self, value: str) -> str:
        """A text; with backslashes as the one form that means the same under every setting."""
        plain = super().text(value)
        return f" E{plain}".replace("\\", "\\\\") if "\\" in plain else plain

    def _real(self, value: float) -> str:
        return f"float8 '{value!r}'"


class SQLite(Dialect):
    """SQLite, whose reading of a decimal can be off in the last bit: long ones are written as fractions."""

    name = "sqlite"
    deepest, most_columns = 8, 2000
    functions: ClassVar[dict[str, str]] = {"log": "ln"}
    real = "REAL"
    fence = " LIMIT -1 OFFSET 0"

    @property
    def minus_infinity(self) -> str:
        """The number below all others."""
        return "(-9e999)"

    def as_real(self, expression: str) -> str:
        """A column as a number; a text is none here, where any cell can hold one."""
        return f"CASE WHEN typeof({expression}) IN ('integer', 'real') THEN CAST({expression} AS REAL) END"

    def _real(self, value: float) -> str:
        digits = repr(value).split("e")[0].replace(".", "").lstrip("-0")
        if len(digits) <= 15 or not 2.0**-_TWO < abs(value) < 2.0**_TWO:
            return super()._real(value)
        mantissa, exponent = math.frexp(value)
        whole, power = int(mantissa * 2.0**53), 53 - exponent
        while whole % 2 == 0:
            whole, power = whole // 2, power - 1
        if power > _TWO:  # in two divisions by whole numbers
            rest = f"/CAST({2 ** (power - _TWO)} AS REAL)"
            return f"({whole}/CAST({2**_TWO} AS REAL){rest})"
        return f"({whole}/CAST({2**power} AS REAL))" if power > 0 else f"CAST({whole * 2**-power} AS REAL)"


class Spark(Dialect):
    """Spark SQL, in which names stand between backticks, and texts know backslashes."""

    name = "spark"
    real = "DOUBLE"

    def identifier(self, name: str) -> str:
        """A name, whatever it holds."""
        return "`" + _text(name).replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """A text, whatever it holds."""
        return "'" + _text(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def _real(self, value: float) -> str:
        return f"{value!r}D"


DIALECTS: dict[str, Dialect] = {each.name: each for each in (DuckDB(), PostgreSQL(), SQLite(), Spark())}


def dialect_named(name: str) -> Dialect:
    """The dialect of a name."""
    check_option("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


def _text(value: str) -> str:
    """A text that databases can hold."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ExportError(
            f"names and labels must be texts that databases can hold to be written as SQL; got {value!a}; "
            "use others"
        )
    return value
