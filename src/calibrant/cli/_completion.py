"""`calibrant completion`."""

import click

from calibrant.cli._choice import Choice
from calibrant.cli._files import Command


@click.command("completion", cls=Command, short_help="Print the completion script of a shell.")
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> None:
    """Print the script that lets a shell, one of bash, zsh and fish, complete commands and options.

    \b
    Examples:
      calibrant completion bash > ~/.local/share/bash-completion/completions/calibrant
      calibrant completion zsh > ~/.zfunc/_calibrant
      calibrant completion fish > ~/.config/fish/completions/calibrant.fish
    """
    from click.shell_completion import get_completion_class

    from calibrant.cli._main import cli

    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(cli, {}, "calibrant", "_CALIBRANT_COMPLETE").source())
