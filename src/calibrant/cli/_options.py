"""Options that several commands share."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from calibrant._core._errors import ParameterError
from calibrant.cli._choice import Choice
from calibrant.cli._files import Read

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
COMBINATIONS = ("normalize", "least_squares", "coupling")
CODES = ("one_vs_all", "all_pairs", "exhaustive", "ordinal")
CODE_ALIASES = {
    "ovr": "one_vs_all",
    "one_vs_rest": "one_vs_all",
    "ovo": "all_pairs",
    "one_vs_one": "all_pairs",
}
RULES = ("expected", "parallel", "lachiche_flach", "mossman")


class Code(Read):
    """The name of a code, or a table that holds one."""

    name = "code"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A name as ours, or the path."""
        if is_table(value):
            return super().convert(value, param, ctx)
        return Choice((*CODES, "code.csv"), CODE_ALIASES).convert(value, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The names, and else files."""
        return Choice(CODES).shell_complete(ctx, param, incomplete) or super().shell_complete(
            ctx, param, incomplete
        )


def is_table(code: str | None) -> bool:
    """Whether a code is told by a file."""
    return code is not None and code.lower().endswith(tuple(f".{each}" for each in FORMATS))


def together(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Apply several options as one, listed in the order given."""
    return lambda command: reduce(lambda done, decorate: decorate(done), reversed(decorators), command)


def input_file(name: str, metavar: str) -> Callable[[Command], Command]:
    """Give the argument for a file of rows."""
    return click.argument(name, type=Read(allow_dash=True), metavar=metavar)


code_option = click.option(
    "--code",
    type=Code(),
    metavar="CODE",
    help="The scores are those of binary classifiers, one per column of this code, in the order of the file: "
    f"{', '.join(CODES)}. A code of your own, or a random one, is a table such as code.csv: the first column "
    "names the classes, the header the columns of scores, and entries are 1, -1 and 0; the command code "
    "writes one.",
)
format_option = together(
    click.option(
        "--format",
        "file_format",
        type=Choice(FORMATS),
        help="Format of the input, where the suffix does not tell it. Standard input is CSV by default.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the cells of CSV; by default the first of comma, semicolon, tab and bar that "
        "divides the first line.",
    ),
    click.option(
        "--decimal",
        type=Choice([".", ","]),
        help="What decimals of CSV have; by default a comma if cells are separated otherwise, some of the "
        "first rows hold numbers with it, and none hold numbers with a point.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="The encoding of CSV, such as windows-1252; by default UTF-8, or UTF-16 by its mark.",
    ),
    click.option("--sheet", metavar="NAME", help="The sheet of an Excel workbook; by default the first."),
    click.option(
        "--query",
        metavar="SQL",
        help="What to ask if the input is a database: a file of SQLite or DuckDB, or an address such as "
        "postgresql://user@host/database.",
    ),
    click.option(
        "--table", metavar="NAME", help="All of this table or view of a database, instead of --query."
    ),
)
#: What is said about the form of the input, beside its format.
FORM = ("delimiter", "decimal", "encoding", "sheet", "query", "table")


def with_form(given: dict[str, Any]) -> dict[str, Any]:
    """Put together what was said about the form of the input."""
    form = {name: given.pop(name) for name in FORM}
    if form["delimiter"] in ("\\t", "tab"):
        form["delimiter"] = "\t"
    return given | {"form": {"format": given.pop("file_format"), **form}}


label_option = click.option("--label", metavar="COLUMN", required=True, help="Column of the true labels.")
scores_option = click.option(
    "--scores",
    metavar="COLUMNS",
    required=True,
    help="Columns of scores: a pattern such as 's_*', in which the star stands for the class, or names with "
    "commas between. Quote the pattern.",
)
weight_option = click.option("--weight", metavar="COLUMN", help="Column of weights: how often a row counts.")
positive_option = click.option(
    "--positive",
    metavar="LABEL",
    help="With a single score: the label that a high score stands for. By default the one that its column "
    "names, or else the greater of the two labels.",
)
classes_option = click.option(
    "--classes",
    metavar="LABELS",
    help="Labels of the score columns in their order, with commas between, where the column names do not "
    "tell them.",
)
costs_option = click.option(
    "--costs",
    "--cost",
    "costs",
    type=Read(),
    metavar="COSTS.csv",
    help="What decisions cost: the first column names the decision, the header the truth. Decisions beyond "
    "the classes are allowed, such as 'ask a person'.",
)
any_costs_option = click.option(
    "--any-costs",
    is_flag=True,
    help="Allow costs by which a class is not the cheapest decision when it is the truth.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the results for a machine.")
out_format_option = click.option(
    "--out-format",
    type=Choice(FORMATS),
    help="Format of the output, where the suffix does not tell it. Standard output is CSV by default.",
)
passes_option = click.option(
    "--in-passes/--in-memory",
    default=None,
    help="Read the rows several times, a batch at a time, or all at once into memory. By default in passes "
    "if they would take more than 256 MiB, or a sixteenth of the machine's memory.",
)
invalid_option = click.option(
    "--handle-invalid",
    "--invalid",
    "invalid",
    type=Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What a row with a missing or infinite number, without a label, or with an unknown one is: an "
    "error that names it, or left out.",
)
labelled_options = together(
    label_option,
    scores_option,
    weight_option,
    positive_option,
    classes_option,
    format_option,
    passes_option,
    invalid_option,
)


def columns_of(given: dict[str, Any], **others: Any) -> dict[str, Any]:
    """What the shared options say about the columns of a file, as `calibrant.files` takes it."""
    names = ("scores", "label", "weight", "positive")
    said = {name: given[name] for name in names} | {"classes": listed(given["classes"])}
    return said | {"handle_invalid": given["invalid"]} | others


def listed(text: str | None) -> list[str] | None:
    """Split labels with commas between."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names) or "" in names:
        raise ParameterError(f"--classes must be distinct labels with commas between; got {text!r}")
    return names
