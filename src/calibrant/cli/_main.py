"""The command: its parts are loaded when they are called for, its errors are one line."""

import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from calibrant._core._errors import CalibrantError, ParameterError

#: The module of every command, in the order in which they are listed.
COMMANDS = {
    "compare": "_compare",
    "fit": "_fit",
    "apply": "_apply",
    "evaluate": "_evaluate",
    "decide": "_decide",
    "report": "_report",
    "inspect": "_inspect",
    "demo": "_demo_command",
    "reproduce": "_reproduce_command",
    "completion": "_completion",
}
#: Exit statuses beside 0.
BAD_DATA, BAD_USAGE, INTERRUPTED = 1, 2, 130


class Interrupted(Exception):  # noqa: N818  (nothing went wrong)
    """The user has stopped the command."""


class Commands(click.Group):
    """Commands that are imported when they are called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands in the order in which one uses them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"calibrant.cli.{COMMANDS[cmd_name]}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interruption is told before click adds an empty line to it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="calibrant", message="calibrant %(version)s")
def cli() -> None:
    """Turn classifier scores into probabilities that can be believed.

    You have a file of scores, one column per class (or a single column for two classes), and for some rows
    the true label. COMPARE says which method suits the scores, FIT learns it, APPLY turns scores into
    probabilities, EVALUATE says how good they are, DECIDE takes the decision that costs least.

    \b
    calibrant compare scores.csv --label label --scores 's_*'
    calibrant fit scores.csv --label label --scores 's_*' --out model.json
    calibrant apply model.json new.csv --out probabilities.csv

    Files are CSV, TSV, JSON lines, Parquet, Arrow or Feather, by their suffix; '-' is standard input or
    output. Exit status: 0 done, 1 bad data, 2 bad usage, 130 interrupted.
    """


def main() -> None:
    """Run the command as a process."""
    try:
        run()
    except SystemExit as end:
        if end.code and "pyarrow" in sys.modules:
            # A reader stopped halfway may still have a thread at work, which would abort Python's own
            # ending. All files have been closed or removed by now.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):
                    stream.flush()
            os._exit(int(end.code))
        raise


def run() -> None:
    """Run the command; whatever goes wrong is one line."""
    warnings.showwarning = _warn
    try:
        sys.exit(cli.main(prog_name="calibrant", standalone_mode=False))
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "calibrant"
        _stop(f"{error.format_message().rstrip('.')}; see {path} --help", BAD_USAGE)
    except ParameterError as error:
        _stop(_one_line(error), BAD_USAGE)
    except (Interrupted, click.Abort, KeyboardInterrupt):
        if sys.stderr.isatty():
            click.echo(err=True)  # after the ^C that the terminal shows
        _stop("interrupted; no file was written", INTERRUPTED)
    except BrokenPipeError:
        # Nobody reads any more. What is still to be written must not complain when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(BAD_DATA)
    except (CalibrantError, click.ClickException, OSError, MemoryError) as error:
        _stop(_one_line(error), BAD_DATA)
    except Exception as error:
        if "CALIBRANT_DEBUG" in os.environ:
            raise
        _stop(
            f"unexpected {type(error).__name__}: {_one_line(error)}; this is a fault of calibrant; set "
            "CALIBRANT_DEBUG=1 to see where",
            BAD_DATA,
        )


def _one_line(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there must be more memory for this; pass --in-passes, or use a sample of the rows"
    if isinstance(error, OSError) and not isinstance(error, CalibrantError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _stop(message: str, status: int) -> None:
    click.echo(f"calibrant: {message}", err=True)
    sys.exit(status)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as one line, without the place in our code."""
    click.echo(f"calibrant: warning: {' '.join(str(message).split())}", err=True)
