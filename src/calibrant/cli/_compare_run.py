"""Compare the methods on a file of scores, or two models."""

from dataclasses import asdict
from typing import Any

import click

from calibrant._core._errors import ParameterError
from calibrant._core._settings import with_settings
from calibrant.cli._options import columns_of, is_table
from calibrant.cli._progress import showing
from calibrant.cli._settings import by_owner
from calibrant.cli._show import Table, rows_read, show_json, show_table, show_text
from calibrant.files import compare, compare_versions, labelled, open_source, read_code_file

NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate")
#: Options that say how methods are tried, which two models are not; and what two models alone have.
OF_METHODS = ("kind", "code", "combine", "settings", "cv", "positive", "classes", "in_passes")
OF_MODELS = ("costs", "any_costs")


def run(*, files: tuple[str, ...], **given: Any) -> None:
    """Compare methods on a file, or two models."""
    if len(files) not in (1, 3):
        raise ParameterError(
            f"SCORES must be one file, or there must be the models OLD and NEW before it; got {len(files)} "
            "files"
        )
    two = len(files) == 3
    of_others = {name: given.pop(name) for name in (OF_METHODS if two else OF_MODELS)}
    for name, value in of_others.items():
        if value not in (None, False, ()):
            what = "one file, whose methods are compared" if two else "two models"
            raise ParameterError(f"{_option(name)} is for {what}; got {len(files)} files; leave it out")
    if two:
        _versions(*files, **given)
        return
    if given["scores"] is None:
        raise ParameterError("--scores must name the columns of scores; got none")
    given |= {"kind": given["kind"] or "margin", "cv": given["cv"] or 5}
    _compare(scores_file=files[0], **given)


def _option(name: str) -> str:
    return {"in_passes": "--in-passes", "settings": "--set"}.get(name) or f"--{name.replace('_', '-')}"


def _versions(
    old: str, new: str, data: str, *, form: dict[str, Any], as_json: bool, invalid: str, **given: Any
) -> None:
    """Read, compare, show."""
    with showing() as progress:
        source = open_source(data, **form, once=True)
        found = compare_versions(old, new, source, **given, handle_invalid=invalid, progress=progress)
    if as_json:
        show_json(asdict(found) | {"old": old, "new": new})
        return
    lines = [
        (each.name.replace("_", " "), str(each.old), str(each.new), str(each.difference))
        for each in found.measures
    ]
    show_table(Table(("measure", "old", "new", "new - old"), lines))
    n_rows = rows_read(found.n_rows, found.n_skipped, in_passes=False, what="rows")
    click.echo(f"\n{n_rows}. Less is better; intervals of 95%.")
    show_text(found.conclusion)


def _compare(
    *,
    scores_file: str,
    form: dict[str, Any],
    in_passes: bool | None,
    kind: str,
    code: Any,
    combine: str | None,
    settings: tuple[str, ...],
    cv: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Read, compare, show."""
    table = read_code_file(code) if is_table(code) else None
    with showing() as progress:
        source = open_source(scores_file, **form)
        columns = columns_of(given, kind=kind, coded=code is not None)
        if table is not None and columns["classes"] is None:
            columns["classes"] = table.classes
        rows = labelled(source, **columns, progress=progress)
        if table is not None:
            rows.load(in_passes)
            code = table.matrix_for(rows.classes, rows.columns)
        methods = _methods(settings, rows.columns, kind, code)
        found = compare(rows, methods=methods, code=code, combine=combine, cv=cv, in_passes=in_passes)
    in_passes = rows.memory is None
    if as_json:
        facts = {"classes": rows.classes, "n_skipped": rows.n_skipped, "in_passes": in_passes}
        show_json(asdict(found) | facts)
        return
    lines = [
        (
            each.name,
            f"{each.log_loss:.4f}",
            *(f"{getattr(each, name):.3f}" for name in NAMES[1:]),
            f"{each.difference:.4f}",
            f"{(each.difference.high - each.difference.low) / 2:.4f}",
            f"{each.share_best:.1%}",
        )
        for each in found.results
    ]
    headings = ("method", *(name.replace("_", " ") for name in NAMES), "behind", "±", "first")
    chosen = [place for place, each in enumerate(found.results) if each.name == found.recommended]
    show_table(Table(headings, lines, frozenset(chosen)))
    n_rows = rows_read(found.n_rows, rows.n_skipped, in_passes, "rows")
    click.echo(f"\n{n_rows}, {found.n_folds} folds. Less is better.")
    show_text(found.advice)


def _methods(settings: tuple[str, ...], columns: tuple[str, ...], kind: Any, code: object) -> Any:
    """All methods that take such scores, some of them with other settings; None for all as they are."""
    if not settings:
        return None
    from calibrant.calibrators import named_method, names_for

    coded = code is not None
    names = names_for(2 if coded or len(columns) > 1 else 1, kind, coded=coded)
    given = by_owner(settings, names, None)
    return {name: with_settings(named_method(name, kind), given[name]) for name in names}
