"""Blocks and bins: intervals of scores, each with its rows and its value."""

from typing import Any

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant._core._field_groups import check_length
from calibrant._core._fields import Number
from calibrant._core._place import Place

WEIGHT = Number(above=0.0)


def midpoints(below: Float64Array, above: Float64Array) -> Float64Array:
    """Edges halfway between neighbours; never so high that `above` itself would fall below its edge.

    Halves are added instead of halving the sum, which can overflow; the bounds matter when the two
    neighbours are so close that no number lies between them.
    """
    return np.clip(below / 2 + above / 2, below, np.nextafter(above, -np.inf))


def check_intervals(intervals: Any, columns: tuple[str, ...], at: Place, field: str) -> None:
    """Columns of one length in a model file; intervals that do not touch, in ascending order."""
    n = len(intervals.lo)
    for name in columns:
        if len(getattr(intervals, name)) != n:
            check_length(getattr(intervals, name), n, at / field / name, "as lo has")
    inverted = np.flatnonzero(intervals.hi < intervals.lo)
    if len(inverted):
        (at / field / "hi")[int(inverted[0])].fail("must not be below lo at the same place")
    touching = np.flatnonzero(intervals.lo[1:] <= intervals.hi[:-1])
    if len(touching):
        (at / field / "lo")[int(touching[0]) + 1].fail("must be above hi at the place before")
