"""`calibrant compare`."""

from typing import Any

import click

from calibrant.calibrators import KINDS
from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Read
from calibrant.cli._settings import set_option


@click.command(
    "compare", cls=Command, short_help="Say which method to use on your scores, or which of two models."
)
@click.argument("files", type=Read(allow_dash=True), nargs=-1, required=True, metavar="[OLD NEW] SCORES")
@options.label_option
@click.option(
    "--scores",
    metavar="COLUMNS",
    help="Columns of scores: a pattern such as 's_*', in which the star stands for the class, or names with "
    "commas between. Quote the pattern. Of two models by default those that each was fitted to.",
)
@options.weight_option
@options.positive_option
@options.classes_option
@options.format_option
@options.passes_option
@options.invalid_option
@click.option(
    "--kind",
    type=Choice(KINDS),
    help="What the scores are, margin by default. Probabilities are also tried as they are, under the name "
    "identity.",
)
@click.option(
    "--combine",
    type=Choice(options.COMBINATIONS),
    help="How the answers of several columns become one distribution; by default what suits the code: "
    "normalize for one score per class, least_squares for all_pairs, else coupling.",
)
@set_option(
    "A setting of one of the methods, such as binning.n_bins=cv. May be repeated; the command methods "
    "lists them."
)
@options.code_option
@click.option("--cv", type=click.IntRange(min=2), metavar="N", help="Number of folds, 5 by default.")
@options.costs_option
@options.any_costs_option
@options.json_option
def command(**given: Any) -> None:
    """Try every method on your scores, and say which to use, why, and how sure that is.

    Every method is fitted in some folds of the rows and measured in the others. Methods are ranked by log
    loss; BEHIND is how much more of it a method has than the first, +- half of the 95% interval of that;
    FIRST is the share of resamples of the rows in which it comes first. calibrant fit uses auto, the stack,
    unless told otherwise; with --method best it fits the method that is recommended here.

    With two model files before the scores: test on these rows, which neither was fitted to, whether the new
    model is better than the old one in log loss, Brier score and, with costs, in what decisions cost.

    \b
    Examples:
      calibrant compare scores.csv --label label --scores 's_*'
      calibrant compare clicks.parquet --label click --scores score --cv 10 --json
      calibrant compare old.json new.json new.csv --label label --costs costs.csv
    """
    from calibrant.cli._compare_run import run

    run(**options.with_form(given))
