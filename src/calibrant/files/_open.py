"""One door to all rows: a path, a folder, a pattern, standard input, a database, a frame."""

import glob
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from calibrant._core._errors import DataError, ParameterError
from calibrant.files._arrow import ArrowSource, ParquetSource
from calibrant.files._bytes import TITLES, FileBytes, KeptStream, layout_of, refuse_other_content
from calibrant.files._csv import CsvSource
from calibrant.files._dialect import Dialect
from calibrant.files._excel import SUFFIXES as WORKBOOKS, ExcelSource
from calibrant.files._frame import frame_source
from calibrant.files._json import JsonLinesSource
from calibrant.files._query import is_database, query_source
from calibrant.files._source import Source

#: The path that stands for standard input and output.
STANDARD = "-"
#: What options are for that say which rows of a file, and how the rows are written.
_PARTS = {"sheet": "Excel workbooks", "query": "databases", "table": "databases"}
_FORMAT = {"format": "files whose suffix does not tell it"}


def open_source(
    where: object,
    *,
    format: str | None = None,  # noqa: A002  (what users call it)
    once: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
    table: str | None = None,
) -> Source:
    """Open rows that live in a file, a folder, a pipe, a database or a frame.

    Parameters
    ----------
    where : str, path, frame or callable
        A path: CSV, TSV, JSON lines (with .gz, .bz2, .zst or .xz after the suffix if compressed), Parquet,
        Arrow or Feather, by the suffix; a folder of Parquet files, or a pattern such as ``part-*.parquet``;
        an Excel workbook (.xlsx, extra ``excel``); a file of SQLite or DuckDB, or the address of a PostgreSQL
        server such as ``postgresql://user@host/database``, with `query` or `table` (extra ``sql``, except for
        SQLite); "-" for standard input; a frame of pyarrow, pandas, polars or another library that narwhals
        knows; or a function that gives a new `pyarrow.RecordBatchReader` at every call.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl"}, optional
        The format, where the suffix does not tell it. Standard input is CSV unless this says otherwise.
    once : bool, default=False
        Promise to read the rows only once: CSV on standard input, and answers of DuckDB and PostgreSQL, are
        then not kept for another pass.
    delimiter : str, optional
        What separates the cells of CSV. By default the first of comma, semicolon, tab and bar that divides
        the first line.
    decimal : {".", ","}, optional
        What decimals of CSV have. By default a comma, if cells are not separated by commas, some of the first
        rows hold numbers with a comma, and none hold numbers with a point.
    encoding : str, optional
        The encoding of CSV. By default UTF-8, or UTF-16 if the file begins with its mark.
    sheet : str, optional
        The sheet of a workbook. By default the first.
    query : str, optional
        What to ask a database. It is asked once, in a transaction that can only read, and its answer is kept
        in a temporary file for further passes.
    table : str, optional
        The name of a table or view, instead of a query, for all that is in it.

    Returns
    -------
    Source
        The rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from calibrant.files import open_source
    >>> source = open_source(pa.table({"id": [1, 2, 3], "score": [0.5, 0.1, 0.9]}))
    >>> source.columns, source.n_rows
    (['id', 'score'], 3)
    >>> [batch.to_pydict() for batch in source.batches(["score"], rows=2)]
    [{'score': [0.5, 0.1]}, {'score': [0.9]}]
    """
    dialect = Dialect(delimiter, decimal, encoding)
    if not isinstance(where, str | os.PathLike):
        _refuse_dialect(dialect, "a frame")
        _refuse(_PARTS, (sheet, query, table), "a frame")
        return frame_source(where)
    path = os.fspath(where)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    asked = _asked(path, format, once, dialect, sheet, query, table)
    if asked is not None:
        return asked
    if path == STANDARD:
        if sys.stdin is None:
            raise DataError("standard input must be open; it is closed; send rows to it, or name a file")
        return _stream("standard input", sys.stdin.buffer, format, once, dialect)
    if Path(path).is_dir():
        _refuse_dialect(dialect, "a folder")
        return _folder(path)
    if not Path(path).exists():
        return _pattern(path, format, dialect)
    return _file(path, format, once, dialect)


def _asked(
    path: str,
    format: str | None,  # noqa: A002
    once: bool,
    dialect: Dialect,
    sheet: str | None,
    query: str | None,
    table: str | None,
) -> Source | None:
    """A part of a database or of a workbook; None if it is neither."""
    if query is not None or table is not None or (format is None and is_database(path)):
        _refuse_dialect(dialect, "a database")
        _refuse({**_PARTS, **_FORMAT}, (sheet, None, None, format), "a database")
        return query_source(path, query, table, once)
    if sheet is not None or (format is None and Path(path).suffix.lower() in WORKBOOKS):
        _refuse_dialect(dialect, "a workbook")
        _refuse(_FORMAT, (format,), "a workbook")
        return ExcelSource(path, sheet)
    return None


def _refuse_dialect(dialect: Dialect, what: str) -> None:
    """Say that only CSV has delimiters, decimals and encodings of its own."""
    if dialect.is_given:
        raise ParameterError(
            f"delimiter, decimal and encoding are for CSV; got {what}; leave them out, or give the format"
        )


def _refuse(what_for: dict[str, str], given: Sequence[object], what: str) -> None:
    """Refuse what was said of something else."""
    for (name, use), value in zip(what_for.items(), given, strict=True):
        if value is not None:
            raise ParameterError(f"{name} is for {use}; got {what}; leave it out")


def _stream(name: str, stream: BinaryIO, format: str | None, once: bool, dialect: Dialect) -> Source:  # noqa: A002
    """Rows from a pipe, in which one cannot go back."""
    layout = layout_of("", format or "csv")
    if layout.format in ("csv", "tsv"):
        return CsvSource(name, KeptStream(stream, once), layout.format, dialect)
    _refuse_dialect(dialect, TITLES[layout.format])
    kept = KeptStream(stream, once=False)
    if layout.format == "jsonl":
        return JsonLinesSource(name, kept)
    return ParquetSource(name, kept) if layout.format == "parquet" else ArrowSource(name, kept)


def _file(path: str, format: str | None, once: bool, dialect: Dialect) -> Source:  # noqa: A002
    try:
        if not Path(path).is_file():
            return _stream(path, Path(path).open("rb"), format, once, dialect)
        layout = layout_of(path, format)
        refuse_other_content(path, layout)
    except OSError as error:
        raise DataError(f"{path} must be a file that can be read; {error.strerror}") from error
    if layout.format not in ("csv", "tsv"):
        _refuse_dialect(dialect, TITLES[layout.format])
    if layout.format == "parquet":
        return ParquetSource(path, [Path(path)])
    if layout.format == "arrow":
        return ArrowSource(path, Path(path))
    content = FileBytes(path, layout.compression)
    if layout.format == "jsonl":
        return JsonLinesSource(path, content)
    return CsvSource(path, content, layout.format, dialect)


def _folder(path: str) -> Source:
    files = sorted(
        file
        for suffix in (".parquet", ".pq")
        for file in Path(path).rglob(f"*{suffix}")
        if file.is_file() and not file.name.startswith(("_", "."))
    )
    if not files:
        raise DataError(f"the folder {path} must hold Parquet files; it holds none; give the file itself")
    return ParquetSource(path, files)


def _pattern(path: str, format: str | None, dialect: Dialect) -> Source:  # noqa: A002
    """The Parquet files that a pattern matches, or the one file of another format."""
    found = [Path(name) for name in sorted(glob.glob(path, recursive=True))] if glob.has_magic(path) else []  # noqa: PTH207
    if not found:
        what = "at least one file must match" if glob.has_magic(path) else "the file must exist:"
        raise DataError(f"{what} {path}; there is none; check the name, and the folder it is looked for in")
    if len(found) == 1 and not found[0].is_dir():
        return _file(str(found[0]), format, False, dialect)
    others = [file for file in found if layout_of(str(file), format).format != "parquet"]
    if others:
        raise DataError(
            f"several files must all be Parquet; {others[0]} is not; give one file, or convert them"
        )
    _refuse_dialect(dialect, "several files of Parquet")
    return ParquetSource(path, found)
