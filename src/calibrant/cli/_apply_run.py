"""Turn scores into probabilities, batch by batch."""

from typing import Any

import click

from calibrant.cli._progress import showing
from calibrant.cli._show import count
from calibrant.files import open_sink, open_source


def run(
    *, model: str, scores_file: str, with_decision: bool, out: str, form: Any, out_format: Any, **given: Any
) -> None:
    """Read, calibrate, write."""
    invalid = given.pop("invalid")
    with showing() as progress:
        source = open_source(scores_file, **form, once=True)
        source.check_columns([])  # scikit-learn takes its time to load; a bad file is known before
        from calibrant.files import apply

        found = apply(model, source, decide=with_decision, handle_invalid=invalid, progress=progress, **given)
        with open_sink(out, format=out_format) as sink:
            for batch in found:
                sink.write(batch)
    if found.n_invalid:
        what = "left out" if invalid == "skip" else "given no probabilities"
        some = f"{count(found.n_invalid)} of {count(found.n_rows)} rows"
        click.echo(f"calibrant: warning: {some} were {what}", err=True)
