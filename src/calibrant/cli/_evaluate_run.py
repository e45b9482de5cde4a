"""Measure the probabilities in a file."""

from dataclasses import asdict
from typing import Any

import click

from calibrant.cli._direction import ScoreCheck
from calibrant.cli._measures import ClassMeasures, Found, Measures, measure_rows
from calibrant.cli._options import listed
from calibrant.cli._passes import rows_in_passes
from calibrant.cli._reading import Labelled, read_labelled
from calibrant.cli._report_run import of_sample, page_title
from calibrant.cli._show import (
    Table,
    count,
    number,
    percent,
    rows_read,
    show_json,
    show_table,
    show_text,
)
from calibrant.cli._size import SAMPLE_ROWS, read_unless_large
from calibrant.cli._wanted import Wanted
from calibrant.files import open_source

NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate", "auc")
#: Areas are shown with four digits.
SHOWN = 5e-5


def run(
    *,
    probabilities: str,
    label: str,
    scores: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    form: dict[str, Any],
    in_passes: bool | None,
    invalid: str,
    by: str | None,
    page: str | None,
    as_json: bool,
) -> None:
    """Read, measure, show."""
    source = open_source(probabilities, **form)
    wanted = Wanted(scores, label, weight, by, positive, listed(classes), proba=True, skips=invalid == "skip")
    rows = read_unless_large(source, wanted, probabilities, in_passes)
    if rows is None:
        from calibrant.cli._measure_passes import measure_passes

        passes = rows_in_passes(source, wanted)
        check = ScoreCheck(source.name, passes.scores, passes.classes, wanted, learns=False)
        found = measure_passes(passes, check)
        rows = None if page is None else read_labelled(source, wanted, most=SAMPLE_ROWS)
    else:
        ScoreCheck(source.name, rows.columns, rows.classes, wanted, learns=False).rows(rows)
        found = measure_rows(rows, weight, source.name)
    if page is not None and rows is not None:
        _report(rows, source.name, page)
    if as_json:
        show_json(_content(found, page, by))
        return
    _show_overall(found)
    _show_classes(found.classes)
    if by is not None:
        _show_groups(by, found.groups)
    _show_width(found)
    if page is not None and rows is not None:
        click.echo(f"\nThe report is in {page}.{of_sample(rows)}")


def _report(rows: Labelled, name: str, page: str) -> None:
    from calibrant.report import summarize

    summarize(
        rows.labels,
        rows.proba,
        classes=rows.classes.tolist(),
        sample_weight=rows.weights,
        title=page_title(f"Probabilities of {name}", rows),
    ).save(page)


def _content(found: Found, page: str | None, by: str | None) -> dict[str, Any]:
    return {
        "overall": asdict(found.overall),
        "classes": [asdict(each) for each in found.classes],
        "by": by,
        "groups": [{"group": name, **asdict(each)} for name, each in found.groups.items()],
        "n_skipped": found.n_skipped,
        "in_passes": found.in_passes,
        "report": page,
    }


def _cells(measures: Measures) -> list[str]:
    return [count(measures.n_rows), *(number(getattr(measures, name)) for name in NAMES)]


def _show_overall(found: Found) -> None:
    overall = found.overall
    facts = [("rows", count(overall.n_rows))]
    facts += [(name.replace("_", " "), number(getattr(overall, name))) for name in NAMES]
    show_table(Table(("measure", "all rows"), [fact for fact in facts if fact[1]]))
    if found.n_skipped or found.in_passes:
        click.echo(f"\n{rows_read(overall.n_rows, found.n_skipped, found.in_passes, 'rows')}.")
    if overall.certain_mistakes:
        click.echo()
        show_text(
            f"The log loss is infinite: {count(overall.certain_mistakes)} rows were given the probability "
            "0 for what came."
        )


def _show_classes(of_classes: list[ClassMeasures]) -> None:
    click.echo()
    headings = ("class", "share", "expected", "brier score", "calibration", "refinement", "auc")
    lines = [
        (
            each.label,
            percent(each.share),
            percent(each.mean_probability),
            *(number(value) for value in (each.brier_score, each.calibration, each.refinement, each.auc)),
        )
        for each in of_classes
    ]
    show_table(Table(headings, lines))


def _show_groups(by: str, of_groups: dict[str, Measures]) -> None:
    click.echo()
    headings = [by, "rows", *(name.replace("_", " ") for name in NAMES)]
    lines = [[name, *_cells(each)] for name, each in of_groups.items()]
    used = [place for place in range(len(headings)) if place < 2 or any(line[place] for line in lines)]
    show_table(
        Table(tuple(headings[place] for place in used), [[line[place] for place in used] for line in lines])
    )


def _show_width(found: Found) -> None:
    """Say how well areas are known, if that can be seen."""
    measured: list[Measures | ClassMeasures] = [found.overall, *found.classes, *found.groups.values()]
    width = max(each.auc_error for each in measured)
    if width > SHOWN:
        click.echo()
        show_text(
            f"In passes an area under the ROC curve is known by its bounds; those shown are right to "
            f"{width:.1g}."
        )
