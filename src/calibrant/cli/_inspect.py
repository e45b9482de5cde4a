"""`calibrant inspect`."""

import click

from calibrant.cli import _options as options
from calibrant.cli._files import Command, Read


@click.command("inspect", cls=Command, short_help="Say what a model file holds.")
@click.argument("model", type=Read(), metavar="MODEL.json")
@options.json_option
def command(model: str, as_json: bool) -> None:
    """Say what a model file holds: classes, method, costs, and what is known of its training.

    \b
    Examples:
      calibrant inspect model.json
      calibrant inspect decider.json --json
    """
    from calibrant.cli._inspect_run import run

    run(model, as_json)
