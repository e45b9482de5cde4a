"""A column of every Arrow type, that means the same zeros and ones in each."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: What the columns mean.
PATTERN = [0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0]
#: What a column may be: numbers, which may be labels too; labels alone; or neither.
NUMBERS, LABELS, NEITHER = "numbers", "labels", "neither"


def _of(kind, convert=lambda n: n):
    return pa.array([convert(n) for n in PATTERN], kind)


def _coded(values, index="int8"):
    """A dictionary whose order is not that of the rows, and that may hold a value which no row has."""
    codes = pa.array([1 - n for n in PATTERN], pa.type_for_alias(index))
    return pa.DictionaryArray.from_arrays(codes, values)


def _union(mode):
    types = pa.array([0] * len(PATTERN), pa.int8())
    numbers = pa.array(PATTERN, pa.int64())
    if mode == "dense":
        return pa.UnionArray.from_dense(types, pa.array(range(len(PATTERN)), pa.int32()), [numbers])
    return pa.UnionArray.from_sparse(types, [numbers])


def _number_types():
    columns = {str(kind): _of(kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())}
    columns |= {str(kind): _of(kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())}
    columns |= {str(kind): _of(kind, float) for kind in (pa.float32(), pa.float64())}
    columns["halffloat"] = pa.array(np.array(PATTERN, np.float16))
    narrow = [getattr(pa, name)(5, 0) for name in ("decimal32", "decimal64") if hasattr(pa, name)]
    for kind in (*narrow, pa.decimal128(5, 0), pa.decimal256(50, 0)):
        columns[str(kind)] = _of(kind, decimal.Decimal)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        columns[str(kind)] = _of(kind, str)
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        columns[str(kind)] = _of(kind, lambda n: str(n).encode())
    columns["dictionary of text"] = _coded(pa.array(["1", "0", "unused"]))
    columns["dictionary of numbers"] = _coded(pa.array([1.0, 0.0, 7.0]), "uint16")
    columns["dictionary of decimals"] = _coded(pa.array([decimal.Decimal(1), decimal.Decimal(0)]))
    columns["runs of numbers"] = pc.run_end_encode(pa.array(PATTERN))
    columns["runs of text"] = pc.run_end_encode(pa.array(map(str, PATTERN)))
    columns["extension of text"] = pa.ExtensionArray.from_storage(pa.json_(), _of(pa.string(), str))
    columns["opaque numbers"] = pa.ExtensionArray.from_storage(
        pa.opaque(pa.int64(), "count", "calibrant"), _of(pa.int64())
    )
    return columns


def _label_types():
    day = datetime.date(2020, 1, 1)
    columns = {"bool": _of(pa.bool_(), bool)}
    for kind in (pa.date32(), pa.date64()):
        columns[str(kind)] = _of(kind, lambda n: day + datetime.timedelta(days=n))
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us")):
        columns[str(kind)] = _of(kind)
    columns["time64[ns]"] = _of(pa.time64("ns"), lambda n: 1000 * n)  # Python knows millionths
    for unit in ("s", "ms", "us", "ns"):
        columns[f"timestamp {unit}"] = _of(pa.timestamp(unit))
    columns["timestamp of a zone"] = _of(pa.timestamp("us", "Europe/Berlin"))
    columns["timestamp beyond the calendar"] = _of(pa.timestamp("s"), lambda n: (1 << 45) + n)
    columns["dictionary of truth"] = _coded(pa.array([True, False]))
    columns["dictionary of dates"] = _coded(pa.array([day, day - datetime.timedelta(days=3)]))
    columns["runs of truth"] = pc.run_end_encode(_of(pa.bool_(), bool))
    return columns


def _other_types():
    columns = {f"duration {unit}": _of(pa.duration(unit)) for unit in ("s", "ms", "us", "ns")}
    columns["interval"] = _of(pa.month_day_nano_interval(), lambda n: (n, n, n))
    columns["bytes of a fixed size"] = _of(pa.binary(2), lambda n: bytes([255, n]))
    columns["bytes that are no text"] = _of(pa.binary(), lambda n: bytes([255, n]))
    columns["uuid"] = pa.ExtensionArray.from_storage(pa.uuid(), _of(pa.binary(16), lambda n: bytes([n] * 16)))
    for kind in (
        pa.list_(pa.int64()),
        pa.large_list(pa.int64()),
        pa.list_(pa.int64(), 1),
        pa.list_view(pa.int64()),
        pa.large_list_view(pa.int64()),
    ):
        columns[str(kind)] = _of(kind, lambda n: [n])
    columns["struct"] = _of(pa.struct([("n", pa.int64())]), lambda n: {"n": n})
    columns["map"] = _of(pa.map_(pa.string(), pa.int64()), lambda n: [("n", n)])
    columns["sparse union"], columns["dense union"] = _union("sparse"), _union("dense")
    columns["dictionary of lists"] = _coded(pa.array([[1], [0]]))
    columns["runs of lists"] = pc.run_end_encode(pa.array([1])).from_arrays(
        pa.array([len(PATTERN)], pa.int32()), pa.array([[1]])
    )
    columns["null"] = pa.nulls(len(PATTERN))
    columns["zone that is none"] = _of(pa.timestamp("us", "No/Where"))
    columns["tensor"] = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int64(), [1]), _of(pa.list_(pa.int64(), 1), lambda n: [n])
    )
    return columns


#: Every column by its name, with what it may be used for.
COLUMNS = {
    name: (column, use)
    for use, columns in ((NUMBERS, _number_types()), (LABELS, _label_types()), (NEITHER, _other_types()))
    for name, column in columns.items()
}
