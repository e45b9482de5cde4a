"""Several questions answered by the same pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from calibrant._core._arrays import Array
from calibrant.passes._rows import Rows
from calibrant.passes._summary import Plan, Summary, Task, read_summary
from calibrant.passes._travel import travels

T = TypeVar("T")


@travels
@dataclass(frozen=True, eq=False)
class Together(Task):
    """Tasks for the same rows.

    Parameters
    ----------
    tasks : tuple of Task
        The tasks.
    """

    tasks: tuple[Task, ...]

    @property
    def rows_needed(self) -> int | None:  # type: ignore[override]
        """As many as the most demanding task needs."""
        needed = [task.rows_needed for task in self.tasks]
        return None if None in needed else max(filter(None, needed), default=None)

    def empty(self) -> "Parts":
        """Give the summaries of no rows."""
        return Parts(self)


class Parts(Summary):
    """One summary for each of the tasks."""

    def __init__(self, task: Together) -> None:
        super().__init__(task)
        self.parts = [each.empty() for each in task.tasks]

    def update(self, rows: Rows) -> None:
        """Add the rows to every part."""
        for part in self.parts:
            part.update(rows)

    def columns(self) -> dict[str, Array]:
        """One row per part: its number, and its own table in Arrow's stream format."""
        stored = np.empty(len(self.parts), dtype=object)
        stored[:] = [part.to_bytes() for part in self.parts]
        return {"part": np.arange(len(self.parts), dtype=np.int64), "summary": stored}

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add every part to the part of the same number."""
        for number, stored in zip(columns["part"], columns["summary"], strict=True):
            self.parts[int(number)].absorb(read_summary(stored).columns())

    def merge(self, other: Summary) -> "Parts":
        """Merge part by part, without the way through Arrow."""
        if isinstance(other, Parts) and len(other.parts) == len(self.parts):
            for mine, its in zip(self.parts, other.parts, strict=True):
                mine.merge(its)
            return self
        return super().merge(other)


def together(plans: Sequence[Plan[T]]) -> Plan[list[T]]:
    """Run several plans in the same passes: in each, all that have not ended ask their questions at once."""
    results: dict[int, T] = {}
    asked: dict[int, Task] = {}

    def advance(number: int, summary: Any) -> None:
        try:
            asked[number] = plans[number].send(summary)
        except StopIteration as end:
            results[number] = end.value

    for number in range(len(plans)):
        advance(number, None)
    while asked:
        numbers = sorted(asked)
        summary = yield Together(tuple(asked.pop(number) for number in numbers))
        for number, part in zip(numbers, summary.parts, strict=True):
            advance(number, part)
    return [results[number] for number in range(len(plans))]
