"""Measure the probabilities in a file."""

from typing import Any

import click

from calibrant.cli._options import columns_of
from calibrant.cli._progress import showing
from calibrant.cli._show import Table, count, rows_read, show_json, show_table, show_text
from calibrant.files import evaluate, labelled, open_source

#: What is told elsewhere.
PARTS = ("classes", "by_class", "groups")
NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate", "auc")


def run(
    *,
    probabilities: str,
    form: dict[str, Any],
    in_passes: bool | None,
    by: str | None,
    page: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Read, measure, show."""
    columns = columns_of(given, kind="probability")
    with showing() as progress:
        source = open_source(probabilities, **form)
        rows = labelled(source, **columns, by=by, progress=progress)
        found = evaluate(rows, in_passes=in_passes)
        shown = None if page is None else rows.load_or_sample(rows.memory is None)
    if page is not None:
        from calibrant.cli._report_run import of_sample, page_title, write_report

        write_report(shown, page, title=page_title(f"Probabilities of {source.name}", shown, rows))
    if as_json:
        show_json(
            {
                "overall": _overall(found),
                "classes": found.by_class,
                "by": by,
                "groups": [{"group": name, **_overall(each)} for name, each in found.groups.items()],
                "n_skipped": rows.n_skipped,
                "in_passes": rows.memory is None,
                "report": page,
            }
        )
        return
    click.echo(found)
    if found.groups:
        headings = (str(by), "rows", *(name.replace("_", " ") for name in NAMES))
        lines = [
            (name, count(each.n_rows), *(str(getattr(each, measure)) for measure in NAMES))
            for name, each in found.groups.items()
        ]
        click.echo()
        show_table(Table(headings, lines))
    if rows.n_skipped or rows.memory is None:
        click.echo(f"\n{rows_read(found.n_rows, rows.n_skipped, rows.memory is None, 'rows')}.")
    if found.certain_mistakes:
        show_text(
            f"\nThe log loss is infinite: {count(found.certain_mistakes)} rows were given the probability 0 "
            "for what came."
        )
    if page is not None:
        click.echo(f"\nThe report is in {page}.{of_sample(shown, rows)}")


def _overall(found: Any) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__ if name not in PARTS}
