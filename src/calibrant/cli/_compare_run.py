"""Compare the methods on a file of scores."""

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import click

from calibrant._core._errors import ScoreDirectionWarning
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._options import listed
from calibrant.cli._passes import PassRows, rows_in_passes
from calibrant.cli._progress import watched_passes
from calibrant.cli._reading import Labelled
from calibrant.cli._show import Table, number, percent, rows_read, show_json, show_table, show_text
from calibrant.cli._size import read_unless_large
from calibrant.cli._wanted import Wanted
from calibrant.files import open_source

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
Kind = Literal["margin", "probability"]


def run(
    *,
    scores_file: str,
    label: str,
    scores: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    form: dict[str, Any],
    in_passes: bool | None,
    invalid: str,
    kind: Kind,
    combine: str,
    cv: int,
    as_json: bool,
) -> None:
    """Read, compare, show."""
    source = open_source(scores_file, **form)
    wanted = Wanted(
        scores,
        label,
        weight,
        None,
        positive,
        listed(classes),
        proba=kind == "probability",
        skips=invalid == "skip",
    )
    rows = read_unless_large(source, wanted, scores_file, in_passes)
    found: MethodComparison
    read: Labelled | PassRows
    if rows is None:
        read = rows_in_passes(source, wanted)
        check = ScoreCheck(source.name, read.scores, read.classes, wanted)
        found = _compare_passes(read, kind, combine, cv, check)
    else:
        read = rows
        ScoreCheck(source.name, rows.columns, rows.classes, wanted).rows(rows)
        found = _compare_memory(rows, kind, combine, cv)
    if as_json:
        facts = {"classes": read.classes, "n_skipped": read.n_skipped, "in_passes": rows is None}
        show_json(asdict(found) | facts)
    else:
        _show(found, read.n_skipped, rows is None)


def _compare_memory(rows: Labelled, kind: Kind, combine: str, cv: int) -> "MethodComparison":
    from calibrant.models import compare_methods

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoreDirectionWarning)  # said already
        return compare_methods(
            rows.score_array,
            rows.labels,
            sample_weight=rows.weights,
            classes=rows.classes.tolist(),
            combine=combine,
            kind=kind,
            cv=cv,
        )


def _compare_passes(
    rows: PassRows, kind: Kind, combine: str, cv: int, check: ScoreCheck
) -> "MethodComparison":
    from calibrant.files import PassOptions, comparison_plan, run_plan
    from calibrant.passes import surveyed

    plan = comparison_plan(None, rows.classes, combine, kind, cv, 0, PassOptions(), rows.n_rows)
    with watched_passes(rows.source) as progress:
        return run_plan(surveyed(plan, len(rows.classes), check.survey), rows, progress)


def _show(found: "MethodComparison", n_skipped: int, in_passes: bool) -> None:
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
    n_rows = rows_read(found.n_rows, n_skipped, in_passes, "rows")
    click.echo(f"\n{n_rows}, {found.n_folds} folds. Less is better.")
    show_text(found.advice)
