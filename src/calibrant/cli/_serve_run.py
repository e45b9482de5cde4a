"""Serve until the process is asked to end."""

from contextlib import suppress

import click

from calibrant.cli._process import Terminated
from calibrant.serve import serve


def run(*, model: str, host: str, port: int, monitor: str | None, max_body: int) -> None:
    """Listen, and answer."""

    def ready(where: str) -> None:
        click.echo(f"calibrant: serving {model} on {where}", err=True)

    with suppress(Terminated, KeyboardInterrupt):  # by then the last request has been answered
        serve(model, host=host, port=port, monitor=monitor, max_body=max_body << 20, ready=ready)
