"""Rows that come as they are written: lines of a growing file, or of standard input."""

import csv
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from calibrant._core._errors import DataError, ParameterError
from calibrant.files._bytes import TITLES, layout_of
from calibrant.files._open import STANDARD
from calibrant.files._source import Source

#: Bytes that are taken at a time, and the longest line.
CHUNK, LINE_BYTES = 1 << 20, 1 << 26
#: Seconds between two looks at a file that has not grown.
PATIENCE = 0.2


def follow(where: str | os.PathLike[str], *, format: str | None = None, delimiter: str = ",") -> Source:  # noqa: A002
    """Open a log that grows: rows are given as soon as they are written.

    Parameters
    ----------
    where : str or path
        A file of JSON lines or CSV, not compressed; or "-" for standard input, which ends when whoever writes
        to it ends.
    format : {"jsonl", "csv", "tsv"}, optional
        What its lines are, where the suffix does not tell it. Standard input is JSON lines by default.
    delimiter : str, default=","
        What separates the cells of CSV.

    Returns
    -------
    Source
        The rows, for one pass. It ends only with standard input.

    See Also
    --------
    monitor : Who reads it.

    Notes
    -----
    A key that a JSON object does not have is an empty cell. A line counts once it is whole.
    """
    path = os.fspath(where)
    if path == STANDARD:
        if sys.stdin is None:
            raise DataError("standard input must be open; it is closed; send rows to it, or name a file")
        layout = layout_of("", format or "jsonl")
        return _Followed("standard input", sys.stdin.buffer.fileno(), layout.format, delimiter, grows=False)
    layout = layout_of(path, format)
    if layout.compression is not None or layout.format not in ("jsonl", "csv", "tsv"):
        raise ParameterError(
            f"a log that grows must be JSON lines or CSV, and not compressed; got {path}; watch it without "
            "following, as often as it has grown"
        )
    try:
        number = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise DataError(f"{path} must be a file that can be read; {error.strerror}") from error
    return _Followed(path, number, layout.format, "\t" if layout.format == "tsv" else delimiter, grows=True)


class _Followed(Source):
    """Lines as they come.

    Parameters
    ----------
    name : str
        What messages call it.
    number : int
        The open file.
    form : {"jsonl", "csv", "tsv"}
        What lines are.
    delimiter : str
        What separates the cells of CSV.
    grows : bool
        Whether more may come after its end.
    """

    endless = True

    def __init__(self, name: str, number: int, form: str, delimiter: str, *, grows: bool) -> None:
        super().__init__(name, TITLES[form])
        self.grows, self.as_text = grows, form != "jsonl"
        self._number, self._delimiter = number, delimiter
        self._rest, self._position = b"", 0
        self._header: list[str] | None = None
        #: Rows that were read to learn the names of the columns.
        self._ahead: list[dict[str, Any]] = []
        self._n_lines = 0
        self._ended = False
        #: What is wrong with the line after those that were given.
        self._failed: DataError | None = None

    def place(self, row: int) -> str:
        """Say where a row is."""
        return f"line {row + 1 + self.as_text}"

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse names that no column has; of JSON lines any line may have another."""
        if self.as_text:
            super().check_columns(names)

    def batches(
        self,
        columns: Sequence[str] | None = None,
        rows: int | None = None,  # noqa: ARG002  (as many as have come)
    ) -> Iterator[pa.RecordBatch]:
        """Give rows as they come; those that were read to learn about them once more.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns wanted, in this order; by default all.
        rows : int, optional
            Is not looked at: batches are what has come.

        Yields
        ------
        pyarrow.RecordBatch
            The next rows.
        """
        names = self.columns if columns is None else list(columns)
        yield from self._read(names, 0)

    def _names(self) -> list[str]:
        while not self._ahead and not self._ended:
            self._ahead += self._next()
        names = dict.fromkeys(name for row in self._ahead for name in row)
        if self._header is not None:
            return self._header
        if not names:
            raise DataError(f"{self.name} must hold {self.holds}; it ended without a row")
        return list(names)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        if self._ahead:
            yield _batch(self._ahead, columns)
            self._ahead = []
        while not self._ended:
            come = self._next()
            if come:
                yield _batch(come, columns)

    def _next(self) -> list[dict[str, Any]]:
        """The rows of the next lines that are whole, after waiting for them."""
        if self._failed is not None:
            raise self._failed
        block = self._block()
        if not block.strip():
            return []
        try:
            text = block.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.name} must be text in UTF-8; it is not, after line {self._n_lines}"
            ) from error
        return list(self._cells(text) if self.as_text else self._objects(text))

    def _block(self) -> bytes:
        """Whole lines; the last one of a stream may lack its end."""
        while True:
            taken = os.read(self._number, CHUNK)
            if taken:
                self._position += len(taken)
                self._rest += taken
                end = self._end()
                if end:
                    block, self._rest = self._rest[:end], self._rest[end:]
                    return block
                if len(self._rest) > LINE_BYTES:
                    raise DataError(
                        f"a line of {self.name} must have at most {LINE_BYTES:,} bytes; it has more"
                    )
            elif not self.grows:
                self._ended = True
                block, self._rest = self._rest, b""
                return block
            else:
                if Path(self.name).stat().st_size < self._position:
                    raise DataError(
                        f"{self.name} must only grow while it is followed; it became shorter; follow it anew"
                    )
                time.sleep(PATIENCE)

    def _end(self) -> int:
        """Where the last whole row ends: after a line, and in CSV outside of quotation marks."""
        end = self._rest.rfind(b"\n") + 1
        while self.as_text and end and self._rest.count(b'"', 0, end) % 2:
            end = self._rest.rfind(b"\n", 0, end - 1) + 1
        return end

    def _objects(self, text: str) -> Iterator[dict[str, Any]]:
        for line in filter(str.strip, text.split("\n")):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                shown = line if len(line) <= 40 else f"{line[:40]}..."
                self._failed = DataError(
                    f"every line of {self.name} must be one JSON object; got {shown!r} in line "
                    f"{self._n_lines + 1}; correct it; the rows before it were taken"
                )
                return
            self._n_lines += 1
            yield row

    def _cells(self, text: str) -> Iterator[dict[str, Any]]:
        for cells in filter(None, csv.reader(text.splitlines(keepends=True), delimiter=self._delimiter)):
            if self._header is None:
                self._header = cells
                continue
            if len(cells) != len(self._header):
                self._failed = DataError(
                    f"every row of {self.name} must have {len(self._header)} cells, as its first line; got "
                    f"{len(cells)} in line {self._n_lines + 2}; correct it; the rows before it were taken"
                )
                return
            self._n_lines += 1
            yield dict(zip(self._header, (cell or None for cell in cells), strict=True))


def _batch(rows: list[dict[str, Any]], columns: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [_column([row.get(name) for row in rows]) for name in columns], names=columns
    )


def _column(values: list[Any]) -> pa.Array:
    """Values as they are; as texts, if they are of several kinds."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        texts = [each if each is None or isinstance(each, str) else json.dumps(each) for each in values]
        return pa.array(texts, pa.string())
