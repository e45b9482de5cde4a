"""What a model file holds, for people."""

import os
from dataclasses import dataclass
from typing import Any

from calibrant.calibrators import CalibratorBase, n_scores_of
from calibrant.models._chain import form_of_scores
from calibrant.models._document import from_document
from calibrant.models._files import parse, read_limited
from calibrant.models._score_model import ScoreModel
from calibrant.models._summary import TrainingSummary

#: Words for the forms that a row of scores can have.
FORMS = {
    "one_per_row": "one per row",
    "one_per_class": "one per class",
    "one_per_column_of_the_code": "one per column of the code",
}
#: More labels than this are not all shown.
MOST_SHOWN = 12


@dataclass(frozen=True, slots=True, eq=False)
class ModelDescription:
    """What a model file holds; printed, it is a list.

    Attributes
    ----------
    kind : str
        What was saved: "score_model", or the name of a method.
    format_version : int
        The version of the format.
    library_version : str
        The version of calibrant that made it.
    date : str or None
        The date that was given when it was saved.
    n_bytes : int or None
        Size of the file; None for a document.
    classes : tuple
        The labels in order; empty for rules and combiners.
    class_type : str or None
        The type of the labels.
    scores : str or None
        What a row of scores is: "one_per_row", "one_per_class" or "one_per_column_of_the_code".
    n_scores : int or None
        How many scores a row has.
    calibrator : str or None
        The kind of the calibrator; for columns also that of each.
    combine : str or None
        How the answers of columns are combined.
    parameters : dict
        The parameters of the calibrator, rule or combiner.
    n_numbers : int
        How many fitted numbers the model holds.
    actions : tuple
        The labels of the decisions; empty if there are no costs.
    cost : tuple of tuple of float or None
        The costs: rows are decisions, columns are classes.
    rule : str or None
        The learned rule; None for least expected cost.
    training : TrainingSummary or None
        What is remembered of the training rows.
    """

    kind: str
    format_version: int
    library_version: str
    date: str | None
    n_bytes: int | None
    classes: tuple[Any, ...]
    class_type: str | None
    scores: str | None
    n_scores: int | None
    calibrator: str | None
    combine: str | None
    parameters: dict[str, Any]
    n_numbers: int
    actions: tuple[Any, ...]
    cost: tuple[tuple[float, ...], ...] | None
    rule: str | None
    training: TrainingSummary | None

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.lines())
        return "\n".join(f"{name:<{width}}  {words}" for name, words in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Give the description as names and words.

        Returns
        -------
        list of tuple of str
            One pair per line.
        """
        size = "" if self.n_bytes is None else f", {self.n_bytes / 1000:.1f} kB"
        lines = [
            ("kind", self.kind),
            ("format", f"version {self.format_version}{size}"),
            ("made by", f"calibrant {self.library_version}" + (f" on {self.date}" if self.date else "")),
        ]
        if self.classes:
            lines.append(("classes", f"{_shown(self.classes)} ({len(self.classes)}, {self.class_type})"))
        if self.scores is not None:
            lines.append(("scores", f"{FORMS[self.scores]} ({self.n_scores})"))
        if self.calibrator is not None:
            lines.append(("calibrator", self.calibrator))
        if self.combine is not None:
            lines.append(("combination", self.combine))
        if self.parameters:
            lines.append(
                ("parameters", ", ".join(f"{name}={value}" for name, value in self.parameters.items()))
            )
        lines.append(("fitted", f"{self.n_numbers} numbers"))
        if self.actions:
            lines.append(("decisions", _shown(self.actions)))
            lines.append(("rule", self.rule or "least expected cost"))
        return lines + _training_lines(self.training, self.classes)


def describe(path_or_document: str | os.PathLike[str] | dict[str, Any]) -> ModelDescription:
    """Tell what a model file holds.

    Parameters
    ----------
    path_or_document : str, path or dict
        The file, or the document of `to_document`. It is checked as `load` checks it.

    Returns
    -------
    ModelDescription
        What it holds; printed, it is a list for people.

    See Also
    --------
    load : The model itself.

    Examples
    --------
    >>> from calibrant.models import ScoreModel, describe, to_document
    >>> scores = [-2.1, -1.0, -0.4, -0.2, 0.1, 0.4, 0.5, 1.2, 1.7, 2.2]
    >>> model = ScoreModel().fit(scores, [0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
    >>> print(describe(to_document(model, date="2026-03-31")))
    kind         score_model
    format       version 1
    made by      calibrant ... on 2026-03-31
    classes      0, 1 (2, int)
    scores       one per row (1)
    calibrator   stack
    parameters   members=None, keep_order=False, kind=margin, code=None
    fitted       100 numbers
    trained on   10 rows
    base rates   0: 0.5, 1: 0.5
    measured     on 10 rows, each by one of 5 calibrators fitted to other rows
    log loss     0.6407
    Brier score  0.2102
    calibration  0.0635
    refinement   0.1467
    error rate   0.3
    """
    if isinstance(path_or_document, dict):
        document, n_bytes, name = path_or_document, None, "the document"
    else:
        data, name = read_limited(path_or_document), str(path_or_document)
        document, n_bytes = parse(data, name), len(data)
    model = from_document(document, name)
    is_chain = isinstance(model, ScoreModel)
    calibrator = model.calibrator_ if is_chain else model if isinstance(model, CalibratorBase) else None
    part = document["calibrator"] if is_chain else document
    decision = document["decision"] if is_chain else None
    classes = document["classes"]
    own = part["parameters"].get("calibrator")
    combine = part["parameters"].get("combine")
    return ModelDescription(
        kind=document["kind"],
        format_version=document["version"],
        library_version=document["library_version"],
        date=document["date"],
        n_bytes=n_bytes,
        classes=() if classes is None else tuple(classes["values"]),
        class_type=None if classes is None else classes["type"],
        scores=None if calibrator is None else form_of_scores(calibrator),
        n_scores=None if calibrator is None else n_scores_of(calibrator),
        calibrator=None if calibrator is None else part["kind"] + (f" of {own['kind']}" if own else ""),
        combine=None if combine is None else combine["kind"],
        parameters=own["parameters"] if own else part["parameters"],
        n_numbers=_count(part.get("fitted", {})),
        actions=() if decision is None else tuple(decision["actions"]["values"]),
        cost=None if decision is None else tuple(map(tuple, decision["cost"])),
        rule=decision["rule"]["kind"] if decision and decision["rule"] else None,
        training=model.summary_ if is_chain else None,
    )


def _count(plain: Any) -> int:
    """How many floating-point numbers there are."""
    if isinstance(plain, float):
        return 1
    entries = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    return sum(map(_count, entries))


def _shown(labels: tuple[Any, ...]) -> str:
    words = [str(label) for label in labels]
    return ", ".join(words if len(words) <= MOST_SHOWN else [*words[: MOST_SHOWN - 2], "...", words[-1]])


def _training_lines(training: TrainingSummary | None, classes: tuple[Any, ...]) -> list[tuple[str, str]]:
    if training is None:
        return []
    rates = [f"{label}: {rate:.3g}" for label, rate in zip(classes, training.base_rates, strict=True)]
    weight = "" if training.weight == training.n_rows else f" of weight {training.weight:g}"
    by = {0: "by the calibrator fitted to them", 1: "held out from the fit"}.get(
        training.n_folds, f"each by one of {training.n_folds} calibrators fitted to other rows"
    )
    columns = [] if training.score_columns is None else [("score columns", _shown(training.score_columns))]
    lines = [
        *columns,
        ("trained on", f"{training.n_rows} rows{weight}"),
        ("base rates", _shown(tuple(rates))),
        ("measured", f"on {training.n_measured} rows, {by}"),
    ]
    words = {
        "log_loss": "log loss",
        "brier_score": "Brier score",
        "calibration": "calibration",
        "refinement": "refinement",
        "error_rate": "error rate",
        "mean_cost": "mean cost",
        "mean_cost_plain": "without the learned rule",
    }
    measured = ((words[name], getattr(training.metrics, name)) for name in words)
    return lines + [(name, f"{value:.4g}") for name, value in measured if value is not None]
