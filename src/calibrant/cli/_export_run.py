"""Write a model for where its scores are."""

import sys
from typing import Any

from calibrant._core._errors import DataError
from calibrant._core._whole_files import write_whole
from calibrant.cli._show import count, show_facts, show_json
from calibrant.models import exported, load, names_of_results


def run(*, model: str, to: str, out: str, as_json: bool, **given: Any) -> None:
    """Read, write, and say what was written."""
    chain = load(model)
    if not hasattr(chain, "predict_proba"):
        raise DataError(
            f"{model} must hold a model that turns scores into probabilities; it holds a "
            f"{type(chain).__name__}; make one with calibrant fit"
        )
    data = exported(chain, to, **_options(**given))
    if out == "-":
        sys.stdout.buffer.write(data)
        return
    write_whole(out, data)
    results = names_of_results(chain)
    if as_json:
        show_json({"to": to, "out": out, "n_bytes": len(data), "results": results})
    else:
        show_facts([("written", f"{out}, {count(len(data))} bytes"), ("gives", ", ".join(results))])


def _options(
    *, table: str | None, scores: str | None, keep: str | None, dialect: str | None
) -> dict[str, Any]:
    """What was said about the statement."""
    said = {
        "table": None if table is None else table.split("."),
        "scores": None if scores is None else scores.split(","),
        "keep": None if keep is None else [name for name in keep.split(",") if name],
        "dialect": dialect,
    }
    return {name: value for name, value in said.items() if value is not None}
