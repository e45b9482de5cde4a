"""A progress bar with rows, their rate and time left: on a terminal, and only if the work takes a while."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.files import Progress, Source

#: Seconds before the bar appears.
PATIENCE = 0.7


def watched(batches: Iterator[Any], source: "Source", what: str) -> Iterator[Any]:
    """Pass batches on, and show on standard error how far they are."""
    if not sys.stderr.isatty():
        yield from batches
        return
    bar, n_rows = _PatientBar(source), 0
    bar.begin(what)
    try:
        for batch in batches:
            n_rows += len(batch)
            bar.show(n_rows)
            yield batch
    finally:
        bar.close()


@contextmanager
def watched_passes(source: "Source") -> Iterator[Callable[["Progress"], None] | None]:
    """Give what shows on standard error how far every pass is; None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar, number = _PatientBar(source), 0

    def show(progress: "Progress") -> None:
        nonlocal number
        if progress.number != number:
            number = progress.number
            bar.begin(f"pass {number}")
        bar.show(progress.rows)

    try:
        yield show
    finally:
        bar.close()


class _PatientBar:
    """A bar that appears when the work has taken a while, and can begin anew."""

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._since = self._begun = time.monotonic()
        self._what = ""
        self._bar: _Bar | None = None

    def begin(self, what: str) -> None:
        """Begin with the first row."""
        self._what, self._begun = what, time.monotonic()
        if self._bar is not None:
            self._bar.begin(what)

    def show(self, n_rows: int) -> None:
        """Show how far it is, by rows where their number is known, else by the share of the file."""
        now = time.monotonic()
        if self._bar is None and now - self._since > PATIENCE:
            self._bar = _Bar()
            self._bar.begin(self._what)
        if self._bar is not None:
            total = self._source.n_rows
            share = n_rows / total if total else self._source.share_read
            self._bar.show(n_rows, total, share, now - self._begun)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


class _Bar:
    """The bar itself, made when it is first needed, because rich takes a while to load."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=8),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, rate="")
        self._what = ""
        self._progress.start()

    def begin(self, what: str) -> None:
        """Begin with the first row."""
        self._what = what
        self._progress.reset(self._task, total=None, description=what, rate="")

    def show(self, n_rows: int, total: int | None, share: float | None, seconds: float) -> None:
        """Move the bar."""
        known: dict[str, Any] = {} if share is None else {"total": 1.0, "completed": min(share, 1.0)}
        of = f" of {total:,}" if total else ""
        rate = f"{n_rows / seconds:,.0f} rows/s" if seconds > 0 else ""
        self._progress.update(
            self._task, description=f"{self._what}: {n_rows:,}{of} rows", rate=rate, **known
        )

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
