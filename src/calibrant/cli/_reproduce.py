"""Run experiments and print our numbers beside the papers'."""

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from calibrant._core._hints import closest
from calibrant.cli._show import Table, show_json, show_table
from calibrant.experiments import (
    EXPERIMENTS,
    HELD,
    Cache,
    Experiment,
    Outcome,
    Scale,
    blocks,
    row_names,
    run_experiment,
    to_document,
    write_document,
)

INTERRUPTED = 130
#: Called with the name of the experiment, the number of finished jobs and the number of all.
Show = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for beside the names."""

    scale: Scale = "quick"
    jobs: int | None = None
    as_json: bool = False
    out: Path | None = None
    fresh: bool = False
    download: bool = False


def list_experiments(as_json: bool) -> None:
    """Name the experiments with what they show."""
    known = EXPERIMENTS
    if as_json:
        show_json([{"name": name, "title": experiment.title} for name, experiment in known.items()])
        return
    width = max(map(len, known))
    for name, experiment in known.items():
        click.echo(f"{name.ljust(width)}  {experiment.title}")


def run(names: Sequence[str], options: Options) -> None:
    """Run experiments one after the other, and print what each of them found."""
    chosen = _chosen(names)
    if options.download:
        os.environ["CALIBRANT_DOWNLOAD"] = "1"
    documents: list[dict[str, Any]] = []
    try:
        with _progress() as show:
            for experiment in chosen:
                documents.append(to_document(_run_one(experiment, options, show)))
                if options.out is not None:
                    write_document(documents[-1], options.out)
                if not options.as_json:
                    print_document(documents[-1], first=len(documents) == 1)
    except KeyboardInterrupt:
        click.echo("calibrant: interrupted; the same command goes on where this one stopped", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    if options.as_json:
        show_json(documents[0] if len(documents) == 1 else documents)


def _run_one(experiment: Experiment, options: Options, show: Show) -> Outcome:
    return run_experiment(
        experiment,
        options.scale,
        n_jobs=options.jobs or os.cpu_count(),
        cache=Cache(fresh=options.fresh),
        progress=lambda done, total: show(experiment.name, done, total),
    )


def _chosen(names: Sequence[str]) -> list[Experiment]:
    """The experiments that were named, each once, in the order of the list."""
    known = EXPERIMENTS
    papers = {experiment.paper for experiment in known.values()}
    for name in names:
        if name not in known and name not in papers and name != "all":
            raise click.UsageError(
                f"NAME must be 'all', a paper ({', '.join(sorted(papers))}) or an experiment; got {name!r}"
                f"{closest(name, known)}; calibrant reproduce lists them",
                click.get_current_context(silent=True),
            )
    return [each for name, each in known.items() if {"all", name, each.paper} & set(names)]


@contextmanager
def _progress() -> Iterator[Show]:
    """A bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda name, done, total: bar.update(task, description=name, completed=done, total=total)


def print_document(document: Mapping[str, Any], *, first: bool = True) -> None:
    """Print what an experiment found: the table, how to read it, and what should have been seen."""
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 0
    click.echo(("" if first else "\n\n") + f"{document['name']}: {document['title']} ({document['scale']})\n")
    for table in tables(document, width):
        show_table(table)
        click.echo()
    _paragraph(document["conventions"])
    for check in document["checks"]:
        finding = f" [{check['finding']}]" if check["finding"] else ""
        _paragraph(f"{HELD[check['held']]}: {check['statement']}{finding}")
    for reason in document["skipped"]:
        _paragraph(f"skipped: {reason}")


def tables(document: Mapping[str, Any], width: int = 0) -> Iterator[Table]:
    """The table of an experiment; in several parts where it is wider than the terminal, 0 for no limit."""
    names = row_names(document)
    if not names:
        return
    room = width - max(map(len, names)) if width else sys.maxsize
    left = blocks(document)
    while left:
        part = [left.pop(0)]
        while left and sum(block.width for block in (*part, left[0])) <= room:
            part.append(left.pop(0))
        headings = [heading for block in part for heading in block.headings]
        rows: list[Sequence[str]] = [
            [name, *(cell for block in part for cell in block.cells[number])]
            for number, name in enumerate(names)
        ]
        yield Table((", ".join(document["labels"]), *headings), rows)


def _paragraph(text: str) -> None:
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    click.echo(textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False))
