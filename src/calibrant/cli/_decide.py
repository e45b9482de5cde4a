"""`calibrant decide`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Read, Written
from calibrant.cli._settings import set_option


@click.command("decide", cls=Command, short_help="Take the decision that costs least.")
@options.input_file("probabilities", "PROBABILITIES")
@options.scores_option
@click.option(
    "--costs",
    "--cost",
    "costs",
    type=Read(),
    metavar="COSTS.csv",
    required=True,
    help="What decisions cost: the first column names the decision, the header the truth. Decisions beyond "
    "the classes are allowed, such as 'ask a person'; and costs by row, such as 0.68 - amount, where amount "
    "is a column of the input.",
)
@click.option(
    "--rule",
    type=Choice(options.RULES),
    default="expected",
    show_default=True,
    help="Least expected cost, or a rule that is learned from rows with labels.",
)
@set_option("A setting of the rule, such as family=row_mul. May be repeated; the command methods lists them.")
@click.option(
    "--label", metavar="COLUMN", help="Column of the true labels, to learn a rule or to see what was paid."
)
@options.weight_option
@options.positive_option
@options.classes_option
@options.any_costs_option
@click.option(
    "--keep",
    metavar="COLUMNS",
    help="Columns of the input to keep, by name or pattern; '' for none. By default all that are no "
    "probabilities.",
)
@click.option("--out", type=Written(allow_dash=True), metavar="DECISIONS", required=True, help="The output.")
@options.json_option
@options.format_option
@options.out_format_option
@options.passes_option
@options.invalid_option
def command(**given: Any) -> None:
    """Take for every row the decision that costs least on average.

    The output has the columns of the input that are no probabilities, and then DECISION and EXPECTED_COST.
    What is printed says what the decisions cost, and what they save against deciding for the most probable
    class.

    In COSTS.csv rows are decisions and columns are truths:

    \b
      decision,cat,dog,fox
      cat,0,1,5
      dog,1,0,5
      fox,2,2,0

    A further row, such as ask,0.5,0.5,0.5, is a decision beside the classes. A cell may name columns of the
    input. Whom to write to, if a letter costs 0.68 and the column amount is what a row is expected to give:

    \b
      decision,no,yes
      save,0,0
      send,0.68,0.68 - amount

    \b
    Examples:
      calibrant decide probabilities.csv --scores 'p_*' --costs costs.csv --out decisions.csv
      calibrant decide probabilities.csv --scores 'p_*' --costs costs.csv \\
          --rule parallel --label label --out -
    """
    from calibrant.cli._decide_run import run

    run(**options.with_form(given))
