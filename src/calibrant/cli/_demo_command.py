"""`calibrant demo`."""

from pathlib import Path

import click

from calibrant.cli._files import Command, Folder


@click.command("demo", cls=Command, short_help="Show what calibration does, in about a minute.")
@click.option(
    "--out",
    type=Folder(file_okay=False, path_type=Path),
    default=Path("calibrant-demo"),
    show_default=True,
    help="Folder for the pages.",
)
def command(out: Path) -> None:
    """Show what calibration does: two learners, two problems, about a minute.

    \b
    Example:
      calibrant demo --out pages
    """
    from calibrant.cli._demo import run

    run(out)
