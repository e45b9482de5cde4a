"""Where rows go: a file that is complete or absent, or standard output."""

import bz2
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from calibrant._core._errors import DataError
from calibrant._core._late import zoneinfo
from calibrant._core._whole_files import WholeFile, is_special
from calibrant.files._bytes import Layout, layout_of
from calibrant.files._open import STANDARD
from calibrant.files._plain import reason_of
from calibrant.files._writers import WRITERS, ArrowStreamWriter, Writer

#: What a place for rows must be, in messages.
MUST = "be writable, with room on its disk"


class Sink:
    """Takes rows until it is left; then the file is there, complete.

    Made by `open_sink`, and used in a ``with`` statement. If the block ends with an error, a file that was
    there before is still there, untouched, and nothing else is.

    Parameters
    ----------
    target : Target
        Where the bytes go.
    new_writer : callable
        Makes the writer from a file and a schema.
    """

    def __init__(self, target: "_Target", new_writer: Callable[[Any, pa.Schema], Writer]) -> None:
        self._target = target
        self._new_writer = new_writer
        self._writer: Writer | None = None

    def __enter__(self) -> Self:
        """Open the file."""
        self._target.open()
        return self

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Write some rows; the first of them, which may be none, fix the columns.

        Parameters
        ----------
        rows : pyarrow.Table or pyarrow.RecordBatch
            The rows.
        """
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        try:
            if self._writer is None:
                self._writer = self._new_writer(self._target.file, table.schema)
            if table.num_rows:
                self._writer.write(table)
        except OSError as error:
            raise self._target.refusal(error) from error
        except _unwritable() as error:
            raise _other_values(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the file into its place, or take it away."""
        if error is not None:
            self._discard()
            return
        try:
            if self._writer is not None:
                self._writer.finish()
            self._target.keep()
        except BaseException as failure:
            self._discard()
            if isinstance(failure, OSError):
                raise self._target.refusal(failure) from failure
            if isinstance(failure, _unwritable()):
                raise _other_values(failure) from failure
            raise

    def _discard(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
        self._target.discard()


def _unwritable() -> tuple[type[Exception], ...]:
    """What values raise that a format has no form for, such as a year beyond those of a calendar."""
    return (pa.ArrowException, ArithmeticError, UnicodeError, zoneinfo.ZoneInfoNotFoundError)


def _other_values(error: BaseException) -> DataError:
    return DataError(
        "every column of the output must hold values that its format can hold; one does not: "
        f"{reason_of(error)}; leave that column out, or write another format"
    )


def open_sink(where: str | os.PathLike[str], *, format: str | None = None) -> Sink:  # noqa: A002
    """Open a place for rows.

    Parameters
    ----------
    where : str or path
        A path, whose suffix tells the format as it does for `open_source`; or "-" for standard output.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl"}, optional
        The format, where the suffix does not tell it. Standard output is CSV unless this says otherwise, and
        so are devices and pipes without a suffix.

    Returns
    -------
    Sink
        To be used in a ``with`` statement. The file appears when that ends, whole; if it ends with an error,
        nothing appears, and what was there before stays.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import open_sink
    >>> with open_sink("-") as sink:  # doctest: +SKIP
    ...     sink.write(pa.table({"class": ["a", "b"], "p": [0.25, 0.75]}))
    class,p
    a,0.25
    b,0.75
    """
    path = os.fspath(where)
    if path == STANDARD:
        layout = layout_of("", format or "csv")
        # An Arrow file has a footer; its stream can be read as it comes.
        writer = ArrowStreamWriter if layout.format == "arrow" else WRITERS[layout.format]
        return Sink(_Standard(), writer)
    if Path(path).is_dir():
        raise DataError(f"the output must be a file; {path} is a folder; give the name of a file in it")
    layout = _layout_of(path, format)
    return Sink(_File(path, layout.compression), WRITERS[layout.format])


def _layout_of(path: str, format: str | None) -> Layout:  # noqa: A002
    """That of the suffix, or CSV where none tells what a device or a pipe is to be given."""
    try:
        return layout_of(path, format)
    except DataError:
        with suppress(OSError, ValueError):
            if format is None and is_special(path):
                return layout_of("", "csv")
        raise


class _Target:
    """An open file, and what becomes of it."""

    name: str
    file: Any

    def open(self) -> None:
        """Open it."""

    def keep(self) -> None:
        """Finish it."""

    def discard(self) -> None:
        """Take away what was written."""

    def refusal(self, error: OSError) -> BaseException:
        """Say in one line why it cannot be written."""
        if isinstance(error, BrokenPipeError):
            return error
        return DataError(f"{self.name} must {MUST}; {error.strerror or error}")


class _Standard(_Target):
    """Standard output, which cannot be taken back."""

    name = "standard output"

    def open(self) -> None:
        if sys.stdout is None:
            raise DataError(f"{self.name} must be open to be written to; it is closed; give a file")
        self.file = sys.stdout.buffer

    def keep(self) -> None:
        self.file.flush()


class _File(_Target):
    """A file that appears when it is whole; a device or a pipe cannot be replaced, and takes what comes."""

    def __init__(self, path: str, compression: str | None) -> None:
        self.name = path
        self._compression = compression

    def open(self) -> None:
        self._whole = WholeFile(self.name, must=MUST, devices=True)
        self._raw = self._whole.open()
        try:
            self.file = _compressed(self._raw, self._compression)
        except BaseException:
            self._whole.discard()
            raise

    def keep(self) -> None:
        if self.file is not self._raw:
            self.file.close()
        self._whole.keep()

    def discard(self) -> None:
        with suppress(OSError, ValueError):
            self.file.close()
        self._whole.discard()


def _compressed(raw: Any, compression: str | None) -> Any:
    """A file that compresses what is written to it; closing it leaves the file below open."""
    if compression == "gzip":
        # No time and no name: the same rows give the same bytes.
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    if compression == "bz2":
        return bz2.BZ2File(raw, "wb")
    if compression == "xz":
        return lzma.LZMAFile(raw, "wb")
    return _Zstandard(raw) if compression == "zstd" else raw


class _Zstandard:
    """Zstandard by pyarrow, which closes the file below; so that gets one that stays open."""

    def __init__(self, raw: Any) -> None:
        self._stream = pa.CompressedOutputStream(pa.PythonFile(_StaysOpen(raw), mode="w"), "zstd")

    def write(self, data: Any) -> None:
        """Compress some bytes."""
        self._stream.write(data)

    def close(self) -> None:
        """Write the end of the stream."""
        self._stream.close()


class _StaysOpen(io.RawIOBase):
    """A file whose end is not that of the file below."""

    def __init__(self, below: Any) -> None:
        self._below = below

    def writable(self) -> bool:
        """Say that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Pass bytes on."""
        return int(self._below.write(data))
