"""List the registry: methods, combinations and rules, with their settings."""

import inspect
from typing import Any

import click

from calibrant._core._checks import not_among
from calibrant._core._settings import settings_of
from calibrant.calibrators import ALIASES, AUTO, DEFAULT, METHODS, JointCalibrator
from calibrant.cli._show import Table, show_facts, show_json, show_table, show_text
from calibrant.codes import COMBINERS
from calibrant.decisions import RULES

TAKES = {"score": "one score", "row": "one per class"}


def run(name: str | None, as_json: bool) -> None:
    """Show all, or one."""
    every = registry()
    if name is not None:
        known = [each["name"] for part in every.values() for each in part]
        wanted = ALIASES.get(name, name)
        if wanted not in known:
            raise not_among("NAME", name, known, aliases=ALIASES)
        every = {part: [each for each in all_ if each["name"] == wanted] for part, all_ in every.items()}
    if as_json:
        show_json({part: found for part, found in every.items() if found})
        return
    if name is not None:
        for found in every.values():
            for each in found:
                _show_one(each)
        return
    for number, (part, found) in enumerate(every.items()):
        if number:
            click.echo()
        headings = (part, "takes", "what it does") if part == "methods" else (part, "what it does")
        show_table(Table(headings, [_line(each) for each in found], left=True))
    show_text(
        f"\nWhere nothing is asked for, --method is {DEFAULT}: the stack of all scores of a row. calibrant "
        "methods NAME says what the settings of one may be; --set NAME=VALUE of calibrant fit sets one."
    )


def registry() -> dict[str, list[dict[str, Any]]]:
    """All that has a name and settings, as plain data."""
    methods = [{"name": AUTO, "aliases": [], "takes": "any scores", "kinds": ["margin", "probability"]}]
    methods[0] |= {"description": "What is best where nothing is known: the stack.", "settings": []}
    for name, method in METHODS.items():
        joint = issubclass(method, JointCalibrator)
        methods.append(
            {
                "name": name,
                "aliases": [alias for alias, meant in ALIASES.items() if meant == name],
                "takes": "any scores" if joint else TAKES[method.takes],
                "kinds": sorted(method.kinds),
                **_described(method),
            }
        )
    return {
        "methods": methods,
        "combinations": [{"name": each.name, **_described(each)} for each in COMBINERS],
        "rules": [{"name": name, **_described(rule)} for name, rule in RULES.items()],
    }


def _described(kind: Any) -> dict[str, Any]:
    """What the first line of its description says, and its settings."""
    new = kind.for_new_rows() if hasattr(kind, "for_new_rows") else kind()
    return {
        "description": (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ").replace("`", ""),
        "settings": [
            {"name": name, "must_be": must, "default": getattr(new, name)}
            for name, (must, _) in settings_of(kind).items()
        ],
    }


def _line(each: dict[str, Any]) -> tuple[str, ...]:
    settings = ", ".join(setting["name"] for setting in each["settings"])
    said = each["description"] + (f" Settings: {settings}." if settings else "")
    named = " or ".join([each["name"], *each.get("aliases", [])])
    return (named, _taken(each), said) if "takes" in each else (named, said)


def _taken(each: dict[str, Any]) -> str:
    """What scores a method takes, and where not both kinds of them, which."""
    return each["takes"] if len(each["kinds"]) > 1 else f"{each['takes']}, {each['kinds'][0]}"


def _show_one(each: dict[str, Any]) -> None:
    click.echo(f"{' or '.join([each['name'], *each.get('aliases', [])])}: {each['description']}")
    if "takes" in each:
        show_facts([("takes", each["takes"]), ("kinds", ", ".join(each["kinds"]))])
    if each["settings"]:
        click.echo()
        lines = [
            (setting["name"], str(setting["default"]), setting["must_be"]) for setting in each["settings"]
        ]
        show_table(Table(("setting", "default", "what it may be"), lines, left=True))
