"""Names of a room that are imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(room: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Give the `__getattr__` of a room whose names are at home in these modules."""

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value: object = getattr(import_module(homes[name]), name)
        setattr(sys.modules[room], name, value)
        return value

    return find
