"""Faults of the operating system at the nth call of anything that writes, as SQLite tests itself.

`at_call` lets a function see an error, or the process a signal, at the nth call of open, write, fsync, rename
or link; `count_calls` says how many there are. Files are opened for writing by `os.open` and `os.fdopen`, so
that all bytes go through here.
"""

import io
import os
import signal
from contextlib import contextmanager
from pathlib import Path
from unittest import mock


class Calls:
    """Counts the calls that write, and does something at the nth."""

    def __init__(self, n=None, act=None):
        self.n, self.act = n, act
        self.made = []

    def __call__(self, name, what):
        self.made.append((name, what))
        if len(self.made) == self.n:
            self.act(name)


class _Raw(io.FileIO):
    """A file whose writes are counted."""

    def __init__(self, number, calls):
        super().__init__(number, "wb")
        self._calls = calls

    def write(self, data):
        # A disk that is nearly full takes a part; the rest is written by the next call.
        self._calls("write", len(data))
        return super().write(data)


@contextmanager
def watched(calls):
    """Let all calls that write go through these."""
    really = {name: getattr(os, name) for name in ("open", "fsync", "replace", "link")}

    def counted(name):
        def call(*arguments, **named):
            calls(name, arguments[0])
            return really[name](*arguments, **named)

        return call

    def fdopen(number, mode="r", **_):
        assert mode == "wb"
        return io.BufferedWriter(_Raw(number, calls))

    patches = {name: counted(name) for name in really} | {"fdopen": fdopen}
    with mock.patch.multiple(os, **patches):
        yield calls


def count_calls(work):
    """The calls that some work makes."""
    with watched(Calls()) as calls:
        work()
    return calls.made


def fail(number):
    """What raises this error of the operating system."""

    def act(name):
        raise OSError(number, os.strerror(number))

    return act


def kill(name):
    """What ends the process at once, as a power failure does."""
    os.kill(os.getpid(), signal.SIGKILL)


def terminate(name):
    """What asks the process to end."""
    os.kill(os.getpid(), signal.SIGTERM)


def interrupt(name):
    """What a user does."""
    raise KeyboardInterrupt


def contents(folder):
    """All files of a folder, and the folders in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in Path(folder).rglob("*")
    }
