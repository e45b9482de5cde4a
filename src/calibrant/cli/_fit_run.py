"""Fit a model to a file of scores."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from calibrant._core._arrays import Array
from calibrant._core._errors import ParameterError
from calibrant._core._names import label_text
from calibrant._core._whole_files import together
from calibrant.calibrators import DEFAULT, METHODS
from calibrant.cli._cost_file import CostFile, read_cost_file
from calibrant.cli._direction import ScoreCheck
from calibrant.cli._options import listed
from calibrant.cli._passes import rows_in_passes
from calibrant.cli._show import (
    Table,
    amount,
    count,
    number,
    percent,
    rows_read,
    show_facts,
    show_json,
    show_table,
    show_text,
)
from calibrant.cli._size import read_unless_large
from calibrant.cli._wanted import Wanted, choose_scores
from calibrant.files import STANDARD, open_source

if TYPE_CHECKING:
    from calibrant.cli._fitting import Fitted


def run(
    *,
    scores_file: str,
    scores: str,
    label: str,
    weight: str | None,
    positive: str | None,
    classes: str | None,
    form: dict[str, Any],
    in_passes: bool | None,
    invalid: str,
    engine: str,
    master: str | None,
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
    _check_method(method, kind, code, combine)
    if out == STANDARD:
        raise ParameterError("--out must be a file for the model; got '-'; standard output shows the summary")
    if rule is not None and costs is None:
        raise ParameterError(f"--rule {rule} must come with --costs; got none")
    _check_engine(engine, master, in_passes, form)
    file = None if costs is None else read_cost_file(costs)
    wanted = Wanted(
        scores,
        label,
        weight,
        None,
        positive,
        listed(classes),
        coded=code is not None,
        proba=kind == "probability",
        skips=invalid == "skip",
    )
    rows, source = None, None
    if engine == "here":
        source = open_source(scores_file, **form)
        _check_columns(method, choose_scores(source, wanted).columns)
        rows = read_unless_large(source, wanted, scores_file, in_passes)
    # scikit-learn takes its time to load; what is wrong with rows in memory is known before.
    from calibrant.cli._fitting import fit_in_memory, fit_passes
    from calibrant.models import ScoreModel, named_method, save

    def new(found: Array) -> ScoreModel:
        return ScoreModel(
            named_method(method, kind),
            None if file is None else _costs(file, found),
            rule,
            code=code,
            combine=combine or _combination(code),
            classes=found.tolist(),
        )

    if source is None:
        import calibrant.spark  # noqa: F401  (the line that says what to install, if it is not)
        from calibrant.cli._fit_spark import fit_spark

        fitted = fit_spark(scores_file, form["format"], wanted, str(master), new)
    elif rows is None:
        passes = rows_in_passes(source, wanted)
        fitted = fit_passes(passes, new, ScoreCheck(source.name, passes.scores, passes.classes, wanted))
    else:
        fitted = fit_in_memory(rows, new, ScoreCheck(source.name, rows.columns, rows.classes, wanted))
    with together():
        if page is not None:
            _report(fitted, scores_file, page)
        save(fitted.model, out, date=date)
    if as_json:
        show_json({"model": out, "report": page, **_content(fitted, method)})
    else:
        _show(fitted, method)
        click.echo(f"\nThe model is in {out}." + (f" The report is in {page}." if page else ""))


def _check_method(method: str, kind: str, code: str | None, combine: str | None) -> None:
    chosen = METHODS[method]
    if kind not in chosen.kinds:
        raise ParameterError(
            f"--method {method} takes probabilities, and no margins, so they must be --kind probability"
        )
    if chosen.takes != "score" and code is not None:
        raise ParameterError(
            f"--method {method} takes one score per class, so there must be no code; got --code {code}; "
            "leave out one of them"
        )
    if combine == "normalize" and _combination(code) != combine:
        raise ParameterError(
            f"--combine normalize is for one score per class; got --code {code}; use --combine least_squares "
            "or coupling"
        )


def _check_columns(method: str, columns: Sequence[str]) -> None:
    if METHODS[method].takes == "row" and len(columns) == 1:
        raise ParameterError(
            f"--method {method} takes one score per class, so --scores must name several columns; got only "
            f"{columns[0]!r}; use another method, such as {DEFAULT}"
        )


def _check_engine(engine: str, master: str | None, in_passes: bool | None, form: dict[str, Any]) -> None:
    if (engine == "spark") != (master is not None):
        raise ParameterError("--engine spark and --master must come together; got one of them")
    said = [name for name in ("delimiter", "decimal", "encoding") if form[name] is not None]
    if engine == "spark" and said:
        raise ParameterError(
            f"--{said[0]} is for files that are read here; got --engine spark; save the file as Parquet first"
        )
    if engine == "spark" and in_passes is False:
        raise ParameterError("--engine spark works in passes; got --in-memory; leave out one of them")


def _combination(code: str | None) -> str:
    """Normalising is for one score per class."""
    return "normalize" if code in (None, "one_vs_all") else "coupling"


def _costs(file: CostFile, classes: Array) -> dict[object, dict[object, float]]:
    file.check_reasonable()
    return file.mapping(classes)


def _named_costs(model: Any) -> dict[object, dict[object, float]] | None:
    """The costs of a model as `{decision: {truth: cost}}`; its decisions need not be the classes."""
    if model.cost_ is None:
        return None
    truths = model.classes_.tolist()
    rows = zip(model.actions_.tolist(), model.cost_.tolist(), strict=True)
    return {decision: dict(zip(truths, row, strict=True)) for decision, row in rows}


def _report(fitted: "Fitted", name: str, page: str) -> None:
    """Write the report on probabilities of rows that were left out."""
    from calibrant.report import summarize

    judged, classes = fitted.predictions, fitted.model.classes_
    which = "rows left out of the fit"
    if len(judged.rows) < fitted.summary.n_rows:
        which = f"{count(len(judged.rows))} of {count(fitted.summary.n_rows)} rows, left out of the fit"
    summarize(
        classes[judged.rows.truth],
        judged.proba,
        classes=classes.tolist(),
        sample_weight=judged.rows.weight,
        cost=_named_costs(fitted.model),
        title=f"Probabilities from {name}, {which}",
    ).save(page)


def _content(fitted: "Fitted", method: str) -> dict[str, Any]:
    """What is known of a fit, for machines."""
    kept = fitted.summary
    return {
        "method": method,
        "score_columns": list(fitted.columns),
        "classes": fitted.model.classes_,
        "positive": fitted.positive,
        "n_rows": kept.n_rows,
        "n_skipped": fitted.n_skipped,
        "in_passes": fitted.in_passes,
        "base_rates": kept.base_rates,
        "n_folds": kept.n_folds,
        "n_measured": kept.n_measured,
        "metrics": {name: getattr(kept.metrics, name) for name in kept.metrics.__dataclass_fields__},
    }


def _show(fitted: "Fitted", method: str) -> None:
    kept = fitted.summary
    facts = [
        ("method", method),
        ("rows", rows_read(kept.n_rows, fitted.n_skipped, fitted.in_passes)),
        ("score columns", ", ".join(fitted.columns)),
    ]
    if fitted.positive is not None:
        facts.append(("positive class", str(label_text(fitted.positive))))
    show_facts(facts)
    click.echo()
    rates = zip(fitted.model.classes_, kept.base_rates, strict=True)
    show_table(Table(("class", "share"), [(str(label_text(name)), percent(rate)) for name, rate in rates]))
    click.echo()
    names = ("log_loss", "brier_score", "calibration", "refinement", "error_rate")
    shown = [(name.replace("_", " "), number(getattr(kept.metrics, name))) for name in names]
    for name in ("mean_cost", "mean_cost_plain"):
        value = getattr(kept.metrics, name)
        if value is not None:
            shown.append((name.replace("_", " "), amount(value)))
    heading = "rows left out" if kept.n_folds else "rows fitted to"
    show_table(Table(("measure", heading), [pair for pair in shown if pair[1]]))
    if kept.n_folds == 1:
        click.echo()
        rule = "" if fitted.model.rule_ is None else ", and the rule was learned from them"
        show_text(
            f"That is measured on {count(kept.n_measured)} rows, by a calibrator fitted without them{rule}. "
            "The model that is kept is fitted to all rows."
        )
