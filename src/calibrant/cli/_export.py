"""`calibrant export`."""

from typing import Any

import click

from calibrant.cli import _options as options
from calibrant.cli._choice import Choice
from calibrant.cli._files import Command, Read, Written

TARGETS = ("onnx", "sql", "python")
DIALECTS = ("duckdb", "postgresql", "sqlite", "spark")


@click.command("export", cls=Command, short_help="Write a model as ONNX, SQL or Python.")
@click.argument("model", type=Read(), metavar="MODEL.json")
@click.option("--to", type=Choice(TARGETS), required=True, help="What to write.")
@click.option(
    "--out",
    type=Written(allow_dash=True),
    metavar="FILE",
    required=True,
    help="The file to write; '-' for standard output.",
)
@click.option("--dialect", type=Choice(DIALECTS), help="Whose SQL it is to be; by default that of duckdb.")
@click.option(
    "--table",
    metavar="NAME",
    help="With SQL: the table or view of the scores; by default 'scores'. A schema stands before it, a dot "
    "between.",
)
@click.option(
    "--scores",
    metavar="COLUMNS",
    help="With SQL: the columns of scores in the order of the model, with commas between. By default those "
    "that the model was fitted to.",
)
@click.option(
    "--keep",
    metavar="COLUMNS",
    help="With SQL: columns of the table to give beside the results, with commas between; '' for none. By "
    "default the scores, but for any that has the name of a result.",
)
@options.json_option
def command(**given: Any) -> None:
    """Write a model for the place where the scores are, with the answers that calibrant apply gives.

    ONNX is a graph for onnxruntime, from any language. SQL is one statement that reads the scores of a table,
    and gives probabilities and decisions. Python is one module that needs the standard library alone. What
    cannot be written exactly is refused.

    \b
    Examples:
      calibrant export model.json --to sql --table animals --keep id --out model.sql
      calibrant export model.json --to sql --dialect postgresql --table zoo.animals --out -
      calibrant export model.json --to python --out model.py
      calibrant export model.json --to onnx --out model.onnx --json
    """
    from calibrant.cli._export_run import run

    run(**given)
