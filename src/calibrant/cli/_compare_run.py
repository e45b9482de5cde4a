"""Compare the methods on a file of scores."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import click

from calibrant.cli._options import listed
from calibrant.cli._reading import Wanted, check_proba, read_labelled
from calibrant.cli._show import Table, count, number, percent, show_json, show_table, show_text
from calibrant.engines import open_source

if TYPE_CHECKING:
    from calibrant.models import MethodComparison

HEADINGS = (
    "method",
    "log loss",
    "brier",
    "calibration",
    "refinement",
    "error",
    "behind",
    "+-",
    "first",
)


def run(
    *,
    scores_file: str,
    label: str,
    scores: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    file_format: str | None,
    kind: Literal["margin", "probability"],
    combine: str,
    cv: int,
    as_json: bool,
) -> None:
    """Read, compare, show."""
    source = open_source(scores_file, format=file_format)
    rows = read_labelled(source, Wanted(scores, label, weight, None, positive, listed(classes)))
    if kind == "probability":
        check_proba(rows.scores, rows.columns, source, 0)
    from calibrant.models import compare_methods

    found = compare_methods(
        rows.score_array,
        rows.labels,
        sample_weight=rows.weights,
        classes=rows.classes.tolist(),
        combine=combine,
        kind=kind,
        cv=cv,
    )
    if as_json:
        show_json(asdict(found) | {"classes": rows.classes})
    else:
        _show(found)


def _show(found: "MethodComparison") -> None:
    lines = [
        (
            each.name,
            *(
                number(value)
                for value in (each.log_loss, each.brier, each.calibration, each.refinement, each.error)
            ),
            number(each.difference),
            number(each.difference_error),
            percent(each.share_best),
        )
        for each in found.results
    ]
    chosen = [place for place, each in enumerate(found.results) if each.name == found.recommended]
    show_table(Table(HEADINGS, lines, frozenset(chosen)))
    click.echo(f"\n{count(found.n_rows)} rows, {found.n_folds} folds. Less is better.")
    show_text(found.advice)
