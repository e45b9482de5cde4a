"""Rows gathered into points: stretches of the axis of scores whose rows are kept together."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.passes._grid import ScoreGrid


@dataclass(frozen=True, eq=False)
class Points:
    """Disjoint stretches of scores, in ascending order, each with its rows taken together.

    Attributes
    ----------
    lo, hi : ndarray of shape (m,)
        Least and greatest score of the rows.
    positive, negative : ndarray of shape (m,)
        Total weight of the rows of either class.
    count : ndarray of shape (m,)
        Number of rows.
    settled : ndarray of bool of shape (m,)
        Whether it is known that the rows need not be told apart.
    exact : bool
        Whether the weights are counts, whose sums are exact.
    """

    lo: Float64Array
    hi: Float64Array
    positive: Float64Array
    negative: Float64Array
    count: Float64Array
    settled: BoolArray
    exact: bool

    def __len__(self) -> int:
        return len(self.lo)

    @property
    def weight(self) -> Float64Array:
        """Total weight of the rows."""
        return self.positive + self.negative

    def take(self, chosen: BoolArray | IntArray) -> "Points":
        """Give some of the points."""
        return Points(
            self.lo[chosen],
            self.hi[chosen],
            self.positive[chosen],
            self.negative[chosen],
            self.count[chosen],
            self.settled[chosen],
            self.exact,
        )

    def turned(self) -> "Points":
        """Exchange the classes."""
        return Points(self.lo, self.hi, self.negative, self.positive, self.count, self.settled, self.exact)

    def with_details(self, open_: BoolArray, finer: "Points", replaced: BoolArray) -> "Points":
        """Put finer points in the place of some of those that are open; all that are not open are settled."""
        settled = self.settled | ~open_
        kept = self.take(~replaced)
        joined = Points(
            np.append(kept.lo, finer.lo),
            np.append(kept.hi, finer.hi),
            np.append(kept.positive, finer.positive),
            np.append(kept.negative, finer.negative),
            np.append(kept.count, finer.count),
            np.append(settled[~replaced], finer.settled),
            self.exact,
        )
        return joined.take(np.argsort(joined.lo, kind="stable"))

    def fullest(self, open_: BoolArray, n_rows: float) -> BoolArray:
        """The open points of the most rows, as many as hold so many rows together, or one."""
        places = np.flatnonzero(open_)
        places = places[np.argsort(-self.count[places], kind="stable")]
        held = np.cumsum(self.count[places])
        chosen = np.zeros(len(self), dtype=bool)
        chosen[places[: max(1, int(np.searchsorted(held, n_rows, side="right")))]] = True
        return chosen

    def stretches(
        self, open_: BoolArray, begins: BoolArray | None = None
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Runs of neighbouring open points: where they begin and end, and how many rows they hold.

        A new one begins also at every point that is marked.
        """
        places = np.flatnonzero(open_)
        if len(places) == 0:
            return np.empty(0), np.empty(0), np.empty(0)
        broken = np.diff(places) > 1
        breaks = np.flatnonzero(broken if begins is None else broken | begins[places[1:]]) + 1
        starts = np.append(0, breaks)
        ends = np.append(breaks, len(places)) - 1
        return self.lo[places[starts]], self.hi[places[ends]], np.add.reduceat(self.count[places], starts)

    def finer_grid(self, open_: BoolArray, n_bins: int, begins: BoolArray | None = None) -> ScoreGrid:
        """Bins inside the open points, more of them where there are more rows."""
        low, high, count = self.stretches(open_, begins)
        share = n_bins * count / max(float(count.sum()), 1.0)
        return ScoreGrid(low, high, np.maximum(np.ceil(share), 2).astype(np.int64), False)

    def fetch_grid(self, open_: BoolArray) -> ScoreGrid:
        """The open points as intervals of one bin each."""
        low, high, _ = self.stretches(open_)
        return ScoreGrid(low, high, np.ones(len(low), dtype=np.int64), False)
