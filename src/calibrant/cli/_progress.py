"""A progress bar with rows, their rate and time left: on a terminal, and only if the work takes a while."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.files import Progress

#: Seconds before the bar appears.
PATIENCE = 0.7


@contextmanager
def showing() -> Iterator[Callable[["Progress"], None] | None]:
    """Give what shows on standard error how far every pass is; None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar, last = _PatientBar(), ""

    def show(progress: "Progress") -> None:
        nonlocal last
        what = progress.what or f"pass {progress.number}"
        if what != last:
            last = what
            bar.begin(what)
        bar.show(progress)

    try:
        yield show
    finally:
        bar.close()


class _PatientBar:
    """A bar that appears when the work has taken a while, and can begin anew."""

    def __init__(self) -> None:
        self._since = self._begun = time.monotonic()
        self._what = ""
        self._bar: _Bar | None = None

    def begin(self, what: str) -> None:
        """Begin with the first row."""
        self._what, self._begun = what, time.monotonic()
        if self._bar is not None:
            self._bar.begin(what)

    def show(self, progress: "Progress") -> None:
        """Show how far it is."""
        now = time.monotonic()
        if self._bar is None and now - self._since > PATIENCE:
            self._bar = _Bar()
            self._bar.begin(self._what)
        if self._bar is not None:
            self._bar.show(progress.rows, progress.total, progress.share, now - self._begun)

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
