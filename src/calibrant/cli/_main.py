"""The command: its parts are loaded when they are called for, its errors are one line."""

import errno
import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from calibrant._core._errors import CalibrantError, ParameterError, ScoreDirectionWarning
from calibrant._core._hints import closest
from calibrant._core._whole_files import n_in_place
from calibrant.cli._process import (
    Terminated,
    be_undisturbed,
    collect_rarely,
    end,
    end_by,
    open_closed_streams,
    unwind_when_told,
)
from calibrant.cli._show import WIDEST

#: The module of every command, in the order in which they are listed.
COMMANDS = {
    "compare": "_compare",
    "fit": "_fit",
    "apply": "_apply",
    "evaluate": "_evaluate",
    "decide": "_decide",
    "monitor": "_monitor",
    "report": "_report",
    "export": "_export",
    "serve": "_serve",
    "inspect": "_inspect",
    "methods": "_methods",
    "code": "_code",
    "demo": "_demo_command",
    "reproduce": "_reproduce_command",
    "completion": "_completion",
}
#: Exit statuses beside 0.
BAD_DATA, BAD_USAGE, INTERRUPTED = 1, 2, 130
#: What a standard output can fail by that is full, closed or broken.
OUTPUT_ERRORS = {errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT}


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; the closest is offered for a mistake."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(f"there is no command {args[0]!r}{closest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interruption is told before click adds an empty line to it."""
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            warnings.simplefilter("always", ScoreDirectionWarning)
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                raise Interrupted from None


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST}
)
@click.version_option(package_name="calibrant", message="calibrant %(version)s")
def cli() -> None:
    """Turn classifier scores into calibrated probabilities, and these into decisions.

    You have a file of scores, one column per class (or a single column for two classes), and for some rows
    the true label. COMPARE says which method suits the scores, FIT learns it, APPLY turns scores into
    probabilities, EVALUATE says how good they are, REPORT shows that on a page, DECIDE takes the decision
    that costs least, MONITOR watches whether they stay good.

    \b
    calibrant compare scores.csv --label label --scores 's_*'
    calibrant fit scores.csv --label label --scores 's_*' --out model.json
    calibrant apply model.json new.csv --out probabilities.csv
    calibrant report probabilities.csv --label label --scores 'p_*' --out report.html

    Files are CSV, TSV, JSON lines, Parquet, Arrow or Feather, by their suffix; '-' is standard input or
    output. Exit status: 0 done, 1 bad data, 2 bad usage, 3 an alarm that --fail-on asks for, 130
    interrupted.
    """


def main() -> None:
    """Run the command as a process."""
    open_closed_streams()
    unwind_when_told()
    collect_rarely()
    try:
        run()
    except SystemExit as status:
        end(int(status.code or 0))
    except Terminated as asked:
        be_undisturbed()
        _say(_ended("terminated"))
        end_by(asked.number)


def run() -> None:
    """Run the command; whatever goes wrong is one line."""
    try:
        status = cli.main(prog_name="calibrant", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(BAD_USAGE)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "calibrant"
        _stop(f"{_what_is_wrong(error)}; see {path} --help", BAD_USAGE)
    except ParameterError as error:
        _stop(_one_line(error), BAD_USAGE)
    except (Interrupted, click.Abort, KeyboardInterrupt):
        if sys.stderr.isatty():
            click.echo(err=True)  # after the ^C that the terminal shows
        _stop(_ended("interrupted"), INTERRUPTED)
    except BrokenPipeError:
        sys.exit(BAD_DATA)  # nobody reads any more
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


def _what_is_wrong(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        known = [name for each in error.ctx.command.get_params(error.ctx) for name in each.opts]
        return f"there is no option {error.option_name}{closest(error.option_name, known)}"
    return error.format_message().rstrip(".")


def _one_line(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there must be more memory for this; pass --in-passes, or use a sample of the rows"
    if isinstance(error, OSError) and not isinstance(error, CalibrantError) and error.strerror:
        if error.filename is None and error.errno in OUTPUT_ERRORS:  # files of ours are named
            return f"standard output must be writable, with room on its disk; {error.strerror}"
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def _ended(how: str) -> str:
    return how if n_in_place() else f"{how}; no file was written"


def _stop(message: str, status: int) -> None:
    _say(message)
    sys.exit(status)


def _say(message: str) -> None:
    with suppress(OSError):  # the status tells it, too
        click.echo(f"calibrant: {message}", err=True)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as one line, without the place in our code."""
    _say(f"warning: {' '.join(str(message).split())}")
