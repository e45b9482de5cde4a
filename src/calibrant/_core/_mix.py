"""Hashes of whole numbers, every bit of which depends on every bit of these (SplitMix64)."""

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(numbers: Hashes) -> Hashes:
    """Spread every bit of a number over all bits."""
    mixed = numbers + _GOLDEN
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed
