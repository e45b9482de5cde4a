"""JSON lines in batches: one object per line, its keys the columns.

The types of the columns are found in a first pass over the whole file, so that a number that turns out to be
a fraction in the last line is one from the first line on.
"""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from calibrant._core._errors import DataError
from calibrant.engines._files_bytes import TITLES, Bytes
from calibrant.engines._source import COUNTED, Source

#: Bytes that are parsed at a time, but for the rest of the last line.
BLOCK_BYTES = 1 << 22


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
        rest = b""
        with self._content.open() as stream:
            while piece := stream.read(BLOCK_BYTES):
                whole, line_break, after = piece.rpartition(b"\n")
                if line_break and (rest + whole).strip():
                    yield rest + whole + line_break
                rest = after if line_break else rest + piece
        if rest.strip():
            yield rest

    def _named(self, error: pa.ArrowInvalid, n_before: int) -> DataError:
        """Say what is wrong, in which row."""
        reason, _, row = str(error).removeprefix("JSON parse error: ").partition(" in row ")
        place = f" in row {n_before + int(row) + 1} ({COUNTED})" if re.fullmatch(r"\d+", row) else ""
        return DataError(
            f"{self.name} must hold one JSON object per line, and one kind of value per column; got "
            f"something else{place}: {reason.rstrip('.')}"
        )


def _as_written(kind: pa.DataType) -> pa.DataType:
    """Text that looks like a date is text."""
    return pa.string() if pa.types.is_timestamp(kind) else kind
