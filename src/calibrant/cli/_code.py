"""`calibrant code`."""

import click

from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Written

NAMES = (*options.CODES, "random_dense", "random_sparse")


@click.command("code", cls=Command, short_help="Write a code matrix, to train binary classifiers by.")
@click.argument("name", type=Choice(NAMES, options.CODE_ALIASES), metavar="CODE")
@click.option("--classes", metavar="LABELS", required=True, help="The classes, with commas between.")
@click.option(
    "--random-state",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Which of the random codes; the same number gives the same code.",
)
@click.option(
    "--out", type=Written(allow_dash=True), metavar="CODE.csv", required=True, help="The table to write."
)
def command(name: str, classes: str, random_state: int, out: str) -> None:
    """Write a code matrix as a table: rows are classes, columns are two-class problems.

    CODE is one_vs_all (or ovr), all_pairs (or ovo), exhaustive, ordinal, random_dense or random_sparse. In
    every column the classes with 1 are to be told from those with -1, and those with 0 take no part. Train a
    classifier for every column, name its scores as the column is named, and pass the table to calibrant fit
    with --code.

    \b
    Examples:
      calibrant code random_dense --classes cat,dog,fox --random-state 7 --out code.csv
      calibrant code all_pairs --classes cat,dog,fox --out -
    """
    from calibrant.cli._code_run import run

    run(name, options.listed(classes) or [], random_state, out)
