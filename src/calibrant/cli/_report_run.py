"""Write the report on the probabilities in a file."""

from typing import Any

import click
import numpy as np

from calibrant._core._errors import ParameterError
from calibrant.cli._cost_file import read_cost_file
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._options import listed
from calibrant.cli._reading import Labelled
from calibrant.cli._show import count
from calibrant.cli._size import read_or_sample
from calibrant.cli._wanted import Wanted
from calibrant.files import STANDARD, open_source


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
    costs: str | None,
    names: str | None,
    title: str | None,
    out: str,
) -> None:
    """Read, summarise, write."""
    if out == STANDARD:
        raise ParameterError("--out must be a file for the page; got '-'")
    file = None if costs is None else read_cost_file(costs)
    source = open_source(probabilities, **form)
    wanted = Wanted(
        scores, label, weight, names, positive, listed(classes), proba=True, skips=invalid == "skip"
    )
    rows = read_or_sample(source, wanted, probabilities, in_passes)
    ScoreCheck(source.name, rows.columns, rows.classes, wanted, learns=False).rows(rows)
    from calibrant.report import summarize

    summary = summarize(
        rows.labels,
        rows.proba,
        classes=rows.classes.tolist(),
        sample_weight=rows.weights,
        cost=None if file is None else file.mapping(rows.classes),
        title=page_title(title or f"Probabilities of {source.name}", rows),
        row_names=None if names is None else np.array(rows.groups)[rows.group],
    )
    summary.save(out)
    click.echo(summary.verdict.headline)
    click.echo(f"The report is in {out}.{of_sample(rows)}")


def page_title(title: str, rows: Labelled) -> str:
    """Say in the title of a page that it shows a sample, if it does."""
    return title + (f", {_which(rows)}" if _is_sample(rows) else "")


def of_sample(rows: Labelled) -> str:
    """Say that a page shows a sample, if it does."""
    return f" It shows {_which(rows)}." if _is_sample(rows) else ""


def _is_sample(rows: Labelled) -> bool:
    return len(rows.truth) < rows.n_read


def _which(rows: Labelled) -> str:
    return f"a random sample of {count(len(rows.truth))} of {count(rows.n_read)} rows"
