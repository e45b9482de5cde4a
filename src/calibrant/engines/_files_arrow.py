"""Parquet files, folders of them, and Arrow files and streams, in batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from calibrant._core._errors import DataError
from calibrant.engines._files_bytes import TITLES, KeptStream
from calibrant.engines._source import COUNTED, Source, shown

#: Bytes of a column that are read at a time, however large a row group is. By default pyarrow keeps the bytes
#: of the whole file as it goes.
STREAMED: dict[str, Any] = {"pre_buffer": False, "buffer_size": 1 << 20}


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
            yield self.name, pa_parquet.ParquetFile(self._files.whole(), **STREAMED)
            return
        for path in self._files:
            with _naming(path), pa_parquet.ParquetFile(path, **STREAMED) as file:
                yield str(path), file

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema: pa.Schema | None = None
        self._begun, n_before = [], 0
        for path, file in self._open():
            self._begun.append((n_before, path))
            n_before += file.metadata.num_rows
            there = file.schema_arrow
            missing = [name for name in columns if name not in there.names]
            if missing:
                raise DataError(
                    f"every file of {self.name} must have a column {missing[0]!r}; {path} has "
                    f"{shown(there.names)}"
                )
            schema = schema or pa.schema([there.field(name) for name in columns])
            with _naming(path):
                for batch in file.iter_batches(batch_size=rows, columns=columns):
                    yield _like(batch.select(columns), schema, path)


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
            reader = self._open()
            if isinstance(reader, pa_ipc.RecordBatchFileReader):
                counts = (reader.get_batch(number).num_rows for number in range(reader.num_record_batches))
                self._n_rows = sum(counts)
        return self._n_rows

    def _names(self) -> list[str]:
        return list(self._open().schema.names)

    def _open(self) -> Any:
        if isinstance(self._file, KeptStream):
            source: Any = self._file.whole()
            start = source.read(6)
            source.seek(0)
        else:
            with self._file.open("rb") as file:
                start = file.read(6)
            source = pa.memory_map(str(self._file))
        if start == b"ARROW1":
            return pa_ipc.open_file(source)
        return pa_ipc.open_stream(source)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (as they were written)
        reader = self._open()
        if not isinstance(reader, pa_ipc.RecordBatchFileReader):
            for batch in reader:
                yield batch.select(columns)
            return
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number).select(columns)


@contextmanager
def _naming(path: str | Path) -> Iterator[None]:
    """Name the one file of several that cannot be read."""
    try:
        yield
    except pa.ArrowCancelled:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0].rstrip(". ")
        raise DataError(f"{path} must be whole and hold Parquet; it cannot be read: {reason}") from error


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
