"""`calibrant report`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._files import Command, Written


@click.command("report", cls=Command, short_help="Write a page: are these probabilities calibrated?")
@options.input_file("probabilities", "PROBABILITIES")
@options.labelled_options
@options.costs_option
@click.option("--names", metavar="COLUMN", help="Column that names the rows in the list of likely mistakes.")
@click.option(
    "--before",
    metavar="FILE",
    help="Probabilities of the same rows before, in the same order: both are shown side by side.",
)
@click.option(
    "--before-scores",
    metavar="PATTERN",
    help="The columns of --before that hold them; by default those of --scores.",
)
@click.option("--title", metavar="TEXT", help="What the report is about.")
@click.option(
    "--out", type=Written(), metavar="PAGE.html", required=True, help="The page, or its numbers as .json."
)
def command(**given: Any) -> None:
    """Write a page that says whether probabilities are calibrated, and what decisions by them cost.

    The page is one file that needs no network.

    \b
    Examples:
      calibrant report probabilities.csv --label label --scores 'p_*' --out report.html
      calibrant report probabilities.csv --label label --scores 'p_*' \\
          --costs costs.csv --names id --out costs.html
    """
    from calibrant.cli._report_run import run

    run(**options.with_form(given))
