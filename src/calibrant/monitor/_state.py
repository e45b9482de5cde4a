"""The state of a monitor as JSON: arrays exactly, bit by bit; everything checked when it is read."""

import base64
import math
import zlib
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np

from calibrant._core._arrays import Array
from calibrant._core._errors import DataError
from calibrant.metrics import Estimate
from calibrant.monitor._windows import Window

FORMAT, VERSION = "calibrant-monitor", 1
#: Fields of a window that are numbers, and those that are several estimates; others are one.
WHOLE, PLAIN = (
    ("first_row", "last_row", "n_rows", "n_labelled"),
    ("began", "ended", "calibration", "refinement"),
)
SEVERAL = ("mean_forecast", "frequency", "intercept")
#: No array is longer.
MOST_BYTES = 1 << 28
_TYPES = {"f4": "<f4", "f8": "<f8", "i8": "<i8"}


def write_array(array: Array) -> dict[str, Any]:
    """An array as its shape and its bytes, little end first, compressed, in base 64."""
    kind = array.dtype.str[1:]
    raw = np.ascontiguousarray(array).astype(_TYPES[kind]).tobytes()
    return {"shape": list(array.shape), kind: base64.b64encode(zlib.compress(raw)).decode()}


def read_array(state: object, like: Array, name: str) -> Array:
    """An array like another one; where that has no rows there may be any number of them."""
    kind = like.dtype.str[1:]
    try:
        assert isinstance(state, dict)
        shape = tuple(int(each) for each in state["shape"])
        packed = base64.b64decode(state[kind], validate=True)
        raw = zlib.decompressobj().decompress(packed, MOST_BYTES)
        array = np.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape).astype(like.dtype)
    except (AssertionError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise damaged(name) from error
    free = like.ndim > 0 and len(like) == 0
    if array.ndim != like.ndim or array.shape[free:] != like.shape[free:] or not np.isfinite(array).all():
        raise damaged(name)
    return array


def write_parts(thing: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Arrays and numbers of an object, by name."""
    values = {name: getattr(thing, name) for name in names}
    return {
        name: write_array(each) if isinstance(each, np.ndarray) else each for name, each in values.items()
    }


def read_parts(thing: object, state: object, names: tuple[str, ...]) -> None:
    """Put arrays and numbers where others of their kind are."""
    for name in names:
        new, old = entry(state, name), getattr(thing, name)
        if isinstance(old, np.ndarray):
            new = read_array(new, old, name)
        elif isinstance(new, bool) or not isinstance(new, int | type(old)) or not math.isfinite(new):
            raise damaged(name)
        setattr(thing, name, type(old)(new) if not isinstance(old, np.ndarray) else new)


def entry(state: object, name: str, kind: type | tuple[type, ...] = object) -> Any:
    """What a state has under a name."""
    if not isinstance(state, dict) or name not in state or not isinstance(state[name], kind):
        raise damaged(name)
    return state[name]


def damaged(name: str) -> DataError:
    """Say that a state cannot be read."""
    return DataError(f"the state of a monitor must be what to_json gave; {name} is not; start a new monitor")


def write_record(record: Any) -> dict[str, Any]:
    """An alarm as plain values."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def read_record(state: object, kind: type) -> Any:
    """The record that was written."""
    try:
        assert isinstance(state, dict)
        assert set(state) <= {each.name for each in fields(kind)}
        return kind(**state)
    except (AssertionError, TypeError) as error:
        raise damaged(kind.__name__.lower()) from error


def write_window(window: Window) -> dict[str, Any]:
    """A window: which of its numbers there are, and all of them one after the other."""
    counts, numbers = {}, []
    for each in fields(window):
        value = getattr(window, each.name)
        values = value if isinstance(value, tuple) else [] if value is None else [value]
        if values:
            counts[each.name] = len(values)
        for one in values:
            numbers += [one, one.low, one.high, one.error] if isinstance(one, Estimate) else [one]
    return counts | {"numbers": write_array(np.array(numbers, dtype=np.float64))}


def read_window(state: object) -> Window:
    """The window that was written."""
    numbers = iter(read_array(entry(state, "numbers"), np.empty(0), "windows").tolist())
    found: dict[str, Any] = {}
    try:
        assert isinstance(state, dict)
        for each in fields(Window):
            if each.name not in state:
                continue
            count = int(state[each.name])
            if each.name in WHOLE:
                found[each.name] = int(next(numbers))
            elif each.name in PLAIN:
                found[each.name] = next(numbers)
            elif each.name in SEVERAL:
                found[each.name] = tuple(Estimate(*islice(numbers, 4)) for _ in range(count))
            else:
                found[each.name] = Estimate(*islice(numbers, 4))
        return Window(**found)
    except (AssertionError, StopIteration, TypeError, ValueError) as error:
        raise damaged("windows") from error
