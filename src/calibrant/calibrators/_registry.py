"""The registry: the only list of methods.

It imports a method when it is first asked for, so that whoever needs the names alone, as the command does for
its help, need not wait for scikit-learn.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from calibrant._core._errors import ParameterError

if TYPE_CHECKING:
    from calibrant.calibrators._method import Method


#: What methods are called elsewhere.
ALIASES = {"isotonic": "pav", "platt": "sigmoid"}


class Registry(Mapping[str, "type[Method]"]):
    """Methods by name, in the order in which they are shown; found by the names of `ALIASES` too.

    Parameters
    ----------
    homes : mapping of str to str
        The modules in which methods are that have not been imported yet.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._methods: dict[str, Any] = dict(homes)

    def add(self, name: str, method: "type[Method]") -> None:
        """Register a class under a name; the same class may be defined again, as notebooks do."""
        known = self._methods.get(name)
        if known is not None and not _is_same(known, method):
            raise ParameterError(
                f"the name of a method must be its own; got {name!r}, which is that of {known!r}; use another"
            )
        self._methods[name] = method

    def __getitem__(self, name: str) -> "type[Method]":
        if name not in self._methods:
            name = ALIASES.get(name, name)
        found = self._methods[name]
        if isinstance(found, str):
            import_module(found)
            found = self._methods[name]
        return found  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)

    def __repr__(self) -> str:
        return f"<methods {', '.join(self)}>"


def _is_same(known: "str | type[Method]", method: "type[Method]") -> bool:
    if isinstance(known, str):
        return method.__module__ == known
    return (known.__module__, known.__qualname__) == (method.__module__, method.__qualname__)


METHODS = Registry(
    {
        name: f"calibrant.calibrators.{module}"
        for name, module in {
            "pav": "_pav",
            "sigmoid": "_sigmoid",
            "beta": "_beta",
            "venn_abers": "_venn_abers",
            "binning": "_binning",
            "identity": "_identity",
            "accuracy_table": "_accuracy_table",
            "ranked_logistic": "_ranked_logistic",
            "temperature": "_temperature",
            "vector": "_vector",
            "matrix": "_matrix",
            "stack": "_stack",
        }.items()
    }
)
#: What scores may be declared to be.
ScoreKind = Literal["margin", "probability"]
KINDS: tuple[ScoreKind, ...] = get_args(ScoreKind)
#: The name of a choice and of no method, see `_auto`; it is what is fitted where nothing else is asked for.
AUTO = DEFAULT = "auto"
#: What every column of several gets where nothing else is asked for.
OF_COLUMNS = "pav"
