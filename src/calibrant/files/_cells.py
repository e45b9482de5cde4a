"""Cells of which each has a type of its own, as in a sheet or in SQLite: the type of their column.

A column of whole numbers is one, and so is a column of numbers, of truth values, of dates, of moments, of
times of day, of text, of bytes. Whole and other numbers together are numbers, dates and moments together are
moments; any other mixture is text, in which a whole number is written without a point.
"""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

#: The Arrow type of every type of cells.
TYPES: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    dt.date: pa.date32(),
    dt.datetime: pa.timestamp("us"),
    dt.time: pa.time64("us"),
}
#: Types that are one type together.
TOGETHER = {
    frozenset([pa.int64(), pa.float64()]): pa.float64(),
    frozenset([pa.date32(), pa.timestamp("us")]): pa.timestamp("us"),
}
#: Whole numbers below this are doubles, all of them.
EXACT = 2**53


def common_type(types: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a column whose parts have these types."""
    found = frozenset(types) - {pa.null()}
    if len(found) < 2:
        return next(iter(found), pa.null())
    return TOGETHER.get(found, pa.string())


def column_of(cells: Sequence[object]) -> pa.Array:
    """Cells as a column."""
    kinds = set(map(type, cells)) - {type(None)}
    kind = common_type([TYPES.get(each, pa.string()) for each in kinds])
    if len(kinds) > 1 or not kinds <= TYPES.keys():
        convert = CONVERSIONS[kind]
        cells = [None if cell is None else convert(cell) for cell in cells]
    return pa.array(cells, kind)


def converted(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Give a part of a column the type of the whole."""
    if pa.types.is_string(kind):
        return pa.array([text_of(cell) for cell in column.to_pylist()], kind)
    return column.cast(kind, safe=False)


def _moment(cell: Any) -> dt.datetime:
    """A moment, or the first one of a date."""
    return cell if isinstance(cell, dt.datetime) else dt.datetime.combine(cell, dt.time())


def text_of(cell: object) -> str | None:
    """A cell as text."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return cell.decode() if isinstance(cell, bytes) else str(cell)


#: How cells become one type together.
CONVERSIONS: dict[pa.DataType, Callable[[Any], object]] = {
    pa.float64(): float,
    pa.timestamp("us"): _moment,
    pa.string(): text_of,
}
