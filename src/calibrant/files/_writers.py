"""Writing rows in the formats that are read."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc

from calibrant._core._errors import DataError
from calibrant._core._late import kernels, parquet as pa_parquet
from calibrant.files._plain import cast, converting, is_bytes, n_bytes, plain, plain_type

#: A Parquet row group is written when it has this many rows, or this many bytes.
GROUP_ROWS = 1 << 20
GROUP_BYTES = 1 << 27


class Writer(ABC):
    """Writes tables of one schema to an open binary file.

    Parameters
    ----------
    file : binary file
        Where the bytes go.
    schema : pyarrow.Schema
        The columns.
    """

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._file = file
        self._schema = schema

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Write some rows."""

    def finish(self) -> None:  # noqa: B027  (most formats have no end)
        """Write what belongs after the last row."""

    def abandon(self) -> None:  # noqa: B027
        """Give up, before the file is taken away."""


class CsvWriter(Writer):
    """CSV with quotation marks only where they are needed, and numbers that read back the same."""

    delimiter = ","

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        for field in schema:
            if pa.types.is_nested(plain_type(field.type)):
                raise DataError(
                    f"the columns of CSV must hold single values; {field.name!r} holds {field.type}; leave "
                    "it out, or write Parquet or JSON lines"
                )
        self._alone = len(schema) == 1
        names = map(self._quoted_name, schema.names)
        file.write((self.delimiter.join(names) + "\n").encode())

    def write(self, table: pa.Table) -> None:
        """Write some rows as lines."""
        for batch in table.to_batches():
            *cells, last = map(self._cells, batch.schema.names, batch.columns)
            ended = _joined(last, _text("\n"), between="")
            lines = _joined(*cells, ended, between=self.delimiter)
            self._file.write(lines.buffers()[2])  # the lines lie there one after the other

    def _cells(self, name: str, column: pa.Array) -> pa.Array:
        """A column as text; nothing where there is no value."""
        with converting(column.type, name, "the output"):
            column = plain(column)
            text = kernels.call_function("coalesce", [cast(column, pa.large_string()), _text("")])
        return text if pa.types.is_primitive(column.type) and not self._alone else self._quoted(text)

    def _quoted_name(self, name: str) -> str:
        """A cell of the first line, quoted like the others."""
        special = any(sign in name for sign in f'"\r\n{self.delimiter}') or (self._alone and not name)
        return '"' + name.replace('"', '""') + '"' if special else name

    def _quoted(self, text: pa.Array) -> pa.Array:
        """Put quotation marks around the cells that need them."""
        call = kernels.call_function
        signs = kernels.MatchSubstringOptions(f'["\r\n{self.delimiter}]')
        special = call("match_substring_regex", [text], signs)
        if self._alone:  # an empty line would be no row
            special = call("or", [special, call("equal", [text, _text("")])])
        if not call("any", [special]).as_py():
            return text
        doubled = call("replace_substring", [text], kernels.ReplaceSubstringOptions('"', '""'))
        return call("if_else", [special, _joined(_text('"'), doubled, _text('"'), between=""), text])


class TsvWriter(CsvWriter):
    """CSV with tabs."""

    delimiter = "\t"


class JsonLinesWriter(Writer):
    """One JSON object per line."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        for field in schema:
            if _holds_bytes(field.type):
                raise DataError(
                    f"the columns of JSON lines must hold text, numbers and the like; {field.name!r} holds "
                    f"{field.type}; leave it out, or write Parquet or Arrow"
                )

    def write(self, table: pa.Table) -> None:
        """Write some rows as lines."""
        for batch in table.to_batches(max_chunksize=1 << 14):
            lines = [_json(row) for row in batch.to_pylist()]
            self._file.write("".join(f"{line}\n" for line in lines).encode())


class ParquetWriter(Writer):
    """Parquet, in row groups of about a million rows."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        self._inner = pa_parquet.ParquetWriter(file, schema, write_page_checksum=True)
        self._waiting: list[pa.Table] = []
        self._n_waiting = self._n_bytes = 0

    def write(self, table: pa.Table) -> None:
        """Write some rows, together with those that wait for a full row group."""
        self._waiting.append(table)
        self._n_waiting += table.num_rows
        self._n_bytes += n_bytes(table)
        if self._n_waiting >= GROUP_ROWS or self._n_bytes >= GROUP_BYTES:
            self._flush()

    def finish(self) -> None:
        """Write the last row group and the footer."""
        self._flush()
        self._inner.close()

    def abandon(self) -> None:
        """Close the inner writer while its file is open: it would try that later, and complain."""
        with suppress(OSError, pa.ArrowException):
            self._inner.close()
        self._inner.is_open = False

    def _flush(self) -> None:
        if self._waiting:
            self._inner.write_table(pa.concat_tables(self._waiting), row_group_size=GROUP_ROWS)
            self._waiting, self._n_waiting, self._n_bytes = [], 0, 0


class ArrowWriter(Writer):
    """An Arrow file, which Feather of version 2 is too."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        super().__init__(file, schema)
        self._inner = self._begin(file, schema)

    def _begin(self, file: Any, schema: pa.Schema) -> Any:
        return pa_ipc.new_file(file, schema)

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        self._inner.write_table(table)

    def finish(self) -> None:
        """Write the footer."""
        self._inner.close()


class ArrowStreamWriter(ArrowWriter):
    """An Arrow stream, for pipes, in which nobody can look for a footer."""

    def _begin(self, file: Any, schema: pa.Schema) -> Any:
        return pa_ipc.new_stream(file, schema)


WRITERS: dict[str, Callable[[Any, pa.Schema], Writer]] = {
    "csv": CsvWriter,
    "tsv": TsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetWriter,
    "arrow": ArrowWriter,
}


def _holds_bytes(kind: pa.DataType) -> bool:
    """Whether there are bytes in values of this type, for which JSON has no form."""
    inner = [kind.field(place).type for place in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    return is_bytes(kind) or pa.types.is_fixed_size_binary(kind) or any(map(_holds_bytes, inner))


def _json(row: Any) -> str:
    """A row as JSON, which has no word for numbers that are not finite: they are null."""
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(row), ensure_ascii=False, allow_nan=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _joined(*texts: pa.Array | pa.Scalar, between: str) -> pa.Array:
    """Texts of each row, one after the other."""
    return kernels.call_function("binary_join_element_wise", [*texts, _text(between)])


def _text(value: str) -> pa.Scalar:
    """A text for Arrow's functions; `pyarrow.scalar` would import pandas first."""
    data = value.encode()
    ends = pa.py_buffer(np.array([0, len(data)], dtype=np.int64))
    return pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(data)])[0]
