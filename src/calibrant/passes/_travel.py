"""Plain data that can travel: a pass as a JSON document, and the way back.

A document holds nothing but numbers, texts, lists and objects. An array is its bytes in base64, in
little-endian order, so that it arrives bit for bit. No code travels and none is run: a document names one of
the kinds that are registered here, and its fields are given to that kind's constructor.
"""

import base64
import dataclasses
import sys
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from calibrant import passes
from calibrant._core._errors import DataError

T = TypeVar("T")

_KINDS: dict[str, type] = {}
#: What arrays in documents may hold.
_NUMBERS = {"f8": "<f8", "i8": "<i8", "i1": "|i1", "b1": "|b1"}


def travels(kind: type[T]) -> type[T]:
    """Register a dataclass whose fields are plain data, arrays, or such dataclasses themselves.

    Parameters
    ----------
    kind : type
        The dataclass, in a module that can be imported wherever it is to go.

    Returns
    -------
    type
        The same.
    """
    _KINDS[_name_of(kind)] = kind
    return kind


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def modules_of(value: Any) -> set[str]:
    """The modules in which the kinds of an object and of all that is in it are registered, or its `homes`."""
    if isinstance(value, tuple):
        return set().union(*map(modules_of, value))
    if not dataclasses.is_dataclass(value):
        return set()
    inside = (getattr(value, field.name) for field in dataclasses.fields(value))
    return {type(value).__module__, *getattr(value, "homes", ())}.union(*map(modules_of, inside))


def to_document(value: Any) -> Any:
    """Give plain data for a registered object, with all that is in it."""
    if isinstance(value, np.ndarray):
        name = value.dtype.str[1:]
        stored = np.ascontiguousarray(value, dtype=_NUMBERS[name])
        return {
            "array": base64.b64encode(stored.tobytes()).decode(),
            "numbers": name,
            "shape": list(value.shape),
        }
    if isinstance(value, tuple):
        return [to_document(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    fields = {field.name: to_document(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"kind": _name_of(type(value))} | fields


def from_document(document: Any) -> Any:
    """Make the object again; lists become tuples."""
    if isinstance(document, list):
        return tuple(from_document(item) for item in document)
    if not isinstance(document, dict):
        return document
    if "array" in document:
        stored = np.frombuffer(base64.b64decode(document["array"]), _NUMBERS[document["numbers"]])
        array = stored.reshape(document["shape"])
        return array if sys.byteorder == "little" else array.astype(document["numbers"])
    fields = {name: from_document(item) for name, item in document.items() if name != "kind"}
    kind = _kind_named(document.get("kind", ""))
    if kind is None:
        raise DataError(f"kind must be one of {', '.join(sorted(_KINDS))}; got {document.get('kind')!r}")
    return kind(**fields)


def _kind_named(name: str) -> type | None:
    """A kind that is registered; those of this room are, whatever has been imported of it."""
    if name not in _KINDS:
        for home in set(passes.HOMES.values()):
            import_module(home)
    return _KINDS.get(name)
