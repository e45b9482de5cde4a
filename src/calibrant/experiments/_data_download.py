"""Data sets from their public sources, on request, checked, and kept.

Nothing is fetched unless CALIBRANT_DOWNLOAD is 1 (`calibrant reproduce --download` sets it). What comes is
turned into the form in which all our files are (a heading, the class last, an empty cell for a missing value,
the values as they were), and the checksum of that form is compared with the one below. So a source that has
changed its line ends or its order of columns would do, and one that has changed a value would not.
"""

import csv
import gzip
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException, IncompleteRead
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

from calibrant._core._errors import DataError
from calibrant._core._whole_files import write_whole

#: The repository that most sets of the papers come from; CALIBRANT_UCI names another copy of it.
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
#: Seconds that a server may be silent, and that a whole answer may take.
TIMEOUT, DEADLINE = 60, 600
#: Bytes that an answer may have; the largest file of the papers has four million.
MOST_BYTES = 1 << 26
#: Letters of an error that are shown.
MOST_SHOWN = 200
_INSTEAD = "set CALIBRANT_DATA to a folder that holds the file"


class MissingDataError(DataError):
    """A data set is not at hand; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file comes from, and how its rows are written there.

    Attributes
    ----------
    paths : tuple of str
        Paths in the repository; the rows of several files stand beside each other.
    columns : tuple of str
        The headings in the order of the source; the class is called "class".
    separator : str, optional
        What stands between the values; by default a comma. White space if empty.
    skipped : int
        Number of lines at the beginning that are no rows.
    sha256 : str
        Checksum of the file in our form, before it is compressed.
    """

    paths: tuple[str, ...]
    columns: tuple[str, ...]
    sha256: str
    separator: str = ","
    skipped: int = 0


@cache
def sources() -> Mapping[str, Source]:
    """The files whose source is known."""
    listed = json.loads((files("calibrant.experiments") / "data_sources.json").read_text(encoding="utf-8"))
    return {
        file: Source(**entry | {"paths": tuple(entry["paths"]), "columns": tuple(entry["columns"])})
        for file, entry in listed.items()
    }


def download_cache() -> Path:
    """The folder of downloaded files."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "calibrant" / "data"


def fetch(file: str) -> Path:
    """Download a file, if that was asked for and its source is known."""
    source = sources().get(file)
    allowed = os.environ.get("CALIBRANT_DOWNLOAD") == "1"
    if source is None or not allowed:
        where = "; it can be downloaded: set CALIBRANT_DOWNLOAD=1, or " if source is not None else "; "
        raise MissingDataError(
            f"the data set {file} must be in the folder that CALIBRANT_DATA names; it is not there, nor in "
            f"../shared/data{where}{_INSTEAD}"
        )
    home = os.environ.get("CALIBRANT_UCI", UCI).rstrip("/")
    content = _in_our_form(source, [_read(f"{home}/{path}", file) for path in source.paths], file)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise MissingDataError(
            f"the rows of {file} must be those that the experiments were made for; what {home} gives has "
            f"the checksum {found[:12]}..., not {source.sha256[:12]}...; {_INSTEAD}"
        )
    return _keep(download_cache() / file, content)


def _read(address: str, file: str) -> list[str]:
    """The lines of a file of the repository; whatever is wrong with the answer is one line."""
    try:
        body = _in_time(lambda: _body(address))
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()  # it is the answer, too
        reason = "".join(letter if letter.isprintable() else " " for letter in str(error)) or repr(error)
        raise MissingDataError(
            f"the data set {file} must be downloaded from {address}; that failed "
            f"({' '.join(reason.split())[:MOST_SHOWN]}); try again, or {_INSTEAD}"
        ) from error
    return body.decode("utf-8", errors="replace").splitlines()


def _in_time(get: Callable[[], bytes]) -> bytes:
    """Wait for an answer, but not forever: a server that sends a byte now and then is never silent."""
    done: Future[bytes] = Future()

    def work() -> None:
        try:
            done.set_result(get())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        return done.result(DEADLINE)
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"it took more than {DEADLINE} seconds") from error


def _body(address: str) -> bytes:
    """All bytes of an answer, of which there must not be too many or too few."""
    with urlopen(address, timeout=TIMEOUT) as answer:
        body: bytes = answer.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ValueError(f"the answer has more than {MOST_BYTES} bytes")
        missing = getattr(answer, "length", None)
    if missing:
        raise IncompleteRead(body, missing)
    return body


def _in_our_form(source: Source, parts: list[list[str]], file: str) -> bytes:
    """The file as ours are: a heading, the class last, empty cells for what is missing."""
    target = source.columns.index("class")
    order = [*(place for place in range(len(source.columns)) if place != target), target]
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([source.columns[place] for place in order])
    for cells in _rows(source, parts, file):
        writer.writerow(["" if cells[place] == "?" else cells[place] for place in order])
    return written.getvalue().encode()


def _rows(source: Source, parts: list[list[str]], file: str) -> Iterator[list[str]]:
    """The cells of every row, those of several files side by side."""
    for lines in zip_longest(*(filter(str.strip, part[source.skipped :]) for part in parts), fillvalue=""):
        cells = [cell.strip() for line in lines for cell in line.split(source.separator or None)]
        if len(cells) != len(source.columns):
            raise MissingDataError(
                f"the rows of {file} must have {len(source.columns)} values; the source gives "
                f"{len(cells)}: {lines[0][:60]!r}; {_INSTEAD}"
            )
        yield cells


def _keep(path: Path, content: bytes) -> Path:
    """Keep the file, complete or not at all."""
    write_whole(path, gzip.compress(content, mtime=0), parents=True)
    return path
