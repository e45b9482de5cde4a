"""How far a printed number and ours would differ by chance, and which printed numbers are further off."""

import math
from collections.abc import Mapping, Sequence
from statistics import stdev

from calibrant.experiments._errors import CHANCE
from calibrant.experiments._experiment import Check, Row


def error_of_another(of_splits: Sequence[float]) -> float | None:
    """The standard error between the mean of our splits and the one other split that a paper shows."""
    if len(of_splits) < 2 or not all(map(math.isfinite, of_splits)):
        return None
    return stdev(of_splits) * math.sqrt(1 + 1 / len(of_splits))


def is_off(ours: float | None, paper: float | None, error: float | None) -> bool | None:
    """Whether two numbers differ by more than chance; None where that cannot be said."""
    if ours is None or paper is None:
        return None
    if math.isinf(ours) or math.isinf(paper):
        return ours != paper
    return None if error is None or math.isnan(error) else abs(ours - paper) > CHANCE * error


def all_near(rows: Sequence[Row], measures: Sequence[str], reasons: Mapping[str, str]) -> Check:
    """Check that every printed number is within two standard errors of ours; say why where it is not.

    `reasons` has the likely reason by the measure or by a label of the row.
    """
    statement = "Every printed number is within two standard errors of ours"
    verdicts = {
        (", ".join(filter(None, row.labels)), row.labels, measure): off
        for row in rows
        for measure, *numbers in zip(measures, row.ours, row.paper, row.error, strict=False)
        if (off := is_off(*numbers)) is not None
    }
    if not verdicts:
        return Check(statement, None, "no standard error is known")
    far = [key for key, off in verdicts.items() if off]
    finding = f"{len(verdicts) - len(far)} of {len(verdicts)} are"
    by_reason: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if count := sum(name in (measure, *labels) for _, labels, measure in far):
            by_reason.setdefault(reason, []).append(f"{name} ({count})")
    parts = [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    return Check(statement, not far, ". Off: ".join([finding, "; ".join(parts)]) if parts else finding)
