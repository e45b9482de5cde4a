"""Columns of Arrow without what they are wrapped in, and what such a column may be used for.

A column of numbers may come as a dictionary of them, as runs, under a name of its own (an extension type), or
in a width for which Arrow computes little. Whoever reads values asks here what they are, and takes them
plain.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from calibrant._core._arrays import Array, BoolArray
from calibrant._core._errors import DataError
from calibrant._core._late import compute as pc, kernels

#: Characters of a message by others that we pass on.
REASON = 200


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values, without wrappings."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def plain(column: pa.Array) -> pa.Array:
    """The values, one per row, in a width that Arrow computes with."""
    while True:
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = column.storage
        elif pa.types.is_dictionary(kind):
            column = column.dictionary_decode()
        elif pa.types.is_run_end_encoded(kind):
            column = pc.run_end_decode(column)
        elif pa.types.is_float16(kind):
            return pa.array(column.to_numpy(zero_copy_only=False).astype("f8"), mask=_missing(column))
        elif pa.types.is_decimal(kind) and kind.bit_width < 128:
            return column.cast(pa.decimal128(kind.precision, kind.scale))
        else:
            return column


def _missing(column: pa.Array) -> object:
    return pc.is_null(column).to_numpy(zero_copy_only=False)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a plain type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a plain type are text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values of a plain type are bytes, which may be text."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def is_moment(kind: pa.DataType) -> bool:
    """Whether values of a plain type are dates or times of day."""
    return bool(pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind))


def may_be_numbers(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold numbers, perhaps as text."""
    kind = plain_type(kind)
    return is_number(kind) or is_text(kind) or is_bytes(kind) or bool(pa.types.is_null(kind))


def may_be_labels(kind: pa.DataType) -> bool:
    """Whether a column of this type can hold labels, or names of groups."""
    kind = plain_type(kind)
    return may_be_numbers(kind) or is_moment(kind) or bool(pa.types.is_boolean(kind))


@contextmanager
def converting(kind: pa.DataType, name: str, where: str) -> Iterator[None]:
    """Name the column whose values Arrow cannot convert."""
    try:
        yield
    except pa.ArrowException as error:
        wanted = "text in UTF-8" if is_bytes(plain_type(kind)) else "values that can be read"
        raise DataError(
            f"the column {name!r} of {where} must hold {wanted}; it holds {kind}: {reason_of(error)}; "
            "convert it, or leave it out"
        ) from error


def cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values in another type, as `pyarrow.Array.cast` has them, which imports `pyarrow.compute`."""
    return kernels.call_function("cast", [column], kernels.CastOptions.safe(kind))


def plain_values(column: pa.Array) -> pa.Array:
    """The plain values of a column; bytes are taken as the text that they must be."""
    column = plain(column)
    return column.cast(pa.large_string()) if is_bytes(column.type) else column


def entries(numbers: pa.Array) -> Array:
    """Numbers of Arrow, in its own memory; the usual way would import pandas first, for missing ones."""
    if numbers.null_count:
        return np.asarray(numbers.to_numpy(zero_copy_only=False))
    return np.asarray(np.from_dlpack(numbers))


def chosen_rows(batch: pa.RecordBatch, chosen: BoolArray) -> pa.RecordBatch:
    """Some rows of a batch, whatever their types: Arrow does not choose among views, nor among runs."""
    try:
        return batch.filter(pa.array(chosen))
    except pa.ArrowNotImplementedError:
        columns = [_chosen_values(column, chosen) for column in batch.columns]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _chosen_values(column: pa.Array, chosen: BoolArray) -> pa.Array:
    kind = column.type
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        laid_out = pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()
        return column.cast(laid_out).filter(pa.array(chosen)).cast(kind)
    try:
        return column.filter(pa.array(chosen))
    except pa.ArrowNotImplementedError:
        ends = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2).tolist()
        return pa.concat_arrays([column.slice(0, 0), *(column.slice(a, b - a) for a, b in ends)])


def reason_of(error: BaseException) -> str:
    """The first line of what others say went wrong."""
    line = (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
    return "".join(sign if sign.isprintable() else "?" for sign in line[:REASON])


def n_bytes(values: pa.Array | pa.Table) -> int:
    """How much memory values take; with older releases, of views that of all they look into."""
    try:
        return int(values.nbytes)
    except pa.ArrowTypeError:
        return int(values.get_total_buffer_size())
