"""What happens on an executor: the rows of a partition become summaries, and summaries become fewer.

Everything here is a function of plain data, so that a task which is tried again gives the same bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, IntArray
from calibrant._core._errors import CalibrantError, DataError, ParameterError
from calibrant._core._mix import Hashes, mix
from calibrant._core._names import label_text
from calibrant.files import BatchReader, Numbered, Roles, Source
from calibrant.passes import (
    Parts,
    Rows,
    Summary,
    Task,
    Together,
    hash_floats,
    hash_integers,
    modules_of,
    reduce_rows,
    task_from_json,
)

#: Rows that are looked at together: Spark's batches are smaller.
BATCH_ROWS = 1 << 17
#: Bytes of a number that was not shortened.
WIDE = 8
#: What a pass returns: a row for every part of the summary of every partition, or for what went wrong there.
SUMMARIES = "part int, partition int, failure string, summary binary"
ARROW_SUMMARIES = pa.schema(
    [("part", pa.int32()), ("partition", pa.int32()), ("failure", pa.string()), ("summary", pa.binary())]
)


@dataclass(frozen=True, eq=False)
class Layout:
    """How the rows that reach an executor are to be read.

    Parameters
    ----------
    scores : tuple of str
        The columns of the scores.
    width : int or None
        How many scores are in the one column of arrays; None where every column holds numbers.
    pick : int or None
        Which of them is used, if only one is.
    label : str
        The column of the labels.
    weight, key, group : str or None
        The columns of weights, keys and groups.
    groups : tuple of str
        The names of the groups.
    classes : ndarray
        The labels of the classes.
    skips : bool
        Whether rows that cannot be used are left out.
    repeated : ndarray of uint64
        Hashes of rows that come again and again, in ascending order.
    """

    scores: tuple[str, ...]
    width: int | None
    pick: int | None
    label: str
    weight: str | None
    key: str | None
    group: str | None
    groups: tuple[str, ...]
    classes: Array
    skips: bool
    repeated: Hashes

    def rows(self, batches: Iterable[pa.RecordBatch], partition: int, name: str) -> Iterator[Rows]:
        """Read batches.

        Parameters
        ----------
        batches : iterable of RecordBatch
            The rows as Spark gives them.
        partition : int
            Number of the partition.
        name : str
            What messages call it.

        Yields
        ------
        Rows
            The rows with keys that put them into folds.
        """
        source = _PartitionSource(batches, self, name)
        scores = tuple(self.unpacked())
        roles = Roles(scores, self.label, self.weight, self.key, len(scores) == 1)
        number_of = Numbered([str(label_text(label)) for label in self.classes])
        keys, first = _RowKeys(partition, self.repeated), 0
        group_of = Numbered(self.groups)
        for batch in source.batches(roles.names(self.group), BATCH_ROWS):
            reader = BatchReader(batch, source, first, self.skips)
            rows = reader.rows(roles, number_of)
            first += batch.num_rows
            if self.group is not None:
                group = reader.groups(self.group, group_of)
                rows = replace(rows, group=group if reader.usable is None else group[reader.usable])
            yield rows if self.key is not None else replace(rows, key=keys(rows))

    def columns(self) -> list[str]:
        """Names of the columns that Spark sends, in order; it knows them by their numbers."""
        used = [*self.scores, self.label, self.weight, self.key, self.group]
        return list(dict.fromkeys(name for name in used if name is not None))

    def unpacked(self) -> list[str]:
        """Names of the scores that are used, one for each."""
        if self.width is None:
            return list(self.scores)
        places = range(self.width) if self.pick is None else [self.pick]
        return [f"{self.scores[0]}[{place}]" for place in places]


class _PartitionSource(Source):
    """The batches of a partition, each read once, with arrays taken apart."""

    def __init__(self, batches: Iterable[pa.RecordBatch], layout: Layout, name: str) -> None:
        super().__init__(name, "rows")
        self._batches, self._layout = batches, layout

    def _names(self) -> list[str]:
        return list(dict.fromkeys([*self._layout.unpacked(), *self._layout.columns()]))

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for batch in _gathered(self._batches, rows):
            yield self._taken_apart(batch.rename_columns(self._layout.columns())).select(columns)

    def _taken_apart(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        layout = self._layout
        if layout.width is None:
            return batch
        matrix = array_matrix(batch.column(layout.scores[0]), layout.width, layout.scores[0])
        used = matrix if layout.pick is None else matrix[:, [layout.pick]]
        names = layout.unpacked() + batch.schema.names
        scores = [pa.array(np.ascontiguousarray(column), from_pandas=False) for column in used.T]
        return pa.RecordBatch.from_arrays(scores + batch.columns, names=names)


def _gathered(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches, of no more rows than these unless they came so."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if waiting and sum(each.num_rows for each in waiting) + batch.num_rows > n_rows:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting = []
        waiting.append(batch)
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def array_matrix(column: pa.Array, width: int, name: str) -> Array:
    """Arrays of one length as a matrix, in which a row is not a number where its array is missing."""
    matrix = np.full((len(column), width), np.nan)
    there = column.is_valid().to_numpy(zero_copy_only=False)
    present = column if there.all() else column.drop_null()
    lengths = np.diff(present.offsets.to_numpy())
    if (lengths != width).any():
        raise DataError(
            f"the column {name!r} must hold vectors of length {width}; got one of length "
            f"{int(lengths[lengths != width][0])}"
        )
    flat = present.flatten().to_numpy(zero_copy_only=False)
    matrix[there] = flat.reshape(-1, width)
    return matrix


class _RowKeys:
    """Hashes that put the rows of a partition into folds, in whatever order the rows come.

    A row's hash is that of its numbers: after a shuffle Spark may give rows in another order every time, so
    that their places tell nothing. Rows that come again and again are numbered, so that they do not all end
    in one fold; which of several equal rows gets which number makes no difference.
    """

    def __init__(self, partition: int, repeated: Hashes) -> None:
        self._partition, self._repeated = partition, repeated
        self._n_seen = np.zeros(len(repeated), dtype=np.int64)

    def __call__(self, rows: Rows) -> Hashes:
        hashes = mix(content_hashes(rows))  # rows of a sample are chosen by the others
        if len(self._repeated) == 0:
            return hashes
        place = np.minimum(np.searchsorted(self._repeated, hashes), len(self._repeated) - 1)
        again = np.flatnonzero(self._repeated[place] == hashes)
        numbers = hash_integers(self._count(place[again]) * np.int64(1 << 20) + self._partition)
        hashes[again] = mix(hashes[again] ^ numbers)
        return hashes

    def _count(self, place: IntArray) -> IntArray:
        """How many rows of the same numbers there were before each."""
        order = np.argsort(place, kind="stable")
        ordered = place[order]
        first = np.searchsorted(ordered, ordered)
        count = np.empty(len(place), dtype=np.int64)
        count[order] = np.arange(len(place)) - first + self._n_seen[ordered]
        self._n_seen += np.bincount(place, minlength=len(self._n_seen))
        return count


def content_hashes(rows: Rows) -> Hashes:
    """Hashes of all that is in a row."""
    weight = [] if rows.weight is None else [rows.weight]
    scores = [rows.scores] if rows.scores.ndim == 1 else rows.scores.T
    return hash_floats([rows.truth.astype(np.float64), *scores, *weight])


@dataclass(frozen=True)
class TaskText:
    """A task on its way to the executors.

    Attributes
    ----------
    text : str
        The task as JSON.
    modules : tuple of str
        Where the kinds that it names are registered: ours, and those of a user's own method.
    """

    text: str
    modules: tuple[str, ...]

    @classmethod
    def of(cls, task: Task) -> "TaskText":
        """Write a task down."""
        return cls(task.to_json(), modules_to_send(modules_of(task)))

    def read(self) -> Task:
        """Make the task again."""
        return _read(self)


@lru_cache(maxsize=4)
def _read(sent: TaskText) -> Task:
    import_all(sent.modules)
    return task_from_json(sent.text)


def modules_to_send(modules: set[str]) -> tuple[str, ...]:
    """The names of the modules that executors are to import, if they can."""
    if "__main__" in modules:
        raise ParameterError(
            "a method of one's own must be defined in a module, for executors to import it; got one that is "
            "defined in the session itself; put it into a file, import it from there, and send the file "
            "along: spark.sparkContext.addPyFile"
        )
    return tuple(sorted(modules))


def import_all(modules: Iterable[str]) -> None:
    """Import on an executor what the driver named: no document of a task or a model says what to import."""
    for module in modules:
        try:
            import_module(module)
        except ImportError as error:
            raise DataError(
                f"the module {module!r} must be importable on the executors; got: {error}; send it along "
                "(spark.sparkContext.addPyFile), or install it there"
            ) from error


def reduce_partition(
    batches: Iterable[pa.RecordBatch], task_text: TaskText, layout: Layout, partition: int
) -> Iterator[pa.RecordBatch]:
    """Summarise a partition."""
    name = f"partition {partition} of the frame"
    try:
        summary = reduce_rows(task_text.read(), layout.rows(batches, partition, name))
    except CalibrantError as error:
        for _ in batches:  # Spark expects that everything is read
            pass
        yield _batch([(0, partition, str(error), None)])
        return
    for number, leaf in enumerate(_leaves(summary)):
        yield _batch([(number, partition, None, pack(leaf))])


def merge_summaries(table: pa.Table, task_text: TaskText) -> pa.Table:
    """Merge summaries of the same part."""
    part = int(table.column("part")[0].as_py())
    partition = min(table.column("partition").to_pylist())
    failures = [text for text in table.column("failure").to_pylist() if text is not None]
    if failures:
        return pa.Table.from_batches([_batch([(part, partition, min(failures), None)])])
    summary = leaf_tasks(task_text.read())[part].empty()
    absorb_in_order(summary, table, part)
    return pa.Table.from_batches([_batch([(part, partition, None, pack(summary))])])


def absorb_in_order(summary: Summary, table: pa.Table, part: int) -> None:
    """Add packed summaries in the order of their partitions, so that sums are rounded alike every time."""
    rows = np.flatnonzero(table.column("part").to_numpy() == part)
    packed = table.column("summary")
    for row in rows[np.argsort(table.column("partition").to_numpy()[rows], kind="stable")]:
        summary.absorb(unpack(packed[int(row)].as_buffer()))


def pack(summary: Summary) -> bytes:
    """A summary in Arrow's stream format, without the task, which whoever reads it has already.

    Most numbers are counts. They travel as integers of as few bytes as hold them, and are made again what
    they were: signed ones stand for floating point numbers, unsigned ones for integers.
    """
    table = pa.table({name: _shortened(column) for name, column in summary.columns().items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def unpack(packed: pa.Buffer) -> dict[str, Array]:
    """The columns of a packed summary."""
    with pa.ipc.open_stream(packed) as stream:
        table = stream.read_all()
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return {
        name: column.astype({"i": np.float64, "u": np.int64}[column.dtype.kind])
        if column.dtype.kind in "iu" and column.dtype.itemsize < WIDE
        else column
        for name, column in columns.items()
    }


def _shortened(column: Array) -> Array:
    """Whole numbers that are not negative in as few bytes as hold them; other columns as they are."""
    kind = {"f": "i", "i": "u"}.get(column.dtype.kind)
    if kind is None or len(column) == 0:
        return column
    least, greatest = column.min(), column.max()
    if not (least >= 0 and greatest < 1 << 31) or (least == 0 and np.signbit(column).any()):
        return column
    size = next(size for size in (1, 2, 4) if greatest < 1 << (8 * size - 1))
    short = column.astype(f"{kind}{size}")
    return short if np.array_equal(short, column) else column


def leaf_tasks(task: Task) -> list[Task]:
    """The tasks that a task consists of, in order."""
    if not isinstance(task, Together):
        return [task]
    return [leaf for each in task.tasks for leaf in leaf_tasks(each)]


def leaf_summaries(summary: Summary) -> list[Summary]:
    """The summaries of these tasks, in the same order."""
    return list(_leaves(summary))


def _leaves(summary: Summary) -> Iterator[Summary]:
    if isinstance(summary, Parts):
        for part in summary.parts:
            yield from _leaves(part)
    else:
        yield summary


def _batch(rows: Sequence[tuple[int, int, str | None, bytes | None]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SUMMARIES, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SUMMARIES)
