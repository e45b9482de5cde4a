"""`calibrant monitor`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._files import Command, Read, Written

PERIODS = ("hour", "day", "week", "month", "year")


class WindowType(click.ParamType):  # type: ignore[type-arg]
    """A number of rows, or a part of the calendar."""

    name = "rows|period"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read it."""
        if isinstance(value, int) or value in PERIODS:
            return value
        if str(value).isdigit() and int(value) > 0:
            return int(value)
        return self.fail(f"{value!r} is neither a number of rows nor one of {', '.join(PERIODS)}", param, ctx)


@click.command(
    "monitor", cls=Command, short_help="Watch whether probabilities stay calibrated; raise alarms."
)
@options.input_file("log", "LOG")
@click.option("--time", metavar="COLUMN", help="Column of times, dates or numbers; rows are in their order.")
@click.option(
    "--label", metavar="COLUMN", help="Column of the true labels; empty where they are not known yet."
)
@click.option(
    "--scores",
    metavar="COLUMNS",
    help="Columns of probabilities, such as 'p_*', in which the star stands for the class; with --model, of "
    "scores. Quote the pattern.",
)
@click.option("--model", type=Read(), metavar="MODEL.json", help="Model that makes probabilities of scores.")
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Column of groups, each watched for itself; of several columns pairs of values, too.",
)
@click.option(
    "--key",
    metavar="COLUMN",
    help="Column of names of rows: a row without label waits for it; a row with key and label and without "
    "scores is the label of an earlier one.",
)
@options.weight_option
@options.positive_option
@options.classes_option
@click.option(
    "--state",
    type=Written(),
    metavar="STATE.json",
    help="What is known: watching goes on with it if it is there, and it is written at the end.",
)
@click.option(
    "--grown",
    is_flag=True,
    help="LOG is the one that the state has read last, with new rows at its end: pass over the old ones.",
)
@click.option(
    "--reference",
    type=Read(),
    metavar="FILE",
    help="Rows of the time when all was well, to tell drift of scores by, with labels or without.",
)
@options.costs_option
@options.any_costs_option
@click.option(
    "--bound",
    type=click.Choice(["run_length", "ever"]),
    help="What is promised of false alarms: the mean number of rows between them (the default), or the "
    "chance that there ever is one.",
)
@click.option(
    "--run-length",
    type=click.FloatRange(min=2),
    metavar="ROWS",
    help="Mean number of rows between false alarms; 1,000,000 by default.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="CHANCE",
    help="Chance that there ever is a false alarm, with --bound ever; 0.01 by default.",
)
@click.option(
    "--window",
    type=WindowType(),
    metavar="WINDOW",
    help="What estimates are given of together: a number of rows, or hour, day, week, month, year; 5,000 "
    "rows by default.",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many rows wait for labels at most, with --key; 10,000 by default.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="LOG grows, or is standard input: read rows as they are written, and print alarms as they come. "
    "JSON lines or CSV; standard input is JSON lines unless --format says otherwise.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["alarm"]),
    help="Exit with status 3 if these rows raise an alarm; with --follow, at the first one.",
)
@click.option(
    "--report",
    "page",
    type=Written(),
    metavar="PAGE.html",
    help="Also write all that was found to this page.",
)
@options.format_option
@options.invalid_option
@options.json_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Watch whether the probabilities of a log stay calibrated, in one pass over it.

    An alarm says what changed, and when that began. False alarms are bounded however long the log and however
    often one looks. Rows are in time order; labels may be missing, or come later.

    \b
    Examples:
      calibrant monitor log.csv --time when --label status --scores 'p_*' --by region --report page.html
      calibrant monitor log.csv --time when --label status --scores 'p_*' --state monitor.json --grown
      tail -F log.jsonl | calibrant monitor - --label status --scores 'p_*' --follow --fail-on alarm
    """
    from calibrant.cli._monitor_run import run

    status = run(**options.with_form(given))
    context.exit(status)
