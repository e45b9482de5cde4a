"""A fitted map as a value: one formula, from which prediction, ONNX and the model file follow."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, ClassVar, TypeVar

import numpy as np

from calibrant._core._arrays import Float64Array, FloatArray
from calibrant._core._field_groups import Record, check_keys, object_schema
from calibrant._core._fields import Field, Schema
from calibrant._core._place import Place
from calibrant.maps._operations import NUMPY, Operations

M = TypeVar("M", bound="Map")

#: Rows worked on at once: the working arrays of a block stay in the processor's cache.
BLOCK = 1 << 15
#: The maps by the names that they have in files.
MAPS: dict[str, type["Map"]] = {}


class Map(ABC):
    """Base of the maps, which are frozen dataclasses.

    A map of one score takes it as a vector, one of all scores of a row as a matrix. The fields are numbers,
    tuples of numbers, texts, tables and `IntervalLookup`, so that maps of several columns can be written as
    one: their numbers then are arrays with one entry per column, and their tables stand one after the other.
    """

    #: What the fields may be, and how they stand in a file.
    fields: ClassVar[Record]

    def __init_subclass__(cls, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if name:
            cls.name = name
            MAPS[name] = cls

    name: ClassVar[str]

    @property
    def takes_probabilities(self) -> bool:
        """Whether scores must lie in [0, 1], and not only be finite."""
        return False

    @abstractmethod
    def formula(self, scores: Any, ops: Operations) -> Any:
        """The answers for some scores, by arithmetic and the operations that are given."""

    def __call__(self, scores: Float64Array) -> Float64Array:
        with np.errstate(over="ignore"):  # far out the answer is 0 or 1
            return np.asarray(self.formula(scores, NUMPY))

    def in_blocks(self, scores: FloatArray) -> Iterator[tuple[slice, Float64Array]]:
        """The answers for scores of any number of rows: which rows, and theirs."""
        for start in range(0, len(scores), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, self(scores[rows].astype(np.float64, copy=False))

    def check(self, at: Place) -> None:  # noqa: B027  (most fields fit together in any case)
        """Refuse fields that do not fit together, at their place in a file."""


def form_of(one: Map) -> tuple[object, ...]:
    """Maps of the same form differ in their numbers alone, and can be written as one."""
    values = [getattr(one, field.name) for field in dataclasses.fields(one)]  # type: ignore[arg-type]
    return (type(one), *(each if each is None or isinstance(each, str | bool) else "" for each in values))


def as_one(maps: Sequence[M]) -> M:
    """Maps of the same form, for one column each, as one map for all columns."""
    first = maps[0]
    if len(maps) == 1:
        return first
    one: Any = object.__new__(type(first))
    for field in dataclasses.fields(first):  # type: ignore[arg-type]
        object.__setattr__(one, field.name, _side_by_side([getattr(each, field.name) for each in maps]))
    return one  # type: ignore[no-any-return]


def _side_by_side(values: list[Any]) -> Any:
    first = values[0]
    if first is None or isinstance(first, str | bool):
        return first
    if isinstance(first, tuple):
        return tuple(np.array(column) for column in zip(*values, strict=True))
    return np.array(values) if isinstance(first, float | int | np.number) else values


class AnyMap(Field):
    """A map in a file: its name, and its fields.

    Parameters
    ----------
    *kinds : type
        What it must be one of; by default any map that is known.
    """

    json_type = (dict,)
    what = "an object"

    def __init__(self, *kinds: type[Map]) -> None:
        self._kinds = {each.name: each for each in kinds}

    def write(self, value: Map) -> Any:
        """The name of the map and its fields."""
        return {"map": value.name, **value.fields.write(value)}

    def _read(self, plain: Any, at: Place) -> Map:
        if "map" not in plain:
            at.fail("must have the field 'map'; it is missing")
        name = plain["map"]
        known = self._kinds or _all_with(name)
        kind = known.get(name) if isinstance(name, str) else None
        if kind is None:
            (at / "map").refuse(f"be one of {', '.join(known)}", name)
        check_keys(plain, ("map", *kind.fields.fields), at)
        given = {name: field.read(plain[name], at / name) for name, field in kind.fields.fields.items()}
        found = kind(**given)
        found.check(at)
        return found

    def schema(self) -> Schema:
        """An object that names its map; where it is one of a few, also what else it has."""
        if self._kinds:
            schemas = [
                object_schema({"map": {"const": name}, **kind.fields.schema()["properties"]})
                for name, kind in self._kinds.items()
            ]
            return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
        return {"type": "object", "properties": {"map": {"type": "string"}}, "required": ["map"]}


def _all_with(name: object) -> dict[str, type[Map]]:
    """The maps by their names; what few models need is imported where the name is none of the rest."""
    if name not in list(MAPS):
        import_module("calibrant.maps._pool")
    return MAPS
