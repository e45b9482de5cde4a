"""What was found, as plain data: for files, for machines, and for the page of the documentation."""

import json
import math
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from calibrant._core._whole_files import write_whole
from calibrant.experiments._runner import Outcome

#: Significant digits; more would differ from one machine to the next.
DIGITS = 6


def to_document(outcome: Outcome) -> dict[str, Any]:
    """The outcome of an experiment as plain data that every reader of JSON takes."""
    experiment, findings = outcome.experiment, outcome.findings
    return {
        "name": experiment.name,
        "title": experiment.title,
        "command": f"calibrant reproduce {experiment.name} --{outcome.scale}",
        "scale": outcome.scale,
        "version": version("calibrant"),
        "seconds": {name: round(seconds) for name, seconds in outcome.seconds.items()},
        "conventions": experiment.conventions,
        "labels": list(experiment.labels),
        "measures": list(experiment.measures),
        "rows": [_plain(asdict(row)) for row in findings.rows],
        "checks": [asdict(check) for check in findings.checks],
        "axes": dict(experiment.axes),
        "series": [_plain(asdict(line)) for line in findings.series],
        "skipped": list(outcome.skipped),
    }


def write_document(document: dict[str, Any], folder: Path) -> Path:
    """Write a document as NAME.json, complete or not at all."""
    content = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    path = folder / f"{document['name']}.json"
    write_whole(path, content.encode(), parents=True)
    return path


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return _number(value)
    return value


def _number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.{DIGITS}g}")
