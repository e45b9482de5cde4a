"""`calibrant serve`."""

from typing import Any

import click

from calibrant.cli._files import Command, Read, Written


@click.command("serve", cls=Command, short_help="Answer requests over HTTP with a fitted model.")
@click.argument("model", type=Read(), metavar="MODEL.json")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    help="The port to listen on; 0 for any that is free.",
)
@click.option(
    "--monitor",
    type=Written(),
    metavar="STATE.json",
    help="Watch whether the probabilities stay calibrated: the state of a monitor, made if there is none. "
    "Rows are sent with keys, and what came of them to /outcomes.",
)
@click.option(
    "--max-body",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    metavar="MB",
    help="The most megabytes that a request may bring.",
)
def command(**given: Any) -> None:
    """Answer requests over HTTP with a model that calibrant fit has made.

    POST /probabilities and /decisions take rows of scores, as JSON or as an Arrow stream, and answer in the
    same form; GET /model, /health and /openapi.json say what is served. A new file in the place of the model
    is taken while the service runs. It needs: pip install 'calibrant[serve]'.

    \b
    Examples:
      calibrant serve model.json
      calibrant serve model.json --port 9000 --monitor state.json
      curl --json '[[0.1, 2.3, -0.4]]' http://127.0.0.1:8080/probabilities
    """
    from calibrant.cli._serve_run import run

    run(**given)
