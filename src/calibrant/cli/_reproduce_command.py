"""`calibrant reproduce`."""

from pathlib import Path

import click

from calibrant.cli._files import Command, Folder


@click.command("reproduce", cls=Command, short_help="Recompute tables and figures of the papers.")
@click.argument("names", nargs=-1, metavar="[NAME | PAPER | all]...")
@click.option(
    "--quick/--full",
    "quick",
    default=True,
    show_default=True,
    help="A look (about ten minutes for all on two cores), or the papers' own protocol (hours for all).",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Jobs at a time; by default as many as there are processors. The numbers do not depend on it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings for a machine.")
@click.option(
    "--out",
    type=Folder(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Also write the findings of every experiment to FOLDER/NAME.json.",
)
@click.option("--fresh", is_flag=True, help="Run again what was finished before.")
@click.option(
    "--download", is_flag=True, help="Fetch data sets that are not at hand, where that is possible."
)
def command(
    names: tuple[str, ...],
    quick: bool,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
    fresh: bool,
    download: bool,
) -> None:
    """Recompute tables and figures of the papers; without NAME, list them.

    NAME is an experiment, such as ze02-table4; PAPER is all experiments of a paper, such as ze02. Finished
    parts are kept, so that a run that was interrupted goes on where it stopped.

    The data sets are looked for in the folder that CALIBRANT_DATA names, and in ../shared/data.

    \b
    Examples:
      calibrant reproduce ze02-table4
      calibrant reproduce all --quick --jobs 2
      calibrant reproduce ze02 --full --out findings
    """
    from calibrant.cli._reproduce import Options, list_experiments, run

    if not names:
        list_experiments(as_json)
    else:
        run(names, Options("quick" if quick else "full", jobs, as_json, out, fresh, download))
