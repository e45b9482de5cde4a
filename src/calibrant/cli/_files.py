"""Which files a command reads and which it writes: declared with its parameters, and no file is both.

A parameter is `Read`, `Written` or a `Folder` to write into; `Command` looks at all of them before anything
is read. Files are the same if the system says so, whatever their names.
"""

from collections.abc import Iterator
from contextvars import copy_context
from typing import Any

import click

from calibrant._core._words import OPTIONS
from calibrant.cli._overlap import Named, refuse_overlap


class Read(click.Path):
    """A file that is read; or a folder, a pattern, standard input."""


class Written(click.Path):
    """A file that is written."""


class Folder(click.Path):
    """A folder that files of fixed names are written into."""


class Command(click.Command):
    """A command that refuses to write what it reads, or two things to one file."""

    def invoke(self, ctx: click.Context) -> Any:
        """Look at the files, then run; in a context of its own, where parameters are options."""
        read, written = list(_given(ctx, Read)), list(_given(ctx, Written))
        context = copy_context()
        context.run(OPTIONS.set, True)
        refuse_overlap(read, written, every=ctx.params.get("engine") == "spark")
        return context.run(super().invoke, ctx)


def _given(ctx: click.Context, kind: type[click.Path]) -> Iterator[Named]:
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if isinstance(parameter.type, kind) and value is not None:
            option = isinstance(parameter, click.Option)
            name = parameter.opts[0] if option else parameter.metavar or str(parameter.name)
            for path in value if isinstance(value, tuple) else (value,):
                yield Named(name, path)
