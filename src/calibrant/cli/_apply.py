"""`calibrant apply`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Read, Written


@click.command("apply", cls=Command, short_help="Turn scores into probabilities with a fitted model.")
@click.argument("model", type=Read(), metavar="MODEL.json")
@options.input_file("scores_file", "SCORES")
@click.option(
    "--scores",
    metavar="COLUMNS",
    help="Columns of scores, as for calibrant fit. By default those that the model was fitted to; "
    "or, if the file lacks these, those named like the classes of the model, with the same text before and "
    "after each; for a single score the column 'score', or the only one.",
)
@click.option(
    "--top", type=click.IntRange(min=1), metavar="N", help="The N best classes of every row, not all."
)
@click.option(
    "--decide", "with_decision", is_flag=True, help="Add a column with the decision that costs least."
)
@click.option(
    "--keep",
    metavar="COLUMNS",
    help="Columns of the input to keep, by name or pattern; '' for none. By default all that are no scores.",
)
@click.option(
    "--out", type=Written(allow_dash=True), metavar="PROBABILITIES", required=True, help="The output."
)
@options.format_option
@options.out_format_option
@click.option(
    "--handle-invalid",
    "--invalid",
    "invalid",
    type=Choice(["error", "skip", "keep"]),
    default="error",
    show_default=True,
    help="What a row with a missing or infinite score is: an error that names it, left out, or kept without "
    "probabilities.",
)
def command(**given: Any) -> None:
    """Turn scores into probabilities with a model that calibrant fit has made.

    The output has the columns of the input that are no scores, and then a column p_CLASS for every class, so
    that calibrant evaluate takes it with --scores 'p_*'. Files of any length are worked through in batches.

    \b
    Examples:
      calibrant apply model.json new.csv --out probabilities.csv
      calibrant apply model.json new.csv --top 2 --decide --keep id --out -
      cat new.csv | calibrant apply model.json - --out - | head -3
    """
    from calibrant.cli._apply_run import run

    run(**options.with_form(given))
