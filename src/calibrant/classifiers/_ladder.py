"""Probing: which thresholds to ask a hard classifier about, one after the other (Langford and Zadrozny 2005).

A classifier trained for threshold q says whether a row's probability exceeds q. With thresholds 0 = e_0 <
e_1 < ... < e_m < e_(m+1) = 1 a row with v votes is taken to lie in [e_v, e_(v+1)], also where the
classifiers contradict each other. (Sorted by ascending threshold the votes are ones and then zeros; the
paper has it the other way round.) The next threshold splits the interval in which the rows may lose most.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calibrant._core._arrays import BoolArray, Float64Array
from calibrant._core._checks import plain
from calibrant.classifiers._hard import Committee
from calibrant.classifiers._minimax import ProbingLoss, edges_of, estimates_of, most_urgent, urgencies


@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """The thresholds that were probed for one class, and where the reference rows ended up.

    Attributes
    ----------
    positive : object
        The class whose probability is estimated.
    thresholds : ndarray of shape (m,)
        The thresholds in the order in which they were probed.
    split_counts : ndarray of shape (m,)
        The reference rows, or their weight, in the interval that each threshold split.
    counts : ndarray of shape (m + 1,)
        The reference rows, or their weight, in every interval at last, by ascending probability.
    estimates : ndarray of shape (m + 1,)
        The probability that a row in each interval is given.
    held_out_loss : ndarray of shape (m,) or None
        The loss on the held-out rows after every probe, if early stopping was asked for.
    """

    positive: object
    thresholds: Float64Array
    split_counts: Float64Array
    counts: Float64Array
    estimates: Float64Array
    held_out_loss: Float64Array | None

    @property
    def cuts(self) -> Float64Array:
        """The thresholds in ascending order."""
        return np.sort(self.thresholds)

    @property
    def intervals(self) -> Float64Array:
        """The ends of every interval, in ascending order, of shape (m + 1, 2)."""
        edges = edges_of(self.thresholds)
        return np.column_stack([edges[:-1], edges[1:]])


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A classifier trained for one threshold, and what it says of the rows that matter for the next one.

    Attributes
    ----------
    committee : Committee
        The classifier.
    reference_votes : ndarray of shape (r,)
        Its votes on the reference rows.
    held_out_votes : ndarray of shape (h,)
        Its votes on the held-out rows.
    """

    committee: Committee
    reference_votes: BoolArray
    held_out_votes: BoolArray


@dataclass(slots=True)
class HeldOut:
    """Rows that are kept from training, and when their loss has stopped improving.

    Attributes
    ----------
    is_positive : ndarray of shape (h,)
        The truth.
    weights : ndarray of shape (h,) or None
        Their weights.
    patience : int or None
        After how many probes without improvement to stop; None means never.
    tol : float
        What counts as an improvement.
    losses : list of float
        The loss after every probe.
    """

    is_positive: BoolArray
    weights: Float64Array | None
    patience: int | None
    tol: float
    losses: list[float] = field(default_factory=list)

    def is_enough(self, loss: ProbingLoss, estimates: Float64Array) -> bool:
        """Take down the loss after one more probe, and say whether it was the last."""
        if self.patience is None:
            return False
        self.losses.append(loss.mean(self.is_positive, estimates, self.weights))
        earlier, recent = self.losses[: -self.patience], self.losses[-self.patience :]
        return bool(earlier) and min(recent) > min(earlier) - self.tol


@dataclass(frozen=True, slots=True)
class Plan:
    """How a ladder is built.

    Attributes
    ----------
    n_probes : int
        The greatest number of thresholds.
    loss : ProbingLoss
        What is to become small.
    rule : {"regret", "paper"}
        How intervals are compared.
    batch_size : int
        How many classifiers may be trained at once.
    """

    n_probes: int
    loss: ProbingLoss
    rule: str
    batch_size: int


@dataclass(frozen=True, slots=True)
class _Intervals:
    """Ends of intervals, and the reference rows, or their weight, in each."""

    low: Float64Array
    high: Float64Array
    counts: Float64Array

    @property
    def ends(self) -> tuple[Float64Array, Float64Array]:
        """Both ends."""
        return self.low, self.high

    def split(self, chosen: int, point: float) -> "_Intervals":
        """The same with one interval cut in two, between which its rows are shared."""
        half = self.counts[chosen] / 2
        return _Intervals(
            low=np.insert(self.low, chosen + 1, point),
            high=np.insert(self.high, chosen, point),
            counts=np.insert(np.delete(self.counts, chosen), chosen, [half, half]),
        )


class LadderBuilder:
    """Probes one threshold after the other.

    Classifiers for intervals that are likely to be split next are trained along with the one that is
    needed, and kept until it is their turn. An interval stays as it is until it is split, so they remain
    right, and training several at once changes no result: it only risks that some are never used.

    Parameters
    ----------
    plan : Plan
        How to build.
    train : callable
        Trains one classifier per threshold, and gives the probes in the same order.
    reference_weights : ndarray of shape (r,)
        How much every reference row counts.
    held_out : HeldOut
        Rows to stop by.
    """

    def __init__(
        self,
        plan: Plan,
        train: Callable[[list[float]], list[Probe]],
        reference_weights: Float64Array,
        held_out: HeldOut,
    ) -> None:
        self._plan = plan
        self._train = train
        self._weights = reference_weights
        self._held_out = held_out
        self._votes = np.zeros(len(reference_weights), dtype=np.intp)
        self._held_out_votes = np.zeros(len(held_out.is_positive), dtype=np.intp)
        self._thresholds: list[float] = []
        self._split_counts: list[float] = []
        self._committees: list[Committee] = []
        self._waiting: dict[float, Probe] = {}

    def build(self, positive: object, tell: Callable[[str], None]) -> tuple[Ladder, list[Committee]]:
        """Build the ladder of one class."""
        n_probes = self._plan.n_probes
        while len(self._thresholds) < n_probes and (threshold := self._next_threshold()) is not None:
            self._take(threshold, self._waiting.pop(threshold))
            tell(f"probe {len(self._thresholds)} of {n_probes} for {plain(positive)!r} at {threshold:.6g}")
            estimates = self._estimates()
            if self._held_out.is_enough(self._plan.loss, estimates[self._held_out_votes]):
                break
        losses = self._held_out.losses
        ladder = Ladder(
            positive=plain(positive),
            thresholds=np.array(self._thresholds),
            split_counts=np.array(self._split_counts),
            counts=self._counts(),
            estimates=self._estimates(),
            held_out_loss=None if self._held_out.patience is None else np.array(losses),
        )
        return ladder, self._committees

    def _next_threshold(self) -> float | None:
        """Safest forecast of the most urgent interval, its classifier ready; None if none is left inside."""
        edges = edges_of(self._thresholds)
        intervals = _Intervals(edges[:-1], edges[1:], self._counts())
        chosen = most_urgent(self._urgencies(intervals))
        point = float(self._plan.loss.points(*intervals.ends)[chosen])
        if not edges[chosen] < point < edges[chosen + 1]:
            return None
        if point not in self._waiting:
            due = [point, *self._likely_next(intervals, chosen, point)]
            self._waiting.update(zip(due, self._train(due), strict=True))
        return point

    def _likely_next(self, intervals: "_Intervals", chosen: int, point: float) -> list[float]:
        """Thresholds that will be needed soon: as many as may be trained along with the chosen one."""
        room = self._plan.n_probes - len(self._thresholds) - len(self._waiting)
        n_more = min(self._plan.batch_size, room) - 1
        if n_more < 1:
            return []
        # The halves of the chosen interval are guessed to share its rows evenly.
        intervals = intervals.split(chosen, point)
        scores, points = self._urgencies(intervals), self._plan.loss.points(*intervals.ends)
        promising = (scores > 0) & (intervals.low < points) & (points < intervals.high)
        best_first = np.argsort(-scores, kind="stable")
        likely = points[best_first[promising[best_first]]].tolist()
        return [other for other in likely if other not in self._waiting][:n_more]

    def _urgencies(self, intervals: "_Intervals") -> Float64Array:
        return urgencies(self._plan.loss, self._plan.rule, *intervals.ends, intervals.counts)

    def _take(self, threshold: float, probe: Probe) -> None:
        """Add one threshold; a row that its classifier calls positive moves up by one interval."""
        split = np.searchsorted(np.sort(self._thresholds), threshold)
        self._split_counts.append(float(self._counts()[split]))
        self._thresholds.append(threshold)
        self._committees.append(probe.committee)
        self._votes += probe.reference_votes
        self._held_out_votes += probe.held_out_votes

    def _counts(self) -> Float64Array:
        """Reference rows, or their weight, in every interval."""
        return np.bincount(self._votes, self._weights, len(self._thresholds) + 1).astype(
            np.float64, copy=False
        )

    def _estimates(self) -> Float64Array:
        """The probability that every interval stands for."""
        return estimates_of(self._plan.loss, self._thresholds)
