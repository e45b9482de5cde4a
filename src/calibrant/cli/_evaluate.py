"""`calibrant evaluate`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._files import Command, Written


@click.command("evaluate", cls=Command, short_help="Say how good probabilities are.")
@options.input_file("probabilities", "PROBABILITIES")
@options.labelled_options
@click.option(
    "--by", metavar="COLUMN", help="Column of groups: the measures of each, beside those of all rows."
)
@click.option(
    "--report", "page", type=Written(), metavar="PAGE.html", help="Also write a report to this page."
)
@options.json_option
def command(**given: Any) -> None:
    """Say how good probabilities are, against the true labels.

    Measures of all rows, of every class against the others, and with --by of every group of rows. The Brier
    score is the sum of calibration, which a monotone repair of the probabilities would remove, and
    refinement, which no repair removes.

    \b
    Examples:
      calibrant evaluate probabilities.csv --label label --scores 'p_*'
      calibrant evaluate probabilities.csv --label label --scores 'p_*' --by source --json
    """
    from calibrant.cli._evaluate_run import run

    run(**options.with_form(given))
