"""Checks of an order, with the numbers that decide them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from calibrant.experiments._experiment import Check

#: Statements that need numbers which are not there get this finding.
NO_DATA = "the data are not at hand"


def in_order(statement: str, *chains: Mapping[str, float], digits: int = 5, reason: str = "") -> Check:
    """Check that the numbers of every chain rise.

    Parameters
    ----------
    statement : str
        What should be seen.
    *chains : mapping of str to float
        Numbers with their names, the least first. No chain means that the data are not at hand.
    digits : int, default=5
        Places after the decimal point in the finding.
    reason : str, optional
        Why it may not have been seen; shown in that case only.

    Returns
    -------
    Check
        Held if every number is above the one before it.

    Examples
    --------
    >>> from calibrant.experiments._shape import in_order
    >>> in_order("PAV has the least error", {"PAV": 0.1, "raw": 0.2}, digits=1)
    Check(statement='PAV has the least error', held=True, finding='PAV 0.1 < raw 0.2')
    """
    if not chains:
        return Check(statement, None, NO_DATA)
    shown = "; ".join(_chain(chain, digits) for chain in chains)
    held = all(_rises(list(chain.values())) for chain in chains)
    return Check(statement, held, shown if held or not reason else f"{shown}. {reason}")


def _rises(numbers: Sequence[float]) -> bool:
    return all(first < second for first, second in pairwise(numbers))


def _chain(chain: Mapping[str, float], digits: int) -> str:
    """The numbers with the signs that really stand between them."""
    parts: list[str] = []
    before = None
    for name, number in chain.items():
        if before is not None:
            parts.append("<" if before < number else "=" if before == number else ">")
        parts.append(f"{name} {number:,.{digits}f}")
        before = number
    return " ".join(parts)
