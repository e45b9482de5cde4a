"""Fit a model to a file of scores."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import click

from calibrant._core._errors import ParameterError
from calibrant.cli._cost_file import CostFile, read_cost_file
from calibrant.cli._options import listed
from calibrant.cli._reading import Labelled, Wanted, check_proba, read_labelled
from calibrant.cli._show import Table, amount, count, number, percent, show_facts, show_json, show_table
from calibrant.engines import Source, open_source
from calibrant.engines._columns import label_text
from calibrant.engines._files import STANDARD

if TYPE_CHECKING:
    from calibrant.models import ScoreModel


def run(
    *,
    scores_file: str,
    scores: str,
    label: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    file_format: str | None,
    method: str,
    combine: str | None,
    code: str | None,
    kind: Literal["margin", "probability"],
    costs: str | None,
    rule: str | None,
    date: str | None,
    page: str | None,
    out: str,
    as_json: bool,
) -> None:
    """Read, fit, save, and say how good it is."""
    if method == "identity" and kind == "margin":
        raise ParameterError("--method identity takes scores as they are, so they must be --kind probability")
    if out == STANDARD:
        raise ParameterError("--out must be a file for the model; got '-'; standard output shows the summary")
    if rule is not None and costs is None:
        raise ParameterError(f"--rule {rule} must come with --costs; got none")
    source = open_source(scores_file, format=file_format)
    wanted = Wanted(scores, label, weight, None, positive, listed(classes), coded=code is not None)
    rows = read_labelled(source, wanted)
    file = None if costs is None else read_cost_file(costs)
    if kind == "probability":
        _check_kind(rows, source, code is not None)
    # scikit-learn takes its time to load; what is wrong with the rows is known before.
    from calibrant.models import ScoreModel, named_method, save

    n_counted = len(rows.position) if rows.weights is None else int((rows.weights > 0).sum())
    model = ScoreModel(
        named_method(method, n_counted, kind),
        None if file is None else _costs(file, rows),
        rule,
        code=code,
        combine=combine or _combination(code),
        classes=rows.classes.tolist(),
    ).fit(rows.score_array, rows.labels, rows.weights)
    model.summary_ = replace(model.summary_, score_columns=rows.columns) if model.summary_ else None
    if page is not None:
        _report(model, rows, source, page)
    save(model, out, date=date)
    if as_json:
        show_json({"model": out, "report": page, **summary(model, method, rows)})
    else:
        _show(model, method, rows)
        click.echo(f"\nThe model is in {out}." + (f" The report is in {page}." if page else ""))


def _combination(code: str | None) -> str:
    """Normalising is for one score per class."""
    return "normalize" if code in (None, "one_vs_all") else "coupling"


def _check_kind(rows: Labelled, source: Source, coded: bool) -> None:
    """Columns of a code, and one score per class before they are put together, need not sum to one."""
    for place, column in enumerate(rows.columns):
        check_proba(rows.scores[:, place : place + 1], (column,), source, 0)
    if not coded:
        check_proba(rows.scores, rows.columns, source, 0)


def _costs(file: CostFile, rows: Labelled) -> dict[object, dict[object, float]]:
    file.check_reasonable()
    return file.mapping(rows.classes)


def _report(model: "ScoreModel", rows: Labelled, source: Source, page: str) -> None:
    """Write the report on probabilities of rows that were left out."""
    from calibrant.cli._left_out import left_out_probabilities
    from calibrant.report import summarize

    proba = left_out_probabilities(model, rows)
    summarize(
        rows.labels,
        proba,
        classes=rows.classes.tolist(),
        sample_weight=rows.weights,
        cost=model.cost_ if model.cost_ is not None and len(model.cost_) == len(rows.classes) else None,
        title=f"Probabilities from {source.name}, rows left out of the fit",
    ).save(page)


def summary(model: "ScoreModel", method: str, rows: Labelled) -> dict[str, Any]:
    """What is known of a fit, for machines."""
    kept = model.summary_
    assert kept is not None
    measured = kept.metrics
    return {
        "method": method,
        "score_columns": list(rows.columns),
        "classes": rows.classes,
        "positive": rows.classes[1] if rows.scores.shape[1] == 1 and len(rows.classes) == 2 else None,
        "n_rows": kept.n_rows,
        "base_rates": kept.base_rates,
        "n_folds": kept.n_folds,
        "metrics": {name: getattr(measured, name) for name in measured.__dataclass_fields__},
    }


def _show(model: "ScoreModel", method: str, rows: Labelled) -> None:
    kept = model.summary_
    assert kept is not None
    facts = [("method", method), ("rows", count(kept.n_rows)), ("score columns", ", ".join(rows.columns))]
    if rows.scores.shape[1] == 1 and len(rows.classes) == 2:
        facts.append(("positive class", str(label_text(rows.classes[1]))))
    show_facts(facts)
    click.echo()
    rates = zip(rows.classes, kept.base_rates, strict=True)
    show_table(Table(("class", "share"), [(str(label_text(name)), percent(rate)) for name, rate in rates]))
    click.echo()
    measured = kept.metrics
    names = ("log_loss", "brier_score", "calibration", "refinement", "error_rate")
    shown = [(name.replace("_", " "), number(getattr(measured, name))) for name in names]
    for name in ("mean_cost", "mean_cost_plain"):
        value = getattr(measured, name)
        if value is not None:
            shown.append((name.replace("_", " "), amount(value)))
    heading = "rows left out" if kept.n_folds else "rows fitted to"
    show_table(Table(("measure", heading), [pair for pair in shown if pair[1]]))
