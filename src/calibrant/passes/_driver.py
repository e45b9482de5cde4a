"""The engine inside this process: reduce rows to summaries, pass by pass."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from calibrant._core._errors import DataError
from calibrant.passes._rows import Rows
from calibrant.passes._summary import Plan, Summary, Task

T = TypeVar("T")
#: What gives all rows once, whenever it is called.
RowsOfPass = Callable[[], Iterable[Rows]]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a fit has come.

    Attributes
    ----------
    number : int
        Number of the present pass, from 1, and 0 before the first. How many there will be is not known before
        the last.
    rows : int
        Rows of this pass so far.
    what : str
        What the rows are read for, if it is no pass of a plan.
    total : int or None
        Rows of the whole pass, if that is known.
    share : float or None
        How much of the pass is done, from 0 to 1, if that is known.
    """

    number: int
    rows: int
    what: str = ""
    total: int | None = None
    share: float | None = None


def reduce_rows(task: Task, rows: Iterable[Rows], progress: Callable[[int], None] | None = None) -> Summary:
    """Summarise rows.

    Parameters
    ----------
    task : Task
        What to find out.
    rows : iterable of Rows
        The rows, in batches of any size and order.
    progress : callable, optional
        Called after every batch with the number of rows so far.

    Returns
    -------
    Summary
        What was found.
    """
    summary, n_rows = task.empty(), 0
    for batch in rows:
        numbered = batch if batch.key is not None else replace(batch, first=n_rows)
        summary.update(numbered.present())
        n_rows += len(batch)
        if progress is not None:
            progress(n_rows)
        if task.rows_needed is not None and n_rows >= task.rows_needed:
            break
    return summary


def run_plan(
    plan: Plan[T], rows_of_pass: RowsOfPass, progress: Callable[[Progress], None] | None = None
) -> T:
    """Run a plan on rows that can be read again and again.

    Parameters
    ----------
    plan : generator
        What asks for passes.
    rows_of_pass : callable
        Gives an iterable of all rows, whenever it is called.
    progress : callable, optional
        Called after every batch with a `Progress`.

    Returns
    -------
    object
        What the plan returns.
    """
    number, summary, least, most = 0, None, 0, math.inf
    try:
        while True:
            task = plan.send(summary)
            number += 1
            counted = _Counted(number, progress)
            summary = reduce_rows(task, rows_of_pass(), counted)
            if not least <= counted.rows <= most:
                raise DataError(
                    f"the rows must be the same in every pass; pass {number} had {counted.rows} after "
                    f"{least} before; pass a function that gives all rows whenever it is called"
                )
            least = max(least, counted.rows)
            most = counted.rows if task.rows_needed is None else most
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class _Counted:
    """Tells how far a pass has come, and remembers it."""

    def __init__(self, number: int, progress: Callable[[Progress], None] | None) -> None:
        self._number, self._progress = number, progress
        self.rows = 0

    def __call__(self, rows: int) -> None:
        self.rows = rows
        if self._progress is not None:
            self._progress(Progress(self._number, rows))
