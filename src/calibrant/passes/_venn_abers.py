"""The question of Venn-Abers prediction: isotonic fits with one row more, of either class, at every score."""

from dataclasses import dataclass, replace

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array, IntArray
from calibrant.metrics import NO_DIRECTION, Direction, direction, direction_of_points
from calibrant.passes._direction_pass import with_squares
from calibrant.passes._gather import gather_points, refine
from calibrant.passes._points import Points
from calibrant.passes._pooling import isotonic_starts
from calibrant.passes._questions import Cases, Question, RowsInPasses
from calibrant.passes._runs import runs_of_shares
from calibrant.passes._screen import open_points
from calibrant.passes._summary import Plan

#: Rows read in passes are told apart where an answer may change by more than this among them.
SAME_ANSWER = 2.5e-13
#: Whole numbers below this are exact.
MANY = 2.0**53
GREATEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class VennAbersFit:
    """The lower and the upper probability as steps, and which way the scores rank the classes.

    Attributes
    ----------
    lower_edges, lower : ndarray
        Edges, each of which belongs to the interval below it, and one value more than edges: the probability
        from the fit with one negative more.
    upper_edges, upper : ndarray
        The same with one positive more.
    direction : Direction
        Which way the scores rank the classes, where that was looked at.
    """

    lower_edges: Float64Array
    lower: Float64Array
    upper_edges: Float64Array
    upper: Float64Array
    direction: Direction = NO_DIRECTION


@dataclass(frozen=True)
class VennAbers(Question[VennAbersFit]):
    r"""The values of the isotonic fits to all rows and one more, at the score of that one.

    Notes
    -----
    *The picture.* Put the distinct scores in ascending order and draw the path of cumulative sums, with
    vertices :math:`V_0, V_1, ...` at (weight so far, weight of the positives so far). The isotonic fit is the
    slope of the greatest convex minorant of the path; its corners :math:`C_1, C_2, ...` end the blocks. A
    further positive, of weight 1, at the j-th score moves :math:`V_j` and all vertices after it by (1, 1). By
    the min-max formula the new fit has at that score the value

    .. math:: p_1(j) = \max_{i < j} \min_{k \ge j} \text{slope}(V_i, V_k + (1, 1)).

    *Few need be looked at.* Let g be the value of the block of j; the new value is not below it. For slopes
    from g on, the corner at the end of the block, or one after it, is below all vertices from :math:`V_j` on
    that are no corners, and the vertex at which the block begins is below all before it. So

    .. math:: p_1(j) = \max_{i < j} q_i, \quad q_i = \min_{C} \text{slope}(V_i, C + (1, 1)),

    where C runs over the corners after :math:`V_i`. The maximum is a running one; in earlier blocks it is
    not greater, as the answers rise. Corners are convex: the slopes to them fall, and then rise. The least is
    found by steps of halving length, for all i at once. Sums are those of what lies between, never
    differences of totals: so nothing cancels, however much weights differ.

    *Between scores* a further positive pools with the next score, in any case, and a further negative with
    the one before: the upper probability at a score is that of the gap below it, the lower one that of the
    gap above it. Above all scores the upper is 1, below all the lower is 0. The lower probability is 1 minus
    the upper one of the other class with the scores turned round.

    *In passes* the blocks are not enough: in a block of negatives alone every one of them is a step of the
    upper probability. So after the corners are known, the rows of a bin are told apart too where the slope
    from a vertex behind all its negatives and before all its positives, which none inside exceeds, is above
    the maximum so far by more than 2.5e-13.
    """

    def of_cases(self, cases: Cases) -> VennAbersFit:
        """Sort, and solve for all distinct scores at once."""
        scores, target, weight = cases
        runs = runs_of_shares(scores, target.astype(np.float64), weight)
        score = runs.score_at(runs.starts).astype(np.float64)
        towards = direction(scores, target, weight) if runs.may_rank_wrongly else NO_DIRECTION
        return _steps(score, score, runs.positive, runs.negative, towards)

    def in_passes(self, rows: RowsInPasses) -> Plan[VennAbersFit]:
        """Gather points until no answer changes inside one, and solve for these."""
        points, squares = yield from with_squares(gather_points(rows, open_points), rows.problem, rows.sample)
        points = replace(points, settled=points.lo == points.hi)
        points = yield from refine(rows.problem, points, _may_step, rows.options, _begins_block)
        towards = direction_of_points(points.positive, points.negative, squares)
        return _steps(points.lo, points.hi, points.positive, points.negative, towards)


def _steps(
    lo: Float64Array, hi: Float64Array, positive: Float64Array, negative: Float64Array, towards: Direction
) -> VennAbersFit:
    up, down = _chains(positive, negative)
    upper, lower = up.greatest_so_far(), 1.0 - down.greatest_so_far()[::-1]
    rises, falls = _last_of_equals(upper), _last_of_equals(lower)
    return VennAbersFit(
        np.maximum(np.nextafter(lo[falls[:-1]], -np.inf), -GREATEST),
        lower[falls],
        hi[rises[:-1]],
        upper[rises],
        towards,
    )


def _last_of_equals(values: Float64Array) -> IntArray:
    """The places of values that the next one differs from, and the last."""
    ends = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=ends[:-1])
    return ends.nonzero()[0]


@dataclass(frozen=True, eq=False)
class _Chain:
    """The corners of the minorant, and what lies between them and the vertices before the points.

    Attributes
    ----------
    positive, negative : ndarray of shape (m,)
        The masses of a point and those after it in its block.
    starts : ndarray of shape (b,)
        The first point of every block.
    block : ndarray of shape (m,)
        The number of the block that a point is in.
    value : ndarray of shape (b + c,)
        The share of positives in every block; after the last nothing is below infinity.
    sums : ndarray of shape (2, p, b + 1)
        Positives, and all, of 1, 2, 4, ..., c successive blocks, by the first of them.
    """

    positive: Float64Array
    negative: Float64Array
    starts: IntArray
    block: IntArray
    value: Float64Array
    sums: Float64Array

    @classmethod
    def of(
        cls,
        positive: Float64Array,
        negative: Float64Array,
        starts: IntArray,
        block: IntArray,
        sums: list[Float64Array],
    ) -> "_Chain":
        """The chain of points of which so much lies in their blocks; the masses of 1, 2, 4, ... blocks."""
        n_blocks, n_powers = len(starts), len(sums)
        padded = np.zeros((2, n_powers, n_blocks + 1))
        for power, each in enumerate(sums):
            padded[:, power, : each.shape[1]] = each
        padded[1] += padded[0]
        value = np.full(n_blocks + (1 << n_powers - 1), np.inf)
        value[:n_blocks] = padded[0, 0, :-1] / padded[1, 0, :-1]
        return cls(positive, negative, starts, block, value, padded)

    def greatest_so_far(self) -> Float64Array:
        """The running maximum of the least slopes from the vertices before the points, and 1 behind them."""
        found = np.ones(len(self.positive) + 1)
        least = self.least_slopes(self.positive, self.negative, self.block)
        np.maximum.accumulate(least, out=found[:-1])
        return found

    def least_slopes(self, positive: Float64Array, negative: Float64Array, last: IntArray) -> Float64Array:
        """The least slope to a corner moved by (1, 1), from vertices so much mass before that of a block.

        It lies at least as far as some corner if the slope to that exceeds the value of the block that ends
        there.
        """
        positive = positive + 1.0
        weight = positive + negative
        ahead = last + 1
        reached = positive + self.sums[0, 0].take(ahead)
        some = (reached > self.value.take(ahead) * (weight + self.sums[1, 0].take(ahead))).nonzero()[0]
        if len(some):  # not many look farther than the end of their block
            positive[some], weight[some] = self._farther(
                np.stack([positive, weight]).take(some, 1), last[some]
            )
        return np.asarray(positive / weight)

    def _farther(self, masses: Float64Array, last: IntArray) -> Float64Array:
        """The positives, and all, up to the corner of the least slope, by steps of halving length."""
        for power in reversed(range(self.sums.shape[1])):
            farther = last + (1 << power)
            reached = masses + self.sums[:, power].take(last + 1, axis=1)
            goes_on = reached[0] > self.value.take(farther) * reached[1]
            np.copyto(masses, reached, where=goes_on)
            np.copyto(last, farther, where=goes_on)
        return masses


def _chains(positive: Float64Array, negative: Float64Array) -> tuple[_Chain, _Chain]:
    """The chain for a further positive, and that for a negative: classes and scores turned round."""
    n_points = len(positive)
    starts = isotonic_starts(positive, positive + negative)
    ends = np.append(starts[1:], n_points)
    sums = [np.stack([np.add.reduceat(positive, starts), np.add.reduceat(negative, starts)])]
    while 2 * sums[-1].shape[1] > len(starts) + 1:
        step = len(starts) - sums[-1].shape[1] + 1
        sums.append(sums[-1][:, :-step] + sums[-1][:, step:])
    block = np.arange(len(starts)).repeat(ends - starts)
    after, before = _within_blocks(np.stack([positive, negative]), starts, ends, block)
    return (
        _Chain.of(after[0], after[1], starts, block, sums),
        _Chain.of(
            before[1, ::-1],
            before[0, ::-1],
            n_points - ends[::-1],
            len(starts) - 1 - block[::-1],
            [each[::-1, ::-1] for each in sums],
        ),
    )


def _within_blocks(
    masses: Float64Array, starts: IntArray, ends: IntArray, block: IntArray
) -> tuple[Float64Array, Float64Array]:
    """What points hold with those after them in their blocks, and with those before them."""
    until = masses.cumsum(axis=1)
    if until[:, -1].max() < MANY and (masses == np.floor(masses)).all():
        # Differences of counts are exact.
        before = until - (until - masses).take(starts, axis=1).take(block, axis=1)
        return until.take(ends - 1, axis=1).take(block, axis=1) - until + masses, before
    after = until.copy()
    for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
        np.cumsum(masses[:, begin:end], axis=1, out=until[:, begin:end])
        np.cumsum(masses[:, begin:end][:, ::-1], axis=1, out=after[:, begin:end][:, ::-1])
    return after, until


def _may_step(points: Points) -> BoolArray:
    """Points inside which an answer may change, if all corners are at their borders."""
    up, down = _chains(points.positive, points.negative)
    return _may_rise(up, points.positive) | _may_rise(down, points.negative[::-1])[::-1]


def _may_rise(chain: _Chain, positive: Float64Array) -> BoolArray:
    reached = chain.greatest_so_far()[:-1]
    # The masses from behind the negatives of a point: those of the next one in its block, and its positives.
    positive_behind, negative_behind = np.append(chain.positive[1:], 0.0), np.append(chain.negative[1:], 0.0)
    last_of_block = np.append(chain.starts[1:], len(positive)) - 1
    positive_behind[last_of_block] = negative_behind[last_of_block] = 0.0
    at_most = chain.least_slopes(positive_behind + positive, negative_behind, chain.block)
    return np.asarray(at_most > reached + SAME_ANSWER)


def _begins_block(points: Points) -> BoolArray:
    begins = np.zeros(len(points), dtype=bool)
    begins[isotonic_starts(points.positive, points.weight)] = True
    return begins
