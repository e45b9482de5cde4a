"""Check the docstring of everything public by numpydoc's rules: `make docstrings`."""

import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections import Counter

from numpydoc.validate import validate

import calibrant
from calibrant._core._errors import MissingExtraError

#: Rules that do not fit: not everything needs an example, an extended summary or a See Also section; the
#: summary stands on the first line; a returned value may be named.
IGNORED = {"EX01", "SA01", "ES01", "GL01", "RT02", "YD01"}


def public_names() -> list[str]:
    """Dotted names of what the rooms offer, and of the public methods of classes."""
    names = []
    for room in pkgutil.iter_modules(calibrant.__path__):
        if not room.ispkg:  # the command as a module, which runs when it is imported
            continue
        try:
            module = importlib.import_module(f"calibrant.{room.name}")
        except MissingExtraError as error:  # those of Spark are checked by `make spark`
            print(f"calibrant.{room.name} is not checked: {error}")
            continue
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if not (inspect.isclass(thing) or inspect.isfunction(thing)):
                continue
            names.append(f"calibrant.{room.name}.{name}")
            if inspect.isclass(thing) and thing.__module__.startswith(f"calibrant.{room.name}"):
                names += [f"calibrant.{room.name}.{name}.{method}" for method in sorted(methods_of(thing))]
    return names


def methods_of(thing: type) -> set[str]:
    """Public methods of a class, its own and inherited ones; not those that override one of ours."""
    found = Counter(
        name
        for base in thing.__mro__
        if base.__module__.startswith("calibrant.")
        for name, value in vars(base).items()
        if not name.startswith("_") and inspect.isfunction(value)
    )
    return {name for name, times in found.items() if times == 1}


def is_result(name: str) -> bool:
    """Whether this is a dataclass that functions return: its fields are documented as attributes."""
    thing = importlib.import_module("calibrant")
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return dataclasses.is_dataclass(thing) and "Attributes\n" in inspect.getdoc(thing)


def main() -> int:
    """Print every finding; the exit status says whether there was one."""
    findings = [
        f"{name}: {code} {message}"
        for name in public_names()
        for code, message in validate(name)["errors"]
        if code not in IGNORED and not (code == "PR01" and is_result(name))
    ]
    print("\n".join(findings) or f"{len(public_names())} docstrings are in order")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
