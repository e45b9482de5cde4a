"""The two streams of a monitor: all rows as they come, and in time order those whose labels are known.

Windows and groups are sums that do not depend on how rows are cut, and take them as they come. Processes take
blocks of rows on a grid of the stream. The rows of a block that is not full wait; what is known now is what
the stream would know if they were all.
"""

import math
from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant.monitor._advice import History
from calibrant.monitor._alarm import Alarm, change_alarm, drift_alarm, impossible_alarm
from calibrant.monitor._alternatives import LEAST, Alternatives, words
from calibrant.monitor._bound import Bound
from calibrant.monitor._detector import BLOCK, Crossing, Detector
from calibrant.monitor._drift import N_BETS, Drift, drift_words
from calibrant.monitor._groups import Groups
from calibrant.monitor._learning import FADING, Parabola, best, learned, no_rows as no_past, ridge
from calibrant.monitor._reliability import cell_sums
from calibrant.monitor._rows import Rows, no_rows
from calibrant.monitor._windows import LabelledSums, PromisedSums, period_of

#: Rows speak against a change if they are so many times as probable without it as with it, as a logarithm:
#: rows of the change ever do so with a chance of at most 1%.
AGAINST = math.log(100.0)
#: Alarms that are kept; older ones are only counted.
MOST_ALARMS = 1000
#: Rows that are added to groups and windows at once, so that they stay in the processor's cache.
MANY = 2048
#: Points of the curve of the evidence that are kept; then every two become one.
MOST_POINTS = 1024


class Stream(ABC):
    """Rows in blocks, and what is kept of the windows and alarms."""

    def __init__(self, n_classes: int, n_groups: int, window: int | str | None, n_windows: int) -> None:
        self.window, self.n_windows = window, n_windows
        self.tail = no_rows(n_classes, n_groups)
        self.n_rows = 0
        #: Number and time of the last of them.
        self.place = np.zeros(2)
        self.n_alarms = 0
        self.alarms: list[Alarm] = []
        #: Sums of windows by their number, in time order; of the last one rows may still come.
        self.windows: dict[int, Any] = {}
        self._now: Self | None = None

    def take(self, rows: Rows) -> None:
        """Take rows: whole blocks at once, the others when their block is full."""
        self._now = None
        if not len(rows):
            return
        self._add(rows)
        self.n_rows += len(rows)
        self.place = rows.place[-1].copy()
        rows = self.tail.then(self._needed(rows))
        whole = len(rows) - len(rows) % BLOCK
        for start in range(0, whole, BLOCK):
            self._advance(rows.take(slice(start, start + BLOCK)))
        self.tail = Rows(*(each[whole:].copy() for each in rows.arrays()))

    def settle(self) -> None:
        """Take the rows that wait as a block, though it is not full."""
        self._now = None
        if len(self.tail):
            self._advance(self.tail)
            self.tail = self.tail.take(slice(0))

    def now(self) -> Self:
        """What is known of all rows."""
        if not len(self.tail):
            return self
        if self._now is None:
            self._now = deepcopy(self)
            self._now.settle()
        return self._now

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # What the processes do not change is shared.
        shared = [*self.windows.values(), *self.alarms, *self._fixed()]
        memo.update({id(each): each for each in shared})
        copied = object.__new__(type(self))
        copied.__dict__.update({name: deepcopy(each, memo) for name, each in vars(self).items()})
        return copied

    @abstractmethod
    def _fixed(self) -> list[Any]:
        """What never changes."""

    @abstractmethod
    def _advance(self, rows: Rows) -> None:
        """Take a block of rows into the process."""

    @abstractmethod
    def _new_sums(self) -> Any:
        """The sums of a window without rows."""

    def _needed(self, rows: Rows) -> Rows:
        """What the process needs to know of rows."""
        return rows

    def _add(self, rows: Rows) -> None:
        """Add rows to windows."""
        if self.window is None:
            return
        period = period_of(rows.place[:, 1], rows.place[:, 0], self.window)
        starts = np.append(0, np.flatnonzero(period[1:] != period[:-1]) + 1)
        for start, end in zip(starts, np.append(starts[1:], len(rows)), strict=True):
            number = int(period[start])
            if number not in self.windows:
                self.windows[number] = self._new_sums()
            for first in range(start, end, MANY):
                self._add_to_window(self.windows[number], rows.take(slice(first, min(first + MANY, end))))
        while len(self.windows) > self.n_windows:
            del self.windows[next(iter(self.windows))]

    @abstractmethod
    def _add_to_window(self, sums: Any, rows: Rows) -> None:
        """Add rows to the sums of their window."""

    @abstractmethod
    def _saying(self, alarm: Alarm, share: float) -> list[int]:
        """The alternatives that say what an alarm says, at least such a share of it."""

    @abstractmethod
    def _against(self) -> Float64Array:
        """How much rows have spoken against every alternative since the process started."""

    def sound(self, alarms: list[tuple[Alarm, Float64Array | None]]) -> None:
        """Keep alarms, each with what spoke against the alternatives before it; None for impossible events.

        Those before are over if rows have spoken against them; one goes on with the change before if none has
        spoken against it since the process started again.
        """
        self.n_alarms += len(alarms)
        for alarm, against in sorted(alarms, key=lambda each: each[0].row):
            new = alarm
            if against is not None:
                before = any(each.kind != "impossible" for each in self.alarms)
                # What an unmended change raises next may look larger than it is.
                new = replace(alarm, continues=before and not self._refuted(alarm, against, share=0.5))
                self.alarms = self._told(against)
            self.alarms = [*self.alarms, new][-MOST_ALARMS:]

    def told(self) -> list[Alarm]:
        """The alarms as the rows up to now leave them."""
        return self._told(self._against()) if self.alarms else []

    def _told(self, against: Float64Array) -> list[Alarm]:
        return [
            each if each.over or not self._refuted(each, against, share=1.0) else replace(each, over=True)
            for each in self.alarms
        ]

    def _refuted(self, alarm: Alarm, against: Float64Array, share: float) -> bool:
        saying = self._saying(alarm, share)
        return bool(saying) and bool(against[saying].min() >= AGAINST)


class LabelledStream(Stream):
    """Rows with labels: are they what was forecast?

    Parameters
    ----------
    labels : ndarray of shape (k,)
        The classes.
    base_rates : ndarray of shape (k,)
        How often they come.
    bound : RunLength or Ever
        The promise.
    groups : Groups or None
        Calibration within groups.
    cost : ndarray of shape (a, k) or None
        Costs of decisions.
    window, n_windows : int or str or None, int
        What windows there are, and how many are kept.
    """

    def __init__(
        self,
        labels: Array,
        base_rates: Float64Array,
        bound: Bound,
        groups: Groups | None,
        cost: Float64Array | None,
        window: int | str | None,
        n_windows: int,
    ) -> None:
        k = len(labels)
        super().__init__(k, 0 if groups is None else len(groups.columns), window, n_windows)
        self.labels, self.cost, self.groups = labels, cost, groups
        self.alternatives = Alternatives(base_rates)
        self.detector = Detector(self.alternatives.weights, bound)
        self.penalty = ridge(base_rates)
        self.past: Parabola = no_past((k + 1,))
        self.theta = best(self.past, self.penalty)
        self.history = History(k + 1)
        #: The row, the time and the greatest value of some rows.
        self.curve: Float64Array = np.empty((0, 3))

    def _fixed(self) -> list[Any]:
        return [self.alternatives, self.labels, self.cost, self.penalty, self.groups]

    def _add(self, rows: Rows) -> None:
        super()._add(rows)
        for start in range(0, len(rows) if self.groups is not None else 0, MANY):
            assert self.groups is not None
            some = rows.take(slice(start, start + MANY))
            self.groups.add(some.proba, some.truth, some.weights, some.groups)

    def _advance(self, rows: Rows) -> None:
        n = len(rows)
        proba, truth, weights, place = padded(rows)
        ratios = np.empty((BLOCK, len(self.alternatives.weights)))
        self.alternatives.ratios(proba, truth, ratios)
        impossible = proba[np.arange(BLOCK), truth] <= 0.0
        counted = None if n == BLOCK and bool((weights == 1.0).all()) else weights
        # Impossible events teach nothing that a tilt could mend.
        lessons = np.where(impossible, 0.0, weights) if impossible.any() else counted
        ratios[:, -1], parabola = learned(proba, truth, lessons, self.theta)
        if counted is not None:
            ratios **= weights[:, np.newaxis]
        crossings, mixture = self.detector.advance(ratios, place, n)
        alarms: list[tuple[Alarm, Float64Array | None]] = [
            (self.alarm(each, _at(place, each.place)), each.against) for each in crossings
        ]
        alarms += [
            (impossible_alarm(_at(place, int(row)), self.labels[truth[row]], LEAST), None)
            for row in np.flatnonzero(impossible[:n])
        ]
        self.sound(alarms)
        self.past = FADING * self.past + parabola
        self.theta = best(self.past, self.penalty)
        cells = cell_sums(proba, truth, counted)
        self.history.add(float(place[0, 0]), float(weights[:n].sum()), parabola, cells)
        highest = int(mixture.argmax())
        top = float(mixture[highest])
        self.draw(np.array([[*place[highest], max(top, self.detector.value())]]))

    def alarm(self, crossing: Crossing, at: tuple[int, float]) -> Alarm:
        """The alarm of forecasts that are not calibrated any more."""
        return change_alarm(crossing, at, self.alternatives, self.labels, self.detector.bound.threshold)

    def _saying(self, alarm: Alarm, share: float) -> list[int]:
        changes = enumerate(self.alternatives.changes)
        alike = [(place, each) for place, each in changes if words(each, self.labels) == alarm.what]
        most = max((each.strength for _, each in alike if each.size == alarm.size), default=0.0)
        return [place for place, each in alike if each.strength >= share * most]

    def _against(self) -> Float64Array:
        return self.detector.against()

    def draw(self, points: Float64Array) -> None:
        """Add points to the curve of the evidence."""
        self.curve = np.concatenate([self.curve, points])
        if len(self.curve) > MOST_POINTS:
            pairs = self.curve[:MOST_POINTS].reshape(-1, 2, 3)
            kept = pairs[np.arange(len(pairs)), pairs[:, :, 2].argmax(axis=1)]
            self.curve = np.concatenate([kept, self.curve[MOST_POINTS:]])

    def _new_sums(self) -> LabelledSums:
        return LabelledSums(len(self.labels), self.cost)

    def _add_to_window(self, sums: LabelledSums, rows: Rows) -> None:
        sums.add(rows.proba, rows.truth, rows.weights, rows.place)


class ScoreStream(Stream):
    """All rows, labels or not: what forecasts promise, and whether scores are those of the reference.

    Parameters
    ----------
    labels : ndarray of shape (k,)
        The classes.
    drift : Drift or None
        The test of drift, if there is a reference.
    cost : ndarray of shape (a, k) or None
        Costs of decisions.
    window, n_windows : int or str or None, int
        What windows there are, and how many are kept.
    """

    def __init__(
        self,
        labels: Array,
        drift: Drift | None,
        cost: Float64Array | None,
        window: int | str | None,
        n_windows: int,
    ) -> None:
        super().__init__(0 if drift is None else len(drift.columns), 0, window, n_windows)
        self.labels, self.drift, self.cost = labels, drift, cost

    def _fixed(self) -> list[Any]:
        return [
            self.labels,
            self.cost,
            *([] if self.drift is None else [self.drift.edges, self.drift.reference]),
        ]

    def _needed(self, rows: Rows) -> Rows:
        """Ranks of the scores; nothing without a reference."""
        if self.drift is None:
            return self.tail
        ranks = self.drift.ranks(rows.proba, rows.place[:, 0])
        return Rows(ranks, rows.truth, rows.weights, rows.place, rows.groups)

    def _advance(self, rows: Rows) -> None:
        assert self.drift is not None
        ranks, _, _, place = padded(rows)
        crossings = self.drift.advance(ranks, place, len(rows))
        self.sound([(self.alarm(each, _at(place, each.place)), each.against) for each in crossings])

    def alarm(self, crossing: Crossing, at: tuple[int, float]) -> Alarm:
        """The alarm of scores that have moved."""
        assert self.drift is not None
        what = drift_words(crossing.leader, self.drift.columns, self.labels)
        label = self.labels[self.drift.columns[crossing.leader // N_BETS]]
        return drift_alarm(crossing, at, what, label, self.drift.detector.bound.threshold)

    def _saying(self, alarm: Alarm, share: float) -> list[int]:  # noqa: ARG002  (bets have no size)
        assert self.drift is not None
        bets = range(len(self.drift.detector.weights))
        columns = self.drift.columns
        return [each for each in bets if drift_words(each, columns, self.labels) == alarm.what]

    def _against(self) -> Float64Array:
        assert self.drift is not None
        return self.drift.detector.against()

    def _new_sums(self) -> PromisedSums:
        return PromisedSums(self.cost)

    def _add_to_window(self, sums: PromisedSums, rows: Rows) -> None:
        sums.add(rows.proba, rows.weights, rows.place)


def padded(rows: Rows) -> tuple[Float64Array, Any, Float64Array, Float64Array]:
    """A whole block, so that its rows are computed alike whether the others have come or not."""
    missing = BLOCK - len(rows)
    if not missing:
        return rows.proba, rows.truth, rows.weights, rows.place
    k = rows.proba.shape[1]
    return (
        np.concatenate([rows.proba, np.full((missing, k), 1.0 / k)]),
        np.concatenate([rows.truth, np.zeros(missing, dtype=rows.truth.dtype)]),
        np.concatenate([rows.weights, np.zeros(missing)]),
        np.concatenate([rows.place, np.repeat(rows.place[-1:], missing, axis=0)]),
    )


def _at(place: Float64Array, row: int) -> tuple[int, float]:
    return int(place[row, 0]), float(place[row, 1])
