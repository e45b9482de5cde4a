"""Parquet files, folders of them, and Arrow files and streams, in batches."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc

from calibrant._core._errors import DataError
from calibrant._core._late import parquet as pa_parquet
from calibrant.files._bytes import TITLES, KeptStream
from calibrant.files._source import COUNTED, Source, naming, shown

#: How Parquet is read: so many bytes of a column at a time, however large a row group is (by default pyarrow
#: keeps the bytes of the whole file as it goes); and pages that have checksums are compared with them.
READING: dict[str, Any] = {
    "pre_buffer": False,
    "buffer_size": 1 << 20,
    "page_checksum_verification": True,
}
#: How an Arrow file begins, and a stream does not.
MAGIC = b"ARROW1"


class ParquetSource(Source):
    """One or more Parquet files, read one after the other.

    Parameters
    ----------
    name : str
        What messages call it.
    files : list of Path, or KeptStream
        The files, of which all must have the columns of the first.
    """

    any_thread = True

    def __init__(self, name: str, files: list[Path] | KeptStream) -> None:
        super().__init__(name, TITLES["parquet"])
        self._files = files
        self._n_rows: int | None = None
        #: The files that the present pass has come to, each with the number of its first row.
        self._begun: list[tuple[int, str]] = []

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, as the files say."""
        if self._n_rows is None:
            with naming(self.name, self.holds):
                self._n_rows = sum(file.metadata.num_rows for _, file in self._open())
        return self._n_rows

    def place(self, row: int) -> str:
        """Say where a row is: in which of several files, and its number there."""
        if isinstance(self._files, KeptStream) or len(self._files) == 1:
            return super().place(row)
        first, path = next(begun for begun in reversed(self._begun) if begun[0] <= row)
        return f"row {row - first + 1} of {path} ({COUNTED})"

    def _names(self) -> list[str]:
        _, first = next(self._open())
        return list(first.schema_arrow.names)

    def _open(self) -> Iterator[tuple[str, Any]]:
        """Every file with its name; closed when the next is wanted."""
        if isinstance(self._files, KeptStream):
            yield self.name, pa_parquet.ParquetFile(self._files.whole(), **READING)
            return
        for path in self._files:
            with (
                naming(str(path), self.holds),
                pa_parquet.ParquetFile(pa.OSFile(os.fsencode(path)), **READING) as file,
            ):
                yield str(path), file

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema: pa.Schema | None = None
        self._begun, n_before = [], 0
        for path, file in self._open():
            self._begun.append((n_before, path))
            there = file.schema_arrow
            names = set(there.names)
            missing = [name for name in columns if name not in names]
            if missing:
                raise DataError(
                    f"every file of {self.name} must have a column {missing[0]!r}; {path} has "
                    f"{shown(there.names)}"
                )
            schema = schema or pa.schema([there.field(name) for name in columns])
            with naming(path, self.holds):
                for batch in file.iter_batches(batch_size=rows, columns=columns):
                    n_before += batch.num_rows
                    yield _like(batch.select(columns), schema, path)
                n_there = n_before - self._begun[-1][0]
                if n_there != file.metadata.num_rows:
                    raise pa.ArrowInvalid(f"it says {file.metadata.num_rows} rows and has {n_there}")


class ArrowSource(Source):
    """An Arrow file (Feather of version 2) or an Arrow stream.

    Parameters
    ----------
    name : str
        What messages call it.
    file : Path or KeptStream
        Where its bytes are.
    """

    def __init__(self, name: str, file: Path | KeptStream) -> None:
        super().__init__(name, TITLES["arrow"])
        self._file = file
        self._n_rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        """How many rows there are; None for a stream."""
        if self._n_rows is None:
            with naming(self.name, self.holds), self._open(_narrowest) as reader:
                if isinstance(reader, pa_ipc.RecordBatchFileReader):
                    counts = (reader.get_batch(place).num_rows for place in range(reader.num_record_batches))
                    self._n_rows = sum(counts)
        return self._n_rows

    def _names(self) -> list[str]:
        with self._open() as reader:
            return list(reader.schema.names)

    @contextmanager
    def _open(self, choose: Callable[[pa.Schema], list[int]] = lambda _: []) -> Iterator[Any]:
        """What reads the columns of these numbers; all, if there are none."""
        with self._bytes() as file:
            begin = pa_ipc.open_file if file.read(len(MAGIC)) == MAGIC else pa_ipc.open_stream
            file.seek(0)
            chosen = choose(begin(file).schema)
            file.seek(0)
            yield begin(file, options=pa_ipc.IpcReadOptions(included_fields=chosen))

    def _bytes(self) -> Any:
        """The bytes, read and not mapped: whoever shortens a mapped file ends those who read it."""
        if isinstance(self._file, KeptStream):
            return self._file.whole()
        return pa.OSFile(os.fsencode(self._file))

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (as they were written)
        with self._open(lambda schema: [schema.get_field_index(name) for name in columns]) as reader:
            if not isinstance(reader, pa_ipc.RecordBatchFileReader):
                for batch in reader:
                    yield batch.select(columns)
                return
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number).select(columns)


def _narrowest(schema: pa.Schema) -> list[int]:
    """The number of a column that is quickly read."""
    widths = [field.type.bit_width if pa.types.is_primitive(field.type) else math.inf for field in schema]
    return [int(np.argmin(widths))] if widths else []


def _like(batch: pa.RecordBatch, schema: pa.Schema, path: str) -> pa.RecordBatch:
    """Give a batch of a later file the types of the first."""
    if batch.schema.equals(schema):
        return batch
    try:
        return batch.cast(schema)
    except pa.ArrowException as error:
        raise DataError(
            f"all files must have columns of the same types; those of {path} differ from the first: {error}"
        ) from error
