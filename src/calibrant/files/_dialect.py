"""How a CSV file is written: what separates its cells, its decimals, its encoding.

What is not said is found by a fixed rule from the beginning of the file. The encoding is UTF-8, or UTF-16 if
the file begins with its mark; no other is guessed. Cells are separated by the first of comma, semicolon, tab
and bar that divides the first line. Decimals have a comma if cells are not separated by commas, some of the
first rows hold numbers with a comma, and none hold numbers with a point.
"""

import codecs
import csv
import io
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from calibrant._core._errors import DataError, ParameterError

#: What may separate cells, in the order in which it is tried.
DELIMITERS = (",", ";", "\t", "|")
#: Rows that are looked at for decimals.
LOOKED_AT = 100
WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How CSV is written; None for what is to be found out."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError(
                f"delimiter must be one character, such as ';', and no quotation mark; got {self.delimiter!r}"
            )
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise ParameterError(f"delimiter and decimal must differ; got {self.decimal!r} for both")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ParameterError(
                    f"encoding must be one that Python knows, such as 'windows-1252'; got {self.encoding!r}"
                ) from None

    @property
    def is_given(self) -> bool:
        """Whether anything is said."""
        return self != Dialect()

    def decoded_as(self, start: bytes) -> str:
        """The encoding of a file that begins with these bytes."""
        if self.encoding is not None:
            return codecs.lookup(self.encoding).name
        return "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8"

    def completed(self, head: str) -> "Dialect":
        """What is said, and what the beginning of the file tells."""
        delimiter = self.delimiter or next(
            (each for each in DELIMITERS if each != self.decimal and len(_first_row(head, each)) > 1), ","
        )
        decimal = self.decimal or ("," if delimiter != "," and _has_commas(head, delimiter) else ".")
        return replace(self, delimiter=delimiter, decimal=decimal)


def _first_row(head: str, delimiter: str) -> list[str]:
    rows = csv.reader(io.StringIO(head, newline=None), delimiter=delimiter)
    try:
        return next((row for row in rows if row), [])
    except csv.Error:
        return []


def _has_commas(head: str, delimiter: str) -> bool:
    """Whether numbers of the first rows have a comma, and none a point."""
    rows = csv.reader(io.StringIO(head, newline=None), delimiter=delimiter)
    comma = False
    try:
        for row in islice(rows, 1, LOOKED_AT):
            if any(map(WITH_POINT.fullmatch, row)):
                return False
            comma = comma or any(map(WITH_COMMA.fullmatch, row))
    except csv.Error:
        pass
    return comma


class InUtf8(io.RawIOBase):
    """Text of another encoding, as bytes of UTF-8."""

    def __init__(self, stream: Any, encoding: str, name: str) -> None:
        self._stream, self._name, self._encoding = stream, name, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting, self._at_start, self._ended = memoryview(b""), True, False

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes."""
        while not self._waiting and not self._ended:
            chunk = self._stream.read(max(len(buffer), 1 << 16))
            self._ended = not chunk
            try:
                text = self._decoder.decode(chunk, final=self._ended)
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{self._name} must be text in {self._encoding}; got other bytes; say the encoding that "
                    "it has"
                ) from error
            if self._at_start and text:
                text, self._at_start = text.removeprefix("\ufeff"), False
            self._waiting = memoryview(text.encode())
        taken = self._waiting[: len(buffer)]
        self._waiting = self._waiting[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        """Close what it reads from."""
        self._stream.close()
        super().close()
