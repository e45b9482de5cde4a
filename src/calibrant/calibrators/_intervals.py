"""Blocks and bins in a model file: intervals of scores, each with its rows and its value."""

from typing import Any

import numpy as np

from calibrant._core._field_groups import check_length
from calibrant._core._fields import Number
from calibrant._core._place import Place

WEIGHT = Number(above=0.0)


def check_intervals(intervals: Any, columns: tuple[str, ...], at: Place) -> None:
    """Columns of one length; intervals that do not touch, in ascending order."""
    for name in columns:
        check_length(getattr(intervals, name), len(intervals.lo), at / name, "as lo has")
    inverted = np.flatnonzero(intervals.hi < intervals.lo)
    if len(inverted):
        (at / "hi")[int(inverted[0])].fail("must not be below lo at the same place")
    touching = np.flatnonzero(intervals.lo[1:] <= intervals.hi[:-1])
    if len(touching):
        (at / "lo")[int(touching[0]) + 1].fail("must be above hi at the place before")
