"""What a rule saves against the plain one."""

import math
from collections.abc import Sequence
from statistics import stdev


def saving(plain: float, cost: float) -> float:
    """Percent saved against the plain rule; no number where that costs nothing."""
    return 100 * (plain - cost) / plain if plain else math.nan


def standard_error(numbers: Sequence[float]) -> float | None:
    """The standard error of a mean; None where there is one number."""
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else None
