"""Columns of Arrow made of arrays of NumPy and of texts.

`pyarrow.array` would import pandas first, to see whether what it gets is a series of that.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, Float64Array, IntArray
from calibrant._core._names import label_text


def floats_array(numbers: Float64Array) -> pa.Array:
    """Numbers as a column."""
    return _of_entries(pa.float64(), np.asarray(numbers, dtype=np.float64))


def places_array(places: IntArray) -> pa.Array:
    """Places, or numbers of rows, as a column."""
    return _of_entries(pa.int64(), np.asarray(places, dtype=np.int64))


def _of_entries(kind: pa.DataType, entries: Array) -> pa.Array:
    entries = np.ascontiguousarray(entries, dtype=entries.dtype.newbyteorder("="))
    return pa.Array.from_buffers(kind, len(entries), [None, pa.py_buffer(entries)])


def texts_array(texts: Sequence[str]) -> pa.Array:
    """Texts as a column."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def labels_array(labels: Array) -> pa.Array:
    """Labels as a column: of their own type, or as text where they have several."""
    if labels.dtype.kind == "U":
        return texts_array(labels.tolist())
    if labels.dtype.kind == "O":
        return pa.array([label_text(label) for label in labels.tolist()], pa.string())
    return (
        pa.array(labels) if labels.dtype == bool else _of_entries(pa.from_numpy_dtype(labels.dtype), labels)
    )
