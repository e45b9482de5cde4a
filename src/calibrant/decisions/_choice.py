"""Choosing a number in the interval where the training cost is least.

All numbers are steps from the present value, so that 0 changes nothing. Among intervals of equal cost the
one around 0 is taken, else the nearest to 0, else the lower.
"""

import math
from dataclasses import replace

import numpy as np

from calibrant._core._arrays import Float64Array
from calibrant.decisions._sweep import Intervals

#: How far inside the permitted range a step is clipped, as a share of its width.
MARGIN = 1e-9


def feasible_offset(
    intervals: Intervals, low: float, high: float, tolerance: float | Float64Array
) -> tuple[float, float]:
    """The step and its cost, if only steps strictly between `low` and `high` are permitted.

    The geometric mean of the ends of the interval, after it has been cut to the permitted range; the
    midpoint if an end is 0, because the geometric mean would then sit on a changepoint.
    """
    left, right = np.maximum(intervals.left, low), np.minimum(intervals.right, high)
    near = np.broadcast_to(tolerance, left.shape)
    wide = right - left > near
    if not wide.any():
        return 0.0, intervals.cost_at(np.searchsorted(right, 0.0))
    permitted, near = replace(intervals, left=left, right=right).where(wide), near[wide]
    place = _nearest_of_least(permitted, near)
    start, end, cost = permitted.left[place], permitted.right[place], permitted.cost_at(place)
    if start < -near[place] and end > near[place]:
        return 0.0, cost
    if min(abs(start), abs(end)) <= near[place]:
        return float((start + end) / 2), cost
    return _geometric_mean(start, end), cost


def paper_offset(
    intervals: Intervals, low: float, high: float, tolerance: float | Float64Array
) -> tuple[float, float]:
    """The step and the cost of its interval, chosen as O'Brien, Gupta and Gray print it.

    The geometric mean of the interval of least cost, 0 if its ends differ in sign, infinite if an end is;
    and only then clipped to the permitted range. That can leave the interval and raise the cost.
    """
    place = _nearest_of_least(intervals, tolerance)
    start, end, cost = intervals.left[place], intervals.right[place], intervals.cost_at(place)
    if start < 0 < end:
        step = 0.0
    elif math.isinf(start) or math.isinf(end):
        step = float(start if math.isinf(start) else end)
    else:
        step = _geometric_mean(start, end)
    margin = MARGIN * (high - low)
    return min(max(step, low + margin), high - margin), cost


def log_factor(intervals: Intervals, low: float, high: float, tolerance: float) -> tuple[float, float]:
    """The step and its cost, if the number is the logarithm of a factor.

    The midpoint of the interval, which is the geometric mean of the factors at its ends; half or double
    the factor at the other end, if one is infinite, or less if `low` or `high` come before that.
    """
    place = _nearest_of_least(intervals, tolerance)
    start, end, cost = intervals.left[place], intervals.right[place], intervals.cost_at(place)
    if start < -tolerance and end > tolerance:
        return 0.0, cost
    if math.isinf(start):
        return float(max(end - math.log(2), (low + end) / 2)), cost
    if math.isinf(end):
        return float(min(start + math.log(2), (start + high) / 2)), cost
    return float((start + end) / 2), cost


def _nearest_of_least(intervals: Intervals, tolerance: float | Float64Array) -> int:
    """Of the intervals of least cost that around 0, else the nearest; a changepoint on 0 is not inside."""
    least = np.flatnonzero(intervals.are_least())
    left, right = intervals.left[least], intervals.right[least]
    distance = np.minimum(np.abs(left), np.abs(right))
    near = np.broadcast_to(tolerance, intervals.left.shape)[least]
    distance[(left < -near) & (right > near)] = -1.0
    return int(least[np.argmin(distance)])


def _geometric_mean(start: float, end: float) -> float:
    return math.copysign(math.sqrt(abs(start)) * math.sqrt(abs(end)), start or end)
