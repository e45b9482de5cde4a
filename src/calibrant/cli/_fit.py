"""`calibrant fit`."""

from typing import Any

import click

from calibrant.calibrators import ALIASES, AUTO, DEFAULT, KINDS, METHODS
from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Read, Written
from calibrant.cli._settings import BEST, set_option


@click.command("fit", cls=Command, short_help="Learn the map from scores to probabilities.")
@options.input_file("scores_file", "SCORES")
@options.labelled_options
@click.option(
    "--method",
    type=Choice((AUTO, BEST, *METHODS), ALIASES),
    default=DEFAULT,
    show_default=True,
    metavar="NAME",
    help="How scores become probabilities: auto is the stack of all scores of a row, whatever calibrant "
    "compare would recommend; best is what it recommends for these rows; or one of "
    f"{', '.join(METHODS)}.",
)
@click.option(
    "--combine",
    type=Choice(options.COMBINATIONS),
    help="How the answers of several columns become one distribution; by default what suits the code: "
    "normalize for one score per class, least_squares for all_pairs, else coupling. With auto it "
    "makes a calibrator of every column.",
)
@set_option(
    "A setting of the method, such as n_bins=cv; of the combination or of the rule, such as "
    "rule.family=row_mul. A list has commas between. May be repeated; the command methods lists them."
)
@options.code_option
@click.option(
    "--kind",
    type=Choice(KINDS),
    default="margin",
    show_default=True,
    help="What the scores are. Probabilities are checked to lie between 0 and 1.",
)
@options.costs_option
@click.option(
    "--rule",
    type=Choice(options.RULES),
    help="How to decide under these costs; by default by least expected cost.",
)
@click.option(
    "--engine",
    type=Choice(["here", "spark"]),
    default="here",
    show_default=True,
    help="Where the rows are read: in this process, or by a Spark cluster (needs the extra spark), to which "
    "SCORES is a path of its own file systems.",
)
@click.option(
    "--master", metavar="URL", help="The master of the Spark cluster, such as spark://host:7077 or local[4]."
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Column of groups, such as regions, whose probabilities may differ: each gets a correction of its "
    "own, shrunk toward none, so that a group of few rows borrows from all. calibrant apply then needs the "
    "column.",
)
@click.option(
    "--update",
    "old",
    type=Read(),
    metavar="MODEL.json",
    help="Fit this model again to new rows, with its own method, costs, rule and groups, and say what "
    "changes.",
)
@click.option("--date", metavar="TEXT", help="A date to keep in the model, such as 2026-03-31.")
@click.option(
    "--report", "page", type=Written(), metavar="PAGE.html", help="Also write a report to this page."
)
@click.option("--out", type=Written(), metavar="MODEL.json", required=True, help="The model to write.")
@options.json_option
def command(**given: Any) -> None:
    """Learn the map from scores to probabilities, and keep it as one small file.

    SCORES has a column of true labels and columns of scores, for rows that the classifier behind the
    scores was not trained on. What is printed is measured on rows that were left out: five models are fitted,
    each to four fifths of the rows, and asked about the others; the model that is kept is fitted to all of
    them. Of very many rows one part is left out. Inputs larger than memory are read in passes.

    \b
    Examples:
      calibrant fit scores.csv --label label --scores 's_*' --out model.json
      calibrant fit clicks.parquet --label click --scores score --method sigmoid --out clicks.json
      calibrant fit clicks.parquet --label click --scores score --method best --out clicks.json
      calibrant fit clicks.parquet --label click --scores score \\
          --method binning --set n_bins=cv --out bins.json
      calibrant fit scores.csv --label label --scores 's_*' \\
          --costs costs.csv --rule parallel --out decider.json
      calibrant fit scores.csv --label label --scores 's_*' --update model.json --out new.json
    """
    if given["old"] is not None:
        from calibrant.cli._update_run import run as update

        update(**options.with_form(given))
        return
    from calibrant.cli._fit_run import run

    del given["old"]
    run(**options.with_form(given))
