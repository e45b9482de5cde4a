"""The names of a room: where users find them; in some rooms imported when they are first asked for."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType

#: The files of what says that it is of a room.
FILES: dict[object, str] = {}


def lazily(room: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Give the `__getattr__` of a room whose names are at home in these modules."""

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value: object = getattr(import_module(homes[name]), name)
        settle(room, name, value)
        setattr(sys.modules[room], name, value)
        return value

    return find


def at_home(room: str) -> Callable[[], list[str]]:
    """Let what a room offers to users say that it is of this room; give the `__dir__` of the room.

    Messages, pictures and tab completion then name what one can import. Names of a lazy room are told when
    they are first asked for.
    """
    module = sys.modules[room]
    offered: list[str] = module.__dict__["__all__"]
    for name in offered:
        if name in module.__dict__:
            settle(room, name, module.__dict__[name])
    return lambda: sorted(offered)


def settle(room: str, name: str, value: object) -> None:
    """Let a class or a function of a file of a room say that it is of the room, if that offers it."""
    inside = str(getattr(value, "__module__", "")).startswith(f"{room}._")
    offered = name in sys.modules[room].__dict__.get("__all__", ())
    if inside and offered and isinstance(value, type | FunctionType):
        FILES[value] = value.__module__
        value.__module__ = room
