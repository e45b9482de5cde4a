"""Write the report on the probabilities in a file."""

from typing import Any

import click
import numpy as np

from calibrant._core._errors import DataError, ParameterError
from calibrant.cli._options import columns_of
from calibrant.cli._progress import showing
from calibrant.cli._show import count
from calibrant.files import STANDARD, ScoreCheck, as_proba, labelled, open_source, read_cost_file


def run(
    *,
    probabilities: str,
    form: dict[str, Any],
    in_passes: bool | None,
    costs: str | None,
    names: str | None,
    before: str | None,
    before_scores: str | None,
    title: str | None,
    out: str,
    **given: Any,
) -> None:
    """Read, summarise, write."""
    if out == STANDARD:
        raise ParameterError("--out must be a file for the page; got '-'")
    file = None if costs is None else read_cost_file(costs)
    with showing() as progress:
        source = open_source(probabilities, **form)
        rows = labelled(source, **columns_of(given, kind="probability"), by=names, progress=progress)
        shown = rows.load_or_sample(in_passes)
        earlier = None
        if before is not None:
            columns = columns_of(given | {"scores": before_scores or given["scores"]}, kind="probability")
            other = labelled(open_source(before, **form), **columns, progress=progress)
            earlier = _of_the_same_rows(other, other.load_or_sample(in_passes), shown)
        elif before_scores is not None:
            raise ParameterError("--before-scores must come with --before; got it alone; name the file too")
    ScoreCheck(source.name, rows.said, rows.classes, learns=False).rows(shown)
    summary = write_report(
        shown,
        out,
        cost=None if file is None else file.mapping(rows.classes),
        title=page_title(title or f"Probabilities of {source.name}", shown, rows),
        before=earlier,
        row_names=None if names is None else np.array(rows.groups)[shown.group],
    )
    click.echo(summary.verdict.headline)
    click.echo(f"The report is in {out}.{of_sample(shown, rows)}")


def _of_the_same_rows(rows: Any, found: Any, shown: Any) -> Any:
    """The probabilities of another file, if it has the rows that are shown."""
    name = rows.source.name
    ScoreCheck(name, rows.said, rows.classes, learns=False).rows(found)
    if len(found) != len(shown) or list(rows.classes) != list(shown.classes):
        raise DataError(
            f"{name} must have the same rows and classes as the report; got {count(len(found))} rows of "
            f"{len(rows.classes)} classes for {count(len(shown))} of {len(shown.classes)}; take the same"
        )
    differ = np.flatnonzero(np.asarray(found.truth) != np.asarray(shown.truth))
    if len(differ):
        raise DataError(
            f"{name} must have the same rows in the same order as the report; got another label in row "
            f"{differ[0] + 1}; sort both files alike"
        )
    return as_proba(found.scores)


def write_report(shown: Any, page: str, **about: Any) -> Any:
    """Write the report on some rows."""
    from calibrant.report import summarize

    summary = summarize(
        shown.classes[shown.truth],
        as_proba(shown.scores),
        classes=shown.classes.tolist(),
        sample_weight=shown.weight,
        **about,
    )
    summary.save(page)
    return summary


def page_title(title: str, shown: Any, rows: Any) -> str:
    """Say in the title of a page that it shows a sample, if it does."""
    return title + (f", {_which(shown, rows)}" if len(shown) < rows.n_read else "")


def of_sample(shown: Any, rows: Any) -> str:
    """Say that a page shows a sample, if it does."""
    return f" It shows {_which(shown, rows)}." if len(shown) < rows.n_read else ""


def _which(shown: Any, rows: Any) -> str:
    return f"a random sample of {count(len(shown))} of {count(rows.n_read)} rows"
