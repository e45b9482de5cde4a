"""`calibrant methods`."""

import click

from calibrant.cli import _options as options
from calibrant.cli._files import Command


@click.command("methods", cls=Command, short_help="List the methods, and the settings of each.")
@click.argument("name", required=False)
@options.json_option
def command(name: str | None, as_json: bool) -> None:
    """List the methods of calibration, the combinations and the rules; of one of them also its settings.

    Settings are for --set of calibrant fit, compare and decide.

    \b
    Examples:
      calibrant methods
      calibrant methods binning
      calibrant methods --json
    """
    from calibrant.cli._methods_run import run

    run(name, as_json)
