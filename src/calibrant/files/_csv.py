"""CSV and TSV in batches, every value as the text that was written.

Nothing is guessed: a label "01" stays "01", "NA" and "true" stay what they are, and a column whose first
million cells are whole numbers may hold a fraction or a word after them. Whoever needs numbers converts the
columns that are scores (`_columns.py`), and can then name the row and the value that is none.
"""

import csv
import io
import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from calibrant._core._errors import DataError
from calibrant._core._words import option
from calibrant.files._bytes import TITLES, Bytes
from calibrant.files._dialect import Dialect, InUtf8
from calibrant.files._source import COUNTED, Source

#: Bytes that are parsed at a time, and so the longest row; more where there are very many columns. The reader
#: keeps up to 32 such blocks ahead.
BLOCK_BYTES = 1 << 20
COLUMN_BYTES = 64
#: Bytes in which the line with the names must end.
HEADER_BYTES = 1 << 20


class CsvSource(Source):
    """A CSV or TSV file, or such text on standard input.

    Parameters
    ----------
    name : str
        What messages call it.
    content : FileBytes or KeptStream
        Where its bytes come from.
    format : {"csv", "tsv"}
        What separates the columns, unless the dialect says it.
    dialect : Dialect, optional
        How it is written, as far as that is said.
    """

    as_text = True

    def __init__(self, name: str, content: Bytes, format: str, dialect: Dialect = Dialect()) -> None:  # noqa: A002, B008
        super().__init__(name, TITLES[format])
        self._content = content
        tabs = format == "tsv" and dialect.delimiter is None
        self._dialect = replace(dialect, delimiter="\t") if tabs else dialect
        self._begun: _Begun | None = None

    @property
    def _delimiter(self) -> str:
        return self._dialect.delimiter or ","

    @property
    def n_bytes(self) -> int | None:
        """How many bytes of text there are, if it is not compressed."""
        return self._content.n_bytes

    @property
    def share_read(self) -> float | None:
        """How much of the file the present pass has read."""
        return self._content.share_read

    def _names(self) -> list[str]:
        # The stream is kept for the first pass: standard input may be open to one pass only.
        self._begun = self._begin()
        weakref.finalize(self, self._begun.stream.close)  # where the columns are looked at, and no more
        return self._begun.names

    def _begin(self) -> "_Begun":
        """Open the file and read the names of its columns."""
        stream = self._content.open()
        try:
            head = stream.read(HEADER_BYTES)
            encoding = self._dialect.decoded_as(head)
            if encoding != "utf-8":
                stream = io.BufferedReader(InUtf8(_Rejoined(head, stream), encoding, self.name))
                head = stream.read(HEADER_BYTES)
            return self._begun_with(head, stream)
        except BaseException:
            stream.close()
            raise

    def _begun_with(self, head: bytes, stream: Any) -> "_Begun":
        """Find the names in the first bytes of the file."""
        text = head.decode("utf-8-sig", errors="replace")
        self._dialect = self._dialect.completed(text)
        self.decimal = self._dialect.decimal or "."
        lines = io.StringIO(text, newline=None)
        try:
            names = next((row for row in csv.reader(lines, delimiter=self._delimiter) if row), [])
        except csv.Error as error:
            raise DataError(f"the first line of {self.name} must name the columns; {error}") from error
        if not names:
            raise DataError(f"{self.name} must begin with a line that names the columns; it is empty")
        if any("\ufffd" in name for name in names):
            raise DataError(
                f"{self.name} must be text in UTF-8; got other bytes in the first line; save it again in "
                f"that encoding, or say which it has, such as windows-1252, by {option('encoding')}"
            )
        rest = lines.read()
        if len(head) == HEADER_BYTES and not rest:
            raise DataError(
                f"the first line of {self.name}, which names the columns, must be shorter than "
                f"{HEADER_BYTES:,} bytes; it is not; look for a quotation mark that is not closed"
            )
        alone = len(head) < HEADER_BYTES and not rest.strip()
        return _Begun(names, head, stream, alone)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (bytes set the pace)
        begun, self._begun = self._begun or self._begin(), None
        n_before = 0
        try:
            if begun.alone:
                return
            # No columns would mean all of them.
            for batch in self._open(begun, columns or begun.names[:1]):
                n_before += batch.num_rows
                yield batch.select(columns)
        except pa.ArrowInvalid as error:
            raise self._named(error, n_before) from error
        finally:
            begun.stream.close()

    def _open(self, begun: "_Begun", columns: list[str]) -> Any:
        return pa_csv.open_csv(
            pa.PythonFile(_Rejoined(begun.head, begun.stream), mode="r"),
            # One thread is as fast here, and only then rows are counted for messages.
            read_options=pa_csv.ReadOptions(block_size=_block_bytes(begun.names), use_threads=False),
            parse_options=pa_csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                # Beside other columns an empty line is no row; alone it is a row without a value.
                ignore_empty_lines=len(begun.names) > 1,
            ),
            convert_options=pa_csv.ConvertOptions(
                include_columns=columns,
                column_types=dict.fromkeys(begun.names, pa.string()),
                strings_can_be_null=False,
                quoted_strings_can_be_null=False,
            ),
        )

    def _named(self, error: Exception, n_before: int) -> Exception:
        """Say what is wrong, in which row."""
        text = str(error)
        row = re.search(r"Row #(\d+)", text)
        place = f" in row {int(row[1]) - 1} ({COUNTED})" if row else ""
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if ragged:
            return DataError(
                f"every row of {self.name} must have {ragged[1]} cells, as the first line has; got "
                f"{ragged[2]}{place}; look for a stray separator or quotation mark"
            )
        if "straddl" in text:
            return DataError(
                f"every row of {self.name} must be shorter than {_block_bytes(self.columns):,} bytes; one "
                f"after row {n_before} is not; look for a quotation mark that is not closed"
            )
        if "UTF8" in text:
            return DataError(
                f"{self.name} must be text in UTF-8; got other bytes{place}; save it again in that encoding, "
                f"or say which it has, such as windows-1252, by {option('encoding')}"
            )
        return error


def _block_bytes(names: list[str]) -> int:
    return max(BLOCK_BYTES, COLUMN_BYTES * len(names))


@dataclass(frozen=True, slots=True)
class _Begun:
    """A file of which the beginning has been read."""

    names: list[str]
    head: bytes
    stream: Any
    alone: bool


class _Rejoined(io.RawIOBase):
    """Bytes that were read already, and then the rest of their stream."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes."""
        taken = self._head[: len(buffer)] or self._rest.read(len(buffer))
        self._head = self._head[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        """Close the stream."""
        self._rest.close()
        super().close()
