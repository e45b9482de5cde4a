"""Calibrators that can be saved, by name; each is imported when it is asked for."""

from functools import cache

from calibrant._core._kinds import Kinds, Registered
from calibrant.calibrators._registry import COLUMN_CALIBRATORS, METHODS

#: A file imports nothing, so that only a user can make a method known.
IMPORT_FIRST = "import the module of a method of your own first"


@cache
def score_kinds() -> Kinds:
    """The methods that columns can have."""
    return Kinds(Registered((METHODS, "score")), IMPORT_FIRST)


@cache
def calibrator_kinds() -> Kinds:
    """All calibrators that can be saved."""
    return Kinds(Registered((METHODS, "score"), (COLUMN_CALIBRATORS, None), (METHODS, "row")), IMPORT_FIRST)
