"""A pass that keeps a few rows, to begin from: where bins should be, how steep a map might be.

What is learned does not depend on the sample, only how long that takes. So an engine may end this pass as
soon as it has seen enough rows. A sample of all rows is the same in whatever order they come: every row gets
a number that depends on nothing but what is in it, and the rows of the least numbers are kept.

A sample of one fold is one to measure on, so it must be fair: there the number of a row depends on its key
too. Otherwise equal rows, of which rounded scores make many, would be kept or dropped together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._mix import mix
from calibrant.passes._hashing import hash_floats
from calibrant.passes._rows import Fold, Rows
from calibrant.passes._summary import Summary, Task
from calibrant.passes._travel import travels

#: Rows of a sample to begin from, and with very many columns fewer: so many numbers, or rows at the least.
SAMPLE_ROWS, SAMPLE_NUMBERS, LEAST_ROWS = 1 << 16, 1 << 22, 1 << 12


@travels
@dataclass(frozen=True, eq=False)
class TakeSample(Task):
    """Some rows, whichever come first; or of one fold, whichever have the least numbers.

    Parameters
    ----------
    n_rows : int
        How many.
    only : Fold, optional
        The fold that they must be of; then all rows are read.
    grouped : bool
        Whether the groups of the rows are kept too.
    """

    n_rows: int = SAMPLE_ROWS
    only: Fold | None = None
    grouped: bool = False

    @property
    def rows_needed(self) -> int | None:  # type: ignore[override]
        """A few more than are kept."""
        return 2 * self.n_rows if self.only is None else None

    def empty(self) -> "Sample":
        """Give no rows."""
        return Sample(self)


class Sample(Summary):
    """The rows that were kept."""

    def __init__(self, task: TakeSample) -> None:
        super().__init__(task)
        self._priority = np.empty(0, dtype=np.int64)
        self._rows: list[Float64Array] = []  # those of `columns`

    def update(self, rows: Rows) -> None:
        """Keep the rows of the least numbers."""
        rows = rows.inside(self.task.only)
        if len(rows) == 0:
            return
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        matrix = rows.scores.reshape(len(rows), -1)
        priority = rows.once("priority", lambda: hash_floats([rows.truth.astype(np.float64), *matrix.T]))
        if self.task.only is not None:
            priority = mix(priority ^ rows.keys())
        group = [rows.group.astype(np.float64)] if self.task.grouped and rows.group is not None else []
        self._keep(priority.view(np.int64), [rows.truth.astype(np.float64), weight, *group, *matrix.T])

    def _keep(self, priority: Array, rows: list[Array]) -> None:
        known = self._rows or [np.empty(0)] * len(rows)
        all_priorities = np.concatenate([self._priority, priority])
        most = self.task.n_rows
        if self.task.only is None:
            most = min(most, max(SAMPLE_NUMBERS // len(rows), LEAST_ROWS))
        if len(all_priorities) > most:
            kept = np.sort(np.argpartition(all_priorities, most)[:most])
        else:
            kept = np.arange(len(all_priorities))
        self._priority = all_priorities[kept]
        self._rows = [np.concatenate(pair)[kept] for pair in zip(known, rows, strict=True)]

    def rows(self) -> Rows:
        """The rows that were kept."""
        if not self._rows:
            return Rows(np.empty((0, 1)), np.empty(0, dtype=np.intp), np.empty(0))
        position, weight, *others = self._rows
        group = others.pop(0).astype(np.intp) if self.task.grouped else None
        return Rows(np.stack(others, axis=1), position.astype(np.intp), weight, group=group)

    def columns(self) -> dict[str, Array]:
        """One row per row that was kept."""
        names = ["position", "weight", *(["group"] if self.task.grouped else [])]
        names += [f"score_{number}" for number in range(len(self._rows) - len(names))]
        return {"priority": self._priority} | dict(zip(names, self._rows, strict=bool(self._rows)))

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Keep the rows of the least numbers, those of another summary included."""
        if len(columns["priority"]):
            self._keep(columns["priority"], [value for name, value in columns.items() if name != "priority"])
