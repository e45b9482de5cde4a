"""Compare the methods on a file of scores."""

from dataclasses import asdict
from typing import Any

import click

from calibrant._core._settings import with_settings
from calibrant.cli._options import columns_of, is_table
from calibrant.cli._progress import showing
from calibrant.cli._settings import by_owner
from calibrant.cli._show import Table, rows_read, show_json, show_table, show_text
from calibrant.files import compare, labelled, open_source, read_code_file

NAMES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate")


def run(
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
