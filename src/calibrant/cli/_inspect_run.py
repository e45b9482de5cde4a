"""Show what a model file holds."""

from dataclasses import asdict

from calibrant.cli._show import Table, amount, show_facts, show_json, show_table
from calibrant.models import describe


def run(model: str, as_json: bool) -> None:
    """Check the file, and show it."""
    found = describe(model)
    if as_json:
        show_json(asdict(found))
        return
    show_facts(found.lines())
    if found.cost is not None:
        show_facts([("costs", "rows are decisions, columns are truths")])
        lines = [
            (str(action), *(amount(value) for value in row))
            for action, row in zip(found.actions, found.cost, strict=True)
        ]
        show_table(Table(("decision", *map(str, found.classes)), lines))
