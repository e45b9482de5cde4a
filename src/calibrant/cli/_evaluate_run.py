"""Measure the probabilities in a file."""

from dataclasses import asdict
from typing import Any

import click

from calibrant._core._errors import DataError
from calibrant.cli._measures import ClassMeasures, Measures, measure, measure_class
from calibrant.cli._options import listed
from calibrant.cli._reading import Labelled, Wanted, read_probabilities
from calibrant.cli._show import Table, count, number, percent, show_json, show_table, show_text
from calibrant.engines import open_source
from calibrant.engines._columns import label_text

NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate", "auc")


def run(
    *,
    probabilities: str,
    label: str,
    scores: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    file_format: str | None,
    by: str | None,
    page: str | None,
    as_json: bool,
) -> None:
    """Read, measure, show."""
    source = open_source(probabilities, format=file_format)
    rows = read_probabilities(source, Wanted(scores, label, weight, by, positive, listed(classes)))
    _check_weights(rows, weight, source.name)
    overall = measure(rows.position, rows.proba, rows.weights)
    of_classes = _by_class(rows)
    of_groups = _by_group(rows)
    if page is not None:
        _report(rows, source.name, page)
    if as_json:
        show_json(_content(overall, of_classes, of_groups, page, by))
        return
    _show_overall(overall)
    _show_classes(of_classes)
    if by is not None:
        _show_groups(by, of_groups)
    if page is not None:
        click.echo(f"\nThe report is in {page}.")


def _check_weights(rows: Labelled, weight: str | None, name: str) -> None:
    if rows.weights is not None and not rows.weights.any():
        raise DataError(f"the column {weight!r} of {name} must not be all zero; got zero for every row")


def _by_class(rows: Labelled) -> list[ClassMeasures]:
    return [
        measure_class(str(label_text(name)), rows.position == place, rows.proba[:, place], rows.weights)
        for place, name in enumerate(rows.classes)
    ]


def _by_group(rows: Labelled) -> dict[str, Measures]:
    """The measures of every group that has rows which count, in the order of the names."""
    found = {}
    for number_, name in sorted(enumerate(rows.groups), key=lambda item: item[1]):
        chosen = rows.group == number_
        weights = None if rows.weights is None else rows.weights[chosen]
        if weights is None or weights.any():
            found[name] = measure(rows.position[chosen], rows.proba[chosen], weights)
    return found


def _report(rows: Labelled, name: str, page: str) -> None:
    from calibrant.report import summarize

    summarize(
        rows.labels,
        rows.proba,
        classes=rows.classes.tolist(),
        sample_weight=rows.weights,
        title=f"Probabilities of {name}",
    ).save(page)


def _content(
    overall: Measures,
    of_classes: list[ClassMeasures],
    of_groups: dict[str, Measures],
    page: str | None,
    by: str | None,
) -> dict[str, Any]:
    return {
        "overall": asdict(overall),
        "classes": [asdict(each) for each in of_classes],
        "by": by,
        "groups": [{"group": name, **asdict(each)} for name, each in of_groups.items()],
        "report": page,
    }


def _cells(measures: Measures) -> list[str]:
    return [count(measures.n_rows), *(number(getattr(measures, name)) for name in NAMES)]


def _show_overall(overall: Measures) -> None:
    facts = [("rows", count(overall.n_rows))]
    facts += [(name.replace("_", " "), number(getattr(overall, name))) for name in NAMES]
    show_table(Table(("measure", "all rows"), [fact for fact in facts if fact[1]]))
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
