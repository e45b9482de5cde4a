"""Classes by name, each imported when it is first asked for.

Whoever needs the names alone, as the command does for its help, need not wait for scikit-learn.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

from calibrant._core._errors import ParameterError

K = TypeVar("K")


class Registry(Mapping[str, type[K]]):
    """Classes by name, in the order in which they are shown; found by other names too.

    Parameters
    ----------
    noun : str
        What they are, in messages.
    homes : mapping of str to str
        The modules in which classes are that have not been imported yet, and that `add` them.
    aliases : mapping of str to str, optional
        Other names, and those that they stand for.
    """

    def __init__(self, noun: str, homes: Mapping[str, str], aliases: Mapping[str, str] | None = None) -> None:
        self._noun, self._aliases = noun, aliases or {}
        self._classes: dict[str, Any] = dict(homes)

    def add(self, name: str, new: type[K]) -> None:
        """Register a class under a name; the same class may be defined again, as notebooks do."""
        known = self._classes.get(name)
        if known is not None and not _is_same(known, new):
            raise ParameterError(
                f"the name of a {self._noun} must be its own; got {name!r}, which is that of {known!r}; use "
                "another"
            )
        self._classes[name] = new

    def __getitem__(self, name: str) -> type[K]:
        if name not in self._classes:
            name = self._aliases.get(name, name)
        found = self._classes[name]
        if isinstance(found, str):
            import_module(found)
            found = self._classes[name]
        return found  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __repr__(self) -> str:
        return f"<{self._noun}s {', '.join(self)}>"


def _is_same(known: str | type, new: type) -> bool:
    if isinstance(known, str):
        return new.__module__ == known
    return (known.__module__, known.__qualname__) == (new.__module__, new.__qualname__)
