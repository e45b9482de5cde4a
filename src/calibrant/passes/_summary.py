"""The seam: a fit asks for passes, an engine reduces rows to summaries.

A *plan* is a generator. It yields a `Task`, plain data that says what must be known of the rows; whoever runs
it sends back the merged `Summary` of all rows; in the end it returns what was wanted. So the plan knows
nothing of files or clusters, and an engine knows only how to reduce.

Summaries form a commutative monoid: `Task.empty` makes the neutral one, `update` adds a batch of rows, and
`merge` adds another summary of the same task. They cross processes as Arrow tables whose rows may come in any
order: the tables of two summaries, one put after the other, are the table of both together.
"""

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant.passes._rows import Rows
from calibrant.passes._travel import from_document, to_document

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
#: Under this name the schema of a summary's table carries the task, as JSON.
TASK_KEY = b"calibrant.task"


class NoRowsError(DataError):
    """There is nothing to learn from."""

    def __init__(self) -> None:
        super().__init__("scores must have at least one row; got none")


class Task(ABC):
    """What a pass must find out: plain data, which `to_document` and JSON carry anywhere."""

    #: After so many rows an engine may end the pass: what is asked is a guess that any rows will do for.
    rows_needed: int | None = None

    @abstractmethod
    def empty(self) -> "Summary":
        """Give the summary of no rows.

        Returns
        -------
        Summary
            An empty summary.
        """

    def to_json(self) -> str:
        """Give the task as text.

        Returns
        -------
        str
            JSON, for `task_from_json`.
        """
        return json.dumps(to_document(self))


class Summary(ABC):
    """What is known of some rows.

    Parameters
    ----------
    task : Task
        What was asked.
    """

    def __init__(self, task: Any) -> None:
        self.task = task

    @abstractmethod
    def update(self, rows: Rows) -> None:
        """Add the rows of a batch.

        Parameters
        ----------
        rows : Rows
            Checked rows of positive weights.
        """

    @abstractmethod
    def columns(self) -> dict[str, Array]:
        """Give the summary as columns of equal length.

        Returns
        -------
        dict of str to ndarray
            The columns, whose rows may come in any order.
        """

    @abstractmethod
    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add what the columns of another summary hold.

        Parameters
        ----------
        columns : mapping of str to ndarray
            The columns of a summary, or of several, one after the other.
        """

    def merge(self, other: "Summary") -> Self:
        """Add another summary of the same task.

        Parameters
        ----------
        other : Summary
            The other one, which is not changed.

        Returns
        -------
        Self
            This summary.
        """
        if other.task is not self.task and other.task.to_json() != self.task.to_json():
            raise DataError(
                "summaries must be of the same pass to be merged; got two different ones; give both the "
                "same task"
            )
        self.absorb(other.columns())
        return self

    def to_arrow(self) -> "pa.Table":
        """Give the summary, and the task behind it, as a table.

        Returns
        -------
        pyarrow.Table
            The columns, with the task in the metadata of the schema.
        """
        import pyarrow as pa  # noqa: PLC0415

        return pa.table(self.columns()).replace_schema_metadata({TASK_KEY: self.task.to_json().encode()})

    def to_bytes(self) -> bytes:
        """Give the table in Arrow's stream format.

        Returns
        -------
        bytes
            What `read_summary` takes.
        """
        import pyarrow as pa  # noqa: PLC0415

        table, sink = self.to_arrow(), io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return sink.getvalue()


Plan = Generator[Task, Any, T]


def task_from_json(text: str) -> Task:
    """Make a task again that was given as text; the modules of its kinds must have been imported.

    Parameters
    ----------
    text : str
        What `Task.to_json` gave.

    Returns
    -------
    Task
        The task.
    """
    task = from_document(json.loads(text))
    if not isinstance(task, Task):
        raise DataError(f"the text must be that of a task; got that of {type(task).__name__}")
    return task


def read_summary(table: "pa.Table | bytes") -> Summary:
    """Make a summary again from its table.

    Parameters
    ----------
    table : pyarrow.Table or bytes
        What `Summary.to_arrow` or `Summary.to_bytes` gave. The rows of several summaries of the same task,
        one after the other, are the summary of all of them.

    Returns
    -------
    Summary
        The summary.
    """
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(table, bytes):
        table = pa.ipc.open_stream(table).read_all()
    text = (table.schema.metadata or {}).get(TASK_KEY)
    if text is None:
        raise DataError(
            "the table must carry the task of its summary in its metadata; it does not; keep what "
            "Summary.to_arrow gives as it is"
        )
    summary = task_from_json(text.decode()).empty()
    summary.absorb({name: table.column(name).to_numpy() for name in table.column_names})
    return summary


class Totals(Summary):
    """A summary of a few numbers: some are added, of some the least is kept, of some the greatest."""

    def __init__(self, task: Any, n_sums: int, n_least: int = 0, n_most: int = 0) -> None:
        super().__init__(task)
        self.sums = np.zeros(n_sums)
        self.least, self.most = np.full(n_least, np.inf), np.full(n_most, -np.inf)

    def columns(self) -> dict[str, Array]:
        """One row per number: what happens to it, which of them it is, and its value."""
        parts: tuple[Float64Array, ...] = (self.sums, self.least, self.most)
        sizes = [len(part) for part in parts]
        return {
            "role": np.repeat(np.arange(3, dtype=np.int64), sizes),
            "entry": np.concatenate([np.arange(size, dtype=np.int64) for size in sizes]),
            "value": np.concatenate(parts),
        }

    def absorb(self, columns: Mapping[str, Array]) -> None:
        """Add sums, keep the least and the greatest."""
        role, entry, value = columns["role"], columns["entry"], columns["value"]
        for number, (take, kept) in enumerate(
            ((np.add, self.sums), (np.minimum, self.least), (np.maximum, self.most))
        ):
            chosen = role == number
            take.at(kept, entry[chosen], value[chosen])
