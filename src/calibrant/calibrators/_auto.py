"""What "auto" stands for: the only place that knows.

All scores of a row go to the stack, which weighs maps of them by rows left out, and has its own guard for few
rows and its own budget for many. Where a row lacks scores, or the caller wants the answers of columns put
together in some way, every column has a calibrator of its own.
"""

from typing import Any

from calibrant.calibrators._base import Calibrator
from calibrant.calibrators._method import Method
from calibrant.calibrators._registry import AUTO, METHODS, OF_COLUMNS, ScoreKind

#: What takes all scores of a row.
OF_ROWS = "stack"


def is_auto(calibrator: object) -> bool:
    """Whether the choice is left to us."""
    return isinstance(calibrator, str) and calibrator == AUTO


def auto_method(kind: ScoreKind, *, together: bool = True) -> Method:
    """Give the unfitted method: for all scores of a row together, or for every column by itself."""
    return METHODS[OF_ROWS if together else OF_COLUMNS].for_new_rows(kind)


def report_of(asked: object, fitted: Calibrator, combine: object) -> str:
    """Say in one line what was taken, and why."""
    found: Any = fitted
    if not is_auto(asked):
        return _said(found, f"{_named(found)}, as it was asked for")
    if hasattr(found, "calibrators_"):
        why = "rows lack some of the scores" if combine is None else f"combine={combine!r} was asked for"
        return f"auto is {_named(found)}, as {why}"
    return _said(found, f"auto is the {OF_ROWS} of all scores of a row")


def _named(fitted: Any) -> str:
    """The method by its name, and for how many columns."""
    columns = getattr(fitted, "calibrators_", None)
    one = fitted if columns is None else next((each for each in columns if each is not None), fitted)
    name = getattr(one, "name", type(one).__name__)
    return name if columns is None else f"{name} for each of {len(columns)} columns"


def _said(fitted: Any, words: str) -> str:
    """What a method says of itself is said too."""
    own = getattr(fitted, "report_", None)
    return words if own is None else f"{words}: {own}"
