"""Batches that come only once, kept as they come, so that they can be read again."""

import weakref
from collections.abc import Callable, Iterator
from tempfile import SpooledTemporaryFile

import pyarrow as pa
import pyarrow.ipc as pa_ipc

from calibrant._core._errors import DataError
from calibrant.files._bytes import IN_MEMORY
from calibrant.files._plain import reason_of

#: Gives the next batch; None after the last.
Coming = Callable[[], pa.RecordBatch | None]


class KeptBatches:
    """Batches of the same columns, in memory or, if they are many, in a file without a name.

    Such a file is gone when the process is, whatever ends it.

    Parameters
    ----------
    name : str
        What messages call the place that they come from.

    Attributes
    ----------
    n_rows : int
        Rows that are kept so far.
    is_whole : bool
        Whether all have come.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (closed with us)
        weakref.finalize(self, self._file.close)
        self._ends = [0]
        self.n_rows = 0
        self.is_whole = False

    def read(self, columns: list[str], coming: Coming) -> Iterator[pa.RecordBatch]:
        """Give these columns of all batches; those that have not come yet as they come."""
        number = 0
        while number + 1 < len(self._ends) or self.pull(coming):
            yield self._batch(number, columns)
            number += 1

    def pull(self, coming: Coming) -> bool:
        """Keep the next batch, if there is one."""
        batch = None if self.is_whole else coming()
        if batch is None:
            self.is_whole = True
            return False
        sink = pa.BufferOutputStream()
        with pa_ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        try:
            self._file.seek(self._ends[-1])
            self._ends.append(self._ends[-1] + self._file.write(sink.getvalue()))
        except OSError as error:
            raise DataError(
                f"the folder for temporary files must have room for the rows of {self._name}; "
                f"{reason_of(error)}; set TMPDIR to another, or ask for fewer rows"
            ) from error
        self.n_rows += batch.num_rows
        return True

    def _batch(self, number: int, columns: list[str]) -> pa.RecordBatch:
        start, end = self._ends[number : number + 2]
        self._file.seek(start)
        content = pa.py_buffer(self._file.read(end - start))
        schema = pa_ipc.open_stream(content).schema
        chosen = [schema.get_field_index(name) for name in columns]
        reader = pa_ipc.open_stream(content, options=pa_ipc.IpcReadOptions(included_fields=chosen))
        return reader.read_next_batch().select(columns)
