"""No file is both read and written, and none is written twice: files are the same if the system says so."""

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from calibrant._core._errors import ParameterError
from calibrant._core._whole_files import open_number

#: The path that stands for standard input and output.
STANDARD = "-"
#: The suffixes of the files of a folder that are read.
PARTS = (".parquet", ".pq")
#: The device and the number of a file.
Identity = tuple[int, int]


class Named(NamedTuple):
    """A path, and what the parameter is called that it was given for."""

    name: str
    path: str


def refuse_overlap(read: Sequence[Named], written: Sequence[Named], *, every: bool) -> None:
    """Refuse to write what is read, or two things to one file; `every` file of a folder may be read."""
    _refuse_written_twice(written)
    for source in read:
        _refuse_read(source, written, every)


def _refuse_read(source: Named, written: Sequence[Named], every: bool) -> None:
    """Refuse to write a file that is read; a new one too, if it would be read the next time."""
    files = _files(source.path, every)
    read = {identity for file in files if (identity := _identity(file))}
    for name, path in _with_streams(written):
        identity = _identity(path)
        new = identity is None and isinstance(path, str) and _would_be_read(path, source.path, every)
        if identity in read or new:
            shown = "it" if isinstance(path, int) else path
            among = "" if source.path == path else f", {source.path}" if source.path != STANDARD else ", '-'"
            raise ParameterError(
                f"{name} must not be a file that is read; {shown} is read as {source.name}{among}; give "
                "another file"
            )


def _refuse_written_twice(written: Sequence[Named]) -> None:
    for (one, path), (other, second) in combinations(_with_streams(written), 2):
        if isinstance(path, int) or not _same(path, second):
            continue
        # Both standard streams may go to one file, and a file may be one by its name.
        if isinstance(second, str) or open_number(path) is None:
            raise ParameterError(
                f"{one} and {other} must be two files; both are {path}; give one of them another name"
            )


def _with_streams(written: Sequence[Named]) -> list[tuple[str, str | int]]:
    """All that is written: what a command prints may go to a file, too."""
    paths: list[tuple[str, str | int]] = [each for each in written if each.path != STANDARD]
    return [*paths, ("standard output", 1), ("standard error", 2)]


def _same(path: str, other: str | int) -> bool:
    identity = _identity(path)
    if identity is not None:
        return identity == _identity(other)
    # Neither is there yet, or both are the same device, which may be written twice.
    return (
        isinstance(other, str)
        and not Path(path).exists()
        and os.path.realpath(path) == os.path.realpath(other)
    )


def _identity(path: str | int) -> Identity | None:
    """Which file it is; None if there is none, or if it is a device, a pipe or a folder."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _files(source: str, every: bool) -> Iterator[str | int]:
    """All files that are read."""
    if source == STANDARD:
        yield 0
        return
    source = _local(source)
    if Path(source).is_dir():
        yield from (str(file) for file in Path(source).rglob("*") if _is_part(file.name, every))
    elif Path(source).exists():
        yield source
    elif glob.has_magic(source):
        for found in glob.iglob(source, recursive=True):  # noqa: PTH207
            yield from _files(found, every)


def _would_be_read(path: str, source: str, every: bool) -> bool:
    """Whether a file that is not there yet would be one of a folder or a pattern."""
    place, source = Path(os.path.realpath(path)), _local(source)
    if Path(source).is_dir():
        return place.is_relative_to(os.path.realpath(source)) and _is_part(place.name, every)
    folder, name = os.path.split(source)
    return str(place.parent) == os.path.realpath(folder) and fnmatchcase(place.name, name)


def _is_part(name: str, every: bool) -> bool:
    """Whether a file of a folder is read; a cluster reads them whatever their suffix."""
    return not name.startswith(("_", ".")) and (every or name.lower().endswith(PARTS))


def _local(source: str) -> str:
    """A path of this machine, as Spark may be given it."""
    return re.sub(r"^file:(//(?=/))?", "", source)
