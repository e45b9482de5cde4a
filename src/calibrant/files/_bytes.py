"""The bytes of a file: its format and compression by the suffix, pipes, what the first bytes tell."""

import io
import lzma
import sys
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

import pyarrow as pa

from calibrant._core._checks import not_among
from calibrant._core._errors import DataError

#: The format of every known suffix.
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
#: Names of the formats in messages.
TITLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines"}
#: The compression of every known suffix.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".xz": "xz"}
UTF16 = "text in UTF-16"
#: How files begin that are not what their suffix says.
_MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"FEA1": "Feather of version 1",
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xff\xfe": UTF16,
    b"\xfe\xff": UTF16,
}
#: A pipe beyond this many bytes is kept on disk.
IN_MEMORY = 1 << 26


@dataclass(frozen=True, slots=True)
class Layout:
    """What a suffix says about a file.

    Attributes
    ----------
    format : str
        One of `FORMATS`.
    compression : str or None
        How its bytes are compressed.
    """

    format: str
    compression: str | None


def layout_of(path: str, format: str | None = None) -> Layout:  # noqa: A002  (what users call it)
    """Tell format and compression by the suffix, of which the format may be given instead."""
    if format is not None and format not in FORMATS:
        raise not_among("format", format, FORMATS)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression:
        suffixes.pop()
    found = format or (SUFFIXES.get(suffixes[-1]) if suffixes else None)
    if found is None:
        raise DataError(
            f"the format must be given by the suffix, one of {', '.join(SUFFIXES)}, and for the text "
            f"formats with {', '.join(COMPRESSIONS)} after it if compressed; got {path}; rename the file, "
            "or give the format"
        )
    if compression and found in ("parquet", "arrow"):
        raise DataError(
            f"{TITLES[found]} must not be compressed as a whole, as it compresses its own columns; got "
            f"{path}; decompress it"
        )
    return Layout(found, compression)


def refuse_other_content(path: str, layout: Layout) -> None:
    """Refuse a file whose first bytes show that it is not what its suffix says."""
    with Path(path).open("rb") as file:
        start = file.read(8)
    said = layout.compression or TITLES[layout.format]
    is_text = layout.compression is None and layout.format in ("csv", "tsv")
    for magic, title in _MAGIC.items():
        if is_text and title == UTF16:  # which its mark tells
            continue
        if start.startswith(magic) and title != said:
            raise DataError(
                f"{path} must hold {said}, as its suffix says; it holds {title}; rename or convert it"
            )


class FileBytes:
    """The decompressed bytes of a file, opened anew for every pass."""

    def __init__(self, path: str, compression: str | None) -> None:
        self._path = path
        self._compression = compression
        self._raw: BinaryIO | None = None

    def open(self) -> Any:
        """Open them for one pass."""
        self._raw = Path(self._path).open("rb")  # noqa: SIM115  (closed with the stream around it)
        if self._compression == "xz":
            return pa.PythonFile(_XzFile(self._raw), mode="r")
        file = pa.PythonFile(self._raw, mode="r")
        return pa.CompressedInputStream(file, self._compression) if self._compression else file

    @property
    def n_bytes(self) -> int | None:
        """How many bytes it has; None if it is compressed."""
        return None if self._compression else Path(self._path).stat().st_size

    @property
    def share_read(self) -> float | None:
        """How much of the file the last pass has read."""
        if self._raw is None:
            return None
        if self._raw.closed:
            return 1.0
        return self._raw.tell() / max(1, Path(self._path).stat().st_size)


class _XzFile(lzma.LZMAFile):
    """Decompressed bytes, whose file is closed with them."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__(raw)
        self._below = raw

    def close(self) -> None:
        """Close both."""
        super().close()
        self._below.close()


class KeptStream:
    """A pipe, such as standard input: kept as it is read, so that it can be read again; or read once.

    Parameters
    ----------
    stream : binary file
        The pipe.
    once : bool
        Whether one pass is enough, so that nothing need be kept.
    """

    share_read = n_bytes = None

    def __init__(self, stream: BinaryIO, once: bool) -> None:
        self._stream = stream
        self._once = once
        self._kept = cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115
        weakref.finalize(self, self._kept.close)
        if sys.stdin is None or stream is not sys.stdin.buffer:
            weakref.finalize(self, stream.close)
        self._length = 0
        #: A pass that is given up may still be read ahead of, by a thread of the reader.
        self._one_at_a_time = Lock()

    def open(self) -> Any:
        """Open it for one pass; with `once`, there is only one."""
        return pa.PythonFile(_Pass(self._next if self._once else self.part), mode="r")

    def _next(self, offset: int, size: int) -> bytes:  # noqa: ARG002  (wherever the pipe is)
        return self._stream.read(size)

    def whole(self) -> BinaryIO:
        """Read to the end, and give a file of one's own in which one can move."""
        while self._pull():
            pass
        return cast("BinaryIO", _Pass(self.part, self._length))

    def part(self, offset: int, size: int) -> bytes:
        """Give some bytes from a place on, fewer at the end."""
        with self._one_at_a_time:
            while self._length < offset + size and self._pull():
                pass
            self._kept.seek(offset)
            return self._kept.read(size)

    def _pull(self) -> bool:
        """Take the next bytes of the stream."""
        taken = self._stream.read(1 << 20)
        self._kept.seek(self._length)
        self._kept.write(taken)
        self._length += len(taken)
        return bool(taken)


class _Pass(io.RawIOBase):
    """One pass over bytes that are kept elsewhere, with a place of its own; closing it leaves them open."""

    def __init__(self, part: Callable[[int, int], bytes], length: int | None = None) -> None:
        self._part = part
        self._length = length
        self._offset = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say whether one can move in it: when all of it is there."""
        return self._length is not None

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._length or 0}[whence]
        self._offset = start + offset
        return self._offset

    def tell(self) -> int:
        """Say where it is."""
        return self._offset

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes."""
        taken = self._part(self._offset, len(buffer))
        buffer[: len(taken)] = taken
        self._offset += len(taken)
        return len(taken)


#: Where the bytes of a text format come from.
Bytes = FileBytes | KeptStream
