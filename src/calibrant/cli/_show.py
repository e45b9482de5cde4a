"""Tables for people, JSON for machines."""

import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from calibrant.metrics import Estimate

#: Characters in a line of sentences.
WIDTH = 96
#: Beyond this, lines are hard to read.
WIDEST = 120


@dataclass(frozen=True)
class Table:
    """A few columns of text.

    Attributes
    ----------
    headings : tuple of str
        The headings; the first column is set left, the others right.
    rows : sequence of sequences of str
        The cells.
    strong : set of int
        The rows to stress.
    left : bool
        Whether all columns are text, and set left; the last is then wrapped to the terminal.
    """

    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    strong: frozenset[int] = frozenset()
    left: bool = False


def show_table(table: Table, *, err: bool = False) -> None:
    """Print a table: aligned text, the headings bold where there is a terminal."""
    cells = [table.headings, *table.rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(table.headings))]
    if table.left:
        _show_left(cells, widths, err=err)
        return
    for line, row in enumerate(cells):
        first, *others = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        text = "  ".join([first, *others]).rstrip()
        # Off a terminal click takes the styles away.
        strong = line == 0 or line - 1 in table.strong
        click.echo(click.style(text, bold=True) if strong else text, err=err)


def _show_left(cells: Sequence[Sequence[str]], widths: list[int], *, err: bool) -> None:
    """Columns of text, the last of which takes several lines where one is too short."""
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = max(24, width() - before)
    for line, row in enumerate(cells):
        beginning = "".join(f"{cell.ljust(size)}  " for cell, size in zip(row, widths[:-1], strict=False))
        parts = textwrap.wrap(row[-1], room) or [""]
        text = f"\n{' ' * before}".join(parts)
        shown = (beginning + text).rstrip()
        click.echo(click.style(shown, bold=True) if line == 0 else shown, err=err)


def width() -> int:
    """How wide text may be: as the terminal, but no wider than one can read."""
    from shutil import get_terminal_size

    return min(get_terminal_size((WIDTH, 24)).columns, WIDEST)


def show_facts(facts: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Print names with what they stand for."""
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        click.echo(f"{name.ljust(width)}  {value}".rstrip(), err=err)


def show_json(content: Any, *, err: bool = False) -> None:
    """Print JSON that every parser reads: what is not finite is null."""
    from calibrant.metrics import plain_record

    click.echo(json.dumps(plain_record(content), indent=1, ensure_ascii=False, allow_nan=False), err=err)


def show_text(text: str, *, err: bool = False) -> None:
    """Print sentences in lines of a readable length; after an empty line, if the text begins with one."""
    if text.startswith("\n"):
        click.echo(err=err)
    click.echo(textwrap.fill(text.lstrip("\n"), WIDTH), err=err)


def number(value: float | None, digits: int = 4) -> str:
    """Give a number with a fixed number of digits; nothing for None."""
    return "" if value is None else f"{value:.{digits}f}"


def percent(value: float) -> str:
    """Give a share in percent."""
    return f"{100 * value:.1f}%"


def count(value: int) -> str:
    """Give a whole number with separators."""
    return f"{value:,}"


def amount(value: float) -> str:
    """Give a cost: two digits after the point, or for small ones four that count; with its interval alike."""
    ends = (
        (value.low, value.high) if isinstance(value, Estimate) and value.low < value.high < math.inf else ()
    )
    greatest = max(map(abs, (float(value), *ends)))
    spec = ",.2f" if greatest >= 1 or greatest == 0 else ".4g"
    text = format(float(value), spec)
    return f"{text} [{', '.join(format(end, spec) for end in ends)}]" if ends else text


def rows_read(n_rows: int, n_skipped: int | None, in_passes: bool, what: str = "") -> str:
    """Say how many rows there are, how many were left out, and how they were read."""
    parts = [f"{count(n_rows)} {what}".rstrip()]
    if n_skipped:
        parts.append(f"{count(n_skipped)} left out as they cannot be used")
    return ", ".join([*parts, "read in passes"] if in_passes else parts)
