"""`calibrant compare`."""

from typing import Any

import click

from calibrant.calibrators import KINDS
from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command
from calibrant.cli._settings import set_option


@click.command(
    "compare", cls=Command, short_help="Say which method to use on your scores, and how sure that is."
)
@options.input_file("scores_file", "SCORES")
@options.labelled_options
@click.option(
    "--kind",
    type=Choice(KINDS),
    default="margin",
    show_default=True,
    help="What the scores are. Probabilities are also tried as they are, under the name identity.",
)
@click.option(
    "--combine",
    type=Choice(options.COMBINATIONS),
    help="How the answers of several columns become one distribution; by default what suits the code: "
    "normalize for one score per class, least_squares for all_pairs, else coupling.",
)
@set_option(
    "A setting of one of the methods, such as binning.n_bins=cv. May be repeated; calibrant methods lists "
    "them."
)
@options.code_option
@click.option(
    "--cv", type=click.IntRange(min=2), default=5, show_default=True, metavar="N", help="Number of folds."
)
@options.json_option
def command(**given: Any) -> None:
    """Try every method on your scores, and say which to use, why, and how sure that is.

    Every method is fitted in some folds of the rows and measured in the others. Methods are ranked by log
    loss; BEHIND is how much more of it a method has than the first, +- the standard error of that; FIRST is
    the share of resamples of the rows in which it comes first.

    \b
    Examples:
      calibrant compare scores.csv --label label --scores 's_*'
      calibrant compare clicks.parquet --label click --scores score --cv 10 --json
    """
    from calibrant.cli._compare_run import run

    run(**options.with_form(given))
