"""The least prefix sum of a growing row of numbers, after every arrival, without a loop over arrivals."""

import numpy as np

from calibrant._core._arrays import Array, BoolArray, IntArray


def least_prefix_sums(place: IntArray, value: Array) -> Array:
    """After every arrival the least sum over the first places; the empty sum, 0, is one of them.

    The places are the leaves of a binary tree. A node keeps two numbers of the arrivals under it: their
    sum and their least prefix sum, which follow from those of its halves,

        least = min(left.least, left.sum + right.least).

    Here the whole tree is built from the leaves upwards, one level at a time, with the states of all its
    nodes after all of their arrivals: n states per level, n log n in all.
    """
    total = _sums_within(place, value)
    least = np.minimum(total, 0)
    node = place
    while node.max(initial=0) > 0:
        parent = node >> 1
        order = np.argsort(parent, kind="stable")
        is_left = node[order] % 2 == 0
        begins = np.append(True, np.diff(parent[order]) > 0)
        left = _latest(is_left, begins)
        right = _latest(~is_left, begins)
        left_sum, left_least = (_state(numbers[order], left) for numbers in (total, least))
        right_sum, right_least = (_state(numbers[order], right) for numbers in (total, least))
        total[order] = left_sum + right_sum
        least[order] = np.minimum(left_least, left_sum + right_least)
        node = parent
    return least


def _sums_within(place: IntArray, value: Array) -> Array:
    """After every arrival the sum of all that have come to its place."""
    order = np.argsort(place, kind="stable")
    reached = np.cumsum(value[order])
    begin = np.flatnonzero(np.append(True, np.diff(place[order]) > 0))
    earlier = np.append(0, reached)[begin]
    sums = np.empty_like(value)
    sums[order] = reached - np.repeat(earlier, np.diff(np.append(begin, len(value))))
    return sums


def _latest(wanted: BoolArray, begins: BoolArray) -> IntArray:
    """The latest wanted arrival of the same node so far; -1 where there is none yet."""
    number = np.arange(len(wanted))
    latest = np.maximum.accumulate(np.where(wanted, number, -1))
    begin = np.maximum.accumulate(np.where(begins, number, 0))
    return np.where(latest >= begin, latest, -1)


def _state(numbers: Array, latest: IntArray) -> Array:
    """The numbers at the latest arrivals; 0 where nothing has arrived."""
    return np.where(latest >= 0, numbers[latest], 0)
