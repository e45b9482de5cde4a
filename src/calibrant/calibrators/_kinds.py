"""Calibrators that can be saved, by name; each is imported when it is asked for."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module

from calibrant._core._kinds import Kind, Kinds
from calibrant.calibrators._registry import METHODS

#: A file imports nothing, so that only a user can make a method known.
IMPORT_FIRST = "import the module of a method of your own first"
#: The calibrators of columns, which are no methods themselves.
OF_COLUMNS = {"one_vs_all": "OneVsAllCalibrator", "code": "CodeCalibrator"}


class _Methods(Mapping[str, Kind]):
    """Methods that take such scores."""

    def __init__(self, takes: str) -> None:
        self._takes = takes

    def __getitem__(self, name: str) -> Kind:
        method = METHODS[name]
        if method.takes != self._takes:
            raise KeyError(name)
        return method.kind_in_file()

    def __iter__(self) -> Iterator[str]:
        return (name for name, method in METHODS.items() if method.takes == self._takes)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Columns(Mapping[str, Kind]):
    """The calibrators of columns."""

    def __getitem__(self, name: str) -> Kind:
        kind: Kind = getattr(import_module("calibrant.calibrators._code"), OF_COLUMNS[name]).kind_in_file()
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(OF_COLUMNS)

    def __len__(self) -> int:
        return len(OF_COLUMNS)


class _Several(Mapping[str, Kind]):
    """Kinds of several sorts, in this order."""

    def __init__(self, *parts: Mapping[str, Kind]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> Kind:
        for part in self._parts:
            with suppress(KeyError):
                return part[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for part in self._parts for name in part)

    def __len__(self) -> int:
        return sum(map(len, self._parts))


@cache
def score_kinds() -> Kinds:
    """The methods that columns can have."""
    return Kinds(_Methods("score"), IMPORT_FIRST)


@cache
def calibrator_kinds() -> Kinds:
    """All calibrators that can be saved."""
    return Kinds(_Several(_Methods("score"), _Columns(), _Methods("row")), IMPORT_FIRST)
