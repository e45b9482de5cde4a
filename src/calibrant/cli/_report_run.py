"""Write the report on the probabilities in a file."""

import click
import numpy as np

from calibrant._core._errors import ParameterError
from calibrant.cli._cost_file import read_cost_file
from calibrant.cli._options import listed
from calibrant.cli._reading import Wanted, read_probabilities
from calibrant.engines import open_source
from calibrant.engines._files import STANDARD


def run(
    *,
    probabilities: str,
    label: str,
    scores: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    file_format: str | None,
    costs: str | None,
    names: str | None,
    title: str | None,
    out: str,
) -> None:
    """Read, summarise, write."""
    if out == STANDARD:
        raise ParameterError("--out must be a file for the page; got '-'")
    source = open_source(probabilities, format=file_format)
    rows = read_probabilities(source, Wanted(scores, label, weight, names, positive, listed(classes)))
    from calibrant.report import summarize

    summary = summarize(
        rows.labels,
        rows.proba,
        classes=rows.classes.tolist(),
        sample_weight=rows.weights,
        cost=None if costs is None else read_cost_file(costs).mapping(rows.classes),
        title=title or f"Probabilities of {source.name}",
        row_names=None if names is None else np.array(rows.groups)[rows.group],
    )
    summary.save(out)
    click.echo(summary.verdict.headline)
    click.echo(f"The report is in {out}.")
