"""The command and its errors. Heavy imports live inside the commands, so that --help is quick."""

import sys
from pathlib import Path

import click

from calibrant._core._errors import CalibrantError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="calibrant", message="calibrant %(version)s")
def cli() -> None:
    """Turn classifier scores into probabilities that can be believed."""


@cli.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("calibrant-demo"),
    show_default=True,
    help="Folder for the pictures.",
)
def demo(out: Path) -> None:
    """Show what calibration does: two learners, two problems, about a minute.

    \b
    Example:
      calibrant demo --out pictures
    """
    from calibrant.cli._demo import run

    run(out)


@cli.command()
@click.argument("name", required=False, type=click.Choice(["ze02-table4"]))
@click.option("--json", "as_json", is_flag=True, help="Print the numbers for a machine.")
def reproduce(name: str | None, as_json: bool) -> None:
    """Recompute a table of the papers; without NAME, list them.

    The data sets are looked for in the folder that CALIBRANT_DATA names.

    \b
    Example:
      calibrant reproduce ze02-table4
    """
    from calibrant.cli._reproduce import run

    run(name, as_json)


def main() -> None:
    """Run the command; an error of ours is one line and exit status 1."""
    try:
        cli()
    except CalibrantError as error:
        click.echo(f"calibrant: {error}", err=True)
        sys.exit(1)
