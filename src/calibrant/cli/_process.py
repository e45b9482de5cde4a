"""The process around the command: its standard streams, the signals that end it, and its end."""

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from calibrant._core._whole_files import discard_unfinished

#: Signals that ask a process to end, where the system has them.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Terminated(BaseException):
    """The process was asked to end.

    Parameters
    ----------
    number : int
        The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def open_closed_streams() -> None:
    """Take the places of standard streams that are closed.

    Otherwise the next file that is opened would have the number of one of them, and get what is meant for
    it. To read from or to write to what stands in is an error, as it is for a closed one; only messages go
    nowhere.
    """
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the least number that is free, which is this one
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, "r", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def unwind_when_terminated() -> None:
    """Let a signal that ends the process clean up first, as an interruption does."""
    for number in _ENDINGS:
        if signal.getsignal(number) is signal.SIG_DFL:  # who started us may have it ignored
            signal.signal(number, _unwind)


def _unwind(number: int, _: Any) -> NoReturn:
    raise Terminated(number)


def be_undisturbed() -> None:
    """Ignore all further signals that would end the process: it is about to."""
    for number in (*_ENDINGS, signal.SIGINT):
        with suppress(ValueError):  # only the main thread may
            signal.signal(number, signal.SIG_IGN)


def end_by(number: int) -> NoReturn:
    """End as the signal would have ended the process, so that who sent it sees that it did."""
    discard_unfinished()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)


def end(status: int) -> NoReturn:
    """End the process."""
    be_undisturbed()
    discard_unfinished()
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        if not flushed(stream):
            # What is left of it must not complain when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    if status and "pyarrow" in sys.modules:
        # A reader stopped halfway may still have a thread at work, which would abort Python's own ending.
        os._exit(status)
    sys.exit(status)


def flushed(stream: TextIO | None) -> bool:
    """Write what a stream holds; False if that fails, now as it did before."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        return False
    return True
