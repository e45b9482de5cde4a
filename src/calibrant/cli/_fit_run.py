"""Fit a model to a file of scores."""

import math
from typing import TYPE_CHECKING, Any

import click

from calibrant._core._errors import DataError, ParameterError
from calibrant._core._names import label_text
from calibrant._core._whole_files import together
from calibrant.calibrators import AUTO, DEFAULT, METHODS, needs_all_scores
from calibrant.cli._options import columns_of, is_table
from calibrant.cli._progress import showing
from calibrant.cli._settings import BEST, by_owner, set_combination, set_method, set_rule
from calibrant.cli._show import (
    Table,
    count,
    percent,
    rows_read,
    show_facts,
    show_json,
    show_table,
    show_text,
)
from calibrant.files import STANDARD, compare, fit, labelled, open_source, read_code_file, read_cost_file

if TYPE_CHECKING:
    from calibrant.models import MethodComparison

MEASURES = (
    "log_loss",
    "brier_score",
    "calibration",
    "refinement",
    "error_rate",
    "mean_cost",
    "mean_cost_plain",
)


def run(
    *,
    scores_file: str,
    form: dict[str, Any],
    in_passes: bool | None,
    engine: str,
    master: str | None,
    method: str,
    combine: str | None,
    settings: tuple[str, ...],
    code: str | None,
    kind: Any,
    costs: str | None,
    rule: str | None,
    by: str | None,
    date: str | None,
    page: str | None,
    out: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Read, fit, save, and say how good it is."""
    if out == STANDARD:
        raise ParameterError("--out must be a file for the model; got '-'; standard output shows the summary")
    if rule is not None and costs is None:
        raise ParameterError(f"--rule {rule} must come with --costs; got none")
    _check_method(method, kind, code, combine, engine)
    _check_engine(engine, master, in_passes, form)
    given_by = by_owner(settings, ("method", "combine", "rule"), "method")
    calibrator = set_method(method, kind, given_by["method"])
    table = read_code_file(code) if code is not None and is_table(code) else None
    shape = code if table is None else table.matrix
    combination = set_combination(combine, shape, given_by["combine"])
    decider = set_rule(rule, given_by["rule"])
    file = None if costs is None else read_cost_file(costs)
    compared = None
    columns = columns_of(given, kind=kind, coded=code is not None)
    if table is not None:
        columns["classes"] = columns["classes"] or table.classes
    if engine == "here":
        with showing() as progress:
            rows = labelled(open_source(scores_file, **form), **columns, by=by, progress=progress)
            _check_columns(method, rows.columns)
            rows.load(in_passes)
            used = code if table is None else table.matrix_for(rows.classes, rows.columns)
            if method == BEST:
                compared = compare(rows, code=used, combine=combination, in_passes=in_passes)
                calibrator = method = _recommended(compared)
            model = _new(calibrator, kind, used, combination, decider, file, rows.classes)
            fitted = fit(model, rows, in_passes=in_passes, keep_predictions=True)
        name = rows.source.name
        facts: dict[str, Any] = {"n_skipped": rows.n_skipped, "in_passes": rows.memory is None}
    else:
        from calibrant.spark import fit_files

        fitted, n_skipped = fit_files(
            scores_file,
            str(master),
            lambda classes: _new(calibrator, kind, code, combination, decider, file, classes),
            format=form["format"],
            by=by,
            **columns,
        )
        name, facts = scores_file, {"n_skipped": n_skipped, "in_passes": True}
    from calibrant.models import save

    with together():
        if page is not None:
            report(fitted, name, page)
        save(fitted, out, date=date)
    if as_json:
        said = {"model": out, "report": page, "method": method, "taken": fitted.report_}
        said |= {} if compared is None else {"n_compared": len(compared.results), "advice": compared.advice}
        show_json({**said, **content_of(fitted), **facts})
    else:
        _tell(fitted, method, compared, facts)
        click.echo(f"\nThe model is in {out}." + (f" The report is in {page}." if page else ""))


def _tell(fitted: Any, method: str, compared: "MethodComparison | None", facts: dict[str, Any]) -> None:
    show_fit(fitted, method, **facts)
    if method == AUTO:
        click.echo(f"\n{fitted.report_}")
    if compared is not None:
        of = f"It was chosen of {len(compared.results)} on rows left out"
        show_text(f"\n{compared.advice} {of}, whose losses are a little too good for that.")
    show_groups(fitted)


def _new(method: Any, kind: Any, code: Any, combine: Any, rule: Any, file: Any, classes: Any) -> Any:
    from calibrant.models import ScoreModel

    if file is not None:
        file.check_reasonable()
    return ScoreModel(
        method,
        None if file is None else file.mapping(classes),
        rule,
        kind=kind,
        code=code,
        combine=combine,
        classes=classes.tolist(),
    )


def _recommended(compared: "MethodComparison") -> str:
    if compared.recommended is None:
        raise DataError(f"--method best needs a method that can be recommended; {compared.advice}")
    return compared.recommended


def _check_method(method: str, kind: str, code: str | None, combine: str | None, engine: str) -> None:
    if method == BEST and engine == "spark":
        raise ParameterError(
            "--method best compares methods on rows that are read here; got --engine spark; compare them "
            "with calibrant.spark.compare, and name one"
        )
    chosen = METHODS.get(method)
    if chosen is not None and kind not in chosen.kinds:
        raise ParameterError(
            f"--method {method} takes probabilities, and no margins, so they must be --kind probability"
        )
    if code is not None and engine == "spark" and is_table(code):
        raise ParameterError(f"--code {code} is for files that are read here; got --engine spark")
    if code is not None and needs_all_scores(method):
        raise ParameterError(
            f"--method {method} takes one score per class, so there must be no code; got --code {code}; "
            "leave out one of them"
        )
    from calibrant.codes import combination_for

    if combine == "normalize" and not is_table(code) and combination_for(code) != combine:
        raise ParameterError(
            f"--combine normalize is for one score per class; got --code {code}; use --combine least_squares "
            "or coupling"
        )


def _check_columns(method: str, columns: tuple[str, ...]) -> None:
    if len(columns) == 1 and needs_all_scores(method):
        raise ParameterError(
            f"--method {method} takes one score per class, so --scores must name several columns; got only "
            f"{columns[0]!r}; use another method, such as {DEFAULT}"
        )


def _check_engine(engine: str, master: str | None, in_passes: bool | None, form: dict[str, Any]) -> None:
    if (engine == "spark") != (master is not None):
        raise ParameterError("--engine spark and --master must come together; got one of them")
    said = [name for name, value in form.items() if name != "format" and value is not None]
    if engine == "spark" and said:
        raise ParameterError(
            f"--{said[0]} is for files that are read here; got --engine spark; save the file as Parquet first"
        )
    if engine == "spark" and in_passes is False:
        raise ParameterError("--engine spark works in passes; got --in-memory; leave out one of them")


def report(model: Any, name: str, page: str) -> None:
    """Write the report on probabilities of rows that were left out."""
    from calibrant.report import summarize

    rows, n_rows = model.predictions_.rows, model.summary_.n_rows
    which = "rows left out of the fit"
    if len(rows) < n_rows:
        which = f"{count(len(rows))} of {count(n_rows)} rows, left out of the fit"
    summarize(
        model.classes_[rows.truth],
        model.predictions_.proba,
        classes=model.classes_.tolist(),
        sample_weight=rows.weight,
        cost=model.cost_by_label(),
        title=f"Probabilities from {name}, {which}",
    ).save(page)


def content_of(model: Any) -> dict[str, Any]:
    """What is known of a fit, for machines."""
    kept = model.summary_
    return {
        "score_columns": kept.score_columns,
        "classes": model.classes_,
        "positive": _positive(model),
        "n_rows": kept.n_rows,
        "base_rates": kept.base_rates,
        "n_folds": kept.n_folds,
        "n_measured": kept.n_measured,
        "groups": groups_of(model),
        "metrics": {name: getattr(kept.metrics, name) for name in MEASURES},
    }


def groups_of(model: Any) -> dict[str, Any] | None:
    """What sets groups apart, for machines."""
    if model.groups_ is None:
        return None
    kept = model.groups_
    intercepts = dict(zip(kept.names, kept.intercepts.tolist(), strict=True))
    slopes = dict(zip(kept.names, kept.slopes.tolist(), strict=True))
    return {"column": kept.column, "spreads": kept.spreads, "intercepts": intercepts, "slopes": slopes}


def show_groups(model: Any) -> None:
    """Say how much groups differ."""
    if model.groups_ is None:
        return
    kept, (spread_of_one, slope) = model.groups_, model.groups_.spreads
    level = math.sqrt(2) * spread_of_one  # of the difference of two classes
    differ = [
        text
        for text, spread in ((f"levels by about {level:.2g}", level), (f"slopes by about {slope:.2g}", slope))
        if spread
    ]
    said = (
        f"differ beyond chance in their log-odds: {' and '.join(differ)} (standard deviations); the measures "
        "above include that."
        if differ
        else "do not differ beyond chance: all have the common probabilities."
    )
    show_text(f"\nThe {count(len(kept.names))} groups of {kept.column} {said}")


def _positive(model: Any) -> object:
    """The class that a single score stands for; None if there are more scores."""
    alone = len(model.summary_.score_columns) == 1 and len(model.classes_) == 2
    return model.classes_[1] if alone else None


def show_fit(model: Any, method: str, n_skipped: int | None, in_passes: bool) -> None:
    kept = model.summary_
    facts = [
        ("method", method),
        ("rows", rows_read(kept.n_rows, n_skipped, in_passes)),
        ("score columns", ", ".join(kept.score_columns)),
    ]
    if _positive(model) is not None:
        facts.append(("positive class", str(label_text(_positive(model)))))
    show_facts(facts)
    click.echo()
    names = [str(label_text(name)) for name in model.classes_]
    rates = map(percent, kept.base_rates)
    show_table(Table(("class", "share"), list(zip(names, rates, strict=True))))
    click.echo()
    heading = "rows left out" if kept.n_folds else "rows fitted to"
    known = {name: getattr(kept.metrics, name) for name in MEASURES}
    lines = [(name.replace("_", " "), str(each)) for name, each in known.items() if each is not None]
    show_table(Table(("measure", heading), lines))
    if kept.n_folds == 1:
        rule = "" if model.rule_ is None else ", and the rule was learned from them"
        show_text(
            f"\nThat is measured on {count(kept.n_measured)} rows, by a calibrator fitted without "
            f"them{rule}. The model that is kept is fitted to all rows."
        )
