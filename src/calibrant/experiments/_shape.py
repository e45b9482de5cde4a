"""Checks of an order, with the numbers that decide them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from calibrant.experiments._experiment import Check

#: Statements that need numbers which are not there get this finding.
NO_DATA = "the data are not at hand"


def in_order(statement: str, *chains: Mapping[str, float], digits: int = 5, reason: str = "") -> Check:
    """Check that the numbers of every chain rise.

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
