"""A progress bar with rows and time left: on a terminal, and only if the work takes a while."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.engines import Source

#: Seconds before the bar appears.
PATIENCE = 0.7


def watched(batches: Iterator[Any], source: "Source", what: str) -> Iterator[Any]:
    """Pass batches on, and show on standard error how far they are."""
    if not sys.stderr.isatty():
        yield from batches
        return
    bar, begun, n_rows = None, time.monotonic(), 0
    try:
        for batch in batches:
            n_rows += batch.num_rows
            if bar is None and time.monotonic() - begun > PATIENCE:
                bar = _Bar(source, what)
            if bar is not None:
                bar.show(n_rows)
            yield batch
    finally:
        if bar is not None:
            bar.close()


class _Bar:
    """The bar, made when it is first needed, because rich takes a while to load."""

    def __init__(self, source: "Source", what: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._source = source
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]:,} rows"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=None, rows=0)
        self._progress.start()

    def show(self, n_rows: int) -> None:
        """Move the bar, by rows where their number is known, else by the share of the file."""
        share = n_rows / self._source.n_rows if self._source.n_rows else self._source.share_read
        known: dict[str, Any] = {} if share is None else {"total": 1.0, "completed": min(share, 1.0)}
        self._progress.update(self._task, rows=n_rows, **known)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
