"""Files written whole: under its name a file is complete, or it is what it was before.

It is written beside its place as ``.NAME.*.part``, brought to the disk, and only then moved to its place.
Everything that calibrant writes to a file of its own is written here.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from calibrant._core._errors import CalibrantError, DataError

#: Bytes of the name that the name beside it begins with; most file systems allow 255.
NAME_BYTES = 200
#: What a system says of folders that it cannot bring to the disk by themselves.
_NOT_FOR_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EISDIR, errno.EBADF}


class WholeFile:
    """A file that appears when it is complete, and not before; an open binary file in a ``with`` statement.

    What was there before stays until then, and for good if the block ends with an error. The new file has the
    permissions of the old one, or those of any new file. A symbolic link stays one, and the file that it
    leads to is replaced.

    Parameters
    ----------
    path : str or path
        The file.
    error : type
        What is raised if it cannot be written.
    must : str
        What the message says that the path must be.
    parents : bool
        Whether missing folders are made.
    devices : bool
        Whether what cannot be replaced, a device, a named pipe or a file that is open already, is written to
        as it is, and not refused.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        error: type[CalibrantError] = DataError,
        must: str = "be a file that can be written",
        parents: bool = False,
        devices: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self._error, self._must, self._parents, self._devices = error, must, parents, devices
        self._place = self._beside = self._aside = ""
        self._replaces = True
        self._made: list[Path] = []
        self._file: BinaryIO | None = None

    def __enter__(self) -> BinaryIO:
        """Open the file beside its place."""
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put the file into its place, or take it away."""
        if error is None:
            self.keep()
            return
        self.discard()
        if isinstance(error, OSError) and not isinstance(error, CalibrantError):
            raise self.refusal(error) from error

    def open(self) -> BinaryIO:
        """Open the file beside its place."""
        with self._whole_or_gone():
            if is_special(self.path):
                if not self._devices:
                    raise self._error(f"{self.path} must be a file to be written; it is something else")
                number = open_number(self.path)
                # A file that is open already goes on where it is.
                self._file = os.fdopen(
                    os.open(self.path, os.O_WRONLY) if number is None else os.dup(number), "wb"
                )
                return self._file
            self._place = _place(self.path)
            folder, name = os.path.split(self._place)
            if self._parents:
                self._make_folders(Path(folder))
            short = os.fsencode(name)[:NAME_BYTES].decode(errors="ignore")
            # The name is known before there is a file, so that nothing can come between the two.
            self._beside = os.path.join(folder, f".{short}.{os.urandom(8).hex()}.part")  # noqa: PTH118
            _unfinished.add(self)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(self._beside, flags, 0o666), "wb")
            self._take_permissions()
            return self._file

    def keep(self) -> None:
        """Bring the file to the disk and into its place; in `together`, at its end with the others."""
        with self._whole_or_gone():
            assert self._file is not None
            if not self._beside:  # it is no file of its own
                self._file.close()
                return
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            group = _group.get()
            if group is None:
                _put_into_place([self])
            else:
                group.append(self)

    def discard(self) -> None:
        """Take away what was written, unless it is in its place."""
        if self._file is not None:
            with suppress(OSError, ValueError):
                self._file.close()
        for path in (self._beside, self._aside):
            if path:
                with suppress(OSError):
                    Path(path).unlink()
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()
        _unfinished.discard(self)

    def refusal(self, error: OSError | ValueError) -> CalibrantError:
        """Say in one line why it cannot be written."""
        words = error.strerror if isinstance(error, OSError) and error.strerror else error
        return self._error(f"{self.path} must {self._must}; {words}")

    @contextmanager
    def _whole_or_gone(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.discard()
            if isinstance(error, BrokenPipeError | CalibrantError):
                raise
            if isinstance(error, OSError | ValueError):
                raise self.refusal(error) from error
            raise

    def _make_folders(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            self._made.append(each)

    def _take_permissions(self) -> None:
        """Those of the file that is replaced; a new one has those that the system gives."""
        with suppress(FileNotFoundError):
            old = os.stat(self._place)  # noqa: PTH116
            if hasattr(os, "chown"):
                with suppress(OSError):
                    os.chown(self._beside, old.st_uid, old.st_gid)
            Path(self._beside).chmod(stat.S_IMODE(old.st_mode) & 0o777)

    def _set_aside(self) -> None:
        """Keep the old file under another name, where the file system allows that."""
        self._replaces = Path(self._place).exists()
        if self._replaces:
            aside = f"{self._beside[: -len('.part')]}.old.part"
            with suppress(OSError):
                os.link(self._place, aside)
                self._aside = aside

    def _move(self) -> None:
        try:
            Path(self._beside).replace(self._place)
        except OSError as error:
            raise self.refusal(error) from error

    def _move_back(self) -> None:
        """Undo the move, if it was made: the old file again, or none."""
        if Path(self._beside).exists():
            return
        with suppress(OSError):
            if self._aside:
                Path(self._aside).replace(self._place)
            elif not self._replaces:
                Path(self._place).unlink()

    def _settle(self) -> None:
        """Bring the new name to the disk; the old file is not needed any more."""
        _unfinished.discard(self)
        if self._aside:
            with suppress(OSError):
                Path(self._aside).unlink()
        folders = dict.fromkeys([Path(self._place).parent, *(each.parent for each in reversed(self._made))])
        self._made = []
        try:
            for folder in folders:
                _bring_to_disk(folder)
        except OSError as error:
            raise self.refusal(error) from error


def write_whole(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    error: type[CalibrantError] = DataError,
    parents: bool = False,
) -> None:
    """Write a file that is complete or as it was before."""
    with WholeFile(path, error=error, parents=parents) as file:
        file.write(data)


@contextmanager
def together() -> Iterator[None]:
    """Let the files that are written inside appear at its end, all of them or none."""
    if _group.get() is not None:  # part of a greater whole
        yield
        return
    files: list[WholeFile] = []
    token = _group.set(files)
    try:
        yield
        _put_into_place(files)
    except BaseException:
        for file in files:
            file.discard()
        raise
    finally:
        _group.reset(token)


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to something that cannot be replaced by a file: a device, a pipe, a folder.

    So does a name of an open file, such as /dev/stdout: whoever opened that file looks for the rest there.
    """
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except FileNotFoundError:
        return False
    return not regular or open_number(path) is not None


def open_number(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file of this process that a path such as /dev/stdout leads to, or None."""
    step, own = os.fspath(path), f"/proc/{os.getpid()}/fd"
    for _ in range(40):  # more links in a row are an error of the system
        folder, name = os.path.split(step)
        folder = os.path.realpath(folder)
        if folder == own and name.isdecimal():
            return int(name)
        step = os.path.join(folder, name)  # noqa: PTH118
        if not Path(step).is_symlink():
            break
        step = os.path.join(folder, os.readlink(step))  # noqa: PTH115, PTH118
    return None


def discard_unfinished() -> None:
    """Take away all files of this process that are not in their places, before it ends."""
    for file in list(_unfinished):
        file.discard()


def n_in_place() -> int:
    """How many files this process has put into their places."""
    return _n_in_place


_group: ContextVar[list[WholeFile] | None] = ContextVar("_group", default=None)
_unfinished: set[WholeFile] = set()
_n_in_place = 0


def _put_into_place(files: list[WholeFile]) -> None:
    """Move files to their places; if one of them cannot be moved, none is."""
    global _n_in_place  # noqa: PLW0603
    moved: list[WholeFile] = []
    try:
        for file in files:
            if len(files) > 1:
                file._set_aside()
            moved.append(file)
            file._move()
    except BaseException:
        for file in reversed(moved):
            file._move_back()
        raise
    _n_in_place += len(files)
    for file in files:
        file._settle()


def _place(path: str) -> str:
    """Where the file itself is to be, beyond all links."""
    if not os.path.basename(path):  # noqa: PTH119
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    place = os.path.realpath(path)
    if Path(path).exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return place


def _bring_to_disk(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where folders can be waited for."""
    try:
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
    except OSError as error:
        if error.errno not in _NOT_FOR_FOLDERS:
            raise
