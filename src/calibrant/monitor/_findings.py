"""What a monitor has found."""

import math

import numpy as np

from calibrant._core._arrays import Array, Float64Array
from calibrant._core._errors import DataError
from calibrant._core._names import label_text
from calibrant.monitor._advice import Advice, advise
from calibrant.monitor._alarm import Alarm, mended
from calibrant.monitor._bound import Bound, Ever, RunLength
from calibrant.monitor._groups import Group
from calibrant.monitor._reliability import Reliability, reliability_of
from calibrant.monitor._rows import shown_time
from calibrant.monitor._streams import LabelledStream, ScoreStream
from calibrant.monitor._waiting import Waiting
from calibrant.monitor._windows import Window, period_of, window_of


class Findings:
    """The answers of `CalibrationMonitor`: alarms, windows, groups, advice."""

    bound: str
    run_length: float
    alpha: float
    window: int | str | None
    n_windows: int
    group_alpha: float
    _given: Array | None
    _cost: Float64Array | None
    _n_classes: int | None
    _n_rows: int
    _dated: bool | None
    _last: float | None
    _timed: bool | None
    _closed: list[Window]
    _group_values: list[list[object]]
    _labelled: LabelledStream | None
    _scores: ScoreStream | None
    _waiting: Waiting | None

    def _promise(self) -> Bound:
        return RunLength(self.run_length) if self.bound == "run_length" else Ever(1.0 / self.alpha)

    @property
    def classes(self) -> Array:
        """The labels of the columns."""
        return np.arange(self._n_classes or 0) if self._given is None else self._given

    @property
    def cost(self) -> Float64Array | None:
        """What decisions cost, if that is known."""
        return self._cost

    @property
    def n_rows(self) -> int:
        """Rows that have come."""
        return self._n_rows

    @property
    def dated(self) -> bool:
        """Whether times are dates, which count microseconds since 1970."""
        return bool(self._dated)

    @property
    def last_time(self) -> float | None:
        """The time of the last row, as a number; None before there is one, or if rows have no times."""
        return self._last if self._timed else None

    @property
    def n_labelled(self) -> int:
        """Rows with labels that the process has seen."""
        return 0 if self._labelled is None else self._labelled.n_rows

    @property
    def n_waiting(self) -> int:
        """Rows that wait for their label, and those behind them."""
        return 0 if self._waiting is None else len(self._waiting)

    @property
    def waiting_keys(self) -> frozenset[str | int]:
        """The keys of rows that wait for their label."""
        keys = [] if self._waiting is None else self._waiting.keys
        return frozenset(key for key in keys if key is not None)

    @property
    def n_given_up(self) -> int:
        """Rows that waited for a label in vain."""
        return 0 if self._waiting is None else self._waiting.n_given_up

    @property
    def n_alarms(self) -> int:
        """Alarms so far, those included that are no longer kept."""
        return sum(each.now().n_alarms for each in (self._labelled, self._scores) if each is not None)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms, in the order of their rows; of each kind of evidence the last 1,000."""
        found = [each.now().told() for each in (self._labelled, self._scores) if each is not None]
        return tuple(sorted((alarm for some in found for alarm in some), key=lambda each: each.row))

    def changes(self) -> tuple[tuple[Alarm, ...], ...]:
        """Give the alarms by the change that they tell of.

        Returns
        -------
        tuple of tuple of Alarm
            Of every change the first alarm, and those that came as it was not mended; impossible events by
            their class. A change all of whose alarms are `over` has been mended.
        """
        found: list[list[Alarm]] = []
        last: dict[object, list[Alarm]] = {}
        for alarm in self.alarms:
            family = (alarm.kind, alarm.label) if alarm.kind == "impossible" else alarm.kind == "drift"
            if family in last and (alarm.continues or alarm.kind == "impossible"):
                last[family].append(alarm)
            else:
                last[family] = [alarm]
                found.append(last[family])
        return tuple(map(tuple, found))

    @property
    def threshold(self) -> float:
        """The value of the process at which there is an alarm."""
        return self._promise().threshold

    @property
    def value(self) -> float:
        """The present value of the process; 0 before there are rows, or what the promise begins with."""
        return 0.0 if self._labelled is None else self._labelled.now().detector.value()

    @property
    def drift_value(self) -> float:
        """The present value of the process of scores; 0 without a reference."""
        drift = None if self._scores is None else self._scores.now().drift
        return 0.0 if drift is None else drift.detector.value()

    def curve(self) -> Float64Array:
        """Give the course of the process.

        Returns
        -------
        ndarray of shape (m, 3)
            Number and time of a row, and the greatest value of the rows about it: of 256 rows, or of more if
            there are very many.
        """
        return np.empty((0, 3)) if self._labelled is None else self._labelled.now().curve.copy()

    def windows(self) -> tuple[Window, ...]:
        """Give the estimates of every window that is kept.

        Returns
        -------
        tuple of Window
            In time order; the last one may not be full.
        """
        if self._labelled is None or self._scores is None:
            return tuple(self._closed)
        return tuple([*self._closed, *self._open_windows(-math.inf, math.inf)][-self.n_windows :])

    def _open_windows(self, least: float, below: float) -> list[Window]:
        """Windows of which there are sums, with numbers within bounds."""
        if self._labelled is None or self._scores is None:
            return []
        labelled, scores = self._labelled.windows, self._scores.windows
        numbers = [each for each in sorted({*labelled, *scores}) if least <= each < below]
        return [window_of(scores.get(each), labelled.get(each)) for each in numbers]

    def _horizon(self) -> float:
        """The number of the first window to which rows or labels may still come."""
        if self._labelled is None or self._scores is None or self._waiting is None or self.window is None:
            return -math.inf
        latest = max([*self._scores.windows, *self._labelled.windows], default=math.inf)
        first = self._waiting.rows.place[:1]
        firsts = [int(period_of(first[:, 1], first[:, 0], self.window)[0])] if len(first) else []
        return min([latest, *firsts])

    def _closed_windows(self) -> list[Window]:
        """Windows that will not change any more."""
        return [*self._closed, *self._open_windows(-math.inf, self._horizon())][-self.n_windows :]

    def groups(self) -> tuple[Group, ...]:
        """Give what is known of every group.

        Returns
        -------
        tuple of Group
            Those with most evidence first.
        """
        groups = None if self._labelled is None else self._labelled.groups
        return () if groups is None else groups.found(self._group_values, self.classes, self.group_alpha)

    def advice(self) -> Advice:
        """Say what to do.

        Returns
        -------
        Advice
            Whether to recalibrate with the rows since the last change (if that was mended, since its last
            alarm), and what that would gain.
        """
        if self._labelled is None:
            raise DataError("advice must be asked after rows have come; there are none; call update")
        now = self._labelled.now()
        changes = self._changes_of_forecasts()
        starts = [each[-1].row + 1 if mended(each) else each[0].began for each in changes]
        rows, weight, first = now.history.since(max(starts, default=0))
        alarmed = not all(mended(each) for each in changes)
        return advise(rows, weight, first, alarmed=alarmed, mended=bool(changes) and not alarmed)

    def reliability(self) -> tuple[Reliability, Reliability]:
        """Give forecasts against what came, before a change and since.

        It is the first change that has not been mended, or else the last one.

        Returns
        -------
        before, since : Reliability
            Of the second of two classes; of more classes, of the most probable one. Without a change all rows
            are before it. Where the change began long ago, it is only known about when.
        """
        if self._labelled is None:
            raise DataError("reliability must be asked after rows have come; there are none; call update")
        now = self._labelled.now()
        changes = self._changes_of_forecasts()
        standing = [each for each in changes if not mended(each)] or changes[-1:]
        before, since, first = now.history.split(standing[0][0].began if standing else None)
        two = len(self.classes) == 2
        of = f"class {label_text(self.classes[1])}" if two else "the most probable class"
        return reliability_of(before, 0, of), reliability_of(since, first, of)

    def _changes_of_forecasts(self) -> list[tuple[Alarm, ...]]:
        """The changes that labels tell of."""
        return [each for each in self.changes() if each[0].kind not in ("impossible", "drift")]

    def shown_time(self, time: float) -> str:
        """Write a time of an alarm or a window as people do.

        Parameters
        ----------
        time : float
            The time.

        Returns
        -------
        str
            A date where times are dates, or else the number.
        """
        return shown_time(time, bool(self._dated))
