"""The process around the command: its standard streams, the signals that end it, and its end."""

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from calibrant._core._whole_files import discard_unfinished

#: Signals that ask a process to end, where the system has them.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
#: New objects between two searches for cycles; Python's own number is 700.
_COLLECT_EVERY = 50_000
#: Seconds after which a process that was told to stop is told again.
_AGAIN = 1.0


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


def unwind_when_told() -> None:
    """Let a signal that ends the process clean up first, as an interruption does.

    A signal is an exception between two steps of Python, and compiled code of others may drop it: a reader
    that looks whether pandas can be imported takes any exception for a no. So it is raised again until
    something unwinds.
    """
    for number in _ENDINGS:
        if signal.getsignal(number) is signal.SIG_DFL:  # who started us may have it ignored
            signal.signal(number, _unwind)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _unwind)


def _unwind(number: int, _: Any) -> NoReturn:
    stop = KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: _raise_again(stop))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
    raise stop


def _raise_again(stop: BaseException) -> None:
    """Raise what seems to have been dropped, but disturb no one who cleans up because of it."""
    error = sys.exc_info()[1]
    while error is not None and not isinstance(error, KeyboardInterrupt | Terminated):
        error = error.__context__
    if error is None:
        raise stop


def collect_rarely() -> None:
    """Search rarely for cycles that nothing refers to: what imports make stays, and is searched in vain."""
    gc.set_threshold(_COLLECT_EVERY)


def be_undisturbed() -> None:
    """Ignore all further signals that would end the process: it is about to."""
    for number in (*_ENDINGS, signal.SIGINT, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])):
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
    if status:
        discard_unfinished()
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        if not flushed(stream):
            # What is left of it must not complain when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    if status and "pyarrow" in sys.modules:
        # A reader stopped halfway may still have a thread at work, which would abort Python's own ending.
        os._exit(status)
    gc.freeze()  # what is left ends with the process, and need not be looked through for cycles
    sys.exit(status)


def flushed(stream: TextIO | None) -> bool:
    """Write what a stream holds; False if that fails, now as it did before."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        return False
    return True
