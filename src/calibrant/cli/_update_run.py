"""Fit a model again to new rows."""

from dataclasses import asdict
from typing import Any

import click
from click.core import ParameterSource

from calibrant._core._errors import ParameterError
from calibrant._core._names import label_text
from calibrant._core._whole_files import together
from calibrant.cli._fit_run import content_of, report, show_fit, show_groups
from calibrant.cli._options import columns_of
from calibrant.cli._progress import showing
from calibrant.cli._show import Table, percent, show_json, show_table, show_text
from calibrant.files import STANDARD, labelled, open_source, update
from calibrant.models import ScoreModel, form_of_scores, load, save

#: The options about what the model says itself.
OF_MODEL = ("method", "combine", "settings", "code", "kind", "costs", "rule", "by", "engine", "master")


def run(
    *,
    scores_file: str,
    old: str,
    form: dict[str, Any],
    in_passes: bool | None,
    date: str | None,
    page: str | None,
    out: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Read, fit, compare, save, and say what changed."""
    if out == STANDARD:
        raise ParameterError("--out must be a file for the model; got '-'; standard output shows the summary")
    context = click.get_current_context()
    for each in context.command.params:
        given_too = context.get_parameter_source(str(each.name)) is not ParameterSource.DEFAULT
        if each.name in OF_MODEL and given_too:
            raise ParameterError(
                f"--update takes {each.opts[0]} from the model; got both; leave out one of them"
            )
    model = load(old)
    if not isinstance(model, ScoreModel):
        raise ParameterError(
            f"--update must be a model of calibrant fit; {old} holds a {type(model).__name__}"
        )
    columns = columns_of(
        given,
        kind=model.declared_kind,
        coded=form_of_scores(model.calibrator_) == "one_per_column_of_the_code",
        by=None if model.groups_ is None else model.groups_.column,
    )
    if columns["classes"] is None and columns["positive"] is None:
        columns["classes"] = [str(label_text(each)) for each in model.classes_]
    with showing() as progress:
        rows = labelled(open_source(scores_file, **form), **columns, progress=progress)
        found = update(model, rows, in_passes=in_passes)
    fitted = found.model
    facts: dict[str, Any] = {"n_skipped": rows.n_skipped, "in_passes": rows.memory is None}
    with together():
        if page is not None:
            report(fitted, rows.source.name, page)
        save(fitted, out, date=date)
    if as_json:
        said = {"model": out, "report": page, "updated": old, "taken": fitted.report_}
        show_json({**said, **content_of(fitted), **facts, "comparison": asdict(found.comparison)})
        return
    show_fit(fitted, f"that of {old}", **facts)
    show_groups(fitted)
    _show_changes(found)
    click.echo(f"\nThe model is in {out}." + (f" The report is in {page}." if page else ""))


def _show_changes(found: Any) -> None:
    click.echo("\nWhat changes, on the new rows:\n")
    lines = [
        (each.name.replace("_", " "), str(each.old), str(each.new), str(each.difference))
        for each in found.comparison.measures
    ]
    if found.base_rates is not None:
        names = [f"share of {label_text(each)}" for each in found.model.classes_]
        for name, before, now in zip(names, *found.base_rates, strict=True):
            lines.append((name, percent(before), percent(now), ""))
    show_table(Table(("", "old", "new", "new - old"), lines))
    click.echo()
    show_text(found.comparison.conclusion)
