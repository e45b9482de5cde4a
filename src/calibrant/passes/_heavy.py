"""Which contents of rows weigh most, found in one pass and little memory: the summary of Misra and Gries.

It keeps the sums of so many contents. When there are more, the next greatest sum is taken off all of them,
and those without anything left are forgotten. So a sum is too low by no more than what was taken off, which
is less than the weight of all rows over the number of sums; and summaries can be merged, in any order.

J. Misra and D. Gries, "Finding repeated elements", Science of Computer Programming 2, 1982; P. K. Agarwal,
G. Cormode, Z. Huang, J. M. Phillips, Z. Wei and K. Yi, "Mergeable summaries", PODS 2012.
"""

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._mix import Hashes


class HeavyContents:
    """Sums of weights by the hash of the content, of the greatest ones.

    Parameters
    ----------
    most : int
        How many there are at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.hashes: Hashes = np.empty(0, np.uint64)
        self.sums: Float64Array = np.empty(0)
        self.taken_off = 0.0

    def add(self, hashes: Hashes, weight: Float64Array, taken_off: float = 0.0) -> None:
        """Take rows, or the sums of another summary."""
        hashes, weight = np.concatenate([self.hashes, hashes]), np.concatenate([self.sums, weight])
        self.hashes, place = np.unique(hashes, return_inverse=True)
        self.sums = np.bincount(place, weight, len(self.hashes)).astype(np.float64)
        self.taken_off += taken_off
        if len(self.sums) > self._most:
            least = np.partition(self.sums, -self._most - 1)[-self._most - 1]
            self.taken_off += least
            self.sums -= least
            more: BoolArray = self.sums > 0
            self.hashes, self.sums = self.hashes[more], self.sums[more]

    def above(self, weight: float) -> Hashes:
        """Those that may weigh more: all that do, and perhaps some that do not."""
        return self.hashes[self.sums + self.taken_off > weight]
