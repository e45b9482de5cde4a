"""Fields of several values: lists, arrays, and objects of named fields."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array, IntArray
from calibrant._core._fields import MOST_WHOLE, Field, Number, Schema, Whole, as_float
from calibrant._core._place import Place


class ListOf(Field):
    """A list whose entries are all of one kind.

    Parameters
    ----------
    field : Field
        What an entry is.
    least : int, default=0
        The least length.
    naming : str, optional
        What the entries of a list in a file name, each once.
    """

    json_type = (list,)

    def __init__(self, field: Field, least: int = 0, naming: str = "") -> None:
        self.field, self.least, self._naming = field, least, naming
        self.what = "a list" if least == 0 else f"a list of at least {least}"

    @property
    def must(self) -> str:
        """A list of what the entries must be."""
        return f"a list{' of one or more' * bool(self.least)}, each {self.field.must}"

    def allows(self, value: Any) -> bool:
        """Anything with so many entries, each of which is allowed."""
        if isinstance(value, str | bytes) or not np.iterable(value):
            return False
        entries = list(value)
        return len(entries) >= self.least and all(map(self.field.allows, entries))

    def accepts(self, plain: object) -> bool:
        """Whether it is a list whose first entry is of the right type."""
        return type(plain) is list and (not plain or self.field.accepts(plain[0]))

    def write(self, value: Any) -> Any:
        """A list of what the entries are written as."""
        if isinstance(value, str) or not np.iterable(value):
            return value
        return [self.field.write(entry) for entry in value]

    def read(self, plain: Any, at: Place) -> Any:
        """The entries, each named by its number in a message."""
        if type(plain) is not list or len(plain) < self.least:
            at.refuse(f"be {self.what}", plain)
        return self._read(plain, at)

    def _read(self, plain: Any, at: Place) -> list[Any]:
        entries = [self.field.read(entry, at[number]) for number, entry in enumerate(plain)]
        if self._naming and len(set(entries)) < len(entries):
            at.fail(f"must name every {self._naming} once; one is named twice")
        return entries

    def schema(self) -> Schema:
        """An array."""
        return {"type": "array", "items": self.field.schema(), "minItems": self.least}


class Numbers(Field):
    """A list of finite numbers within bounds, as an array."""

    json_type = (list,)

    def __init__(self, entry: Number | None = None, *, least_length: int = 0) -> None:
        self.entry = Number() if entry is None else entry
        self.least_length = least_length
        self.what = "a list of numbers" + (f", at least {least_length}" if least_length else "")

    def accepts(self, plain: object) -> bool:
        """Whether it is a list, and not one of lists."""
        return type(plain) is list and not (plain and type(plain[0]) is list)

    def write(self, value: Any) -> Any:
        """A list of floats."""
        return np.asarray(value, dtype=np.float64).tolist()

    def _read(self, plain: Any, at: Place) -> Float64Array:
        if len(plain) < self.least_length:
            at.refuse(f"be {self.what}", plain)
        return read_numbers(plain, self.entry, at)

    def schema(self) -> Schema:
        """An array of numbers."""
        return {"type": "array", "items": self.entry.schema(), "minItems": self.least_length}


class Matrix(Field):
    """A list of lists of finite numbers, all of one length, as an array of two dimensions."""

    json_type = (list,)
    what = "a list of lists of numbers"

    def __init__(self, entry: Number | None = None) -> None:
        self.entry = Number() if entry is None else entry

    def accepts(self, plain: object) -> bool:
        """Whether it is a list of lists, as far as one can see from the first."""
        return type(plain) is list and bool(plain) and type(plain[0]) is list

    def write(self, value: Any) -> Any:
        """A list of lists of floats."""
        return np.asarray(value, dtype=np.float64).tolist()

    def _read(self, plain: Any, at: Place) -> Float64Array:
        rows = [_read_row(row, self.entry, at[number]) for number, row in enumerate(plain)]
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                at[number].fail(f"must have {len(rows[0])} entries, as the first has; got {len(row)}")
        return np.stack(rows)

    def schema(self) -> Schema:
        """An array of arrays of numbers."""
        row = {"type": "array", "items": self.entry.schema()}
        return {"type": "array", "items": row, "minItems": 1}


class Wholes(Field):
    """A list of whole numbers within bounds, as an array."""

    json_type = (list,)

    def __init__(self, least: int = -MOST_WHOLE - 1, most: int = MOST_WHOLE) -> None:
        self.entry = Whole(least, most)
        self.what = "a list of whole numbers"

    def write(self, value: Any) -> Any:
        """A list of integers, or of lists of these."""
        return np.asarray(value).tolist()

    def _read(self, plain: Any, at: Place) -> IntArray:
        for number, entry in enumerate(plain):
            self.entry.read(entry, at[number])
        return np.array(plain, dtype=np.intp)

    def schema(self) -> Schema:
        """An array of integers."""
        return {"type": "array", "items": self.entry.schema()}


class Added(Field):
    """A field that came later: a file that lacks it means a certain value, which is not written.

    Parameters
    ----------
    field : Field
        The field.
    absent : object
        What it means that the field is not there.
    """

    def __init__(self, field: Field, absent: object) -> None:
        self.field, self.absent = field, absent
        self.json_type, self.what = field.json_type, field.what

    @property
    def must(self) -> str:
        """What the field must be."""
        return self.field.must

    def allows(self, value: Any) -> bool:
        """What the field allows."""
        return self.field.allows(value)

    def write(self, value: Any) -> Any:
        """As the field."""
        return self.field.write(value)

    def _read(self, plain: Any, at: Place) -> Any:
        return self.field.read(plain, at)

    def schema(self) -> Schema:
        """That of the field."""
        return self.field.schema()


class Record(Field):
    """An object with exactly these fields, of which those that were `Added` may be missing.

    Parameters
    ----------
    make : callable, default=dict
        What is made of the values, given by name.
    **fields : Field
        The fields.
    """

    json_type = (dict,)
    what = "an object"

    def __init__(self, make: Callable[..., Any] = dict, /, **fields: Field) -> None:
        self.fields: Mapping[str, Field] = fields
        added = {name: field for name, field in fields.items() if isinstance(field, Added)}
        self._absent = {name: field.absent for name, field in added.items()}
        self._unwritten = {name: field.write(field.absent) for name, field in added.items()}
        self._make = make

    def write(self, value: Any) -> Any:
        """The fields of a mapping, or the attributes of an object, in the order of the record."""
        given = value if isinstance(value, Mapping) else {name: getattr(value, name) for name in self.fields}
        written = {name: field.write(given[name]) for name, field in self.fields.items()}
        return {
            name: plain
            for name, plain in written.items()
            if name not in self._unwritten or plain != self._unwritten[name]
        }

    def _read(self, plain: Any, at: Place) -> Any:
        check_keys(plain, tuple(self.fields), at, optional=tuple(self._absent))
        there = {
            name: field.read(plain[name], at / name) for name, field in self.fields.items() if name in plain
        }
        return self._make(**self._absent | there)

    def schema(self) -> Schema:
        """An object that allows nothing else."""
        schemas = {name: field.schema() for name, field in self.fields.items()}
        optional = {name: schemas.pop(name) for name in self._absent}
        return object_schema(schemas, optional)


class DictOf(Field):
    """A dict of numbers by numbers, as a list of objects with two fields: the key and the value."""

    json_type = (list,)
    what = "a list"

    def __init__(self, **fields: Field) -> None:
        self._entries = ListOf(Record(**fields))
        self._names = tuple(fields)

    def write(self, value: Any) -> Any:
        """One object for each entry."""
        return self._entries.write([dict(zip(self._names, pair, strict=True)) for pair in value.items()])

    def _read(self, plain: Any, at: Place) -> dict[Any, Any]:
        key, value = self._names
        return {each[key]: each[value] for each in self._entries.read(plain, at)}

    def schema(self) -> Schema:
        """That of the list."""
        return self._entries.schema()


def object_schema(properties: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object with exactly these properties, and perhaps the optional ones."""
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


def check_keys(
    plain: dict[str, Any], names: tuple[str, ...], at: Place, optional: tuple[str, ...] = ()
) -> None:
    """Refuse an object that lacks a field, unless it is optional, or has one that nobody knows."""
    for name in names:
        if name not in plain and name not in optional:
            at.fail(f"must have the field {name!r}; it is missing")
    unknown = [name for name in plain if name not in names]
    if unknown:
        at.fail(f"must have the fields {', '.join(names)} only; got {unknown[0]!r:.60} too")


def check_length(array: Any, length: int, at: Place, why: str) -> None:
    """Refuse a list of another length."""
    if len(array) != length:
        at.fail(f"must have {length} entries, {why}; got {len(array)}")


def read_numbers(plain: list[Any], entry: Number, at: Place) -> Float64Array:
    """A list of numbers as an array, checked all at once; the first that will not do is named."""
    for number, each in enumerate(plain):
        if type(each) is not float and type(each) is not int:
            at[number].refuse(f"be {entry.what}", each)
    try:
        array = np.array(plain, dtype=np.float64)
    except OverflowError:
        # None stands for a whole number that is beyond all floats; as an array it is NaN.
        array = np.array([as_float(each) for each in plain], dtype=np.float64)
    holds = entry.holds(array)
    if not holds.all():
        wrong = int(np.argmin(holds))
        at[wrong].refuse(f"be {entry.what}", plain[wrong])
    return array


def _read_row(plain: Any, entry: Number, at: Place) -> Float64Array:
    if type(plain) is not list:
        at.refuse("be a list of numbers", plain)
    return read_numbers(plain, entry, at)
