"""The question of binning: rows in bins of equal size, equal scores together."""

from dataclasses import dataclass

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray, Target
from calibrant.passes._gather import gather_points
from calibrant.passes._points import Points
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._summary import Plan


@dataclass(frozen=True, eq=False)
class BinTotals:
    """Least and greatest score, number of rows, weight and weight of the positives of every bin."""

    lo: Float64Array
    hi: Float64Array
    count: IntArray
    weight: Float64Array
    positive: Float64Array


@dataclass(frozen=True)
class EqualBins(Question[BinTotals]):
    """Bins of as equal numbers of rows as ties allow, by ascending score.

    Parameters
    ----------
    n_bins : int
        How many; fewer if there are fewer distinct scores.
    """

    n_bins: int

    def of_cases(self, cases: Cases) -> BinTotals:
        """Sort, and cut."""
        rows = SortedRows.of(cases)
        cuts = rows.cuts(self.n_bins)
        starts, ends = np.append(0, cuts), np.append(cuts, len(rows.scores))
        positive, negative = rows.totals(starts)
        return BinTotals(
            rows.scores[starts], rows.scores[ends - 1], ends - starts, positive + negative, positive
        )

    def in_passes(self, rows: RowsInPasses) -> Plan[BinTotals]:
        """Gather points that no cut falls into, and cut between these."""

        def wanted(points: Points) -> BoolArray:
            holds_cut = np.zeros(len(points), dtype=bool)
            holds_cut[self._last_before_cuts(points)] = True
            return holds_cut

        points = yield from gather_points(rows, wanted)
        # A cut behind the point of the row that it would come after: equal scores stay together.
        last = np.unique(np.append(self._last_before_cuts(points), len(points) - 1))
        starts = np.append(0, last[:-1] + 1)
        return BinTotals(
            points.lo[starts],
            points.hi[last],
            np.add.reduceat(points.count, starts).astype(np.intp),
            np.add.reduceat(points.weight, starts),
            np.add.reduceat(points.positive, starts),
        )

    def _last_before_cuts(self, points: Points) -> IntArray:
        """The points with the last rows before the even places."""
        reached = np.cumsum(points.count)
        return np.searchsorted(reached, even_places(int(reached[-1]), self.n_bins), side="left")


def even_places(n_rows: int, n_bins: int) -> IntArray:
    """Places in the sorted rows where new bins would begin if there were no ties; at least 1."""
    n_bins = min(n_bins, n_rows)
    size, extra = divmod(n_rows, n_bins)
    number = np.arange(1, n_bins)
    return number * size + np.minimum(number, extra)


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Rows by ascending score, with their weight as positives and as negatives.

    Every bin is summed by itself: in differences of running totals a heavy row rounds away all that follow.
    """

    scores: Float64Array
    positive: Float64Array
    negative: Float64Array
    mixed: float

    @classmethod
    def of(cls, cases: Cases) -> "SortedRows":
        """Sort rows."""
        scores: Float64Array = cases.scores.astype(np.float64, copy=False)
        target: Target = cases.truth
        order = np.argsort(scores, kind="stable")
        label = target[order].astype(np.float64)
        positive = label if cases.weight is None else cases.weight[order] * label
        negative = (1.0 - label) if cases.weight is None else cases.weight[order] * (1.0 - label)
        mixed = 0.0 if target.dtype == bool else float(positive @ (1.0 - label))
        return cls(scores[order], positive, negative, mixed)

    def cuts(self, n_bins: int) -> IntArray:
        """Places where a new bin begins."""
        places = even_places(len(self.scores), n_bins)
        places = np.searchsorted(self.scores, self.scores[places - 1], side="right")
        return np.unique(places[places < len(self.scores)])

    def totals(self, starts: IntArray) -> tuple[Float64Array, Float64Array]:
        """Weight of the positives and of the negatives in the bins that begin at these places."""
        return np.add.reduceat(self.positive, starts), np.add.reduceat(self.negative, starts)

    def squared_error(self, edges: Float64Array, value: Float64Array) -> float:
        """Total squared difference between the labels and the values of the bins that they fall into."""
        starts = np.append(0, np.searchsorted(self.scores, edges, side="right"))
        held = np.flatnonzero(np.diff(np.append(starts, len(self.scores))))
        positive, negative = self.totals(starts[held])
        value = value[held]
        # A share of positives counts as two rows, which differ from it whatever the value is.
        return float(positive @ (1 - value) ** 2 + negative @ value**2) - self.mixed
