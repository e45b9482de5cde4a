"""Print a table of a paper with our numbers beside it."""

import json
from dataclasses import asdict

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from calibrant.experiments._ze02 import Table4Row, table4

EXPERIMENTS = {
    "ze02-table4": "Pendigits: naive Bayes and boosted naive Bayes, one-vs-all, three combinations"
}
CONVENTIONS = (
    "MSE is the Brier score divided by the number of classes, on the test set; calibrated on the training "
    "rows, as in the paper. Coupling is the published iteration; the KL minimiser is what it was to find."
)


def run(name: str | None, as_json: bool) -> None:
    """List the experiments, or run one."""
    if name is None:
        for known, about in EXPERIMENTS.items():
            click.echo(f"{known}  {about}")
        return
    rows = list(table4())
    if as_json:
        content = {"command": f"calibrant reproduce {name} --json", "rows": [asdict(row) for row in rows]}
        click.echo(json.dumps(content, indent=1))
        return
    console = Console(highlight=False)
    console.print(_table(rows))
    console.print(CONVENTIONS)


def _table(rows: list[Table4Row]) -> Table:
    table = Table("learner", "calibrator", "combination", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("MSE", "paper", "error", "paper"):
        table.add_column(heading, justify="right")
    for row in rows:
        numbers = (row.mse, row.paper_mse, row.error, row.paper_error)
        shown = ("" if number is None else f"{number:.4f}" for number in numbers)
        ends = row.combination == "KL minimiser"
        table.add_row(row.learner, row.calibrator, row.combination, *shown, end_section=ends)
    return table
