"""Numbers so large that their differences need not be numbers."""

from calibrant._core._arrays import Array

#: Numbers up to this have finite differences.
HUGE = 2.0**1022


def halving(numbers: Array) -> float:
    """Give what to multiply numbers by so that their differences are finite: 1, or 0.5 if some are huge."""
    return 0.5 if numbers.size and max(numbers.max(), -numbers.min()) > HUGE else 1.0
