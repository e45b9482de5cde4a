"""Waiting for what others do, such that an interruption comes through at once.

A signal is handled between two steps of Python, and a database may take minutes for one of them.
"""

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

#: Seconds after which we look whether we were interrupted.
LOOKING = 0.1
#: Seconds for which we wait for something that was asked to stop.
STOPPING = 10.0


def patiently(call: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
    """Call something that may take long; if we are interrupted meanwhile, ask it to stop."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            result = call()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    Thread(target=run, name="waiting for others", daemon=True).start()
    try:
        while not done.done():
            wait([done], LOOKING)  # another thread may have got the signal, which wakes only that one
    except BaseException:
        if stop is not None:
            stop()
            wait([done], STOPPING)  # it must not be closed while it works
        raise
    return done.result()
