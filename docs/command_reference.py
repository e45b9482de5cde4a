"""Keep the reference part of guide/command.md as the commands themselves describe it.

`python docs/command_reference.py` rewrites that part; a test fails if it is not up to date.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from calibrant.cli._main import cli

PAGE = Path(__file__).parent / "guide" / "command.md"
BEGIN, END = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"


def reference() -> str:
    """Every command with its arguments and options."""
    context = click.Context(cli, info_name="calibrant")
    commands = [cli.get_command(context, name) for name in cli.list_commands(context)]
    return "\n".join(line for command in commands for line in _section(command)) + "\n"


def _section(command: click.Command) -> Iterator[str]:
    arguments = [_argument(each) for each in command.params if isinstance(each, click.Argument)]
    options = [each for each in command.params if isinstance(each, click.Option)]
    needed = [_call(option) for option in options if option.required]
    yield f"### `calibrant {command.name}`"
    yield ""
    yield f"`calibrant {' '.join([command.name, *arguments, *needed])}`"
    yield ""
    yield _first_paragraph(command)
    yield ""
    if options:
        yield "| option | meaning |"
        yield "|---|---|"
        for option in options:
            yield f"| `{_call(option)}` | {_meaning(option)} |"
        yield ""


def _argument(argument: click.Argument) -> str:
    if isinstance(argument.type, click.Choice) and argument.required:
        return "|".join(argument.type.choices)
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _call(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return " / ".join([names, *option.secondary_opts])
    if isinstance(option.type, click.Choice):
        return f"{names} NAME"
    return f"{names} {option.metavar or option.type.name.upper()}"


def _meaning(option: click.Option) -> str:
    text = " ".join((option.help or "").split())
    if isinstance(option.type, click.Choice) and option.metavar is None:  # which is told by the help itself
        text += f" One of {', '.join(f'`{choice}`' for choice in option.type.choices)}."
    if option.show_default and option.default is not None:
        default = option.default
        if option.secondary_opts:
            default = (option.opts if default else option.secondary_opts)[0]
        text += f" Default: `{default}`."
    return text


def _first_paragraph(command: click.Command) -> str:
    text = (command.help or "").split("\n\n")[0]
    return re.sub(r"\s+", " ", text.replace("\b", "")).strip()


def updated(page: str) -> str:
    """The page with the present reference."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + reference() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
