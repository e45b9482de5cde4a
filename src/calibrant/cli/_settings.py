"""The option --set: settings of the method, of the combination and of the rule."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from calibrant._core._errors import ParameterError
from calibrant._core._hints import closest

#: What `calibrant fit --method` calls the method that `calibrant compare` recommends.
BEST = "best"


def set_option(help: str) -> Callable[[Any], Any]:  # noqa: A002  (as click calls it)
    """Give the option, which may be repeated."""
    return click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help=help)


def by_owner(
    settings: Iterable[str], owners: tuple[str, ...], alone: str | None
) -> dict[str, dict[str, Any]]:
    """Settings by whom they are of: the part before a dot, or else the one that needs none."""
    from calibrant._core._settings import read_setting

    found: dict[str, dict[str, str]] = {owner: {} for owner in owners}
    for text in settings:
        path, value = read_setting(text)
        owner, dot, name = path.rpartition(".")
        owner = owner if dot else alone or ""
        if owner not in found:
            forms = " or ".join(
                [*(["NAME=VALUE"] if alone else []), *(f"{each}.NAME=VALUE" for each in owners[:3])]
            )
            raise ParameterError(
                f"--set must be {forms}; got {text!r}{closest(owner, owners)}; calibrant methods lists all"
            )
        found[owner][name] = value
    return found


def set_method(method: str, kind: Any, given: dict[str, str]) -> Any:
    """The method of a name, or with settings the calibrator that it then is."""
    if not given:
        return method
    from calibrant._core._settings import with_settings
    from calibrant.calibrators import AUTO, named_method

    if method in (AUTO, BEST):
        raise ParameterError(
            f"--set {next(iter(given))}=... must come with a method that it is of; got --method {method}; "
            "name one with --method, see calibrant methods"
        )
    return with_settings(named_method(method, kind), given)


def set_combination(combine: str | None, code: object, given: dict[str, str]) -> Any:
    """The combination of a name, or with settings the object that it then is."""
    if not given:
        return combine
    from calibrant._core._settings import with_settings
    from calibrant.codes import check_combiner

    return with_settings(check_combiner(combine, code), given)  # type: ignore[type-var]


def set_rule(rule: str | None, given: dict[str, str]) -> Any:
    """The rule of a name, or with settings the object that it then is."""
    if not given:
        return rule
    from calibrant._core._settings import with_settings
    from calibrant.decisions import new_rule

    if rule is None:
        raise ParameterError(f"--set rule.{next(iter(given))}=... must come with --rule; got none")
    return with_settings(new_rule(rule), given)
