"""Try the laws on ever new cases: `make fuzz SECONDS=1800`.

The time is shared evenly by the families, and within each by its laws, in rounds; the number of the run and
of the round make the cases, so that a run can be repeated. A law that breaks is not tried further; the
smallest case that breaks it is kept in `tests/fuzz/failures`, where the tests find it.
"""

import hashlib
import secrets
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from fuzz.families import FAMILIES
from fuzz.laws import FAILURES, LAWS, Failure, Law, search, what_went_wrong


@dataclass
class Tried:
    """What became of one law."""

    law: Law
    rounds: int = 0
    cases: int = 0
    seconds: float = 0.0
    failure: Failure | None = field(default=None)

    def go_on(self, seed: int) -> None:
        """Try the cases of one more round."""
        number = hashlib.sha256(f"{seed} {self.law.name} {self.rounds}".encode()).digest()[:8]
        start = time.monotonic()
        cases, self.failure = search(self.law, self.law.few, int.from_bytes(number))
        self.rounds += 1
        self.cases += cases
        self.seconds += time.monotonic() - start


@click.command(help=__doc__)
@click.option("--seconds", default=60.0, show_default=True, help="How long to search.")
@click.option("--family", "families", type=click.Choice(FAMILIES), multiple=True, help="Only this family.")
@click.option("--law", "names", multiple=True, help="Only this law.")
@click.option("--seed", type=int, help="The number that makes the cases; by default a new one.")
@click.option("--failures", default=FAILURES, type=click.Path(path_type=Path), help="Where to keep failures.")
def main(
    seconds: float, families: tuple[str, ...], names: tuple[str, ...], seed: int | None, failures: Path
) -> None:
    seed = secrets.randbelow(10**9) if seed is None else seed
    chosen = [law for law in LAWS.values() if law.family in (families or FAMILIES)]
    tried = [Tried(law) for law in chosen if not names or law.name in names]
    console = Console(width=None if sys.stdout.isatty() else 110)
    run(tried, seconds, seed, Console(stderr=True))
    console.print(table(tried, seed))
    broken = [one.failure for one in tried if one.failure]
    for failure in broken:
        console.print(f"[bold]{failure.law.name}[/]: {what_went_wrong(failure.error)}", highlight=False)
        console.print(f"  kept as {failure.keep(failures)}", highlight=False)
    sys.exit(bool(broken))


def run(tried: list[Tried], seconds: float, seed: int, console: Console) -> None:
    """Go on with the family that has had the least time, and the law in it, until the time is over."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    start = time.monotonic()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("fuzz", total=seconds)
        while (spent := time.monotonic() - start) < seconds:
            whole = [one for one in tried if one.failure is None]
            if not whole:
                break
            spent_on = Counter()
            for one in tried:
                spent_on[one.law.family] += one.seconds
            least = min(whole, key=lambda one: (spent_on[one.law.family], one.seconds))
            n_cases, n_broken = sum(one.cases for one in tried), len(tried) - len(whole)
            told = f"{n_cases:,} cases, {n_broken} laws broken; {least.law.name}"
            progress.update(bar, completed=spent, description=told)
            least.go_on(seed)


def table(tried: list[Tried], seed: int) -> Table:
    """Cases and failures of every family."""
    shown = Table("family", title=f"fuzz --seed {seed}")
    for name in ("laws", "cases", "cases/min", "broken"):
        shown.add_column(name, justify="right")
    by_family = defaultdict(list)
    for one in tried:
        by_family[one.law.family].append(one)
    for family, members in by_family.items():
        cases, seconds = sum(one.cases for one in members), sum(one.seconds for one in members)
        n_broken = sum(one.failure is not None for one in members)
        rate = f"{60 * cases / seconds:,.0f}" if seconds else "-"
        shown.add_row(family, str(len(members)), f"{cases:,}", rate, str(n_broken))
    return shown


if __name__ == "__main__":
    main()
