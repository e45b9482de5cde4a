"""Runs a command again and again, each time ended by a signal at the next call that writes.

`python fault_driver.py SIGNAL,... INPUTS FOLDER ARGUMENTS...` makes for every N a copy FOLDER/SIGNAL-N of the
folder INPUTS, runs the command there with the signal at its Nth call, and prints for every signal a line of
exit statuses, negative for a signal. The last run is the one that has fewer calls. Every run is a process of
its own, forked from this one, which has imported all that takes time.
"""

import os
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

import calibrant.cli._apply_run
import calibrant.cli._fit_run
import calibrant.files._apply
import calibrant.files._fit
import calibrant.report._html  # noqa: F401
from calibrant.cli import main
from faults import Calls, watched


def run(number, n, folder, arguments):
    """Be the command, in a process of its own."""
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(f"{folder}.txt", os.O_WRONLY | os.O_CREAT), 2)
    sys.argv = ["calibrant", *arguments]
    with watched(Calls(n, lambda _: os.kill(os.getpid(), number))):
        main()


def status_of(number, n, folder, arguments):
    """The exit status of one run."""
    child = os.fork()
    if child == 0:
        try:
            run(number, n, folder, arguments)
        except SystemExit as end:
            os._exit(end.code or 0)
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def drive(name, inputs, folder, arguments):
    """The statuses of all runs, until one has fewer calls."""
    for n in count(1):
        place = Path(folder) / f"{name}-{n}"
        shutil.copytree(inputs, place)
        status = status_of(getattr(signal, name), n, place, arguments)
        yield status
        if status == 0:
            return


if __name__ == "__main__":
    names, inputs, folder, *arguments = sys.argv[1:]
    for name in names.split(","):
        print(*drive(name, inputs, folder, arguments), flush=True)  # noqa: T201
