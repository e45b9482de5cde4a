"""How the tests of the command call it: as a process, or without one where none is needed."""

import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

DOCS = Path(__file__).parents[2] / "docs"


def process(*arguments, cwd, **options):
    """Run the command as a real process."""
    return subprocess.run(
        [sys.executable, "-m", "calibrant", *map(str, arguments)],
        check=False,
        capture_output=True,
        cwd=cwd,
        **{"text": True} | options,
    )


def start(*arguments, cwd, **options):
    """Start the command, and leave it running."""
    return subprocess.Popen(
        [sys.executable, "-m", "calibrant", *map(str, arguments)],
        cwd=cwd,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def here(*arguments, cwd, stdin=None):
    """Run the command in this process; an error of ours comes out as it was raised."""
    from calibrant.cli._main import cli

    with chdir(cwd):
        done = CliRunner().invoke(cli, list(map(str, arguments)), input=stdin, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def names_in(folder):
    return sorted(os.listdir(folder))  # noqa: PTH208  (names, not paths)
