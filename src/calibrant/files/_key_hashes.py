"""Hashes of keys that stand in columns of Arrow; `calibrant.passes` says how every value is hashed."""

import numpy as np
import pyarrow as pa

from calibrant import passes
from calibrant._core._errors import DataError
from calibrant._core._mix import Hashes, mix
from calibrant.files._plain import entries, is_bytes, is_moment, is_text, plain, plain_type

_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def hash_column(column: "pa.Array", name: str) -> Hashes:
    """Hash the values of a column of Arrow, which has no missing ones."""
    kind = plain_type(column.type)
    if pa.types.is_floating(kind):
        return passes.hash_floats([entries(plain(column).cast(pa.float64()))])
    if pa.types.is_uint64(kind):
        return mix(entries(plain(column)))
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return passes.hash_integers(entries(plain(column).cast(pa.int64())))
    if is_moment(kind) or pa.types.is_duration(kind):
        narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
        ticks = plain(column).cast(pa.int32()) if narrow else plain(column)
        return passes.hash_integers(entries(ticks.cast(pa.int64())))
    if is_text(kind):
        return _hash_bytes(plain(column).cast(pa.large_string()).cast(pa.large_binary()))
    if is_bytes(kind) or pa.types.is_fixed_size_binary(kind):
        return _hash_bytes(plain(column).cast(pa.large_binary()))
    raise DataError(f"the key column {name!r} must hold numbers, times or text; it holds {column.type}")


def _hash_bytes(column: "pa.Array") -> Hashes:
    """FNV-1a of every value: the first byte of all, then the second of those that have one, and so on."""
    buffers = column.buffers()
    offsets = np.frombuffer(buffers[1], np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None else np.empty(0, np.uint8)
    start, length = offsets[:-1], np.diff(offsets)
    hashes = np.full(len(column), _OFFSET)
    longest_first = np.argsort(-length, kind="stable")
    start, length = start[longest_first], length[longest_first]
    sorted_hashes = hashes[longest_first]
    for place in range(int(length[0]) if len(length) else 0):
        n_left = int(np.searchsorted(-length, -place, side="left"))
        sorted_hashes[:n_left] ^= data[start[:n_left] + place]
        sorted_hashes[:n_left] *= _PRIME
    hashes[longest_first] = sorted_hashes
    return mix(hashes)
