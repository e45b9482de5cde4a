"""JSON lines in batches: one object per line, its keys the columns.

The types of the columns are found in a first pass over the whole file, so that a number that turns out to be
a fraction in the last line is one from the first line on.
"""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from calibrant._core._errors import DataError
from calibrant._core._late import arrow_json as pa_json
from calibrant.files._bytes import TITLES, Bytes
from calibrant.files._source import COUNTED, Source

#: Bytes that are parsed at a time, but for the rest of the last line.
BLOCK_BYTES = 1 << 22
#: The longest line, and how deeply its values may be nested: the parser calls itself until it crashes.
LINE_BYTES, MOST_DEPTH = 1 << 26, 100
#: How a block begins, perhaps with a byte order mark; and text in it.
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class JsonLinesSource(Source):
    """A file of JSON lines, or such text on standard input.

    Parameters
    ----------
    name : str
        What messages call it.
    content : FileBytes or KeptStream
        Where its bytes come from; opened twice or more.
    """

    def __init__(self, name: str, content: Bytes) -> None:
        super().__init__(name, TITLES["jsonl"])
        self._content = content
        self._schema: pa.Schema | None = None
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, once the first pass has counted them."""
        return self._n_rows

    @property
    def n_bytes(self) -> int | None:
        """How many bytes of text there are, if it is not compressed."""
        return self._content.n_bytes

    @property
    def share_read(self) -> float | None:
        """How much of the file the present pass has read."""
        return self._content.share_read

    def _names(self) -> list[str]:
        return list(self._scan().names)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (bytes set the pace)
        schema = self._scan()
        wanted = pa.schema([schema.field(name) for name in columns or schema.names[:1]])
        options = pa_json.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="ignore")
        for table in self._tables(options):
            yield from table.select(columns).combine_chunks().to_batches()

    def _scan(self) -> pa.Schema:
        """Find the columns of the whole file and their types."""
        if self._schema is None:
            schema, n_rows = pa.schema([]), 0
            for table in self._tables(pa_json.ParseOptions()):
                found = pa.schema([(field.name, _as_written(field.type)) for field in table.schema])
                try:
                    schema = pa.unify_schemas([schema, found], promote_options="permissive")
                except pa.ArrowException as error:
                    raise DataError(
                        f"every column of {self.name} must hold one kind of value; {error}; write numbers "
                        "without quotation marks, or all values with them"
                    ) from error
                n_rows += table.num_rows
            if not schema.names:
                raise DataError(f"{self.name} must hold one JSON object per line; it holds none")
            self._schema, self._n_rows = schema, n_rows
        return self._schema

    def _tables(self, options: Any) -> Iterator[pa.Table]:
        n_before = 0
        for block in self._blocks():
            block.decode()  # pyarrow does not look whether text is UTF-8
            if not _OBJECT.match(block):  # pyarrow does not survive null there
                raise self._other(f" in row {n_before + 1} ({COUNTED})", "no object")
            if _is_deep(block):
                raise DataError(
                    f"the values of {self.name} must be nested at most {MOST_DEPTH} deep; some after row "
                    f"{n_before} are nested deeper; give every value a column of its own"
                )
            try:
                table = pa_json.read_json(
                    pa.BufferReader(block),
                    read_options=pa_json.ReadOptions(block_size=len(block) + 1, use_threads=False),
                    parse_options=options,
                )
            except pa.ArrowInvalid as error:
                raise self._named(error, n_before) from error
            n_before += table.num_rows
            yield table

    def _blocks(self) -> Iterator[bytes]:
        """The file in pieces that end with a line."""
        rest = bytearray()
        with self._content.open() as stream:
            while piece := stream.read(BLOCK_BYTES):
                whole, line_break, after = piece.rpartition(b"\n")
                rest += whole + line_break if line_break else piece
                if line_break:
                    yield from [bytes(rest)] if rest.strip() else []
                    rest = bytearray(after)
                if len(rest) > LINE_BYTES:
                    raise DataError(
                        f"every line of {self.name} must be shorter than {LINE_BYTES:,} bytes; one is not; "
                        "put every object on a line of its own"
                    )
        if rest.strip():
            yield bytes(rest)

    def _named(self, error: pa.ArrowInvalid, n_before: int) -> DataError:
        """Say what is wrong, in which row."""
        reason, _, row = str(error).removeprefix("JSON parse error: ").partition(" in row ")
        place = f" in row {n_before + int(row) + 1} ({COUNTED})" if re.fullmatch(r"\d+", row) else ""
        return self._other(place, reason)

    def _other(self, place: str, reason: str) -> DataError:
        return DataError(
            f"{self.name} must hold one JSON object per line, and one kind of value per column; got "
            f"something else{place}: {reason.rstrip('.')}"
        )


def _is_deep(block: bytes) -> bool:
    """Whether values of some line are nested too deeply."""
    if block.count(b"[") + block.count(b"{") - block.count(b"\n{") <= MOST_DEPTH:
        return False  # as is known without looking at every line
    return any(
        line.count(b"[") + line.count(b"{") > MOST_DEPTH and _depth(line) > MOST_DEPTH
        for line in block.split(b"\n")
    )


def _depth(line: bytes) -> int:
    depth = deepest = 0
    for sign in _TEXT.sub(b"", line):
        depth += (sign in b"[{") - (sign in b"]}")
        deepest = max(deepest, depth)
    return deepest


def _as_written(kind: pa.DataType) -> pa.DataType:
    """Text that looks like a date is text."""
    return pa.string() if pa.types.is_timestamp(kind) else kind
