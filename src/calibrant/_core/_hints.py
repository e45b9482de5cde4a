"""Hints: the closest of the names that there are, and where a habit of another library is at home here."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from calibrant._core._errors import ParameterError

Made = TypeVar("Made", bound=Callable[..., None])

#: How alike two names must be, from 0 to 1, to be taken for each other, and how long one that another holds.
ALIKE, LONG = 0.6, 4


class UnknownArgumentError(ParameterError, TypeError):
    """An argument that does not exist; also a TypeError, as Python's own."""


def closest(value: object, names: Iterable[object]) -> str:
    """The end of a message about a name that is none: the one that was probably meant, if any."""
    known = {_plain(name): name for name in names if isinstance(name, str)}
    if not isinstance(value, str):
        return ""
    written = _plain(value)
    holding = [name for name in known if LONG <= len(name) <= len(written) and name in written]
    held = [name for name in known if len(written) >= LONG and written in name]
    found = holding or held or _most_alike(written, known)
    return f"; did you mean {known[found[0]]!r}?" if found else ""


def _most_alike(written: str, known: Iterable[str]) -> list[str]:
    """The name most like what was written, if any is; of several one with the same letters."""
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415  (only mistakes need it)

    def likeness(name: str) -> tuple[float, bool]:
        return SequenceMatcher(None, name, written).ratio(), sorted(name) == sorted(written)

    return sorted(get_close_matches(written, known, cutoff=ALIKE), key=likeness, reverse=True)[:1]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def arguments_told(**elsewhere: str) -> Callable[[Made], Made]:
    """Let a constructor answer arguments that it does not have: by what is said here, or by the closest."""

    def decorate(make: Made) -> Made:
        known = list(signature(make).parameters)[1:]

        @wraps(make)
        def made(self: object, *values: Any, **given: Any) -> None:
            unknown = next((name for name in given if name not in known), None)
            if unknown is not None:
                raise UnknownArgumentError(_told(type(self).__name__, unknown, known, elsewhere))
            make(self, *values, **given)

        return made  # type: ignore[return-value]

    return decorate


def _told(owner: str, unknown: str, known: list[str], elsewhere: Mapping[str, str]) -> str:
    must = f"the arguments of {owner} must be among {', '.join(known)}; got {unknown}="
    return f"{must}; {elsewhere[unknown]}" if unknown in elsewhere else must + closest(unknown, known)
